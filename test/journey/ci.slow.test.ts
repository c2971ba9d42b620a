import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { onlyLong } from '../helpers/long';
import { allOf, needsFile, needsPrograms, onUnix } from '../helpers/needs';
import { pushed, pwpush, script, workplace } from '../helpers/program';
import { overSocket } from '../helpers/sockets';
import { trusting } from '../helpers/trusting';
import { exampleOf, type Plain, yaml } from '../helpers/yaml';

// Recipes of docs/ci.md, taken out of its text; the components of GitLab; the lookup of Ansible: all run with the
// built program and service. action.slow.test.ts has the GitHub Action.

const { env: settled, service, job, owner, work, bin, at, file } = workplace();

const from = trusting(service, settled);

const run = (by: string, words: string[], env = owner, input = '') =>
  pwpush(words, { by: [by], env: { CI: 'true', ...env }, cwd: work, input });
const done = (stdout = '', stderr = '') => ({ code: 0, signal: null, stdout, stderr });
const push = (payload: string, more = {}) => pushed(service, payload, more);
/** The key in a link, without which the instance has the secret in clear. */
const KEY = /#[\w-]{22}$/;
/** The link in what a job hands on, such as `LINK=http…`. */
const linkIn = (name: string) => /^\w+=(http\S+)\n$/.exec(file(name))?.[1] ?? '';

