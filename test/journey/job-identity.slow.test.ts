import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { onUnix } from '../helpers/needs';
import { pwpush, script, workplace } from '../helpers/program';
import { trusting } from '../helpers/trusting';

// Jobs of CI systems as their environment has them, with the built program and service, and no token that is stored.

const { env: settled, service, job, bin, at } = workplace();
const from = trusting(service, settled);

/** What each system gives a job besides its own variable. */
const systems: Record<string, () => Record<string, string>> = {
  'GitHub Actions': () => from.github,
  'GitLab CI': () => ({ GITLAB_CI: 'true', PWPUSH_ID_TOKEN: from.token() }),
  Buildkite: () => {
    script(
      join(bin, 'buildkite-agent'),
      `[ "$*" = "redactor add" ] && exec cat >/dev/null
       [ "$*" = "oidc request-token --audience ${service.url}" ] && echo ${from.token()}`,
    );
    return { BUILDKITE: 'true' };
  },
  CircleCI: () => {
    const claims = JSON.stringify({ aud: service.url });
    script(join(bin, 'circleci'), `[ "$*" = 'run oidc get --claims ${claims}' ] && echo ${from.token()}`);
    return { CIRCLECI: 'true' };
  },
  Kubernetes: () => {
    writeFileSync(at('token'), from.token());
    return { PWPUSH_ID_TOKEN_FILE: at('token') };
  },
};

/** A line of the job's script. */
const step = (line: string, env: Record<string, string>) =>
  pwpush(['-c', line], { by: ['sh'], env: { ...job, PWPUSH_TOKEN_FROM: 'ci', ...env } });

describe('a job with an identity and no token', onUnix, () => {
  test.each(Object.entries(systems))('of %s hands over a secret, and reaches what it made', async (name, given) => {
    const env = given();
    const pushed = await step('link=$(echo hunter2 | pwpush push --debug) && printf %s "$link"', env);
    const { code, stdout: link, stderr } = pushed;
    expect([code, link]).toEqual([0, expect.stringMatching(/^http:\/\/[\w.:/-]+$/)]);
    const masks = /^::add-mask::(eyJ|pwp_)[\w.-]+\n/gm;
    expect(stderr.match(masks) ?? []).toHaveLength(name === 'GitHub Actions' ? 2 : 0);
    expect(stderr.replace(masks, '')).not.toMatch(/eyJ|pwp_|of-the-runner/);
    expect(await step(`pwpush get '${link}' --anonymous`, given())).toMatchObject({ code: 0, stdout: 'hunter2' });
    expect((await step(`pwpush expire '${link}' --quiet`, given())).code).toBe(0);
    expect((await step('pwpush list', given())).code).toBe(4);
  });

  test('of another repository is refused, and told where to look', async () => {
    const token = from.token({ repository: 'org/other' });
    const { code, stderr } = await step('echo x | pwpush push', { PWPUSH_ID_TOKEN: token });
    expect([code, stderr]).toEqual([3, expect.stringContaining('no trust matches the claims of this token')]);
    expect(stderr).not.toContain('eyJ');
  });
});
