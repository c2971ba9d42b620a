// The processes of a bench: the service, a bare node:http server beside it, and the client that loads them.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** A folder on a disk, not in memory, that is gone at the end: BENCH_TMPDIR, or the system's. */
export const folder = mkdtempSync(join(process.env.BENCH_TMPDIR ?? tmpdir(), 'pwpush-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const env = {
  PATH: process.env.PATH,
  HOME: folder,
  PWPUSH_CONFIG_DIR: join(folder, 'config'),
  PWPUSH_STATE_DIR: join(folder, 'state'),
};

const bare = `
  const http = require('node:http');
  const answer = Buffer.from(JSON.stringify({ filler: 'x'.repeat(480) }));
  http.createServer((req, res) => {
    const status = req.method === 'POST' ? 201 : 200;
    req.resume().on('end', () => res.writeHead(status, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer));
  }).listen(0, '127.0.0.1', function () { console.log(JSON.stringify({ url: 'http://127.0.0.1:' + this.address().port })); });`;

/** What is killed at the end: a process, or by a negative number its group. */
const alive = new Map();
process.on('exit', () => {
  for (const id of alive.values()) process.kill(id, 'SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

function watch(child, name, id = child.pid) {
  alive.set(child, id);
  child.once('exit', (code) => {
    // One that dies on its own would leave the bench waiting for ever.
    if (alive.delete(child)) throw new Error(`${name} ended with ${code}`);
  });
}

async function stop(child) {
  const id = alive.get(child);
  alive.delete(child);
  process.kill(id);
  await once(child, 'exit');
}

async function start(name, [command, ...words]) {
  const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  watch(child, name);
  const line = await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const said = JSON.parse(line);
  const { port } = new URL(said.url);
  return { ...said, port: Number(port), pid: child.pid, stop: () => stop(child) };
}

/**
 * Starts a server that says nothing, and waits until its port is open.
 * @param words make the command of a port on 127.0.0.1
 */
export async function startOther(name, words, more) {
  const port = await freePort();
  const [command, ...rest] = words(port);
  // A group of its own, since its workers may outlive it.
  const options = { env: { ...env, ...more }, detached: true, stdio: 'ignore' };
  const child = spawn(command, rest, options);
  watch(child, name, -child.pid);
  while (!(await opens(port))) await wait(20);
  return { port, stop: () => stop(child) };
}

/** Runs another program to its end; returns its exit status. */
export async function runOther([command, ...words], more) {
  const child = spawn(command, words, { env: { ...env, ...more }, stdio: 'ignore' });
  const [status] = await once(child, 'exit');
  return status;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

const opens = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

export const startBare = () => start('the bare server', [process.execPath, '-e', bare]);

const { BENCH_NODE = '', BENCH_BINARY } = process.env;
/** The built program: with BENCH_NODE as options of Node, or the executable that BENCH_BINARY names. */
const program = BENCH_BINARY
  ? [BENCH_BINARY]
  : [process.execPath, ...BENCH_NODE.split(' ').filter(Boolean), here('../../../bin/pwpush.js')];

/** The service of a program, its log going to /dev/null; `words` are more options of `serve`. */
export const startServiceOf = (command, ...words) =>
  start('the service', [...command, 'serve', '--port', '0', '--json', ...words]);

export const startService = (...words) => startServiceOf(program, ...words);

/** Runs the built program to its end. */
export async function runProgram(...words) {
  const [command, ...rest] = [...program, ...words];
  const child = spawn(command, rest, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}`);
}

/** A process that does one job at a time, at a service of that kind, with a token if the kind has one. */
export function startClient(kind = 'pwpush', token = '') {
  const child = fork(here('client.mjs'), [kind, token]);
  watch(child, 'the client');
  return {
    run: (what, job) =>
      new Promise((resolve) => {
        child.once('message', resolve);
        child.send({ what, ...job });
      }),
    /** Ends the job that repeats a request. */
    enough: () => child.send({ what: 'stop' }),
    stop: () => stop(child),
  };
}

/** MiB: the most it ever had, and what it has. */
export function memory({ pid }) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (field) => Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)[1]) / 1024);
  return { peak: mib('VmHWM'), now: mib('VmRSS') };
}

/** Microseconds of processor time it has used so far; the kernel counts in hundredths of a second. */
export function processorTime({ pid }) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
