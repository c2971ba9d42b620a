import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { onlyLong } from '../helpers/long';
import { allOf, needsPrograms } from '../helpers/needs';
import { person, program, pwpush, serving } from '../helpers/program';
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
          PYTHONDONTWRITEBYTECODE: '1',
          ...env,
        },
      },
      (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, said: stdout + stderr }),
    );
  });
}

/** Runs tasks for two hosts, which both are this machine. */
function play(tasks: object[], variables: object, words: string[] = [], env = {}) {
  const book = [{ hosts: 'all', gather_facts: false, connection: 'local', tasks }];
  // JSON is YAML.
  writeFileSync(file('play.yml'), JSON.stringify(book));
  writeFileSync(file('vars.json'), JSON.stringify(variables));
  const all = ['-i', 'a,b', 'play.yml', '-e', '@vars.json', ...words];
  return ansible('ansible-playbook', all, env);
}

async function push(secret: string, words: string[] = []): Promise<string> {
  const env = { ...somebody.env, PWPUSH_URL: service.url, PWPUSH_TOKEN: service.token };
  return (await pwpush(['push', ...words], { env, input: secret })).stdout.trim();
}

describe(
  'the Ansible lookup (long, needs ansible-playbook)',
  allOf(onlyLong, needsPrograms('ansible-playbook')),
  () => {
    const SECRET = '  {{ lookup("pipe", "touch cracked") }} "word"\nline 2\n\n';

    test('gets a secret once for all hosts, and keeps it from the output', async () => {
      const link = await push(SECRET, ['--views', '1']);
      const encrypted = await push('hunter2', [
        '--encrypt',
        '--views',
        '1',
        '--passphrase-env',
        'HOME',
      ]);
      const [bare = '', key = ''] = encrypted.split('#');
      const { code, said } = await play(
        [
          {
            'ansible.builtin.set_fact': {
              twice: "{{ query('pwpush', link, link) }}",
              other: "{{ lookup('pwpush', bare, key=key, passphrase=passphrase) }}",
            },
            run_once: true,
            no_log: true,
          },
          {
            'ansible.builtin.copy': {
              dest: file('{{ inventory_hostname }}'),
              content: '{{ twice[1] }}',
              mode: '0600',
            },
            no_log: true,
          },
          { 'ansible.builtin.assert': { that: ["other == 'hunter2'", 'twice[0] == twice[1]'] } },
        ],
        { link, bare, key, passphrase: somebody.env.HOME },
      );
      expect({ code, said }).toMatchObject({ code: 0 });
      for (const host of ['a', 'b']) expect(readFileSync(file(host), 'utf8')).toBe(SECRET);
      expect(statSync(file('a')).mode & 0o777).toBe(0o600);
      expect(said).not.toMatch(/hunter2|line 2/);
      expect(existsSync(file('cracked'))).toBe(false);
    });

    test('fails without a secret or the whole link in the message, and uses no view in check mode', async () => {
      const link = await push('hunter2', ['--views', '1']);
      const task = (call: string) => ({ 'ansible.builtin.debug': { msg: `{{ ${call} }}` } });
      const checked = await play([task("lookup('pwpush', link)")], { link }, ['--check']);
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
        [],
        { PWPUSH_EXECUTABLE: script('by-variable', used), PWPUSH_PASSPHRASE: 'of controller' },
      );
      expect({ code, said }).toMatchObject({ code: 0 });
      expect(existsSync(file('cracked'))).toBe(false);
    });

    test('gets a secret in the example of docs/ci.md', async () => {
      const [{ tasks }] = exampleOf('Ansible') as [{ tasks: object[] }];
      const { code, said } = await play(tasks, { link: await push('hunter2', ['--views', '1']) });
      expect({ code, said }).toMatchObject({ code: 0 });
      expect(readFileSync(file('db-password'), 'utf8')).toBe('hunter2');
    });

    test('is documented as Ansible expects it', async () => {
      const { code, said } = await ansible('ansible-doc', ['-t', 'lookup', 'pwpush']);
      expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining('EXAMPLES:') });
      expect(said).toContain('run_once: true');
    });
  },
);
