// How fast and in how much memory the service takes and gives files, beside a bare node:http server that discards
// and repeats the same bytes: ratios in one run. Needs Linux (/proc) and 6 GiB of disk.
// Usage: node test/bench/files-service.mjs [MiB a file]
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MIB = 1024 * 1024;
const size = Number(process.argv[2] ?? 1024) * MIB;
const program = fileURLToPath(new URL('../../bin/pwpush.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pwpush-bench-'));
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  TMPDIR: join(folder),
  PWPUSH_CONFIG_DIR: join(folder, 'config'),
};
const boundary = 'bench';
const block = randomBytes(MIB);

const bare = `
  const http = require('node:http');
  const block = Buffer.alloc(64 * 1024, 1);
  http.createServer((req, res) => {
    if (req.method === 'POST') return req.on('data', () => {}).on('end', () => res.writeHead(201).end('{}'));
    let left = ${size};
    res.writeHead(200, { 'content-length': left });
    const more = () => {
      while (left > 0) { left -= block.length; if (!res.write(block)) return res.once('drain', more); }
      res.end();
    };
    more();
  }).listen(0, '127.0.0.1', function () { console.log(JSON.stringify({ url: 'http://127.0.0.1:' + this.address().port })); });`;

async function start(words) {
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const stop = () =>
    new Promise((resolve) => {
      child.once('exit', resolve);
      child.kill('SIGTERM');
    });
  return { ...JSON.parse(line), pid: child.pid, stop };
}

const serve = (name) =>
  start([
    ...[program, 'serve', '--port', '0', '--json', '--quiet'],
    ...['--data', join(folder, name), '--max-file-size', '4GiB'],
  ]);

function status(pid, field) {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}
const peak = ({ pid }) => Math.round(status(pid, 'VmHWM') / 1024);
const open = ({ pid }) => readdirSync(`/proc/${pid}/fd`).length;

/** Sends a form with files of those sizes; answers the body as JSON. */
function push({ url, token }, sizes) {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const req = request(`${url}/api/v2/pushes`, { method: 'POST', headers }, async (res) => {
      let text = '';
      for await (const chunk of res.setEncoding('utf8')) text += chunk;
      if (res.statusCode === 201) resolve(JSON.parse(text));
      else reject(new Error(`${res.statusCode} ${text}`));
    }).on('error', reject);
    (async () => {
      for (const [i, bytes] of sizes.entries()) {
        req.write(
          `--${boundary}\r\nContent-Disposition: form-data; name="push[files][]"; filename="${i}.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`,
        );
        for (let left = bytes; left > 0; left -= MIB) {
          const chunk = left >= MIB ? block : block.subarray(0, left);
          if (!req.write(chunk)) await new Promise((drained) => req.once('drain', drained));
        }
        req.write('\r\n');
      }
      req.end(`--${boundary}--\r\n`);
    })().catch(reject);
  });
}

/** Answers the body; only its SHA-256 when `hash`. */
function get(url, hash = false) {
  return new Promise((resolve, reject) => {
    request(url, async (res) => {
      const digest = createHash('sha256');
      let length = 0;
      let text = '';
      for await (const chunk of res) {
        length += chunk.length;
        if (hash) digest.update(chunk);
        else if (length < MIB) text += chunk;
      }
      resolve({ length, text, digest: hash ? digest.digest('hex') : undefined });
    })
      .on('error', reject)
      .end();
  });
}

const expected = createHash('sha256');
for (let left = size; left > 0; left -= MIB) expected.update(block);
const digest = expected.digest('hex');

async function timed(work) {
  const began = process.hrtime.bigint();
  const result = await work();
  return { result, rate: size / MIB / (Number(process.hrtime.bigint() - began) / 1e9) };
}

async function links(service, pushed) {
  const { text } = await get(`${service.url}/api/v2/pushes/${pushed.url_token}`);
  return JSON.parse(text).files.map((file) => file.url);
}

const row = (name, rate, base) =>
  console.log(`${name.padEnd(28)} ${rate.toFixed(0).padStart(6)} MiB/s   ${(rate / base).toFixed(2).padStart(5)}`);

try {
  console.log(`Node ${process.version}, ${cpus().length} cores, ${size / MIB} MiB a file\n`);
  const server = await start(['-e', bare]);
  const up = (await timed(() => push(server, [size]))).rate;
  const down = (await timed(() => get(server.url))).rate;
  await server.stop();
  row('bare upload', up, up);
  row('bare download', down, down);

  const one = await serve('one');
  console.log(`\nservice at rest: ${peak(one)} MiB`);
  const pushed = await timed(() => push(one, [size]));
  row('upload', pushed.rate, up);
  console.log(`peak after upload: ${peak(one)} MiB`);
  const [link] = await links(one, pushed.result);
  row('download', (await timed(() => get(link))).rate, down);
  console.log(`peak after download: ${peak(one)} MiB (may be 192)`);
  if ((await get(link, true)).digest !== digest) throw new Error('the bytes differ');
  const began = Date.now();
  await new Promise((resolve) =>
    request(`${one.url}/api/v2/pushes/${pushed.result.url_token}`, { method: 'DELETE' }, (res) =>
      res.resume().on('end', resolve),
    ).end(),
  );
  console.log(`deleted in ${((Date.now() - began) / 1000).toFixed(1)} s; peak ${peak(one)} MiB`);
  await one.stop();
  rmSync(join(folder, 'one'), { recursive: true });

  const four = await serve('four');
  const all = await timed(() => Promise.all([1, 2, 3, 4].map(() => push(four, [size]))));
  row('\nfour uploads at once', all.rate * 4, up);
  const urls = (await Promise.all(all.result.map((each) => links(four, each)))).flat();
  row('four downloads at once', (await timed(() => Promise.all(urls.map((url) => get(url))))).rate * 4, down);
  console.log(`peak with four at once: ${peak(four)} MiB (may be 320)`);
  await four.stop();
  rmSync(join(folder, 'four'), { recursive: true });

  const small = await serve('small');
  const before = open(small);
  const start100 = Date.now();
  for (let i = 0; i < 100; i += 1) {
    const { url_token } = await push(small, Array(10).fill(1000));
    for (const url of await links(small, { url_token })) await get(url);
  }
  const seconds = (Date.now() - start100) / 1000;
  // Kept-alive connections end five seconds after their last request.
  await new Promise((resolve) => setTimeout(resolve, 7000));
  console.log(
    `\n1,000 small files up and down in ${seconds.toFixed(1)} s; descriptors before ${before}, after ${open(small)}; ` +
      `files in the data folder: ${readdirSync(join(folder, 'small')).join(' ')}; ` +
      `database ${(statSync(join(folder, 'small/pwpush.db')).size / MIB).toFixed(1)} MiB; peak ${peak(small)} MiB`,
  );
  await small.stop();
  console.log(`left in the folder for temporary files: ${readdirSync(folder).join(' ')}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
