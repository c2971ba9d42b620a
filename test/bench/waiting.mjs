// How long a small push waits while a stranger has the service do something large.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { addDue, nextDue, openSqlite } from './databases.mjs';
import { folder, loader, run, serve, table } from './runner.mjs';

const MIB = 1024 * 1024;
const MOST = 100;
const path = '/api/v2/pushes';
const small = { method: 'POST', path, body: JSON.stringify({ push: { payload: 'x'.repeat(40) } }) };

/** Returns the response, once its head is there. */
async function ask({ url, token }, target, { headers, ...options } = {}) {
  const all = { authorization: `Bearer ${token}`, ...headers };
  const response = await fetch(new URL(target, url), { headers: all, duplex: 'half', ...options });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response;
}

/** Returns the address of a push of so many MiB. */
async function upload(service, mebibytes) {
  async function* form() {
    yield Buffer.from('--b\r\nContent-Disposition: form-data; name="push[files][]"; filename="x"\r\n\r\n');
    for (let at = 0; at < mebibytes; at += 1) yield Buffer.alloc(MIB, 'x');
    yield Buffer.from('\r\n--b--\r\n');
  }
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const response = await ask(service, path, { method: 'POST', headers, body: form() });
  return `${path}/${(await response.json()).url_token}`;
}

/** Deletes a push, and waits until its files are gone. */
async function remove(service, push, database) {
  await ask(service, push, { method: 'DELETE' });
  while (database.all('SELECT 1 FROM uploads LIMIT 1').length > 0) await wait(100);
}

/** So many read the file of a push for ten seconds, at 100 KB/s each. */
async function read(service, push, readers) {
  const { files } = await (await ask(service, push)).json();
  const all = Array.from({ length: readers }, async () => {
    const { body } = await ask(service, files[0].url);
    const ends = performance.now() + 10_000;
    for await (const chunk of body) {
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
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'idempotency-key': `"${i}${'x'.repeat(20)}"`,
    };
    await ask(service, path, { method: 'POST', headers, body }).catch((error) => {
      if (!/^4\d\d /.test(error.message)) throw error;
    });
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
  let push;
  await during(`${mebibytes} MiB are uploaded`, async () => {
    push = await upload(service, mebibytes);
  });
  await during('32 slow readers', () => read(service, push, 32));
  const backup = ['serve', 'backup', '--quiet', '--data', data, join(folder, 'copy.db')];
  await during('a backup of that', () => run([...program, ...backup]));
  await during('that is deleted', () => remove(service, push, database));
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