describe('the recipe', needsPrograms('bash', 'curl'), () => {
  const [, recipes = ''] = readFileSync('docs/ci.md', 'utf8').split('\n## Recipes\n');

  /** The block below the paragraph that begins so. */
  function recipe(beginning: string): string {
    const found = recipes.split('\n```\n').find((one) => one.includes(`\n${beginning}`));
    const block = found?.split(/^```\w+\n/m)[1];
    if (!block) throw new Error(`no recipe "${beginning}"`);
    return block;
  }

  beforeEach(() => {
    script(join(bin, 'kubectl'), `cat "\${5#--from-env-file=}" >secret`);
    script(at('make-token'), 'echo hunter2');
    script(at('deploy.sh'), 'echo "deployed with $DEPLOY_TOKEN" | tee deployed');
  });

  /** A step as CI runs it: a shell that ends with the first failure. */
  const step = (lines: string, env: Record<string, string> = {}) =>
    run('bash', ['-eo', 'pipefail', '-c', lines], { ...owner, ...env });

  test('of GitLab: a link goes from job to job by the report', async () => {
    const { variables, build, deploy } = yaml(recipe('GitLab'))[0];
    expect(await step(build.script.join('\n'), variables)).toEqual(done());
    expect(linkIn('build.env')).toMatch(KEY);
    expect(await step(deploy.script.join('\n'), { LINK: linkIn('build.env') })).toEqual(
      done('deployed with ***\n', 'variables set: DEPLOY_TOKEN\n'),
    );
    expect(file('deployed')).toBe('deployed with hunter2\n');
  });

  test('of Kubernetes: bytes on standard input', needsFile('/dev/stdin'), async () => {
    const [secret, LINK] = ['USER=app\nPASSWORD=a b"c\n', await push('USER=app\nPASSWORD=a b"c\n')];
    expect(await step(recipe('Kubernetes'), { LINK })).toMatchObject({ code: 0 });
    expect(file('secret')).toBe(secret);
    rmSync(at('secret'));
    await overSocket(['expire', LINK], { env: owner });
    expect(await step(recipe('Kubernetes'), { LINK })).toMatchObject({ code: 6, stdout: '' });
    expect(existsSync(at('secret'))).toBe(false);
  });

  test('of a recipient with curl: the text to the byte', async () => {
    const [plain = '', protectedOne = ''] = recipe('A recipient').trim().split('\n');
    const secret = 'pass\r\nword';
    expect((await step(plain, { LINK: await push(secret) })).stdout).toBe(secret);
    const LINK = await push(secret, { passphrase: 'open & shut' });
    const tried = (P: string) => step(`printf %s "$P" | ${protectedOne}`, { LINK, P });
    expect(await tried('wrong')).toMatchObject({ code: 22, stdout: '' });
    expect(await tried('open & shut')).toMatchObject({ code: 0, stdout: secret });
  });

  test('of waiting: a push that was looked at is taken back', async () => {
    const LINK = await push('x');
    await overSocket(['get', LINK, '--anonymous']);
    expect((await step(recipe('Wait until'), { LINK })).code).toBe(0);
    expect((await overSocket(['get', LINK, '--anonymous'])).code).toBe(6);
  });

  test.each([
    ['A new colleague', 'echo 123456 | pwpush respond "$2" --quiet', 'ann.pub', '123456'],
    ['A customer', 'pwpush respond "$2" --file site.key --quiet', 'customer/site.key', '123456'],
    ['Wait for a person', 'echo 123456 | pwpush respond "$2" --quiet', 'released', '123456\n'],
  ])('of a request that someone answers: %s', async (beginning, words, name, answer) => {
    writeFileSync(at('site.key'), '123456');
    script(at('release.sh'), 'echo "$OTP" | tee released');
    // The person to whom it is sent.
    script(at('send-link'), `echo "$1" >sent; unset PWPUSH_TOKEN; ${words}`);
    const { code, stdout } = await step(recipe(beginning));
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('123456')]);
    expect(file(name)).toBe(answer);
  });
});

// There is no GitLab here, so what it makes of the rest of a job is not tried.
describe('the GitLab component', onUnix, () => {
  const SECRET = 'pass "word" $HOME\nline 2';

  /** The specification of a component, and the job that comes of some inputs, filled in as GitLab does. */
  function component(name: string) {
    const path = join(import.meta.dirname, `../../deploy/gitlab/templates/${name}.yml`);
    const text = readFileSync(path, 'utf8');
    const [head, body] = yaml(text);
    const { inputs } = head.spec;
    const job = (given: Record<string, unknown>): [name: string, job: Plain] => {
      const filled = JSON.stringify(body).replace(
        /"\$\[\[ inputs\.(\w+) \]\]"|\$\[\[ inputs\.(\w+) \]\]/g,
        (_, alone: string | undefined, within: string) => {
          const json = JSON.stringify(given[alone ?? within] ?? inputs[alone ?? within]?.default);
          return alone !== undefined ? json : json.replace(/^"|"$/g, '');
        },
      );
      const [[named, one] = ['']] = Object.entries(JSON.parse(filled));
      return [named, one];
    };
    return { text, inputs, job };
  }

  /** Runs the scripts of a job as a runner does where there is no bash. */
  function runJob({ before_script, script, variables = {} }: Plain, env: Record<string, string>) {
    const own = Object.entries<Plain>(variables).map(([name, { value }]) => [name, value]);
    const lines = [...before_script, ...script].join('\n');
    return run('sh', ['-e', '-c', lines], { ...job, ...Object.fromEntries(own), ...env });
  }

  test('of the example of docs/ci.md passes a secret to a script by a link in the report', async () => {
    const [[name, pushing], [, running]] = exampleOf('GitLab CI').include.map(({ local, inputs }: Plain) =>
      component(basename(local, '.yml')).job(inputs),
    );
    expect(running).toMatchObject({ needs: [name], variables: { COMMAND: { expand: false } } });
    script(at('deploy.sh'), 'printf %s "$DB_PASSWORD" >got; echo deployed');
    const env = { PWPUSH_TOKEN: service.token, DB_PASSWORD: SECRET };
    expect(await runJob(pushing, env)).toEqual(done());
    const LINK = linkIn('pwpush.env');
    expect(LINK).toMatch(KEY);
    const deployed = done('deployed\n', 'variables set: DB_PASSWORD\n');
    expect(await runJob(running, { LINK })).toEqual(deployed);
    expect(file('got')).toBe(SECRET);
    expect((await runJob(running, { LINK })).code).toBe(6);
    const [, inClear] = component('push').job({ env: 'DB_PASSWORD', encrypt: false });
    expect(await runJob(inClear, { ...env, PWPUSH_ENCRYPT: 'link' })).toEqual(done());
    expect(linkIn('pwpush.env')).toMatch(/\/p\/[^#]+$/);
  });

  test('pushes by the identity of its job, for the address of the instance, unless a token is given', async () => {
    const [, pushing] = component('push').job({ env: 'DB_PASSWORD', encrypt: false });
    expect(pushing.id_tokens).toEqual({ PWPUSH_ID_TOKEN: { aud: '$PWPUSH_URL' } });
    const env = { GITLAB_CI: 'true', DB_PASSWORD: SECRET, PWPUSH_ID_TOKEN: from.token() };
    expect(await runJob(pushing, env)).toEqual(done());
    const link = linkIn('pwpush.env');
    // The owner of the trust has made it.
    expect((await run('pwpush', ['expire', link], { ...job, ...env, PWPUSH_TOKEN_FROM: 'ci' })).code).toBe(0);
    expect(await runJob(pushing, { ...env, PWPUSH_ID_TOKEN: '', PWPUSH_TOKEN: service.token })).toEqual(done());
    expect(await runJob(pushing, { ...env, PWPUSH_ID_TOKEN: '', PWPUSH_TOKEN_FROM: '' })).toEqual(done());
  });

  test('is not needed for the identity of a job in the example of docs/ci.md', async () => {
    const { id_tokens, variables, script: lines } = exampleOf('Without a stored token', 1).build;
    expect(id_tokens.PWPUSH_ID_TOKEN.aud).toBe(variables.PWPUSH_URL);
    script(at('make-token'), 'echo hunter2');
    const told = [...lines, 'printf %s "$link"'].join('\n').replace('npx pwpush@0', 'pwpush');
    const env = { ...job, ...variables, PWPUSH_URL: service.url, PWPUSH_ID_TOKEN: from.token() };
    const { stdout: link } = await run('sh', ['-ec', told], env);
    expect(link).toMatch(KEY);
    expect(await run('pwpush', ['get', '-'], job, link)).toEqual(done('hunter2'));
  });

  test('runs a command as it was written, and none without a secret for it', async () => {
    const command = `printf %s "$TOKEN" >'got $it'; test "$0" && echo deployed`;
    const [, running] = component('run').job({ as: 'TOKEN', command });
    expect((await runJob(running, { LINK: await push(SECRET) })).stdout).toBe('deployed\n');
    expect(file('got $it')).toBe(SECRET);
    const [, unsafe] = component('run').job({ as: 'PATH', command });
    const LINK = await push('x');
    for (const ended of [
      await runJob(running, {}),
      await runJob(running, { LINK: '' }),
      await runJob(unsafe, { LINK }),
    ])
      expect([ended.code !== 0, ended.stdout]).toEqual([true, '']);
  });

  test('has no input in a script that could be more than a word', () => {
    for (const { text, inputs } of [component('push'), component('run')]) {
      const from = text.indexOf('before_script:');
      const scripts = text.slice(from, text.indexOf('artifacts:') + 1 || undefined);
      const used = [...scripts.matchAll(/\$\[\[ inputs\.(\w+) \]\]/g)].map(([, one = '']) => one);
      expect(used.length).toBeGreaterThan(1);
      for (const { type, regex = '' } of used.map((one) => inputs[one])) {
        if (type === 'number' || type === 'boolean') continue;
        const hostile = ['A;id', 'A B', '$(id)', '--help', '', 'A\nid', '1'];
        expect(hostile.filter((word) => new RegExp(regex).test(word))).toEqual([]);
      }
    }
  });
});

// Each playbook takes more than a second, so these are long tests.
const inAnsible = allOf(onlyLong, needsPrograms('ansible-playbook'));
describe('the Ansible lookup (long, needs ansible-playbook)', inAnsible, () => {
  const SECRET = '  {{ lookup("pipe", "touch cracked") }} "word"\nline 2\n\n';

  /** Runs tasks for two hosts, which both are this machine; resolves to what is said. */
  async function play(tasks: object[], variables: object, words: string[] = [], more = {}) {
    const env = {
      ...settled,
      PATH: job.PATH ?? '',
      CI: '',
      LC_ALL: 'C.UTF-8',
      ANSIBLE_PIPELINING: 'True',
      ANSIBLE_LOCALHOST_WARNING: 'False',
      ANSIBLE_NOCOLOR: '1',
      PYTHONDONTWRITEBYTECODE: '1',
      ANSIBLE_LOOKUP_PLUGINS: join(import.meta.dirname, '../../deploy/ansible/lookup_plugins'),
      ...more,
    };
    const book = [{ hosts: 'all', gather_facts: false, connection: 'local', tasks }];
    // JSON is YAML.
    writeFileSync(at('play.yml'), JSON.stringify(book));
    // The Python of Ansible itself, which it need not look for.
    const python = { ansible_python_interpreter: '{{ ansible_playbook_python }}' };
    writeFileSync(at('vars.json'), JSON.stringify({ ...python, ...variables }));
    const all = ['-i', 'a,b', 'play.yml', '-e', '@vars.json', ...words];
    const { code, stdout, stderr } = await run('ansible-playbook', all, env);
    expect(code, stdout + stderr).toBe(0);
    return stdout + stderr;
  }

  test('gets a secret once for all hosts, and keeps it from the output, in the example of docs/ci.md', async () => {
    const link = await push(SECRET, { expire_after_views: 1 });
    const said = await play(exampleOf('Ansible')[0].tasks, { link });
    expect(file('db-password')).toBe(SECRET);
    expect(statSync(at('db-password')).mode & 0o777).toBe(0o600);
    expect(said).not.toContain('line 2');
    expect(existsSync(at('cracked'))).toBe(false);
  });

  test('fails without a secret or the whole link in the message, and uses no view in check mode', async () => {
    const link = await push('hunter2', { expire_after_views: 1 });
    const task = (words: string) => ({
      'ansible.builtin.debug': { msg: `{{ lookup('pwpush', ${words}) }}` },
      ignore_errors: true,
      run_once: true,
    });
    const checked = await play([task('link')], { link }, ['--check']);
    expect(checked).toContain('not retrieved in check mode');
    const calls = ['link', 'link', "'--help'", "''", "link, executable='/nowhere/pwpush'"];
    const said = await play(calls.map(task), { link });
    expect(said).toContain('"msg": "hunter2"');
    expect(said).toMatch(/pwpush: the push has expired\\n.*\(exit code 6\)/);
    expect(said).toMatch(/a link must be a text that is not empty/);
    expect(said).toContain('cannot run pwpush: [Errno 2] No such file or directory');
    expect(said).not.toContain('usage:');
    expect(said.split(link).length).toBe(1);
  });

  test('is not controlled by facts of a managed host', async () => {
    const facts = {
      pwpush_executable: script(at('program-of-host'), 'touch cracked'),
      pwpush_passphrase: 'of host',
      pwpush_key: 'of host',
      ansible_check_mode: true,
    };
    mkdirSync(at('library'));
    script(at('library/lying_setup'), `echo '${JSON.stringify({ ansible_facts: facts })}'`);
    const used = 'echo "$PWPUSH_PASSPHRASE, $PWPUSH_KEY"';
    const that = [
      "pwpush_executable is match('.*program-of-host')",
      "lookup('pwpush', 'link') == 'of controller, \n'",
      "lookup('pwpush', 'other', passphrase='a', key='b', executable=given) == 'a, b\n'",
    ];
    const PWPUSH_EXECUTABLE = script(at('by-variable'), used);
    const env = { PWPUSH_EXECUTABLE, PWPUSH_PASSPHRASE: 'of controller' };
    const given = script(at('given'), used);
    const tasks = [{ lying_setup: {} }, { 'ansible.builtin.assert': { that } }];
    await play(tasks, { given }, ['--limit', 'a'], env);
    expect(existsSync(at('cracked'))).toBe(false);
  });
});
