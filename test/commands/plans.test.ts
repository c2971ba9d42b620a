import { describe, expect, test } from 'vitest';
import { newKeyPair } from '../../src/age/key-files';
import { type Rows, valueIn } from '../../src/cli/declare';
import { inWords } from '../../src/cli/in-words';
import { globalRows } from '../../src/cli/options';
import get from '../../src/commands/get';
import list from '../../src/commands/list';
import login from '../../src/commands/login';
import push from '../../src/commands/push';
import request from '../../src/commands/request';
import respond from '../../src/commands/respond';
import run from '../../src/commands/run';
import type { CliError } from '../../src/platform/errors';
import { type Conditions, place } from '../helpers/run';

// A line becomes a plan or a usage error; nothing is sent, read or asked. Other usage errors: the transcripts.

const LINK = 'https://pwpush.test/p/abc';
const { recipient } = newKeyPair();
const JOB = { GITHUB_OUTPUT: '/dev/null', GITHUB_ENV: '/dev/null' };
const world: Conditions = { env: JOB, prompts: [] };

async function plan(words: readonly string[], profile = {}) {
  const here = place(world);
  const work = { url: 'https://pwpush.test', ...profile };
  await here.keep({ current: 'work', profiles: { work } });
  return here.plan(...words);
}

/** What is before the options, and after them. */
const commands: Readonly<Record<string, readonly [Rows, readonly string[], readonly string[]]>> = {
  push: [push.rows, [], []],
  get: [get.rows, [LINK], []],
  run: [run.rows, [LINK], ['--', 'env']],
  request: [request.rows, ['What?'], []],
  respond: [respond.rows, [LINK], []],
  list: [list.rows, [], []],
  login: [login.rows, ['https://pwpush.test'], []],
};

/** Values that their options take, where not every word is one. */
const values: Readonly<Record<string, string>> = {
  '--expire': '6h',
  '--for': '6h',
  '--to': recipient,
  '--notify': 'ann@pwpush.test',
  '--kind': 'text',
  '--locale': 'de',
  '--url': 'https://pwpush.test',
  '--file': 'a',
  '--as': 'DB',
  '--only': 'A',
  '--github-env': 'DB',
  '--github-output': 'db',
  '--profile': 'work',
  '--encrypt': 'words',
  '--page': '2',
};
/** What an option goes with, besides what its row requires. */
const beside: Readonly<Record<string, readonly string[]>> = {
  'push --key-out': ['--encrypt=words'],
  'push --into': ['--', 'true'],
  'request --notify': ['--no-encrypt'],
  'push --cert-key': ['--cert=1'],
  'request --cert-key': ['--cert=1'],
};

function given(command: string, name: string): { words: string[]; rest: string[] } {
  const [rows] = commands[command] ?? [];
  const row = { ...globalRows, ...rows }[name];
  if (!row) throw new Error(`${command} has no option ${name}`);
  const [option] = row.options;
  if (!option) return { words: ['x'], rest: [] };
  const { long } = option;
  const typed = values[`${long}`] ?? (valueIn(option)?.required ? '1' : undefined);
  const value = typed === undefined ? '' : `=${typed}`;
  // Rules for one value alone are shown by the transcripts.
  const needs = needsOf(row).map((one) => given(command, one));
  const more = beside[`${command} ${long}`] ?? [];
  const at = more.includes('--') ? more.indexOf('--') : more.length;
  return {
    words: [`${long}${value}`, ...more.slice(0, at), ...needs.flatMap(({ words }) => words)],
    rest: [...more.slice(at), ...needs.flatMap(({ rest }) => rest)],
  };
}

function line(command: string, names: readonly string[]): string[] {
  const [, before = [], after = []] = commands[command] ?? [];
  const all = names.map((name) => given(command, name));
  const words = new Set(all.flatMap((one) => one.words));
  return [command, ...before, ...words, ...after, ...all.flatMap(({ rest }) => rest)];
}

const needsOf = ({ needed }: Rows[string]) =>
  needed.filter(({ when }) => when(undefined)).flatMap(({ others }) => others);

const all = Object.entries(commands).flatMap(([command, [rows]]) =>
  Object.entries(rows).map(([name, row]) => ({ command, name, row })),
);

