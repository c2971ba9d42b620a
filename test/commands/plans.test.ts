import { describe, expect, test } from 'vitest';
import type { Rows } from '../../src/cli/declare';
import { inWords } from '../../src/cli/in-words';
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

const JOB = { GITHUB_OUTPUT: '/dev/null', GITHUB_ENV: '/dev/null' };
const world: Conditions = { env: JOB, prompts: [] };

async function plan(words: readonly string[], profile = {}) {
  const here = place(world);
  const work = { url: 'https://pwpush.test', ...profile };
  await here.keep({ current: 'work', profiles: { work } });
  return here.plan(...words);
}

const planned = async (line: string) => JSON.stringify(await plan(line.split(' ')));
const listed = (options: string) => options.split(' | ');
/** The line with options in the place of its dots. */
const given = (line: string, ...options: string[]) => line.replace(' …', ['', ...options].join(' '));

/** Every option of a command, with a value and what it requires. */
// biome-ignore format: a table
const OPTIONS: readonly [line: string, rows: Rows, options: string][] = [
  ['push …', push.rows, '--from f | --env E | --generate | --raw | --kind text | --name n | --note n | --file f'],
  ['push …', push.rows, '--into --generate -- true | --as A --into --generate -- true | --message m --file f | --each'],
  ['push …', push.rows, '--days 1 | --expire 6h | --views 1 | --deletable | --click | --accept-limits | --to ./age1'],
  ['push …', push.rows, '--passphrase | --passphrase-file f | --passphrase-out f | --copy | --qr | --locale de'],
  ['push …', push.rows, '--encrypt=words | --key-out f --encrypt=words | --notify a@pw.test | --dry-run'],
  ['push …', push.rows, '--here | --host 127.0.0.1 --here | --port 1 --here'],
  ['get x …', get.rows, '--output f | --no-files | --resume f | --from-file f | --force | --copy | --qr | --no-decrypt'],
  ['get x …', get.rows, '--passphrase | --passphrase-file f | --key-file f | --identity f'],
  ['get x …', get.rows, '--github-output db | --github-env DB'],
  ['run x … -- env', run.rows, '--as A | --stdin | --file A | --only A | --mask | --no-decrypt | --key-file f'],
  ['run x … -- env', run.rows, '--passphrase | --passphrase-file f | --identity f | --allow LESS --only LESS'],
  ['request Q …', request.rows, '--expire 6h | --name n | --note n | --file f | --allow-files | --accept-limits | --qr'],
  ['request Q …', request.rows, '--passphrase | --passphrase-file f | --passphrase-out f | --identity-out f | --copy'],
  ['request Q …', request.rows, '--no-encrypt | --notify a@pw.test --no-encrypt | --locale de'],
  ['request Q …', request.rows, '--wait | --for 6h --wait | --here | --output f --here | --force --here'],
  ['request Q …', request.rows, '--host 127.0.0.1 --here | --port 1 --here'],
  ['respond x …', respond.rows, '--from f | --env E | --generate | --raw | --file f | --message m --file f'],
  ['respond x …', respond.rows, '--passphrase | --passphrase-file f'],
  ['list …', list.rows, '--page 2 | --all | --limit 1'],
  ['login https://pw.test …', login.rows, '--keyring'],
];
const lines = [...new Set(OPTIONS.map(([line]) => line))];

test.each(lines)('%s: each option changes the plan in a way of its own', async (line) => {
  const own = OPTIONS.filter(([one]) => one === line);
  const options = own.flatMap(([, , all]) => listed(all));
  const longs = Object.values(own[0]?.[1] ?? {}).flatMap(({ options: [option] }) => (option ? [`${option.long}`] : []));
  expect(options.map((option) => option.replace(/[ =].*/, '')).sort()).toEqual(longs.sort());
  const plans = await Promise.all(['', ...options].map((option) => planned(given(line, ...(option ? [option] : [])))));
  expect(['', ...options].filter((_, at) => plans.indexOf(`${plans[at]}`) !== at)).toEqual([]);
});

