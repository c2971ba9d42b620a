// How long others wait while the service deletes files, is backed up, and sweeps.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { folder, runProgram, startService } from './processes.mjs';
import { openSqlite } from './sqlite.mjs';

const MIB = 1024 * 1024;
const FILES = 10;

function ask({ port, token }, method, path, { body, type = 'application/json', agent } = {}) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const sent = request({ port, method, path, headers, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    if (typeof body === 'function') body(sent).then(() => sent.end(), reject);
    else sent.end(body);
  });
}

const creation = (payload) => JSON.stringify({ push: { payload } });

async function upload(service, mebibytes) {
  const part = (name, rest) =>
    `--bench\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n`;
  const block = Buffer.alloc(MIB, 'x');
  const { text } = await ask(service, 'POST', '/api/v2/pushes', {
    type: 'multipart/form-data; boundary=bench',
    async body(sent) {
      for (let file = 0; file < FILES; file += 1) {
        sent.write(part('push[files][]', `; filename="${file}"`));
        for (let i = 0; i < mebibytes; i += 1) if (!sent.write(block)) await once(sent, 'drain');
        sent.write('\r\n');
      }
      sent.write('--bench--\r\n');
    },
  });
  return JSON.parse(text).url_token;
}

/** Sends one request after the other until `over` is aborted; answers the milliseconds and statuses of each. */
async function probe(service, over, method, path, options = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times = [];
  let refused = 0;
  while (!over.aborted) {
    const began = performance.now();
    const { status } = await ask(service, method, path, { ...options, agent });
    times.push(performance.now() - began);
    if (status >= 400) refused += 1;
    await wait(2);
  }
  agent.destroy();
  return { times, refused };
}

async function during(service, name, work) {
  const { text } = await ask(service, 'POST', '/api/v2/pushes', { body: creation('x') });
  const over = new AbortController();
  const probes = {
    create: probe(service, over.signal, 'POST', '/api/v2/pushes', { body: creation('x') }),
    get: probe(service, over.signal, 'GET', `/api/v2/pushes/${JSON.parse(text).url_token}`),
    up: probe(service, over.signal, 'GET', '/up'),
  };
  const said = await work();
  over.abort();
  for (const [what, measured] of Object.entries(probes)) {
    const { times, refused } = await measured;
    times.sort((a, b) => a - b);
    const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
    const figures = [at(0.5), at(0.99), at(1)].map((ms) => ms.toFixed(0).padStart(6));
    console.log(
      `${name.padEnd(22)} ${what.padEnd(7)} ${`${times.length}`.padStart(6)} ${figures.join(' ')} ms, ${refused} refused`,
    );
  }
  if (said) console.log(`${''.padEnd(22)} ${said}`);
}

/** A push of ten files of so many MiB and 200 of 1 MiB of text; the columns are requests, p50, p99 and the longest. */
export async function waiting(mebibytes) {
  const data = join(folder, 'waiting');
  const service = await startService('--data', data, '--rate-limit', 'off');
  for (let i = 0; i < 200; i += 1) {
    await ask(service, 'POST', '/api/v2/pushes', { body: creation('x'.repeat(MIB)) });
  }
  const token = await upload(service, mebibytes);
  await during(service, 'nothing', () => wait(5000));
  await during(service, 'a deletion', async () => {
    const began = performance.now();
    const { status } = await ask(service, 'DELETE', `/api/v2/pushes/${token}`);
    const took = performance.now() - began;
    await wait(15_000);
    return `the deletion itself: ${status} after ${took.toFixed(0)} ms`;
  });
  await during(service, 'a backup', () =>
    runProgram('serve', 'backup', '--data', data, join(folder, 'copy.db')),
  );
  await service.stop();
  const database = openSqlite(join(data, 'pwpush.db'));
  database.exec('UPDATE pushes SET expires_at = 1');
  database.close();
  const next = {
    ...(await startService('--data', data, '--rate-limit', 'off')),
    token: service.token,
  };
  await during(next, 'a sweep of all', () => wait(8000));
  await next.stop();
}
