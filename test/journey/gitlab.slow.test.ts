import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { onUnix } from '../helpers/needs';
import { person, program, pwpush, serving } from '../helpers/program';
import { exampleOf, yaml } from '../helpers/yaml';

// The components of GitLab CI: their inputs filled in as GitLab does, and their scripts run as a runner does. There is no
// GitLab here, so what it makes of the rest of a job is not tried.

const templates = join(import.meta.dirname, '../../deploy/gitlab/templates');
const somebody = person();
const service = serving(somebody.env);
const work = join(somebody.folder, 'work');
const bin = join(somebody.folder, 'bin');

interface Input {
  readonly default?: unknown;
  readonly type?: string;
  readonly regex?: string;
}
interface Job {
  readonly script: string[];
  readonly before_script: string[];
  readonly variables?: Record<string, { value: string; expand: false }>;
}

/** The specification of a component, and the job that comes of some inputs. */
function component(name: string) {
  const [head, body] = yaml(readFileSync(join(templates, `${name}.yml`), 'utf8'));
  const { spec } = head as { spec: { inputs: Record<string, Input> } };
  const job = (given: Record<string, unknown>): [string, Job] => {
    const text = JSON.stringify(body).replace(
      /"\$\[\[ inputs\.(\w+) \]\]"|\$\[\[ inputs\.(\w+) \]\]/g,
      (_, alone: string | undefined, within: string) => {
        const value = given[alone ?? within] ?? spec.inputs[alone ?? within]?.default;
        if (value === undefined) throw new Error(`the input ${alone ?? within} is missing`);
        const json = JSON.stringify(value);
        return alone !== undefined ? json : json.replace(/^"|"$/g, '');
      },
    );
    const [[name, filled] = ['', {}]] = Object.entries(JSON.parse(text));
    return [name, filled as Job];
  };
  return { inputs: spec.inputs, job };
}

/** Runs the scripts of a job as a runner does where there is no bash. */
function run({ before_script, script, variables = {} }: Job, env: Record<string, string>) {
  const own = Object.entries(variables).map(([name, { value }]) => [name, value]);
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      'sh',
      ['-e', '-c', [...before_script, ...script].join('\n')],
      {
        cwd: work,
        env: {
          PATH: bin + delimiter + somebody.env.PATH,
          HOME: work,
          NO_PROXY: '*',
          CI: 'true',
          PWPUSH_URL: service.url,
          ...Object.fromEntries(own),
          ...env,
        },
      },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

beforeAll(() => {
  mkdirSync(bin);
  const script = `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`;
  writeFileSync(join(bin, 'pwpush'), script, { mode: 0o755 });
});
beforeEach(() => {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
});

describe('GitLab components', onUnix, () => {
  const SECRET = 'pass "word" $HOME\nline 2';

  test('push leaves a link in the report, and run passes its secret to a command', async () => {
    const [name, pushing] = component('push').job({ env: 'DB_PASSWORD', days: 2 });
    expect([name, pushing]).toMatchObject([
      'push-secret',
      {
        stage: 'build',
        needs: [],
        artifacts: { access: 'developer', reports: { dotenv: 'pwpush.env' } },
      },
    ]);
    const env = { PWPUSH_TOKEN: service.token, DB_PASSWORD: SECRET };
    expect(await run(pushing, env)).toEqual({ code: 0, stdout: '', stderr: '' });
    const report = readFileSync(join(work, 'pwpush.env'), 'utf8');
    const LINK = /^LINK=(http\S+)\n$/.exec(report)?.[1] ?? '';
    const command = `printf %s "$TOKEN" >'got $it'; test "$0" && echo deployed`;
    const [, running] = component('run').job({ as: 'TOKEN', command, needs: ['push-secret'] });
    expect(running).toMatchObject({
      needs: ['push-secret'],
      variables: { COMMAND: { expand: false } },
    });
    expect(await run(running, { LINK })).toEqual({
      code: 0,
      stdout: 'deployed\n',
      stderr: 'variables set: TOKEN\n',
    });
    expect(readFileSync(join(work, 'got $it'), 'utf8')).toBe(SECRET);
    expect((await run(running, { LINK })).code).toBe(6);
  });

  test('the example of docs/ci.md passes a secret to a script', async () => {
    const { include } = exampleOf('GitLab CI') as {
      include: { local: string; inputs: Record<string, unknown> }[];
    };
    const [pushing, running] = include.map(
      ({ local, inputs }) =>
        component(/^\/templates\/(\w+)\.yml$/.exec(local)?.[1] ?? '').job(inputs)[1],
    ) as [Job, Job];
    const script = '#!/bin/sh\nprintf %s "$DB_PASSWORD" >got\n';
    writeFileSync(join(work, 'deploy.sh'), script, { mode: 0o755 });
    await run(pushing, { PWPUSH_TOKEN: service.token, DB_PASSWORD: SECRET });
    const LINK = readFileSync(join(work, 'pwpush.env'), 'utf8').slice('LINK='.length).trim();
    expect(await run(running, { LINK })).toMatchObject({ code: 0 });
    expect(readFileSync(join(work, 'got'), 'utf8')).toBe(SECRET);
  });

  test('a job fails if there is no secret, no link, or a wrong one', async () => {
    const [, pushing] = component('push').job({ env: 'DB_PASSWORD' });
    expect((await run(pushing, { PWPUSH_TOKEN: service.token })).code).toBe(2);
    const [, running] = component('run').job({ as: 'TOKEN', command: 'echo ran' });
    for (const env of [{}, { LINK: '' }, { LINK: 'nothing here' }]) {
      const { code, stdout } = await run(running, env);
      expect([code !== 0, stdout]).toEqual([true, '']);
    }
    const [, unsafe] = component('run').job({ as: 'PATH', command: 'echo ran' });
    const pushed = await pwpush(['push', '--url', service.url], {
      env: { ...somebody.env, PWPUSH_TOKEN: service.token },
      input: 'x',
    });
    expect(await run(unsafe, { LINK: pushed.stdout.trim() })).toMatchObject({
      code: 2,
      stdout: '',
    });
  });

  test('pwpush is installed where the image has none', async () => {
    const [, { before_script }] = component('push').job({ env: 'A' });
    writeFileSync(join(work, 'npm'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
    writeFileSync(join(work, 'ran'), '');
    const { stdout } = await run({ before_script, script: [] }, { PATH: `${work}:/bin` });
    expect(stdout).toBe('install --global pwpush@0\n');
  });

  test.each(['push', 'run'])(
    '%s has no input in a script that could be more than a word',
    (name) => {
      const { inputs } = component(name);
      const text = readFileSync(join(templates, `${name}.yml`), 'utf8');
      const scripts = text.slice(
        text.indexOf('before_script:'),
        text.indexOf('artifacts:') + 1 || undefined,
      );
      const used = [...scripts.matchAll(/\$\[\[ inputs\.(\w+) \]\]/g)].map(([, one = '']) => one);
      expect(used.length).toBeGreaterThan(1);
      for (const one of used) {
        const { type, regex } = inputs[one] ?? {};
        if (type === 'number') continue;
        for (const hostile of ['A;id', 'A B', '$(id)', '--help', '', 'A\nid', '1'])
          expect([one, hostile, new RegExp(regex ?? '').test(hostile)]).toEqual([
            one,
            hostile,
            false,
          ]);
        expect(new RegExp(regex ?? '').test('DB_PASSWORD')).toBe(true);
      }
    },
  );
});
