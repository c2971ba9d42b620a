// Whole runs of the program, in turns: short ones beside a Node.js that does nothing, and those with 10,000 pushes.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as runner from './runner.mjs';

const { casesOf, certificates, comparison, folder, inTurns, memory, ratio, run, script, serve, standIn } = runner;

const COUNT = 10_000;
const WEIGHED = 3;
const figures = { milliseconds: 'ms', processor: 'processor, ms', mib: 'peak MiB' };

/** No push that was sent: a receipt would say that it is encrypted. */
const LINK = 'LINK';
const CA = 'CA';
/** Loads the roots of Node.js and looks for one, as with an instance whose CA is public, and then goes on without. */
const withRoots = { how: ', over https', secured: ['--insecure'] };
const withCa = { how: ', over https with a CA file', secured: ['--ca-file', CA] };
/** By kind: its words, what it reads, and more words for https. */
const kinds = {
  version: { words: ['--version'] },
  help: { words: ['--help'] },
  helpOfPush: { words: ['push', '--help'] },
  push: { words: ['push'], input: 'secret' },
  pushEncrypted: { words: ['push', '--encrypt'], input: 'secret' },
  get: { words: ['get', LINK] },
  getStored: { words: ['get', LINK], how: ', from a stored profile', isStored: true },
  pushSecured: { words: ['push'], input: 'secret', ...withRoots },
  getSecured: { words: ['get', LINK], ...withRoots },
  pushWithCa: { words: ['push'], input: 'secret', ...withCa },
  getWithCa: { words: ['get', LINK], ...withCa },
};
const nameOf = ({ words, input, how }) => `\`pwpush ${words.join(' ')}\`${how ?? (input ? ', piped' : '')}`;

/** The cases of short runs, after `rounds` in turns: `bare`, and `cases` of the programs by kind. */
export async function startsOf(programs, rounds, { chosen = Object.keys(kinds), weighed = 0 } = {}) {
  const { ca, pem } = await certificates();
  const [open, closed] = [await standIn(), await standIn({ pem })];
  const stored = { current: 'bench', profiles: { bench: { url: open.url, token: 'bench' } } };
  const profile = mkdtempSync(join(folder, 'profile-'));
  writeFileSync(join(profile, 'config.json'), JSON.stringify(stored), { mode: 0o600 });
  const once = (command) => (isWeighed) => run(command, { isWeighed });
  const bare = { name: '`node -e 0`', take: once([process.execPath, '-e', '0']) };
  const of = ({ words, input, isStored, secured = [] }) => {
    const { url } = secured.length > 0 ? closed : open;
    const meant = { [LINK]: `${url}/p/other`, [CA]: ca };
    const there = [...words, ...secured].map((word) => meant[word] ?? word);
    const more = isStored ? { PWPUSH_CONFIG_DIR: profile } : { PWPUSH_URL: url, PWPUSH_TOKEN: 'bench' };
    return (program, isWeighed) => run([...program, ...there], { input, more, isWeighed });
  };
  const cases = Object.fromEntries(
    chosen.map((kind) => [kind, casesOf(programs, nameOf(kinds[kind]), of(kinds[kind]))]),
  );
  const api = `${open.url}/api/v2/pushes`;
  const curl = (name, ...words) => ({ name: `\`curl\`, the same ${name}`, take: once(['curl', '-sSf', ...words]) });
  const curls = [curl('push', '--json', '{"push":{"payload":"secret"}}', api), curl('get', `${api}/other`)];
  await inTurns([[bare, ...Object.values(cases).flat(), ...(weighed ? curls : [])]], { rounds, weighed });
  for (const { stop } of [open, closed]) await stop();
  return { bare, cases, curls };
}

/** How long runs of some kinds take to a Node.js that does nothing, by kind. */
export async function starts(chosen, rounds) {
  const { bare, cases } = await startsOf({ now: [process.execPath, script] }, rounds, { chosen });
  return Object.fromEntries(chosen.map((kind) => [kind, ratio(cases[kind][0], bare, 'milliseconds')]));
}

/** All short runs of all programs, and what they take of a processor and of memory. */
export async function shortRuns(programs, { runs }) {
  const { bare, cases, curls } = await startsOf(programs, runs, { weighed: WEIGHED });
  const all = [bare, ...Object.values(cases).flat(), ...curls];
  const how = `Medians of ${runs} interleaved runs, to a server on the same machine that keeps nothing`;
  return { cases: all, text: `${how}:\n\n${comparison(all, figures, 'to `node -e 0`', () => bare)}` };
}