// biome-ignore format: a table
const EXCLUDING: readonly [line: string, option: string, others: string][] = [
  ['push …', 'TEXT', '--from f | --env E | --generate | --file f'],
  ['push …', '--from f', '--env E | --generate'],
  ['push …', '--env E', '--generate'],
  ['push …', '--file f', '--kind text | --from f | --env E | --generate'],
  ['push … --generate -- true', '--into', '--dry-run | --each | --here'],
  ['push …', '--days 1', '--expire 6h'],
  ['push …', '--passphrase-file f', '--passphrase | --passphrase-out f'],
  ['push …', '--passphrase', '--passphrase-out f'],
  ['push …', '--to ./age1', '--encrypt=words | --no-encrypt'],
  ['push …', '--here', '--profile work | --url https://pw.test | --token-file f | --ca-file f | --insecure'],
  ['push …', '--here', '--account 1 | --headers-file f | --cert f | --cert-key f'],
  ['push …', '--here', '--name n | --note n | --notify a@pw.test | --dry-run'],
  ['push …', '--each', 'TEXT | --env E | --generate | --file f | --raw | --passphrase-out f'],
  ['push …', '--each', '--qr | --copy | --here'],
  ['get x …', '--resume f', '--no-files | --from-file f'],
  ['get x …', '--copy', '--output f | --json | --qr'],
  ['get x …', '--qr', '--json | --output f'],
  ['get x …', '--github-output db', '--output f | --json | --copy | --qr'],
  ['get x …', '--github-env DB', '--output f | --json | --copy | --qr'],
  ['get x …', '--passphrase-file f', '--passphrase'],
  ['get x …', '--no-decrypt', '--key-file f | --identity f'],
  ['run x … -- env', '--stdin', '--as A | --only A'],
  ['run x … -- env', '--only A', '--as A'],
  ['run x … -- env', '--passphrase-file f', '--passphrase'],
  ['run x … -- env', '--no-decrypt', '--key-file f | --identity f'],
  ['request Q …', '--passphrase-file f', '--passphrase | --passphrase-out f'],
  ['request Q …', '--passphrase', '--passphrase-out f'],
  ['request Q …', '--no-encrypt', '--identity-out f'],
  ['request Q …', '--here', '--profile work | --url https://pw.test | --token-file f | --ca-file f | --insecure'],
  ['request Q …', '--here', '--account 1 | --headers-file f | --cert f | --cert-key f | --accept-limits | --wait'],
  ['request Q …', '--here', '--passphrase-out f | --name n | --note n | --file f | --identity-out f | --no-encrypt'],
  ['request Q …', '--here', '--notify a@pw.test'],
  ['respond x …', '--from f', '--env E | --generate | --file f'],
  ['respond x …', '--env E', '--generate | --file f'],
  ['respond x …', '--file f', '--generate'],
  ['respond x …', '--passphrase-file f', '--passphrase'],
  ['list …', '--page 1', '--all | --limit 1'],
  ['login https://pw.test …', '--keyring', '--anonymous'],
];
const pairs = EXCLUDING.flatMap(([line, option, others]) =>
  listed(others).map((other) => [line, option, other] as const),
);

test.each(pairs)('%s: %s and %s are refused together', async (line, ...options) => {
  const error: CliError = await planned(given(line, ...options)).then(
    () => expect.unreachable('it made a plan'),
    (error) => error,
  );
  const named = error.message.split(' cannot be combined with ').map((label) => label.replace(/ text$/, ''));
  expect([error.code, named.sort()]).toEqual(['usage', options.map((option) => option.replace(/ .*/, '')).sort()]);
});

const text = (value: string) => ({ from: { name: 'text', value }, raw: false });
const stdin = { from: { name: 'stdin' }, raw: false };

