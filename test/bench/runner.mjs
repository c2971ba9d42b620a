// What the parts of the bench share: processes into which nothing of the caller's environment gets, their time and memory,
// turns, and tables. Needs Linux, bash and GNU time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
export const script = here('../../bin/pwpush.js');
/** A folder on a disk, not in memory, that is gone at the end: in BENCH_TMPDIR, or the system's. */
export const folder = mkdtempSync(join(process.env.BENCH_TMPDIR ?? tmpdir(), 'pwpush-bench-'));

/** The home of each program: two builds of one version would replace the kept code of each other. */
const homes = new Map();
function homeOf([command, script]) {
  const program = command === process.execPath ? script : command;
  if (!homes.has(program)) homes.set(program, mkdtempSync(join(folder, 'home-')));
  return homes.get(program);
}

/** NODE_EXTRA_CA_CERTS, for one, costs Node 20 50 ms a start wherever it is set. */
const envOf = (command, more) => ({
  PATH: process.env.PATH,
  HOME: homeOf(command),
  PWPUSH_CONFIG_DIR: join(folder, 'config'),
  PWPUSH_STATE_DIR: join(folder, 'state'),
  NO_PROXY: '*',
  ...more,
});

const alive = new Set();
process.on('exit', () => {
  for (const child of alive) process.kill(-child.pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Starts a process that runs until `stop`, in a group of its own, since its workers may outlive it. */
export function launch(command, { more, stdio = 'ignore' } = {}) {
  const [program, ...words] = command;
  const child = spawn(program, words, { env: envOf(command, more), stdio, detached: true });
  alive.add(child);
  child.once('exit', (code, signal) => {
    // One that dies on its own would leave the bench waiting for ever.
    if (alive.delete(child)) throw new Error(`${command.join(' ')} ended with ${code ?? signal}`);
  });
  const stop = async () => {
    alive.delete(child);
    process.kill(-child.pid);
    await once(child, 'exit');
  };
  return { child, pid: child.pid, stop };
}

/** Starts a server whose first line is JSON with its `url`. */
async function launchServer(command) {
  // `serve` saves a profile that encrypts, which is not for the runs of a client.
  const more = { PWPUSH_CONFIG_DIR: join(folder, 'config of servers') };
  const { child, ...server } = launch(command, { more, stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const said = JSON.parse(line);
  return { ...server, ...said, port: Number(new URL(said.url).port) };
}

/** A service of a program; `words` are more options of `serve`. */
export const serve = (program, ...words) => launchServer([...program, 'serve', '--port', '0', '--json', ...words]);

/**
 * A server that takes pushes and gives one, so that only the client is measured.
 * @param kept the file in which it keeps the first form, if that is to be given
 * @param pem the file of a key and a certificate, for https
 */
export const standIn = ({ kept = '', pem = '' } = {}) =>
  launchServer([process.execPath, here('stand-in.mjs'), kept, pem]);

/** Files of a private CA, and of a key and a certificate for this machine by it, as a company has them. */
export async function certificates() {
  const [ca, key, pem] = ['ca.pem', 'ca.key', 'server.pem'].map((name) => join(folder, name));
  const make = ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await run([...make, '-subj', '/CN=CA of the bench', '-keyout', key, '-out', ca]);
  const by = ['-CA', ca, '-CAkey', key, '-subj', '/CN=server', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const own = join(folder, 'server.key');
  const { stdout } = await run([...make, ...by, '-addext', 'basicConstraints=critical,CA:FALSE', '-keyout', own]);
  writeFileSync(pem, `${stdout}\n${readFileSync(own, 'utf8')}`);
  return { ca, pem };
}

/** A process that does one job of load.mjs at a time, at a service of that kind, with a token if the kind has one. */
export function loader(kind = 'pwpush', token = '') {
  const words = [process.execPath, here('load.mjs'), kind, token];
  const { child, stop } = launch(words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const run = (what, job) =>
    new Promise((resolve) => {
      child.once('message', resolve);
      child.send({ what, ...job });
    });
  /** Ends the job that repeats a request. */
  const enough = () => child.send({ what: 'stop' });
  return { run, enough, stop };
}

/**
 * Writes microseconds, and seconds of a processor in thousandths: /proc tells hundredths. Standard input is a pipe, as in
 * a shell; what Node starts gets a socket.
 */
const TIMED = `told=$1; shift; TIMEFORMAT='%3U %3S'; exec < <(cat); began=$EPOCHREALTIME
{ time "$@" 2>&3 3>&-; } 3>&2 2>"$told"
status=$?; echo $((\${EPOCHREALTIME/./} - \${began/./})) >>"$told"; exit $status`;

/**
 * Runs a program once: `milliseconds` until it has ended, those of a processor, and what it said.
 * @param isWeighed returns the MiB that it took at most in place of its times
 */
export async function run(command, { input = '', more, isWeighed } = {}) {
  const told = join(folder, 'told');
  const measuring = isWeighed ? ['time', '--format', '%M', '--output', told] : ['bash', '-c', TIMED, 'bash', told];
  const [program, ...words] = [...measuring, ...command];
  const child = spawn(program, words, { env: envOf(command, more), stdio: 'pipe' });
  // One that reads no input may end before it is written.
  child.stdin.on('error', () => {}).end(input);
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  const said = { stdout: stdout.trim(), stderr };
  const figures = readFileSync(told, 'utf8').trim().split(/\s/).map(Number);
  if (isWeighed) return { ...said, mib: figures[0] / 1024 };
  const [user, system, microseconds] = figures;
  return { ...said, milliseconds: microseconds / 1000, processor: (user + system) * 1000 };
}

/** Where /proc/PID/stat has the times of a process, and those of its children that have ended. */
const OWN = [11, 12];
const ENDED = [13, 14];

function statOf(pid) {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
}

/** Milliseconds of a processor; the kernel tells hundredths of a second, so it says most of long runs. */
export function processorTime(pid, places = OWN) {
  const fields = statOf(pid);
  return places.reduce((sum, place) => sum + Number(fields[place]), 0) * 10;
}

/** The same of a server with a process for each connection, whose children end while it runs. */
export function processorTimeOfAll(pid) {
  let sum = processorTime(pid, [...OWN, ...ENDED]);
  for (const one of readdirSync('/proc').filter((name) => /^\d/.test(name))) {
    try {
      if (statOf(one)[1] === `${pid}`) sum += processorTime(one);
    } catch {
      // It has ended since.
    }
  }
  return sum;
}

/** MiB: the most that a process ever had, and what it has. */
export function memory({ pid }) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, peak, now] = /VmHWM:\s+(\d+).*VmRSS:\s+(\d+)/s.exec(status);
  return { peak: peak / 1024, now: now / 1024 };
}

/**
 * Runs cases in turns, and collects in `results` of each the figures that its `take` returns.
 * @param groups cases of a group are beside each other; who comes second may find the disk busy, or the processor warm, so
 *   each other round has them in reverse
 * @param weighed so many rounds more tell memory and not time
 */
export async function inTurns(groups, { rounds, warm = 2, weighed = 0 }) {
  for (const one of groups.flat()) one.results = [];
  for (let round = -warm; round < rounds + weighed; round += 1) {
    for (const group of groups) {
      for (const one of round % 2 === 0 ? group : group.toReversed()) {
        const figures = await one.take(round >= rounds);
        if (round >= 0) one.results.push(figures);
      }
    }
  }
}

export const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const of = (list, figure) => list.map((one) => one[figure]).filter((one) => one !== undefined);

export const middle = ({ results }, figure) => median(of(results, figure));

/**
 * A figure to that of another case in the same round: the mean of the middle third, as a median of ratios of few whole
 * thousandths jumps.
 */
export function ratio(one, other, figure) {
  const others = of(other.results, figure);
  const ratios = of(one.results, figure).map((value, at) => value / others[at]);
  const third = Math.floor(ratios.length / 3);
  const left = ratios.toSorted((a, b) => a - b).slice(third, ratios.length - third);
  return left.reduce((sum, ratio) => sum + ratio, 0) / left.length;
}

/**
 * A table with a row for each case: its figures, each with the ratio to the case that it is compared with; and another one
 * of those of which the earlier build has the same.
 * @param figures the heads of columns, by names of figures
 * @param other the case to compare with, if any, and `head` what the columns of ratios are called
 */
export function comparison(cases, figures, head, other) {
  const heads = (word) => ['', ...Object.values(figures).flatMap((name) => [name, word])];
  const cellsOf = (one, figure, beside) => {
    const has = (other) => other && of(other.results, figure).length > 0;
    if (!has(one)) return ['', ''];
    const value = middle(one, figure);
    const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
    return [value.toFixed(digits), has(beside) ? ratio(one, beside, figure).toFixed(2) : ''];
  };
  const rowOf = (one, beside) => [one.name, ...Object.keys(figures).flatMap((figure) => cellsOf(one, figure, beside))];
  const ofToday = cases.filter(({ side }) => !side?.endsWith('before'));
  const today = table(
    heads(head),
    ofToday.map((one) => rowOf(one, other(one))),
  );
  const both = ofToday.filter(({ before }) => before);
  if (both.length === 0) return today;
  const rows = both.map((one) => rowOf(one, one.before));
  return `${today}\n\nBeside the build of \`--before\`:\n\n${table(heads('to before'), rows)}`;
}

/**
 * A case for each program of something that they do; `before` is the one of the earlier build.
 * @param take returns figures, of a program
 */
export function casesOf(programs, name, take) {
  const cases = Object.entries(programs).map(([side, program]) => ({
    name: side === 'now' ? name : `${side}: ${name}`,
    side,
    take: (isWeighed) => take(program, isWeighed, side),
  }));
  const bySide = Object.fromEntries(cases.map((one) => [one.side, one]));
  const earlier = { now: bySide.before, 'the executable': bySide['the executable before'] };
  for (const one of cases) one.before = earlier[one.side];
  return cases;
}

/** A table in Markdown; columns after the first are numbers. */
export function table(head, rows) {
  const all = [head, head.map((_, at) => (at === 0 ? '---' : '--:')), ...rows];
  return all.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