/** So many secrets, one a line. */
const lines = (count) => Array.from({ length: count }, (_, at) => `secret number ${at}\n`).join('');

/** 10,000 pushes in one run, beside a bare pool that sends the same over as many connections. */
export async function each(programs) {
  const { url, stop } = await standIn();
  const more = { PWPUSH_URL: url, PWPUSH_TOKEN: 'bench' };
  const take = async (command, isWeighed) => {
    const { stdout, ...taken } = await run(command, { input: lines(COUNT), more, isWeighed });
    if (stdout.split('\n').length !== COUNT) throw new Error('not every push has its link');
    return taken;
  };
  const pool = fileURLToPath(new URL('pool.mjs', import.meta.url));
  const bare = { name: 'a bare undici pool', take: (isWeighed) => take([process.execPath, pool, url], isWeighed) };
  const cases = casesOf(programs, '`pwpush push --each`', (program, isWeighed) =>
    take([...program, 'push', '--each'], isWeighed),
  );
  await inTurns([[bare, ...cases]], { rounds: 3, warm: 1, weighed: WEIGHED });
  await stop();
  const all = [bare, ...cases];
  const what = '10,000 secrets, one a line, eight at a time, to a server that keeps nothing';
  return { cases: all, text: `${what}:\n\n${comparison(all, figures, 'to the pool', () => bare)}` };
}

/** What 10,000 pushes, and their receipts, cost the service that has them and the next runs. */
export async function many(programs, { runs }) {
  const services = {};
  for (const [side, program] of Object.entries(programs)) {
    const service = await inMemory(program);
    const address = { PWPUSH_URL: service.url, PWPUSH_TOKEN: service.token };
    const more = Object.fromEntries(
      [COUNT, 1].map((count) => [count, { ...address, PWPUSH_STATE_DIR: join(folder, `${side} ${count}`) }]),
    );
    // The last push of both is on the first page of the listings.
    for (const count of [COUNT, 1])
      await run([...program, 'push', '--each'], { input: lines(count), more: more[count] });
    const elsewhere = { ...address, PWPUSH_STATE_DIR: join(folder, `${side} elsewhere`) };
    const { stdout: link } = await run([...program, 'push', '--views', '1000'], { input: 'secret', more: elsewhere });
    services[side] = { ...service, more, link };
  }
  const short = (name, receipts, ...words) =>
    casesOf(programs, `\`pwpush ${words.join(' ')}\`${name}`, (program, isWeighed, side) =>
      run([...program, ...words.map((word) => (word === LINK ? services[side].link : word))], {
        input: 'secret',
        more: services[side].more[receipts],
        isWeighed,
      }),
    );
  const groups = [
    short(', one page', COUNT, 'list'),
    short(', 10,000 pushes', COUNT, 'list', '--all'),
    short(', one receipt', 1, 'preview', 'last'),
    short(', 10,000 receipts', COUNT, 'preview', 'last'),
    short(', one receipt', 1, 'push'),
    short(', 10,000 receipts', COUNT, 'push'),
    short(', one receipt', 1, 'get', LINK),
    short(', 10,000 receipts', COUNT, 'get', LINK),
  ];
  await inTurns(groups, { rounds: Math.min(runs, 9), warm: 1, weighed: WEIGHED });
  for (const { stop } of Object.values(services)) await stop();
  const cases = groups.flat();
  const text = comparison(cases, figures, 'to one page', () => groups[0][0]);
  return { cases, text: `A service with 10,000 pushes:\n\n${text}` };
}

const inMemory = (program) => serve(program, '--ephemeral', '--max-views', '1000000');

/** What a new service needs, and one that has taken 10,000 pushes. */
export async function weights(programs) {
  const groups = [0, COUNT].map((count) =>
    casesOf(programs, `\`pwpush serve\`, ${count ? 'after 10,000 pushes' : 'at rest'}`, async (program) => {
      const { stop, ...service } = await inMemory(program);
      const more = { PWPUSH_URL: service.url, PWPUSH_TOKEN: service.token };
      if (count) await run([...program, 'push', '--each'], { input: lines(count), more });
      const { peak } = memory(service);
      await stop();
      return { mib: peak };
    }),
  );
  await inTurns(groups, { rounds: WEIGHED, warm: 0 });
  const cases = groups.flat();
  const text = comparison(cases, { mib: figures.mib }, 'to one at rest', () => groups[0][0]);
  return { cases, text: `A service that keeps its data in memory:\n\n${text}` };
}
