import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { onlyLong } from '../helpers/long';
import { allOf, needsFile, needsPrograms, onUnix } from '../helpers/needs';
import { pathWith, person, pushed, pwpush, script, serving } from '../helpers/program';
import { overSocket } from '../helpers/sockets';
import { exampleOf, yaml } from '../helpers/yaml';

// The recipes of docs/ci.md, taken out of its text; the components of GitLab; the lookup of Ansible: all run with the
// built program and service. action.slow.test.ts has the GitHub Action.

const somebody = person();
const service = serving(somebody.env);
const work = join(somebody.folder, 'work');
const bin = join(somebody.folder, 'bin');
const at = (name: string) => join(work, name);
const file = (name: string) => readFileSync(at(name), 'utf8');
/** That of a job without a token, and of one with it. */
let job: Record<string, string>;
let owner: Record<string, string>;
beforeAll(() => {
  const elsewhere = join(somebody.folder, 'elsewhere');
  job = {
    ...{ PATH: pathWith(bin), HOME: elsewhere, PWPUSH_CONFIG_DIR: elsewhere },
    ...{ NO_PROXY: '*', CI: 'true', PWPUSH_URL: service.url },
  };
  owner = { ...job, PWPUSH_TOKEN: service.token };
});
beforeEach(() => {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
});

/** Runs a program in the folder of a job. */
const run = (by: string, words: string[], env = owner, input = '') =>
  pwpush(words, { by: [by], env, cwd: work, input });
const done = (stdout = '', stderr = '') => ({ code: 0, signal: null, stdout, stderr });
const push = (payload: string, more = {}) => pushed(service, payload, more);
const expire = (link: string) => overSocket(['expire', link], { env: owner });
/** The link in what a job hands on, such as `LINK=http…`. */
const linkIn = (name: string, before: string) =>
  new RegExp(`^${before}=(http\\S+)\\n$`).exec(file(name))?.[1] ?? '';

