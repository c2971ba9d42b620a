import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { newKeyPair } from '../../src/age/key-files';
import { type HintName, hints } from '../../src/words/hints';
import { adviceFor } from '../../src/words/phrase';
import { BASE, eachInstance, type Instance } from '../helpers/instance';
import { openPlace } from '../helpers/run';

// What a hint tells a person to type: today's program has it, and it helps where the hint was printed.

const VALUES = ['https://pw.test', 'x', 'x', 'x'];
const all = (Object.keys(hints) as HintName[]).map((name) => {
  const { text, command = '' } = adviceFor({ name, of: VALUES });
  return { name, text: `${text}; ${command}` };
});

/** What stands for a word that a person chooses. */
const typed: Readonly<Record<string, string>> = {
  URL: 'https://pw.test',
  LINK: 'https://pw.test/p/abcdefghij',
  '…': 'x',
};

/** The words after each `pwpush`, to the end of the clause. */
function linesIn(text: string): string[][] {
  return [
    ...text.matchAll(
      /(?<!of )\bpwpush ((?:[^\s,;:()|`]|[.:](?=\S))+(?: (?:[^\s,;()|`]|,(?=\S))+)*)/g,
    ),
  ].map(([, line = '']) => line.replace(/ or .*/, '').split(' '));
}

test('of each hint the program takes the command that it names, with its options', async () => {
  const here = openPlace({ env: { PWPUSH_URL: 'https://pw.test' }, stdin: 'x' });
  const wrong: string[] = [];
  let count = 0;
  for (const { name, text } of all)
    for (const words of linesIn(text)) {
      count++;
      const line = words.map((word) => typed[word] ?? word.replaceAll("'", ''));
      const needed = words.findLastIndex((word) => /^(?:-|[A-Z]{2})/.test(word)) + 1;
      let fault: unknown;
      for (let length = line.length; length >= Math.max(1, needed); length--) {
        fault = await here.plan(...line.slice(0, length)).then(
          () => undefined,
          (error) => error.message,
        );
        const isBare = needed === 0 && /^missing/.test(`${fault}`);
        if (isBare || !/unknown|too many|missing|did you mean/.test(`${fault}`)) fault = undefined;
        if (fault === undefined) break;
      }
      if (fault !== undefined) wrong.push(`${name}: pwpush ${words.join(' ')}: ${fault}`);
    }
  here.close();
  expect([wrong, count > 30]).toEqual([[], true]);
});

interface State {
  readonly hint: HintName;
  readonly of?: readonly string[];
  /** Brings the state about; returns the line that fails there. */
  readonly fails: (here: Instance) => Promise<string> | string;
  /** The lines that the hint names, each of which then succeeds; `…` is the line that failed. */
  readonly follow: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const SECRET = 'hunter2';
const pushed = async (here: Instance, ...words: string[]) => {
  const { stdout } = await here.under({ env: here.admin, stdin: SECRET }).run('push', ...words);
  return stdout.trim();
};
const withoutKey = (link: string) => link.replace(/#.*/, '');

const states: readonly State[] = [
  {
    hint: 'ask-for-link',
    fails: async (here) => `get ${withoutKey(await pushed(here, '--encrypt'))}`,
    follow: ['expire last', 'push'],
  },
  {
    hint: 'ask-for-link',
    fails: async (here) => {
      await pushed(here, '--encrypt');
      return 'get last';
    },
    follow: ['expire last', 'push'],
  },
  {
    hint: 'configure',
    fails: () => 'push',
    follow: [`push --url ${BASE}`],
    env: { PWPUSH_URL: '', PWPUSH_TOKEN: '' },
  },
  {
    hint: 'overwrite',
    fails: async (here) => {
      writeFileSync(here.file('old'), 'x');
      return `get ${await pushed(here)} -o ${here.file('old')}`;
    },
    follow: ['… --force'],
  },
  {
    hint: 'give-passphrase',
    fails: async (here) => {
      writeFileSync(here.file('phrase'), 'sesame');
      return `get --anonymous ${await pushed(here, '--passphrase-file', here.file('phrase'))}`;
    },
    follow: ['… --passphrase-file phrase'],
  },
  {
    hint: 'set-variable',
    fails: async (here) => `run ${await pushed(here)} -- true`,
    follow: ['run last --as NAME -- true'],
  },
  { hint: 'remove-anonymous', fails: () => 'list --anonymous', follow: ['list'] },
  {
    hint: 'log-in',
    fails: () => 'list',
    follow: ['login --token-file token', 'list'],
    env: { PWPUSH_TOKEN: '' },
  },
  { hint: 'check-link', fails: () => 'get abcdefghij', follow: ['version'] },
  {
    hint: 'give-identity-first',
    fails: async (here) => {
      const { identity, recipient } = newKeyPair();
      writeFileSync(here.file('identity'), identity);
      return `get ${await pushed(here, '--to', recipient)}`;
    },
    follow: ['… -i identity', '… --no-decrypt'],
  },
];

const here = eachInstance();

test.each(states)('$hint can be followed where it is printed', async (state) => {
  const { hint, of = [], fails, follow, env = {} } = state;
  writeFileSync(here.file('token'), here.admin.PWPUSH_TOKEN);
  const line = await fails(here);
  const under = here.under({
    env: { ...here.admin, PATH: process.env.PATH, ...env },
    stdin: SECRET,
  });
  const failed = await under.run(...line.split(' '));
  expect(failed.code, failed.stderr).not.toBe(0);
  expect(failed.stderr).toContain(adviceFor({ name: hint, of }).text);
  for (const next of follow) {
    const words = next.replace('…', line).split(' ');
    const paths = words.map((word) =>
      /^(?:phrase|token|identity)$/.test(word) ? here.file(word) : word,
    );
    const { code, stderr } = await under.run(...paths);
    expect([next, code], stderr).toEqual([next, 0]);
  }
});
