// How long a small push waits while a stranger has the service do something large.
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { addDue, nextDue, openSqlite } from './databases.mjs';
import { folder, loader, run, serve, table } from './runner.mjs';

const MIB = 1024 * 1024;
const MOST = 100;
const path = '/api/v2/pushes';
const small = { method: 'POST', path, body: JSON.stringify({ push: { payload: 'x'.repeat(40) } }) };

/** Answers the response, once its head is there. */
function ask({ port, token }, method, path, { write, ...fields } = {}) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...fields };
    const sent = request({ port, method, path, headers, agent: false }, resolve);
    sent.on('error', reject);
    Promise.resolve(write?.(sent)).then(() => sent.end(), reject);
  });
}

async function textOf(response) {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  if (response.statusCode >= 300) throw new Error(`${response.statusCode} ${text}`);
  return text;
}

/** Answers the URL token of a push of so many MiB. */
async function upload(service, mebibytes) {
  const block = Buffer.alloc(MIB, 'x');
  const response = await ask(service, 'POST', path, {
    'content-type': 'multipart/form-data; boundary=bench',
    async write(sent) {
      sent.write('--bench\r\nContent-Disposition: form-data; name="push[files][]"; filename="x"\r\n\r\n');
      for (let at = 0; at < mebibytes; at += 1) {
        if (!sent.write(block)) await once(sent, 'drain');
      }
      sent.write('\r\n--bench--\r\n');
    },
  });
  return JSON.parse(await textOf(response)).url_token;
}

/** Deletes a push, and waits until its files are gone. */
async function remove(service, token, database) {
  await textOf(await ask(service, 'DELETE', `${path}/${token}`));
  while (database.all('SELECT 1 FROM uploads LIMIT 1').length > 0) await wait(100);
}

/** So many read the file of a push for ten seconds, at 100 KB/s each. */
async function read(service, token, readers) {
  const { files } = JSON.parse(await textOf(await ask(service, 'GET', `${path}/${token}`)));
  const { pathname, search } = new URL(files[0].url);
  const all = Array.from({ length: readers }, async () => {
    const response = await ask(service, 'GET', pathname + search);
    if (response.statusCode !== 200) return textOf(response);
    const ends = performance.now() + 10_000;
    for await (const chunk of response) {
      if (performance.now() > ends) break;
      await wait(chunk.length / 100);
    }
  });
  await Promise.all(all);
}

/** Forms of what takes most to decode, which are refused when they have been read. */
async function sendForms(service, count) {
  const body = `push[payload]=x&push[zz]=é€${'\u0001'.repeat(8 * MIB - 100)}`;
  for (let i = 0; i < count; i += 1) {
    const response = await ask(service, 'POST', path, {
      'content-type': 'application/x-www-form-urlencoded',
      'idempotency-key': `"${i}${'x'.repeat(20)}"`,
      write: (sent) => sent.write(body),
    });
    await once(response.resume(), 'end');
  }
}

/** A push of 40 bytes over 16 connections while something else is done, as a table; p99 should be 100 ms at most. */
export async function waiting(program, { mebibytes, due }) {
  const data = join(folder, 'waiting');
  const words = ['--data', data, '--rate-limit', 'off', '--max-file-size', '1GiB'];
  let service = await serve(program, ...words);
  const database = openSqlite(join(data, 'pwpush.db'));
  const client = loader();
  const rows = [];
  const during = async (name, work) => {
    const probing = client.run('repeat', { port: service.port, connections: 16, countRefused: true, ...small });
    await work();
    client.enough();
    const { count, p50, p99, longest, refused } = await probing;
    const ms = [p50, p99, longest].map((one) => one.toFixed(1));
    if (p99 > MOST) ms[1] = `**${ms[1]}**`;
    rows.push([name, count, ...ms, refused]);
  };
  await during('nothing', () => wait(5000));
  let token;
  await during(`${mebibytes} MiB are uploaded`, async () => {
    token = await upload(service, mebibytes);
  });
  await during('32 slow readers', () => read(service, token, 32));
  const backup = ['serve', 'backup', '--quiet', '--data', data, join(folder, 'copy.db')];
  await during('a backup of that', () => run([...program, ...backup]));
  await during('that is deleted', () => remove(service, token, database));
  await during('20 forms of 8 MiB', () => sendForms(service, 20));
  await service.stop();
  addDue(database, due);
  service = await serve(program, ...words);
  await during(`a sweep of ${due}`, async () => {
    while (nextDue(database)) await wait(20);
  });
  await service.stop();
  await client.stop();
  database.close();
  const head = ['a push of 40 bytes during', 'requests', 'p50, ms', 'p99, ms', 'longest', 'refused'];
  return `p99 should be ${MOST} ms at most.\n\n${table(head, rows)}`;
}
