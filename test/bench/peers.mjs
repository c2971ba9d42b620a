// pwpush beside programs that do the same, in turns: a push, a hand-over from the sender to the recipient, services under
// load and under eight readers at once, and a file of so many MiB, encrypted (see files-peers.mjs). Peers that are not
// there are left out. Needs a build, and Linux.
// Usage: npm run bench -- --peers [--binary build/pwpush-linux-x64] [--snappass FOLDER] [--privatebin FOLDER]
//   [--password-pusher FOLDER] [--python-client COMMAND] [--mebibytes 1024]
// The folders have the sources of snappass, PrivateBin and Password Pusher, whose gems are there. For the rest of them, on Debian: gunicorn python3-flask
// python3-redis python3-cryptography redis-server php-cli magic-wormhole python3-magic-wormhole-mailbox-server age
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { median, table, withService } from './client/processes.mjs';
import { besideAge } from './files-peers.mjs';
import { compared } from './load/compared.mjs';
import { startMailbox, startPasswordPusher, startPrivateBin, startSnappass } from './load/peers.mjs';
import { folder, startClient, startServiceOf } from './load/processes.mjs';

const RUNS = 7;
const load = { jobs: ['create', 'last'], connections: 16, rounds: 3, seconds: 1.5 };
const FILE_ROUNDS = 3;
const SECRETS = 1000;
const [NODE, EXECUTABLE] = ['pwpush on Node.js', 'pwpush, the executable'];

/** Returns tables in Markdown, and prints which peers are not there. */
export async function peers(options) {
  const secrets = await besideServices(options);
  const files = await besideAge(Number(options.mebibytes), FILE_ROUNDS, options.binary);
  if (files) return `${secrets}\n\n## Encrypting a file\n\n${files}`;
  absent('age', 'age, script');
  return secrets;
}

async function besideServices(options) {
  const programs = await withService(process.execPath, (service) => handOvers(service, options));
  const services = await underLoad(options);
  const names = new Set([...Object.keys(programs), ...Object.keys(services)]);
  const columns = ['push', 'handOver', 'create', 'last', 'more'];
  const figure = (name, column) => {
    const number = programs[name]?.[column] ?? services[name]?.[column];
    return number === undefined ? '–' : Math.round(number).toLocaleString('en');
  };
  return table(
    [
      '',
      'a push, ms',
      'a hand-over, ms',
      'creations a second',
      'takings a second',
      `of ${SECRETS.toLocaleString('en')}, given more than once`,
      'kept',
    ],
    [...names].map((name) => [name, ...columns.map((column) => figure(name, column)), services[name]?.kept ?? '–']),
  );
}

function absent(name, why) {
  console.log(`left out: ${name} (${why})`);
}

/** Milliseconds of a push, and of a push and what takes it, by program: medians. */
async function handOvers({ run, pwpush, url }, { binary, 'python-client': python }) {
  const cases = [];
  const ours = (name, program) => {
    const push = () => run([...program, 'push', '--views', '1'], 'secret');
    cases.push([name, 'push', async () => push().milliseconds]);
    cases.push([
      name,
      'handOver',
      async () => {
        const { milliseconds, stdout } = push();
        return milliseconds + run([...program, 'get', stdout]).milliseconds;
      },
    ]);
  };
  ours(NODE, pwpush());
  if (binary) ours(EXECUTABLE, [resolve(binary)]);
  if (python) {
    const client = python.split(' ');
    run([...client, 'config', 'set', 'url', url]);
    cases.push(['the Python client', 'push', async () => run([...client, 'push'], 'secret').milliseconds]);
  } else absent('the Python client', '--python-client');
  const mailbox = await startMailbox();
  if (mailbox) cases.push(['magic-wormhole', 'handOver', () => wormhole(mailbox)]);
  else absent('magic-wormhole', 'wormhole, twist3');
  const times = cases.map(() => []);
  for (let round = -1; round < RUNS; round++) {
    for (const [at, [, , work]] of cases.entries()) {
      const milliseconds = await work();
      if (round >= 0) times[at].push(milliseconds);
    }
  }
  await mailbox?.stop();
  const medians = {};
  for (const [at, [name, what]] of cases.entries()) {
    medians[name] = { ...medians[name], [what]: median(times[at]) };
  }
  return medians;
}

/** From the start of the sender until both have ended; the recipient starts when the code is there. */
async function wormhole({ relay }) {
  const options = { env: { PATH: process.env.PATH, HOME: folder } };
  const words = ['--relay-url', relay];
  const began = performance.now();
  const sender = spawn('wormhole', [...words, 'send', '--text', 'secret'], options);
  const sent = once(sender, 'exit');
  for await (const line of createInterface({ input: sender.stderr })) {
    const code = /code is: (\S+)/.exec(line)?.[1];
    if (!code) continue;
    const recipient = spawn('wormhole', [...words, 'receive', code], options);
    const [status] = await once(recipient, 'exit');
    if (status !== 0) throw new Error(`wormhole receive ended with ${status}`);
    break;
  }
  await sent;
  return performance.now() - began;
}

/** What services do a second at 16 connections, and how often they give a secret twice to eight readers at once. */
async function underLoad({ binary, ...sources }) {
  const own = (name, program) => startServiceOf(program, '--data', join(folder, name), '--rate-limit', 'off');
  const sides = { [NODE]: await own('node', [process.execPath, join('bin', 'pwpush.js')]) };
  if (binary) sides[EXECUTABLE] = await own('executable', [resolve(binary)]);
  for (const [name, option, start] of [
    ['snappass', 'snappass', startSnappass],
    ['PrivateBin', 'privatebin', startPrivateBin],
    ['Password Pusher', 'password-pusher', startPasswordPusher],
  ]) {
    const service = await start(sources[option]);
    if (service) sides[name] = service;
    else absent(name, `--${option}, and what it runs on`);
  }
  const rates = await compared(sides, load);
  for (const [name, { port, kind, kept = 'synced', stop }] of Object.entries(sides)) {
    const client = startClient(kind);
    const { none, more } = await client.run('race', { port, count: SECRETS, readers: 8 });
    if (none > 0) throw new Error(`${name} gave ${none} secrets to nobody`);
    Object.assign(rates[name], { more, kept });
    await client.stop();
    await stop();
  }
  return rates;
}
