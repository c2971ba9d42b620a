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
  return [...text.matchAll(/(?<!of )\bpwpush ((?:[^\s,;:()|`]|[.:](?=\S))+(?: (?:[^\s,;()|`]|,(?=\S))+)*)/g)].map(
    ([, line = '']) => line.replace(/ or .*/, '').split(' '),
  );
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
  /** What is set in place of it by whoever follows. */
  readonly after?: Readonly<Record<string, string>>;
}

const SECRET = 'hunter2';
const pushed = async (here: Instance, ...words: string[]) => {
  const { stdout } = await here.under({ env: here.admin, stdin: SECRET }).run('push', ...words);
  return stdout.trim();
};
const withoutKey = (link: string) => link.replace(/#.*/, '');

/** Where a coding agent reads: the line that is refused, and those that the hint names. */
const guarded: Partial<Record<HintName, readonly [string, ...string[]]>> = {
  'quiet-for-json': ['push --generate --json', 'push --generate --quiet'],
  'generate-quietly': ['generate', 'push --generate --quiet'],
  'get-unseen': ['get LINK', '… --output new', 'run last --as X -- true'],
  'remove-json': ['get LINK --output new --json', 'get last --output new'],
  mask: ['run LINK --as X --no-mask -- true', 'run last --as X -- true'],
  'write-passphrase': ['push --passphrase-out -', 'push --passphrase-out new'],
  'write-key': ['push --encrypt=words', '… --key-out new'],
};

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
  ...Object.entries(guarded).map(
    ([hint, [line, ...follow]]): State => ({
      hint: hint as HintName,
      fails: async (here) => line.replace('LINK', await pushed(here)),
      follow,
      env: { CLAUDECODE: '1' },
    }),
  ),
  {
    hint: 'renew-token',
    fails: () => 'list',
    follow: ['login --token-file token', 'list'],
    env: { PWPUSH_TOKEN: 'pwp_x' },
    after: { PWPUSH_TOKEN: '' },
  },
  {
    hint: 'pack-folder',
    fails: (here) => `push --file ${here.file('.')}`,
    follow: ['push --file -=FOLDER.tar.gz'],
  },
  { hint: 'pipe-content', fails: () => 'push --file /dev/null', follow: ['push --file -=NAME'] },
  {
    hint: 'name-message',
    fails: (here) => `push --file ${here.file('token')} hello`,
    follow: ['push --file token --message hello'],
  },
  {
    hint: 'use-https',
    of: ['token'],
    fails: () => 'list',
    follow: [
      'push --anonymous',
      'profile set NAME url http://pw.test',
      'profile set NAME insecure true',
      'list --profile NAME',
    ],
    env: { PWPUSH_URL: 'http://pw.test' },
  },
  {
    hint: 'set-address',
    of: ['NAME'],
    fails: async (here) => {
      await here.run('profile', 'set', 'NAME', 'views', '1');
      return 'push --profile NAME';
    },
    follow: [`profile set NAME url ${BASE}`, 'push --profile NAME'],
    env: { PWPUSH_URL: '', PWPUSH_TOKEN: '' },
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

/**
 * Hints that name a command or an option, and whose states are not brought about here. Some are in transcripts of what
 * fails, but nothing follows them there.
 */
const notFollowed: Readonly<Record<string, string>> = {
  'at instances of other kinds, and behind proxies': `
    accept-as-sent accept-as-sent-next accept-limits ask-for-token check-features
    check-host-name check-taken check-viewed heed-size-of-files log-in-there
    look-for-push look-for-request make-service-token pass-front remove-account
    request-here request-here-or-plain request-without-instance send-certificate
    send-certificate-if-needed send-elsewhere send-headers shorten-days open-there
    trust-certificate use-address use-newer use-profile log-in-as-owner
    log-in-as-requester remove-anonymous-of-owner renew-login compare-claims trust-issuer choose-audience
  `,
  'where something fails while it is used': `
    allow-time choose-data-folder do-without-files open-saved report-bug resume
    resume-soon save-sealed try-saved-key look-why-closed
  `,
  'by programs, terminals, files and keys that are not here': `
    clipboard-programs keep-token-elsewhere not-by-terminal output-unseen pipe-token
    quiet-too run-unmasked save-by-shell unlock-key unlock-keyring pipe-file
    choose-identity-file give-answer-key give-identity give-identity-elsewhere
    give-moved-key
    give-passphrase-there ask-for-words key-or-file name-certificate
    name-certificate-key notify-words attach allow-variables use-one-link
    allow-variables-or-only set-variable-of-file use-stdin-or-file wait-for-answer
  `,
};

test('each hint that names a command or an option is followed here, or listed as one that is not', () => {
  const naming = all.filter(({ text }) => /\bpwpush [a-z]|(?<!\w)--?[a-z]/.test(text));
  const listed = Object.values(notFollowed).flatMap((names) => names.trim().split(/\s+/));
  const known = new Set([...states.map(({ hint }) => hint), ...listed]);
  expect([...known].sort()).toEqual(naming.map(({ name }) => name).sort());
});

const here = eachInstance();

test.each(states)('$hint can be followed where it is printed', async (state) => {
  const { hint, of = [], fails, follow, env = {}, after = {} } = state;
  writeFileSync(here.file('token'), here.admin.PWPUSH_TOKEN);
  const line = await fails(here);
  const under = (more = {}) =>
    here.under({ env: { ...here.admin, PATH: process.env.PATH, ...env, ...more }, stdin: SECRET });
  const failed = await under().run(...line.split(' '));
  expect(failed.code, failed.stderr).not.toBe(0);
  expect(failed.stderr).toContain(adviceFor({ name: hint, of }).text);
  for (const next of follow) {
    const words = next.replace('…', line).split(' ');
    const paths = words.map((word) => (/^(?:phrase|token|identity|new)$/.test(word) ? here.file(word) : word));
    const { code, stderr } = await under(after).run(...paths);
    expect([next, code], stderr).toEqual([next, 0]);
  }
});