describe('options that exclude each other', () => {
  const pairs = all.flatMap(({ command, name, row }) => {
    const rows: Rows = { ...globalRows, ...commands[command]?.[0] };
    const needing = Object.keys(rows).filter((other) => rows[other]?.instance === 'needed');
    const others = row.conflicting.flatMap((rule) => (rule.when('x', 'x') ? rule.others : []));
    const all = row.instance === 'replaced' ? [...others, ...needing] : others;
    return all.map((other) => [command, name, other] as const);
  });

  test.each(pairs)('%s: %s and %s are accepted alone, and refused together', async (...pair) => {
    const [command, ...names] = pair;
    for (const name of names) expect(await plan(line(command, [name]))).toBeDefined();
    const both = plan(line(command, names));
    await expect(both).rejects.toMatchObject({ name: 'CliError', code: 'usage' });
  });

  test('are many', () => expect(pairs.length).toBeGreaterThan(50));
});

describe('an option that is given', () => {
  const data = async (words: readonly string[]) => JSON.stringify(await plan(words));
  // What these allow is refused before there is a plan.
  const allowing = ['allow'];
  const changing = all.filter(({ name, row }) => row.options.length > 0 && !allowing.includes(name));

  test.each(changing)('$command: $name changes the plan', async ({ command, name, row }) => {
    const without = await data(line(command, needsOf(row))).catch(() => undefined);
    expect(await data(line(command, [name]))).not.toBe(without);
  });

  test.each(Object.keys(commands))('%s: only that does', async (command) => {
    expect(await data(line(command, []))).toBe(await data(line(command, [])));
  });
});

describe('an option that requires another', () => {
  const requiring = all.filter(({ row }) => needsOf(row).length > 0);

  test.each(requiring)('$command: $name is refused alone', async ({ command, name, row }) => {
    expect(await plan(line(command, [name]))).toBeDefined();
    const words = line(command, [name]).filter(
      (word) => !needsOf(row).some((one) => given(command, one).words.includes(word)),
    );
    await expect(plan(words)).rejects.toMatchObject({ name: 'CliError', code: 'usage' });
  });
});

const text = (value: string) => ({ from: { name: 'text', value }, raw: false });
const stdin = { from: { name: 'stdin' }, raw: false };

