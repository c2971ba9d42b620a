// How fast push and get move one large file over loopback beside curl -F and curl -o, and in how much memory:
// interleaved runs against a listener in a process of its own, medians.
// Usage: node test/bench/files-client.mjs [MiB] [runs] [executable]     (1024 and 5; needs curl and a built program)
import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { median, table } from './client/processes.mjs';

const self = fileURLToPath(import.meta.url);
if (process.argv[1] === self) {
  const [first, ...words] = process.argv.slice(2);
  if (first === 'listen') listen(Number(words[0]));
  else console.log((await transfers(Number(first ?? 1024), Number(words[0] ?? 5), words[1])).text);
}

/** Takes whatever is posted, and answers a push whose file is so many bytes. */
function listen(bytes) {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  const server = createServer((socket) => {
    let left = 0;
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if (left > 0) {
        left -= data.length;
        if (left <= 0) created(socket);
        return;
      }
      const text = data.toString('latin1');
      const body = text.indexOf('\r\n\r\n') + 4;
      if (text.startsWith('GET /file')) return serve(socket, bytes, chunk);
      if (text.startsWith('GET ')) return retrieved(socket, server.address().port);
      if (/^expect: 100/im.test(text)) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      left = Number(/^content-length: (\d+)/im.exec(text)[1]) - (data.length - body);
      if (left <= 0) created(socket);
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

function created(socket) {
  json(socket, 201, { url_token: 'abc', html_url: `http://127.0.0.1:${socket.localPort}/p/abc` });
}

function retrieved(socket, port) {
  const url = `http://127.0.0.1:${port}/file`;
  json(socket, 200, { url_token: 'abc', payload: '', files: [{ filename: 'got', url }] });
}

function json(socket, status, value) {
  const body = JSON.stringify(value);
  socket.write(
    `HTTP/1.1 ${status} OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

function serve(socket, bytes, chunk) {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n`);
  let left = bytes;
  const more = () => {
    while (left > 0) {
      const piece = chunk.subarray(0, Math.min(chunk.length, left));
      left -= piece.length;
      if (!socket.write(piece)) return socket.once('drain', more);
    }
  };
  more();
}

/**
 * Returns a table of how fast one file is sent and fetched, and of the memory that takes, and the speeds to curl.
 * @param executable measured beside the program on this Node, if given
 */
export async function transfers(mebibytes, runs, executable) {
  const folder = mkdtempSync(join(process.env.BENCH_TMPDIR ?? tmpdir(), 'pwpush-bench-'));
  const big = join(folder, 'big');
  const bytes = mebibytes * 1024 * 1024;
  const listener = spawn(process.execPath, [self, 'listen', String(bytes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await fill(big, mebibytes);
    const [port] = await once(createInterface({ input: listener.stdout }), 'line');
    const url = `http://127.0.0.1:${port}`;
    const script = fileURLToPath(new URL('../../bin/pwpush.js', import.meta.url));
    const programs = { pwpush: [process.execPath, script] };
    if (executable) programs['the executable'] = [executable];
    const push = {
      curl: [
        'curl',
        '-sS',
        '-o',
        '/dev/null',
        '-F',
        `push[files][]=@${big}`,
        `${url}/api/v2/pushes`,
      ],
    };
    const get = { curl: ['curl', '-sS', '-o', join(folder, 'got'), `${url}/file`] };
    for (const [name, words] of Object.entries(programs)) {
      push[name] = [...words, 'push', '--file', big, '--url', url];
      get[name] = [...words, 'get', 'abc', '--output', folder, '--quiet', '--url', url];
    }
    const cases = Object.entries({ push, get }).flatMap(([what, of]) =>
      Object.entries(of).map(([name, words]) => ({ what, name, words, results: [] })),
    );
    // The first round warms the caches of the file system.
    for (let run = 0; run <= runs; run++) {
      for (const { words, results } of cases) {
        // Both write a new file; room for a second one would cost whoever needs it.
        rmSync(join(folder, 'got'), { force: true });
        const result = await time(words, folder);
        if (run > 0) results.push(result);
      }
    }
    return report(cases, mebibytes);
  } finally {
    listener.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(cases, mebibytes) {
  const seconds = ({ results }) => median(results.map((one) => one.seconds));
  const toCurl = (one) => {
    const curl = cases.find(({ what, name }) => what === one.what && name === 'curl');
    return seconds(curl) / seconds(one);
  };
  const rows = cases.map((one) => {
    const peak = Math.max(...one.results.map((result) => result.peak));
    return [
      `${one.what}: ${one.name}`,
      (mebibytes / seconds(one)).toFixed(0),
      toCurl(one).toFixed(2),
      (peak / 1024).toFixed(0),
    ];
  });
  const ours = cases.filter(({ name }) => name === 'pwpush');
  return {
    figures: Object.fromEntries(ours.map((one) => [`${one.what}File`, toCurl(one)])),
    text: table([`${mebibytes} MiB`, 'MiB/s', 'to curl', 'peak MiB'], rows),
  };
}

/** Runs once; seconds, and the largest resident size in KiB (Linux; as last seen, every 20 ms). */
async function time([command, ...words], folder) {
  const env = {
    PATH: process.env.PATH,
    NO_PROXY: '*',
    PWPUSH_CONFIG_DIR: folder,
    PWPUSH_STATE_DIR: folder,
  };
  const start = process.hrtime.bigint();
  const child = spawn(command, words, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
  }, 20);
  const [status] = await once(child, 'exit');
  clearInterval(watch);
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
  return { seconds: Number(process.hrtime.bigint() - start) / 1e9, peak };
}

function peakOf(pid) {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function fill(path, mebibytes) {
  const stream = createWriteStream(path);
  const chunk = Buffer.alloc(1024 * 1024, 'pwpush');
  for (let written = 0; written < mebibytes; written++) {
    if (!stream.write(chunk)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
}

function once(emitter, event) {
  return new Promise((resolve, reject) => {
    const failed = (error) => reject(error);
    emitter.once('error', failed);
    emitter.once(event, (...values) => {
      emitter.removeListener('error', failed);
      resolve(values);
    });
  });
}
