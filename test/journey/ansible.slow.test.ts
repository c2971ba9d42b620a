import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { onlyLong } from '../helpers/long';
import { allOf, needsPrograms } from '../helpers/needs';
import { person, program, pushed, pwpush, serving } from '../helpers/program';
import { exampleOf } from '../helpers/yaml';

// The lookup of Ansible, in playbooks that ansible-playbook runs. Each takes more than a second, so these are long tests.

const lookup = join(import.meta.dirname, '../../deploy/ansible/lookup_plugins');
const somebody = person();
const service = serving(somebody.env);
const file = (name: string) => join(somebody.folder, name);

beforeAll(() => {
  mkdirSync(file('bin'));
  const script = `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`;
  writeFileSync(file('bin/pwpush'), script, { mode: 0o755 });
});

function ansible(name: string, words: string[], env: Record<string, string> = {}) {
  return new Promise<{ code: number; said: string }>((resolve) => {
    execFile(
      name,
      words,
      {
        cwd: somebody.folder,
        env: {
          ...somebody.env,
          PATH: file('bin') + delimiter + somebody.env.PATH,
          LC_ALL: 'C.UTF-8',
          ANSIBLE_LOOKUP_PLUGINS: lookup,
          ANSIBLE_LOCALHOST_WARNING: 'False',
          ANSIBLE_NOCOLOR: '1',
          ANSIBLE_PIPELINING: 'True',
          PYTHONDONTWRITEBYTECODE: '1',
          ...env,
        },
      },
      (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, said: stdout + stderr }),
    );
  });
}

/** Words for one of them alone. */
const one = ['--limit', 'a'];

/** Runs tasks for two hosts, which both are this machine. */
function play(tasks: object[], variables: object, words: string[] = [], env = {}) {
  const book = [{ hosts: 'all', gather_facts: false, connection: 'local', tasks }];
  // JSON is YAML.
  writeFileSync(file('play.yml'), JSON.stringify(book));
  // The Python of Ansible itself, which it need not look for.
  const python = { ansible_python_interpreter: '{{ ansible_playbook_python }}' };
  writeFileSync(file('vars.json'), JSON.stringify({ ...python, ...variables }));
  const all = ['-i', 'a,b', 'play.yml', '-e', '@vars.json', ...words];
  return ansible('ansible-playbook', all, env);
}

const push = (secret: string) => pushed(service, secret, { expire_after_views: 1 });

describe(
  'the Ansible lookup (long, needs ansible-playbook)',
  allOf(onlyLong, needsPrograms('ansible-playbook')),
  () => {
    const SECRET = '  {{ lookup("pipe", "touch cracked") }} "word"\nline 2\n\n';

    test('gets a secret once for all hosts, keeps it from the output, and does so in the example of docs/ci.md', async () => {
      const first = await push(SECRET);
      const sum = createHash('sha256').update(SECRET).digest('hex');
      const env = { ...somebody.env, PWPUSH_PASSPHRASE: somebody.env.HOME ?? '' };
      const encrypted = await pwpush(['push', '--encrypt', '--views', '1'], {
        env,
        input: 'hunter2',
      });
      const [bare = '', key = ''] = encrypted.stdout.trim().split('#');
      const [{ tasks }] = exampleOf('Ansible') as [{ tasks: object[] }];
      const { code, said } = await play(
        [
          {
            'ansible.builtin.set_fact': {
              twice: "{{ query('pwpush', first, first) }}",
              other: "{{ lookup('pwpush', bare, key=key, passphrase=passphrase) }}",
            },
            run_once: true,
            no_log: true,
          },
          {
            'ansible.builtin.assert': {
              that: [
                "other == 'hunter2'",
                'twice[0] == twice[1]',
                "twice[1] | hash('sha256') == sum",
              ],
            },
            run_once: true,
          },
          // What one host has got both write, which would fail without it.
          ...tasks,
        ],
        { first, sum, bare, key, passphrase: somebody.env.HOME, link: await push(SECRET) },
      );
      expect({ code, said }).toMatchObject({ code: 0 });
      expect(said).toMatch(/^a +: ok=4 .*\nb +: ok=1 /m);
      expect(readFileSync(file('db-password'), 'utf8')).toBe(SECRET);
      expect(statSync(file('db-password')).mode & 0o777).toBe(0o600);
      expect(said).not.toMatch(/hunter2|line 2/);
      expect(existsSync(file('cracked'))).toBe(false);
    });

    test('fails without a secret or the whole link in the message, and uses no view in check mode', async () => {
      const link = await push('hunter2');
      const task = (call: string) => ({ 'ansible.builtin.debug': { msg: `{{ ${call} }}` } });
      const checked = await play([task("lookup('pwpush', link)")], { link }, [...one, '--check']);
      expect(checked).toEqual({
        code: 0,
        said: expect.stringContaining('not retrieved in check mode'),
      });
      const tried = (call: string) => ({ ...task(call), ignore_errors: true, run_once: true });
      const { code, said } = await play(
        [
          tried("lookup('pwpush', link)"),
          tried("lookup('pwpush', link)"),
          tried("lookup('pwpush', '--help')"),
          tried("lookup('pwpush', '')"),
          tried("lookup('pwpush', link, executable='/nowhere/pwpush')"),
        ],
        { link },
      );
      expect({ code, said }).toMatchObject({ code: 0 });
      expect(said).toContain('"msg": "hunter2"');
      expect(said).toMatch(/pwpush: the push has expired\\n.*\(exit code 6\)/);
      expect(said).toMatch(/a link must be a text that is not empty/);
      expect(said).toContain(
        "cannot run pwpush: [Errno 2] No such file or directory: '/nowhere/pwpush'",
      );
      expect(said).not.toContain('usage:');
      expect(said.split(link).length).toBe(1);
    });

    test('is not controlled by facts of a managed host', async () => {
      const script = (name: string, body: string) => {
        writeFileSync(file(name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
        return file(name);
      };
      const facts = {
        pwpush_executable: script('program-of-host', 'touch cracked'),
        pwpush_passphrase: 'of host',
        pwpush_key: 'of host',
        ansible_check_mode: true,
      };
      mkdirSync(file('library'));
      script('library/lying_setup', `echo '${JSON.stringify({ ansible_facts: facts })}'`);
      const used = 'echo "$PWPUSH_PASSPHRASE, $PWPUSH_KEY"';
      const { code, said } = await play(
        [
          { lying_setup: {} },
          {
            'ansible.builtin.assert': {
              that: [
                "pwpush_executable is match('.*program-of-host')",
                "lookup('pwpush', 'link') == 'of controller, \n'",
                "lookup('pwpush', 'other', passphrase='a', key='b', executable=given) == 'a, b\n'",
              ],
            },
          },
        ],
        { given: script('given', used) },
        one,
        { PWPUSH_EXECUTABLE: script('by-variable', used), PWPUSH_PASSPHRASE: 'of controller' },
      );
      expect({ code, said }).toMatchObject({ code: 0 });
      expect(existsSync(file('cracked'))).toBe(false);
    });

    test('is documented as Ansible expects it', async () => {
      const { code, said } = await ansible('ansible-doc', ['-t', 'lookup', 'pwpush']);
      expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining('EXAMPLES:') });
      expect(said).toContain('run_once: true');
    });
  },
);
