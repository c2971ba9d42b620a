// This build beside an earlier one, in turns in one run: time, rates, and peak memory of each. Both clients have the
// same service, of this build; a service has its own build.
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startListener } from '../files-client.mjs';
import { newDatabase, startPostgres } from '../load/postgres.mjs';
import { folder } from '../load/processes.mjs';
import { COUNT, lines } from './many.mjs';
import { median, script, table, withService } from './processes.mjs';
import { jobs, measured, ROUNDS } from './services.mjs';

/** Of runs that take seconds. */
const LONG_ROUNDS = 3;
const LEVELS = [16, 64];
const sides = ['before', 'now'];
const what = { create: 'creations', view: 'views', last: 'last views' };

/**
 * Returns one table, and the figures of wanted.mjs.
 * @param before path of the `bin/pwpush.js` of the earlier build
 * @param binary path of the executable, and `beforeBinary` of the earlier one, if both are measured
 * @param mebibytes size of the files
 * @param runs number of rounds of short runs
 */
export async function besideBefore({ before, binary, beforeBinary, mebibytes, runs }) {
  const onNode = { before: [process.execPath, resolve(before)], now: [process.execPath, script] };
  const executables = beforeBinary && binary && { before: [resolve(beforeBinary)], now: [resolve(binary)] };
  const ofClients = await withService(process.execPath, (service) =>
    clients(service, onNode, executables, { mebibytes, runs }),
  );
  const { figures, rows } = await services(onNode);
  const head = [...sides, 'ratio'];
  const text = table(['', ...head, ...head.map((one) => `MiB: ${one}`)], [...ofClients, ...rows]);
  const rounds = `medians of ${runs} rounds, of ${LONG_ROUNDS} where a run takes seconds, of ${ROUNDS} where it is a rate`;
  return { figures, text: `This build beside that of \`--before\`, ${rounds}:\n\n${text}` };
}

async function clients({ url, run, weigh, pwpush }, onNode, executables, { mebibytes, runs }) {
  const big = join(folder, 'big');
  const out = join(folder, 'out');
  writeFileSync(big, '');
  truncateSync(big, mebibytes * 1024 * 1024);
  const sink = await startListener(join(folder, 'kept'));
  const there = ['--url', sink.url];
  const send = ['push', '--file', big, ...there];
  const fileLink = run(pwpush(...send, '--encrypt')).stdout;
  const fetch = ['get', fileLink, '--output', out, '--quiet', ...there];
  const link = run(pwpush('push', '--views', '1000000'), 'secret').stdout;
  // The first page of the listing is full.
  run(pwpush('push', '--each'), lines(50));

  const starts = { '`--version`': [['--version']], '`push`, piped': [['push'], 'secret'] };
  const ofFile = `of a file of ${mebibytes} MiB`;
  const groups = [
    {
      programs: onNode,
      rounds: runs,
      cases: {
        ...starts,
        '`--help`': [['--help']],
        '`push --encrypt`, piped': [['push', '--encrypt'], 'secret'],
        '`get`': [['get', link, '--url', url]],
        '`list`, one page': [['list']],
      },
    },
    { programs: executables, kind: 'the executable: ', rounds: runs, cases: starts },
    {
      programs: onNode,
      rounds: LONG_ROUNDS,
      cases: {
        [`\`push --each\`, ${COUNT.toLocaleString('en')} lines`]: [['push', '--each', ...there], lines(COUNT)],
        [`\`push\` ${ofFile}`]: [send],
        [`\`push --encrypt\` ${ofFile}`]: [[...send, '--encrypt']],
        [`\`get\` ${ofFile}`]: [[...fetch, '--no-decrypt']],
        [`\`get\` ${ofFile}, encrypted`]: [fetch],
      },
    },
  ];
  const take = (side, [command, words, input]) => {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out);
    const home = join(folder, side);
    const own = { HOME: home, PWPUSH_STATE_DIR: join(home, 'state') };
    return weigh([...command, ...words], input, own);
  };
  try {
    return groups.filter(({ programs }) => programs).flatMap((group) => inTurns(group, take));
  } finally {
    sink.stop();
    rmSync(big);
  }
}

/** Rows of the table: medians of the milliseconds and MiB that `take` returns. */
function inTurns({ programs, kind = '', rounds, cases }, take) {
  const all = Object.entries(cases).map(([name, words]) => ({ name, words, before: [], now: [] }));
  // The first round warms caches.
  for (let round = -1; round < rounds; round++) {
    for (const { words, ...results } of all) {
      // Whoever comes second may find the disk busy, or the processor warm.
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const result = take(side, [programs[side], ...words]);
        if (round >= 0) results[side].push(result);
      }
    }
  }
  return all.map(({ name, ...results }) => {
    const middle = (figure) => sides.map((side) => median(results[side].map((one) => one[figure])));
    const [milliseconds, mib] = ['milliseconds', 'mib'].map(middle);
    return [`${kind}${name}: ms`, ...compare(milliseconds), ...compare(mib)];
  });
}

/** Creations, views and last views on each database; the peak is that of all three. */
async function services(onNode) {
  const rows = [];
  const figures = {};
  const address = startPostgres();
  for (const database of address ? ['SQLite', 'PostgreSQL'] : ['SQLite']) {
    for (const connections of LEVELS) {
      const own = (side) =>
        database === 'SQLite' ? [] : ['--database', newDatabase(address, `${side}${connections}`)];
      const programs = Object.fromEntries(sides.map((side) => [side, [onNode[side], ...own(side)]]));
      const { rates, peaks } = await measured(programs, { connections });
      for (const job of jobs) {
        const name = `\`serve\` on ${database}, ${connections} connections: ${what[job]} a second`;
        const rate = sides.map((side) => rates[side][job]);
        const peak = job === jobs.at(-1) ? compare(sides.map((side) => peaks[side])) : ['', '', ''];
        rows.push([name, ...compare(rate, true), ...peak]);
        if (rows.length <= jobs.length) figures[`${job}ToBefore`] = rate[1] / rate[0];
      }
    }
  }
  return { rows, figures };
}

/** Three cells; the ratio is bold where this build is worse by more than what chance explains. */
function compare([before, now], isRate = false) {
  const ratio = now / before;
  const isWorse = isRate ? ratio < 0.95 : ratio > 1.05;
  const text = ratio.toFixed(2);
  const cells = [before, now].map((one) => one.toFixed(one < 100 ? 1 : 0));
  return [...cells, isWorse ? `**${text}**` : text];
}
