// How fast push and get move one large file over loopback beside curl -F and curl -o, as it is and encrypted, and in how
// much memory: interleaved runs against a listener in a process of its own, medians. Files are in BENCH_TMPDIR, of
// which /dev/shm leaves out the disk: push and get sync what they write, curl does not.
// Usage: node test/bench/files-client.mjs [MiB] [runs] [executable]     (1024 and 5; needs curl, openssl and a built program)
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createWriteStream,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { median, table } from './client/processes.mjs';
import { wantedTable } from './wanted.mjs';

const self = fileURLToPath(import.meta.url);
if (process.argv[1] === self) {
  const [first, ...words] = process.argv.slice(2);
  if (first === 'listen') listen(words[0]);
  else {
    const { figures, text } = await transfers(Number(first ?? 1024), Number(words[0] ?? 5), words[1]);
    console.log(`${text}\n\n${wantedTable(figures)}`);
  }
}

/** Starts what takes anything and keeps nothing but the first file, so that the client is measured. */
export async function startListener(kept) {
  const stdio = ['ignore', 'pipe', 'inherit'];
  const child = spawn(process.execPath, [self, 'listen', kept], { stdio });
  process.once('exit', () => child.kill());
  const [port] = await once(createInterface({ input: child.stdout }), 'line');
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

/** Takes what is posted, keeps the first, which is an encrypted push of one file, and gives that. */
function listen(path) {
  const kept = openSync(path, 'w+');
  let first;
  const server = createServer((socket) => {
    let left = 0;
    socket.on('error', () => {});
    socket.on('data', (data) => {
      let body = data;
      if (left === 0) {
        const text = data.toString('latin1');
        if (text.startsWith('GET /file')) return serve(socket, kept, first);
        if (text.startsWith('GET ')) return retrieved(socket, first);
        if (/^expect: 100/im.test(text)) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
        left = Number(/^content-length: (\d+)/im.exec(text)[1]);
        body = data.subarray(text.indexOf('\r\n\r\n') + 4);
      }
      left -= body.length;
      if (!first) writeSync(kept, body);
      if (left > 0) return;
      first ??= partsOf(kept);
      created(socket);
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

/** The payload, and where the file is, of a form. */
function partsOf(kept) {
  const start = Buffer.alloc(64 * 1024);
  readSync(kept, start, 0, start.length, 0);
  const text = start.toString('latin1');
  const [, payload] = /name="push\[payload\]"\r\n\r\n(.*?)\r\n--/s.exec(text);
  const from = text.indexOf('\r\n\r\n', text.indexOf('name="push[files][]"')) + 4;
  const end = `\r\n${text.slice(0, text.indexOf('\r\n'))}--\r\n`;
  return { payload, from, to: fstatSync(kept).size - end.length };
}

function created(socket) {
  json(socket, 201, { url_token: 'abc', html_url: `http://127.0.0.1:${socket.localPort}/p/abc` });
}

function retrieved(socket, { payload }) {
  const url = `http://127.0.0.1:${socket.localPort}/file`;
  json(socket, 200, { url_token: 'abc', payload, files: [{ filename: '1.age', url }] });
}

function json(socket, status, value) {
  const body = JSON.stringify(value);
  socket.write(
    `HTTP/1.1 ${status} OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

async function serve(socket, kept, { from, to }) {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${to - from}\r\n\r\n`);
  const room = Buffer.allocUnsafeSlow(1024 * 1024);
  for (let at = from; at < to; ) {
    const length = readSync(kept, room, 0, Math.min(room.length, to - at), at);
    at += length;
    await new Promise((written) => socket.write(room.subarray(0, length), written));
  }
}

/**
 * Returns a table of how fast one file is sent and fetched, and of the processor and memory that takes, and the figures
 * of wanted.mjs.
 * @param executable measured beside the program on this Node, if given
 */
export async function transfers(mebibytes, runs, executable) {
  const folder = mkdtempSync(join(process.env.BENCH_TMPDIR ?? tmpdir(), 'pwpush-bench-'));
  const out = join(folder, 'out');
  const listener = await startListener(join(folder, 'kept'));
  try {
    const big = join(folder, 'big');
    await fill(big, mebibytes);
    const cases = await casesFor(listener.url, { big, out, folder }, executable);
    // The first round warms the caches of the file system.
    for (let run = 0; run <= runs; run++) {
      for (const { words, results } of cases) {
        // Both write a new file; room for a second one would cost whoever needs it.
        rmSync(out, { recursive: true, force: true });
        mkdirSync(out);
        const result = await time(words, folder);
        if (run > 0) results.push(result);
      }
    }
    return report(cases, mebibytes);
  } finally {
    listener.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function casesFor(url, { big, out, folder }, executable) {
  const script = fileURLToPath(new URL('../../bin/pwpush.js', import.meta.url));
  const programs = { pwpush: [process.execPath, script] };
  if (executable) programs['the executable'] = [executable];
  const send = ['push', '--file', big, '--url', url];
  const encrypted = [...programs.pwpush, ...send, '--encrypt'];
  const { stdout: link } = await time(encrypted, folder);
  const fetch = ['get', link.trim(), '--output', out, '--quiet', '--url', url];
  const form = ['-o', '/dev/null', '-F', `push[files][]=@${big}`, `${url}/api/v2/pushes`];
  const each = (what, word, own, curl) => [
    { what, name: 'curl', words: ['curl', '-sS', ...curl] },
    ...Object.entries(programs).flatMap(([name, words]) => [
      { what, name, words: [...words, ...word, ...own] },
      { what, name: `${name}, encrypted`, words: [...words, ...word, ...encryptedOf(what)] },
    ]),
  ];
  const encryptedOf = (what) => (what === 'push' ? ['--encrypt'] : []);
  return [
    ...each('push', send, [], form),
    ...each('get', fetch, ['--no-decrypt'], ['-o', join(out, 'got'), `${url}/file`]),
  ].map((one) => ({ ...one, results: [] }));
}

function report(cases, mebibytes) {
  const middle = ({ results }, figure) => median(results.map((one) => one[figure]));
  const peak = ({ results }) => Math.max(...results.map((one) => one.peak)) / 1024;
  const other = (one, name) => cases.find((two) => two.what === one.what && two.name === name);
  const faster = (one, name) => middle(other(one, name), 'seconds') / middle(one, 'seconds');
  const rows = cases.map((one) => [
    `${one.what}: ${one.name}`,
    (mebibytes / middle(one, 'seconds')).toFixed(0),
    faster(one, 'curl').toFixed(2),
    middle(one, 'processor').toFixed(2),
    peak(one).toFixed(0),
  ]);
  const figures = {};
  for (const one of cases) {
    if (one.name === 'pwpush') figures[`${one.what}File`] = faster(one, 'curl');
    if (one.name !== 'pwpush, encrypted') continue;
    figures[`${one.what}Encrypted`] = faster(one, 'pwpush');
    figures[`${one.what}EncryptedMemory`] = peak(one) - peak(other(one, 'pwpush'));
  }
  const head = [`${mebibytes} MiB`, 'MiB/s', 'to curl', 'processor, s', 'peak MiB'];
  const encrypted = cases.find(({ name }) => name === 'pwpush, encrypted');
  const seconds = [other(encrypted, 'pwpush'), encrypted].map((one) => middle(one, 'seconds'));
  return { figures, text: `${table(head, rows)}\n\n${limit(mebibytes, ...seconds)}` };
}

/** What `push --encrypt` took, in seconds, beside one thread that sends as without and encrypts as fast as OpenSSL. */
function limit(mebibytes, plain, encrypted) {
  const speed = ['speed', '-mr', '-seconds', '2', '-bytes', '65536', '-evp', 'chacha20-poly1305'];
  const told = execFileSync('openssl', speed, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const rate = Number(/^\+F:.*:([\d.]+)$/m.exec(told)[1]) / 1024 ** 2;
  const cipher = mebibytes / rate;
  const best = plain / (plain + cipher);
  return (
    `\`openssl speed\` encrypts chunks of 64 KiB at ${rate.toFixed(0)} MiB/s. In one thread, \`push --encrypt\` could have ` +
    `${best.toFixed(2)} of the speed of \`push\` (${plain.toFixed(2)} s and ${cipher.toFixed(2)} s), and had ` +
    `${(plain / encrypted).toFixed(2)} (${encrypted.toFixed(2)} s).`
  );
}

/** Runs once; stdout, seconds, and as last seen, every 10 ms, its seconds of a processor and largest size in KiB (Linux). */
async function time([command, ...words], folder) {
  const env = {
    PATH: process.env.PATH,
    NO_PROXY: '*',
    PWPUSH_CONFIG_DIR: folder,
    PWPUSH_STATE_DIR: folder,
  };
  const start = process.hrtime.bigint();
  const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  let seen = {};
  const watch = setInterval(() => {
    seen = usageOf(child.pid) ?? seen;
  }, 10);
  const [status] = await once(child, 'exit');
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  clearInterval(watch);
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
  return { stdout, seconds, ...seen };
}

function usageOf(pid) {
  try {
    const [, peak] = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return { peak: Number(peak), processor: (Number(fields[11]) + Number(fields[12])) / 100 };
  } catch {
    return undefined;
  }
}

/** Makes a file of that size. */
export async function fill(path, mebibytes) {
  const stream = createWriteStream(path);
  const chunk = Buffer.alloc(1024 * 1024, 'pwpush');
  for (let written = 0; written < mebibytes; written++) {
    if (!stream.write(chunk)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
}