// biome-ignore format: a table
const PLANS: readonly [line: string, made: object, profile?: object][] = [
  ['push', { content: { text: stdin, isExposed: false }, result: { receipt: true } }],
  ['push', { place: { kind: 'instance', setting: undefined, dryRun: false } }],
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
  ['push', { limits: { fields: { retrieval_step: true } } }, { click: true }],
  ['push', { limits: { fields: { deletable_by_viewer: false } } }, { deletable: false }],
  ['push --no-click', { limits: { fields: { retrieval_step: false } } }, { click: true }],
  ['push --deletable', { limits: { fields: { deletable_by_viewer: true } } }, { deletable: false }],
  ['push --encrypt', { seal: { encryption: { mode: 'link' } } }],
  ['push --encrypt=words --key-out w', { seal: { encryption: { mode: 'words', wordsFile: 'w' } } }],
  ['push', { seal: { encryption: { mode: 'link' } } }, { encrypt: 'link' }],
  ['push --key-out w', { seal: { encryption: { mode: 'words', wordsFile: 'w' } } }, { encrypt: 'words' }],
  ['push --no-encrypt', { seal: { encryption: undefined } }, { encrypt: 'words' }],
  ['push --to a --to ./age1a', { seal: { encryption: { mode: 'keys', to: ['a', './age1a'] } } }, { encrypt: 'words' }],
  ['push --here', { seal: { encryption: { mode: 'link' } } }, { encrypt: 'off' }],
  ['push --here --no-encrypt', { seal: { encryption: undefined } }],
  ['push', { seal: { offersPassphrase: false } }, {}],
  ['push', { seal: { offersPassphrase: true } }, { 'ask-passphrase': true }],
  ['push', { result: { receipt: false } }, { receipts: false }],
  ['push --here --port 80', { place: { kind: 'ephemeral', host: undefined, port: 80 }, result: { receipt: false } }],
  ['push --here', { limits: { expiry: undefined } }, { days: 1 }],
  ['push --note -hello -n -Vx', { content: { details: { name: '-Vx', note: '-hello' } } }],
  ['push --note n -n N', { content: { details: { name: 'N', note: 'n' } } }],
  ['push --into --generate --as DB -- set it', { place: { setting: { words: ['set', 'it'], variable: 'DB' } } }],
  ['push --into --generate -- true', { content: { isForCommand: true }, result: { generated: false } }],
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
  ['request a', { content: { question: { name: 'text', value: 'a' } }, seal: { encryption: { identityFile: undefined } } }],
  ['request a', { place: { kind: 'instance', target: { base: 'https://pwpush.test' } } }],
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
  ['mcp --allow-run a --allow-run b', { root: undefined, allowed: { env: [], run: ['a', 'b'] } }],
  ['mcp', { options: { anonymous: false, insecure: false } }],
];

test.each(PLANS)('the plan of pwpush %s has %j', async (line, made, profile) => {
  expect(await plan(line.split(' '), profile)).toMatchObject(made);
});

describe('a usage error, the first of several, is that of', () => {
  test.each<[line: string, what: RegExp]>([
    ['push --into -- true', /--into requires --generate/],
    ['push --as A', /--as requires --into/],
    ['push --message m', /--message requires --file PATH/],
    ['push --host 127.0.0.1', /--host requires --here/],
    ['push --port 1', /--port requires --here/],
    ['request Q --for 5', /--for requires --wait/],
    ['request Q --output f', /--output requires --here/],
    ['request Q --force', /--force requires --here/],
    ['request Q --host 127.0.0.1', /--host requires --here/],
    ['request Q --port 1', /--port requires --here/],
    ['respond x --message m', /--message requires --file PATH/],
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
    ['push --each --token-file -', /and the token/],
    ['push --file -=x --token-file -', /and the token/],
  ])('pwpush %s', async (line, what) => {
    const error = await plan(line.split(' ')).then(
      () => expect.unreachable('it made a plan'),
      (error: CliError) => error,
    );
    expect([error.code, await inWords(error)]).toEqual(['usage', expect.stringMatching(what)]);
  });
});