describe('the plan of', () => {
  test.each<[line: string, made: object, profile?: object]>([
    [
      'push',
      {
        content: { text: stdin, isExposed: false },
        place: { kind: 'instance', setting: undefined, dryRun: false },
        result: { receipt: true },
      },
    ],
    ['push s', { content: { text: text('s'), isExposed: true, isFileName: false } }],
    ['push package.json', { content: { isFileName: true } }],
    ['push -', { content: { text: stdin, isExposed: false } }],
    ['push -f b -f -=a', { content: { files: ['b', '-=a'], isExposed: false } }],
    ['push --generate', { content: { text: { from: { name: 'generate' } } }, result: { generated: true } }],
    ['push -d 2 -v 3', { limits: { expiry: { after: 172_800 }, fields: { expire_after_views: 3 } } }],
    ['push', { limits: { expiry: { after: 86_400 }, fields: { expire_after_views: 4 } } }, { days: 1, views: 4 }],
    ['push -d 2 -v 3', { limits: { fields: { expire_after_views: 3 } } }, { days: 1, views: 4 }],
    ['push -e 90m', { limits: { expiry: { after: 5400 }, expiryOption: '--expire' } }, { days: 1 }],
    ['push -e 2026-09-01T00:00Z', { limits: { expiry: { at: Date.parse('2026-09-01') } } }],
    [
      'push',
      { limits: { fields: { retrieval_step: true, deletable_by_viewer: false } } },
      { click: true, deletable: false },
    ],
    [
      'push --no-click --deletable',
      { limits: { fields: { retrieval_step: false, deletable_by_viewer: true } } },
      { click: true, deletable: false },
    ],
    ['push --encrypt', { seal: { encryption: { mode: 'link' } } }],
    ['push --encrypt=words --key-out w', { seal: { encryption: { mode: 'words', wordsFile: 'w' } } }],
    ['push', { seal: { encryption: { mode: 'link' } } }, { encrypt: 'link' }],
    ['push --key-out w', { seal: { encryption: { mode: 'words', wordsFile: 'w' } } }, { encrypt: 'words' }],
    ['push --no-encrypt', { seal: { encryption: undefined } }, { encrypt: 'words' }],
    [
      'push --to keys --to ./age1keys',
      { seal: { encryption: { mode: 'keys', to: ['keys', './age1keys'] } } },
      { encrypt: 'words' },
    ],
    ['push --here', { seal: { encryption: { mode: 'link' } } }, { encrypt: 'off' }],
    ['push --here --no-encrypt', { seal: { encryption: undefined } }],
    ['push', { seal: { offersPassphrase: false } }, {}],
    ['push', { seal: { offersPassphrase: true } }, { 'ask-passphrase': true }],
    ['push', { result: { receipt: false } }, { receipts: false }],
    [
      'push --here --port 80',
      {
        place: { kind: 'ephemeral', host: undefined, port: 80 },
        result: { receipt: false },
        limits: { expiry: undefined },
      },
      { days: 1 },
    ],
    ['push --note -hello -n -Vx', { content: { details: { name: '-Vx', note: '-hello' } } }],
    ['push --note n -n N', { content: { details: { name: 'N', note: 'n' } } }],
    [
      'push --into --generate --as DB -- set it',
      {
        content: { isForCommand: true },
        place: { setting: { words: ['set', 'it'], variable: 'DB' } },
        result: { generated: false },
      },
    ],
    ['push --each', { lines: '-', limits: { fields: {} } }],
    ['push --each --from a', { lines: 'a' }],
    ['get x', { from: { push: { token: 'x' } }, place: { to: 'stream' }, files: true, placed: false }],
    ['get x -o -hid', { place: { path: '-hid' } }],
    ['get -- -x', { from: { push: { token: '-x' } } }],
    ['get x -o -', { place: { to: 'dash' }, placed: true }],
    ['get x -o a --force', { place: { to: 'path', path: 'a', force: true } }],
    ['get --from-file a', { from: { file: 'a', push: undefined } }],
    ['get x --key-file -', { keys: { file: '-', decrypt: true } }],
    ['get x --no-decrypt', { keys: { file: undefined, identities: [], decrypt: false } }],
    ['run x y -- env -a', { items: [{ token: 'x' }, { token: 'y' }], words: ['env', '-a'], mask: false }],
    [
      'request What?',
      {
        content: { question: { name: 'text', value: 'What?' } },
        seal: { encryption: { identityFile: undefined } },
        place: { kind: 'instance', target: { base: 'https://pwpush.test' } },
      },
    ],
    ['request', { content: { question: { name: 'stdin' } } }],
    ['request --here -o a', { place: { host: '0.0.0.0', port: 0, output: { path: 'a' } } }],
    ['request a --wait --for 2h', { place: { wait: { most: 7200 } } }],
    ['respond x', { request: { token: 'x' }, content: { text: stdin }, generated: false }],
    ['list', { of: 'active', part: { page: 1 } }],
    ['list requests', { of: ['ready', 'open'] }],
    ['list receipts --limit 3', { of: 'receipts', limit: 3 }],
    ['wait x --then-expire', { item: { token: 'x' }, thenExpire: true, most: undefined }],
    ['expire x --key-file k', { items: [{ token: 'x' }], keys: { file: 'k' } }],
    ['preview x --qr', { item: { token: 'x' }, qr: true }],
    [
      'mcp --allow-run a --allow-run b',
      {
        root: undefined,
        allowed: { env: [], run: ['a', 'b'] },
        options: { anonymous: false, insecure: false },
      },
    ],
  ])('pwpush %s', async (line, made, profile) => {
    expect(await plan(line.split(' '), profile)).toMatchObject(made);
  });
});

describe('a usage error, the first of several, is that of', () => {
  test.each<[line: string, what: RegExp]>([
    // A name or word that is not known comes before all that options say.
    ['push --each --generate --nope', /--nope/],
    // A value comes before a pair, a pair before what the command decides.
    ['push -d 0 -e 1d', /-d/],
    ['push -d 1 -e 1d --to age1', /--days.*--expire/],
    ['push a b --days 1 --expire 1d', /too many/],
    ['push a b --to age1', /too many/],
    ['push --to nobody --encrypt=words', /--encrypt=words/],
    ['push --each s --passphrase-file -', /TEXT/],
    ['push -f a --message=', /message/],
    ['push --expire 2020-01-01T00:00Z', /passed/],
    ['get -x', /-x.*|--/],
    ['get --from-file - --key-file -', /standard input/],
    ['run x --as A --as B -- a', /--as/],
    ['run x --file =a -- a', /--file/],
    ['request a --notify a@b.test', /--notify/],
    ['request -f -', /standard input/],
  ])('pwpush %s', async (line, what) => {
    const error = await plan(line.split(' ')).then(
      () => expect.unreachable('it made a plan'),
      (error: CliError) => error,
    );
    expect([error.code, await inWords(error)]).toEqual(['usage', expect.stringMatching(what)]);
  });
});