describe('the recipe', () => {
  const [, recipes = ''] = readFileSync('docs/ci.md', 'utf8').split('\n## Recipes\n');

  /** The block below the paragraph that begins so. */
  function recipe(beginning: string): string {
    const found = recipes.split('\n```\n').find((one) => one.includes(`\n${beginning}`));
    const block = found?.split(/^```\w+\n/m)[1];
    if (!block) throw new Error(`no recipe "${beginning}"`);
    return block;
  }

  beforeEach(() => {
    // The recipes install a release; here the built program is there already.
    script(join(bin, 'npm'), '');
    script(join(bin, 'npx'), 'shift; exec pwpush "$@"');
    // Says what was asked of it, and keeps what came by the file it was told of.
    script(join(bin, 'kubectl'), `echo "$@"; cat "\${5#--from-env-file=}" >secret`);
    script(at('make-token'), 'echo hunter2');
    script(at('deploy.sh'), 'echo "deployed with $DEPLOY_TOKEN" | tee deployed');
  });

  const inBash = needsPrograms('bash', 'sed', 'grep');
  /** A step as CI runs it: a shell that ends with the first failure. */
  const step = (lines: string, env: Record<string, string> = {}) =>
    run('bash', ['-eo', 'pipefail', '-c', lines], { ...owner, ...env });

  test(
    'of GitHub Actions: a link goes from job to job, and the secret is masked',
    inBash,
    async () => {
      const runs = recipe('GitHub Actions').matchAll(/^( *)(?:- )?run: \|\n((?:\1 .*\n?)+)/gm);
      const [build = '', get = '', deploy = ''] = [...runs].map(([, , body = '']) =>
        body.replace(/^ +/gm, ''),
      );
      const env = { GITHUB_OUTPUT: at('output'), GITHUB_ENV: at('env') };
      for (const path of Object.values(env)) writeFileSync(path, '');
      expect(await step(build, env)).toEqual(done());
      const LINK = linkIn('output', 'link');
      expect(await step(get, { ...env, LINK })).toEqual(
        done('::add-mask::hunter2\n', 'variables set: DEPLOY_TOKEN\n'),
      );
      const [, , DEPLOY_TOKEN = ''] =
        /^DEPLOY_TOKEN<<(\S+)\n([\s\S]*)\n\1\n$/.exec(file('env')) ?? [];
      expect((await step(deploy, { ...env, DEPLOY_TOKEN })).stdout).toBe('deployed with hunter2\n');
      expect((await step(get, { ...env, LINK })).code).toBe(6);
    },
  );

  test('of GitLab: a link goes from job to job by the report', inBash, async () => {
    const [build = '', deploy = ''] = recipe('GitLab')
      .split(/^deploy:$/m)
      .map((part) => [...part.matchAll(/^ {4}- (.*)$/gm)].map(([, line]) => line).join('\n'));
    expect(await step(build)).toEqual(done());
    expect(await step(deploy, { LINK: linkIn('build.env', 'LINK') })).toEqual(
      done('deployed with ***\n', 'variables set: DEPLOY_TOKEN\n'),
    );
    expect(file('deployed')).toBe('deployed with hunter2\n');
  });

  test('of Jenkins: the script of the step leaves a link', inBash, async () => {
    // Jenkins writes a script that begins with #! to a file, and executes that.
    const [, text = ''] = /sh '''(#!.*?)'''/s.exec(recipe('Jenkins')) ?? [];
    writeFileSync(at('script.sh'), text, { mode: 0o755 });
    expect(await run(at('script.sh'), [])).toEqual(done());
    expect(file('link')).toMatch(/^http\S+\n$/);
    script(at('make-token'), 'exit 3');
    expect((await run(at('script.sh'), [])).code).not.toBe(0);
  });

  test('of Terraform: an object of strings (jq)', needsPrograms('jq'), async () => {
    const [argv = ''] = /\[.*\]/s.exec(recipe('Terraform')) ?? [];
    const [shell = '', ...args] = JSON.parse(argv) as string[];
    const env = { ...owner, LINK: await push('pass "word"') };
    const ended = await run(shell, args, env);
    await expire(env.LINK);
    expect((await run(shell, args, env)).code).toBe(6);
    expect([ended.code, JSON.parse(ended.stdout)]).toEqual([0, { payload: 'pass "word"' }]);
  });

  test('of a Makefile: the variables, and no link (make)', needsPrograms('make'), async () => {
    writeFileSync(at('Makefile'), recipe('A Makefile'));
    const LINK = await push('export DEPLOY_TOKEN="from make"\n');
    expect(await run('make', ['deploy'], { ...owner, LINK })).toEqual(
      done('deployed with ***\n', 'variables set: DEPLOY_TOKEN\n'),
    );
    expect(file('deployed')).toBe('deployed with from make\n');
  });

  test('of Ansible: its commands, as it starts them', inBash, async () => {
    const text = recipe('Ansible');
    const [read = [], hand = []] = [...text.matchAll(/argv: \[(.*)\]/g)].map(([, list = '']) =>
      list.split(', ').map((word) => word.replace(/^"(.*)"$/, '$1')),
    );
    expect(text).toContain('stdin: "{{ password }}"\n    stdin_add_newline: false');
    const [pushing = '', ...pushWords] = hand;
    const { stdout } = await run(join(bin, pushing), pushWords, owner, 'pass word');
    const [getting = '', ...getWords] = read.map((word) =>
      word.replace('{{ link }}', stdout.trim()),
    );
    expect(await run(join(bin, getting), getWords)).toEqual(done('pass word'));
  });

  test(
    'of Kubernetes: bytes on standard input',
    allOf(inBash, needsFile('/dev/stdin')),
    async () => {
      const LINK = await push('USER=app\nPASSWORD=a b"c\n');
      expect(await step(recipe('Kubernetes'), { LINK })).toMatchObject({
        code: 0,
        stdout: 'create secret generic app --from-env-file=/dev/stdin\n',
      });
      expect(file('secret')).toBe('USER=app\nPASSWORD=a b"c\n');
      await expire(LINK);
      expect(await step(recipe('Kubernetes'), { LINK })).toMatchObject({ code: 6, stdout: '' });
    },
  );

  test('of a recipient with curl: the text to the byte', needsPrograms('curl'), async () => {
    const [plain = '', protectedOne = ''] = recipe('A recipient').trim().split('\n');
    const secret = 'pass\r\nword';
    expect((await step(plain, { LINK: await push(secret) })).stdout).toBe(secret);
    const LINK = await push(secret, { passphrase: 'open & shut' });
    const tried = (P: string) => step(`printf %s "$P" | ${protectedOne}`, { LINK, P });
    expect(await tried('wrong')).toMatchObject({ code: 22, stdout: '' });
    expect(await tried('open & shut')).toMatchObject({ code: 0, stdout: secret });
  });

  test('of waiting: a push that was looked at is taken back', inBash, async () => {
    const LINK = await push('x');
    await overSocket(['get', LINK, '--anonymous']);
    expect((await step(recipe('Wait until'), { LINK })).code).toBe(0);
    expect((await overSocket(['get', LINK, '--anonymous'])).code).toBe(6);
  });

  const answers = {
    'ann.pub': 'ssh-ed25519 AAAA ann',
    'customer/site.crt': 'CERT',
    'customer/site.key': 'KEY',
    released: 'released with 123456\n',
  };
  test.each<[string, string, (keyof typeof answers)[]]>([
    ['A new colleague', 'echo "ssh-ed25519 AAAA ann" | pwpush respond "$2" --quiet', ['ann.pub']],
    [
      "A customer's certificate",
      'pwpush respond "$2" --file site.crt --file site.key --quiet',
      ['customer/site.crt', 'customer/site.key'],
    ],
    ['Wait for a person', 'echo 123456 | pwpush respond "$2" --quiet', ['released']],
  ])('of a request that someone answers: %s', inBash, async (beginning, words, results) => {
    writeFileSync(at('site.crt'), 'CERT');
    writeFileSync(at('site.key'), 'KEY');
    script(at('release.sh'), 'echo "released with $OTP" | tee released');
    // The person to whom it is sent.
    script(at('send-link'), `echo "$1" >sent; unset PWPUSH_TOKEN; ${words}`);
    const { code, stdout } = await step(recipe(beginning));
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('1234'),
    });
    for (const name of results) expect([name, file(name)]).toEqual([name, answers[name]]);
  });
});

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

// There is no GitLab here, so what it makes of the rest of a job is not tried.
describe('the GitLab component', onUnix, () => {
  const SECRET = 'pass "word" $HOME\nline 2';

  /** The specification of a component, and the job that comes of some inputs, filled in as GitLab does. */
  function component(name: string) {
    const path = join(import.meta.dirname, `../../deploy/gitlab/templates/${name}.yml`);
    const text = readFileSync(path, 'utf8');
    const [head, body] = yaml(text);
    const inputs: Record<string, Input> = head.spec.inputs;
    const job = (given: Record<string, unknown>): [string, Job] => {
      const filled = JSON.stringify(body).replace(
        /"\$\[\[ inputs\.(\w+) \]\]"|\$\[\[ inputs\.(\w+) \]\]/g,
        (_, alone: string | undefined, within: string) => {
          const value = given[alone ?? within] ?? inputs[alone ?? within]?.default;
          if (value === undefined) throw new Error(`the input ${alone ?? within} is missing`);
          const json = JSON.stringify(value);
          return alone !== undefined ? json : json.replace(/^"|"$/g, '');
        },
      );
      const [[named, one] = ['', {}]] = Object.entries(JSON.parse(filled));
      return [named, one as Job];
    };
    return { text, inputs, job };
  }

  /** Runs the scripts of a job as a runner does where there is no bash. */
  function runJob({ before_script, script, variables = {} }: Job, env: Record<string, string>) {
    const own = Object.entries(variables).map(([name, { value }]) => [name, value]);
    const lines = [...before_script, ...script].join('\n');
    return run('sh', ['-e', '-c', lines], { ...job, ...Object.fromEntries(own), ...env });
  }

  test('of the example of docs/ci.md passes a secret to a script by a link in the report', async () => {
    const { include } = exampleOf('GitLab CI') as {
      include: { local: string; inputs: Record<string, unknown> }[];
    };
    const [[name, pushing], [, running]] = include.map(({ local, inputs }) => {
      const [, name = ''] = /^\/templates\/(\w+)\.yml$/.exec(local) ?? [];
      return component(name).job(inputs);
    }) as [[string, Job], [string, Job]];
    const artifacts = { access: 'developer', reports: { dotenv: 'pwpush.env' } };
    expect(pushing).toMatchObject({ stage: 'build', needs: [], artifacts });
    expect(running).toMatchObject({ needs: [name], variables: { COMMAND: { expand: false } } });
    script(at('deploy.sh'), 'printf %s "$DB_PASSWORD" >got; echo deployed');
    const env = { PWPUSH_TOKEN: service.token, DB_PASSWORD: SECRET };
    expect(await runJob(pushing, env)).toEqual(done());
    const LINK = linkIn('pwpush.env', 'LINK');
    const deployed = done('deployed\n', 'variables set: DB_PASSWORD\n');
    expect(await runJob(running, { LINK })).toEqual(deployed);
    expect(file('got')).toBe(SECRET);
    expect((await runJob(running, { LINK })).code).toBe(6);
  });

  test('runs a command as it was written', async () => {
    const command = `printf %s "$TOKEN" >'got $it'; test "$0" && echo deployed`;
    const [, running] = component('run').job({ as: 'TOKEN', command });
    expect((await runJob(running, { LINK: await push(SECRET) })).stdout).toBe('deployed\n');
    expect(file('got $it')).toBe(SECRET);
  });

  test('fails if there is no secret, no link, or a wrong one', async () => {
    const [, pushing] = component('push').job({ env: 'DB_PASSWORD' });
    expect((await runJob(pushing, { PWPUSH_TOKEN: service.token })).code).toBe(2);
    const [, running] = component('run').job({ as: 'TOKEN', command: 'echo ran' });
    const [, unsafe] = component('run').job({ as: 'PATH', command: 'echo ran' });
    for (const [one, env] of [
      [running, {}],
      [running, { LINK: '' }],
      [running, { LINK: 'nothing here' }],
      [unsafe, { LINK: await push('x') }],
    ] as const) {
      const { code, stdout } = await runJob(one, env);
      expect([code !== 0, stdout]).toEqual([true, '']);
    }
  });

  test('installs pwpush where the image has none', async () => {
    const [, { before_script }] = component('push').job({ env: 'A' });
    script(at('npm'), 'echo "$@"');
    writeFileSync(at('ran'), '');
    const { stdout } = await runJob({ before_script, script: [] }, { PATH: `${work}:/bin` });
    expect(stdout).toBe('install --global pwpush@0\n');
  });

  test.each(['push', 'run'])(
    '%s has no input in a script that could be more than a word',
    (name) => {
      const { text, inputs } = component(name);
      const from = text.indexOf('before_script:');
      const scripts = text.slice(from, text.indexOf('artifacts:') + 1 || undefined);
      const used = [...scripts.matchAll(/\$\[\[ inputs\.(\w+) \]\]/g)].map(([, one = '']) => one);
      expect(used.length).toBeGreaterThan(1);
      for (const { type, regex = '' } of used.flatMap((one) => inputs[one] ?? [])) {
        if (type === 'number') continue;
        const hostile = ['A;id', 'A B', '$(id)', '--help', '', 'A\nid', '1'];
        expect(hostile.filter((word) => new RegExp(regex).test(word))).toEqual([]);
        expect('DB_PASSWORD').toMatch(new RegExp(regex));
      }
    },
  );
});

// Each playbook takes more than a second, so these are long tests.
const inAnsible = allOf(onlyLong, needsPrograms('ansible-playbook'));
describe('the Ansible lookup (long, needs ansible-playbook)', inAnsible, () => {
  const SECRET = '  {{ lookup("pipe", "touch cracked") }} "word"\nline 2\n\n';
  const once = (secret: string) => push(secret, { expire_after_views: 1 });

  async function ansible(name: string, words: string[], more = {}) {
    const env = {
      ...{ ...somebody.env, PATH: job.PATH ?? '', LC_ALL: 'C.UTF-8', ANSIBLE_PIPELINING: 'True' },
      ...{ ANSIBLE_LOCALHOST_WARNING: 'False', ANSIBLE_NOCOLOR: '1', PYTHONDONTWRITEBYTECODE: '1' },
      ANSIBLE_LOOKUP_PLUGINS: join(import.meta.dirname, '../../deploy/ansible/lookup_plugins'),
      ...more,
    };
    const { code, stdout, stderr } = await run(name, words, env);
    return { code, said: stdout + stderr };
  }

  /** Words for one of the hosts alone. */
  const one = ['--limit', 'a'];

  /** Runs tasks for two hosts, which both are this machine. */
  function play(tasks: object[], variables: object, words: string[] = [], env = {}) {
    const book = [{ hosts: 'all', gather_facts: false, connection: 'local', tasks }];
    // JSON is YAML.
    writeFileSync(at('play.yml'), JSON.stringify(book));
    // The Python of Ansible itself, which it need not look for.
    const python = { ansible_python_interpreter: '{{ ansible_playbook_python }}' };
    writeFileSync(at('vars.json'), JSON.stringify({ ...python, ...variables }));
    const all = ['-i', 'a,b', 'play.yml', '-e', '@vars.json', ...words];
    return ansible('ansible-playbook', all, env);
  }
  const assert = (...that: string[]) => ({ 'ansible.builtin.assert': { that } });

  test('gets a secret once for all hosts, keeps it from the output, and does so in the example of docs/ci.md', async () => {
    const first = await once(SECRET);
    const sum = createHash('sha256').update(SECRET).digest('hex');
    const passphrase = somebody.folder;
    const env = { ...somebody.env, PWPUSH_PASSPHRASE: passphrase };
    const words = ['push', '--encrypt', '--views', '1'];
    const encrypted = await pwpush(words, { env, input: 'hunter2' });
    const [bare = '', key = ''] = encrypted.stdout.trim().split('#');
    const [{ tasks }] = exampleOf('Ansible') as [{ tasks: object[] }];
    const set_fact = {
      twice: "{{ query('pwpush', first, first) }}",
      other: "{{ lookup('pwpush', bare, key=key, passphrase=passphrase) }}",
    };
    const found = assert(
      "other == 'hunter2'",
      'twice[0] == twice[1]',
      "twice[1] | hash('sha256') == sum",
    );
    // What one host has got both write, which would fail without it.
    const all = [{ 'ansible.builtin.set_fact': set_fact, no_log: true }, found];
    const { code, said } = await play(
      [...all.map((one) => ({ ...one, run_once: true })), ...tasks],
      { first, sum, bare, key, passphrase, link: await once(SECRET) },
    );
    expect({ code, said }).toMatchObject({ code: 0 });
    expect(said).toMatch(/^a +: ok=4 .*\nb +: ok=1 /m);
    expect([file('db-password'), statSync(at('db-password')).mode & 0o777]).toEqual([
      SECRET,
      0o600,
    ]);
    expect(said).not.toMatch(/hunter2|line 2/);
    expect(existsSync(at('cracked'))).toBe(false);
  });

  test('fails without a secret or the whole link in the message, and uses no view in check mode', async () => {
    const link = await once('hunter2');
    const task = (call: string) => ({ 'ansible.builtin.debug': { msg: `{{ ${call} }}` } });
    const checked = await play([task("lookup('pwpush', link)")], { link }, [...one, '--check']);
    expect(checked).toEqual({
      code: 0,
      said: expect.stringContaining('not retrieved in check mode'),
    });
    const calls = ['link', 'link', "'--help'", "''", "link, executable='/nowhere/pwpush'"];
    const tried = calls.map((words) => task(`lookup('pwpush', ${words})`));
    const { code, said } = await play(
      tried.map((one) => ({ ...one, ignore_errors: true, run_once: true })),
      { link },
    );
    expect({ code, said }).toMatchObject({ code: 0 });
    expect(said).toContain('"msg": "hunter2"');
    expect(said).toMatch(/pwpush: the push has expired\\n.*\(exit code 6\)/);
    expect(said).toMatch(/a link must be a text that is not empty/);
    const nowhere = "[Errno 2] No such file or directory: '/nowhere/pwpush'";
    expect(said).toContain(`cannot run pwpush: ${nowhere}`);
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
    const that = assert(
      "pwpush_executable is match('.*program-of-host')",
      "lookup('pwpush', 'link') == 'of controller, \n'",
      "lookup('pwpush', 'other', passphrase='a', key='b', executable=given) == 'a, b\n'",
    );
    const PWPUSH_EXECUTABLE = script(at('by-variable'), used);
    const env = { PWPUSH_EXECUTABLE, PWPUSH_PASSPHRASE: 'of controller' };
    const given = script(at('given'), used);
    const { code, said } = await play([{ lying_setup: {} }, that], { given }, one, env);
    expect({ code, said }).toMatchObject({ code: 0 });
    expect(existsSync(at('cracked'))).toBe(false);
  });

  test('is documented as Ansible expects it', async () => {
    const { code, said } = await ansible('ansible-doc', ['-t', 'lookup', 'pwpush']);
    expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining('EXAMPLES:') });
    expect(said).toContain('run_once: true');
  });
});
