// Whole runs of the program, in turns: short ones beside a Node.js that does nothing, and those with 10,000 pushes.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { casesOf, comparison, folder, inTurns, memory, middle, ratio, run, script, serve, standIn } from './runner.mjs';

const COUNT = 10_000;
const WEIGHED = 3;
const figures = { milliseconds: 'ms', processor: 'processor, ms', mib: 'peak MiB' };

/** No push that was sent: a receipt would say that it is encrypted. */
const LINK = 'LINK';
/** By kind: its words, and what it reads. */
const kinds = {
  version: { words: ['--version'] },
  help: { words: ['--help'] },
  helpOfPush: { words: ['push', '--help'] },
  push: { words: ['push'], input: 'secret' },
  pushEncrypted: { words: ['push', '--encrypt'], input: 'secret' },
  get: { words: ['get', LINK] },
};
const nameOf = ({ words, input }) => `\`pwpush ${words.join(' ')}\`${input ? ', piped' : ''}`;

/** The cases of short runs, after `rounds` in turns: `bare`, and `cases` of the programs by kind. */
export async function startsOf(programs, rounds, { chosen = Object.keys(kinds), weighed = 0 } = {}) {
  const { url, stop } = await standIn();
  const more = { PWPUSH_URL: url, PWPUSH_TOKEN: 'bench' };
  const once = (command, input) => (isWeighed) => run(command, { input, more, isWeighed });
  const bare = { name: '`node -e 0`', take: once([process.execPath, '-e', '0']) };
  const of = ({ words, input }) => {
    const there = words.map((word) => (word === LINK ? `${url}/p/other` : word));
    return (program, isWeighed) => once([...program, ...there], input)(isWeighed);
  };
  const cases = Object.fromEntries(
    chosen.map((kind) => [kind, casesOf(programs, nameOf(kinds[kind]), of(kinds[kind]))]),
  );
  const body = '{"push":{"payload":"secret"}}';
  const curl = { name: '`curl`, the same push', take: once(['curl', '-sSf', '--json', body, `${url}/api/v2/pushes`]) };
  await inTurns([[bare, ...Object.values(cases).flat(), ...(weighed ? [curl] : [])]], { rounds, weighed });
  await stop();
  return { bare, cases, curl };
}

/** How long runs of some kinds take to a Node.js that does nothing, by kind. */
export async function starts(chosen, rounds) {
  const { bare, cases } = await startsOf({ now: [process.execPath, script] }, rounds, { chosen });
  return Object.fromEntries(chosen.map((kind) => [kind, ratio(cases[kind][0], bare, 'milliseconds')]));
}

/** All short runs of all programs, and what they take of a processor and of memory. */
export async function shortRuns(programs, { runs }) {
  const { bare, cases, curl } = await startsOf(programs, runs, { weighed: WEIGHED });
  const of =
    (figure, side = 'now') =>
    (kind) => {
      const one = cases[kind].find((one) => one.side === side);
      return one && ratio(one, bare, figure);
    };
  const [time, executable] = [of('milliseconds'), of('milliseconds', 'the executable')];
  const text = comparison([bare, ...Object.values(cases).flat(), curl], figures, 'to `node -e 0`', () => bare);
  return {
    figures: {
      ...Object.fromEntries(Object.keys(kinds).map((kind) => [kind, time(kind)])),
      binaryPush: executable('push'),
      binaryVersion: executable('version'),
    },
    text: `Medians of ${runs} interleaved runs, to a server on the same machine that keeps nothing; of processor time, means:\n\n${text}`,
  };
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
  const text = comparison([bare, ...cases], figures, 'to the pool', () => bare);
  return {
    figures: { each: ratio(cases[0], bare, 'milliseconds') },
    text: `${COUNT.toLocaleString('en')} secrets, one a line, eight at a time, to a server that keeps nothing:\n\n${text}`,
  };
}

/** What 10,000 pushes, and their receipts, cost the service that has them and the next runs. */
export async function many(programs, { runs }) {
  const groups = { rest: '`pwpush serve`, at rest', full: `… after ${COUNT.toLocaleString('en')} pushes` };
  const services = {};
  const cases = {};
  for (const [group, name] of Object.entries(groups))
    cases[group] = casesOf(programs, name, (_, __, side) => ({ mib: services[side][group] }));
  const more = {};
  for (const [side, program] of Object.entries(programs)) {
    const service = await serve(program, '--ephemeral', '--max-views', '1000000');
    const rest = memory(service).now;
    const own = (name) => ({
      ...{ PWPUSH_URL: service.url, PWPUSH_TOKEN: service.token },
      PWPUSH_STATE_DIR: join(folder, `${side} ${name}`),
    });
    more[side] = { many: own('many'), one: own('one') };
    // The last push of both is on the first page of the listings.
    for (const [name, count] of [
      ['many', COUNT],
      ['one', 1],
    ])
      await run([...program, 'push', '--each'], { input: lines(count), more: more[side][name] });
    services[side] = { ...service, rest, full: memory(service).now };
  }
  const kinds = [
    ['`pwpush list`, one page', ['list'], 'many'],
    ['`pwpush list --all`', ['list', '--all'], 'many'],
    ['`pwpush preview last`, with one receipt', ['preview', 'last'], 'one'],
    ['… with all', ['preview', 'last'], 'many'],
    ['`pwpush push`, with one receipt', ['push'], 'one'],
    ['… with all', ['push'], 'many'],
  ];
  const short = kinds.map(([name, words, receipts]) =>
    casesOf(programs, name, (program, isWeighed, side) =>
      run([...program, ...words], { input: 'secret', more: more[side][receipts], isWeighed }),
    ),
  );
  await inTurns([...Object.values(cases), ...short], { rounds: Math.min(runs, 9), warm: 1, weighed: WEIGHED });
  for (const { stop } of Object.values(services)) await stop();
  const [[list], , [previewOne], [previewMany], [pushOne], [pushMany]] = short;
  const all = [...Object.values(cases), ...short].flat();
  return {
    figures: {
      receipts: middle(pushMany, 'milliseconds') - middle(pushOne, 'milliseconds'),
      show: ratio(previewMany, previewOne, 'milliseconds'),
    },
    text: `A service with 10,000 pushes:\n\n${comparison(all, figures, 'to `list`', () => list)}`,
  };
}
