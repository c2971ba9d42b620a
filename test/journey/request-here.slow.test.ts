import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { decryptText, prepareFile } from '../../src/age/age';
import { newKeyPair, parseIdentities, parseRecipient } from '../../src/age/key-files';
import { encodeManifest } from '../../src/age/manifest';
import { encryptText, joined, pieces } from '../helpers/age';
import { mountDisk, needsDisk } from '../helpers/disk';
import { lose } from '../helpers/here';
import { alsoBinary, person, program, type Running, start } from '../helpers/program';
import { linesOf, onTerminal } from '../helpers/pty';
import { overSocket } from '../helpers/sockets';

const asking = person();
const asked = person();

/** Starts `request --here` on this machine alone, and returns it with its link, the first thing it says. */
async function receiving(...more: string[]) {
  const words = ['request', '--here', '--host', '127.0.0.1', ...more];
  const running = start(words, { env: asking.env, cwd: asking.folder });
  return { running, link: await linkOf(running) };
}

function linkOf({ child, ended }: Running): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (chunk) => {
      text += chunk;
      const link = /^http:\S+#age1\S+$/m.exec(text)?.[0];
      if (link) resolve(link);
    });
    ended.then(({ stderr }) => reject(new Error(stderr)));
  });
}

/** Answers; what is tested is the other process. */
const respond = (link: string, words: string[] = [], stdin = '', env = asked.env) =>
  overSocket(['respond', link, ...words], { env, stdin });

test('files and text go to a folder', alsoBinary, async () => {
  const { running, link } = await receiving('--allow-files', '--output', 'inbox/', '--quiet');
  writeFileSync(join(asked.folder, 'a.bin'), Buffer.alloc(300_000, 7));
  const words = ['--file', join(asked.folder, 'a.bin'), '--message', 'there you are'];
  expect((await respond(link, words)).code).toBe(0);
  expect(await running.ended).toMatchObject({ code: 0, stdout: '', stderr: `${link}\n` });
  const inbox = join(asking.folder, 'inbox');
  expect(readdirSync(inbox).sort()).toEqual(['a.bin', 'secret.txt']);
  expect(readFileSync(join(inbox, 'a.bin'))).toEqual(Buffer.alloc(300_000, 7));
});

test('--json is the link, then the answer', async () => {
  const words = ['request', '--here', '--host', '127.0.0.1', '--json'];
  const running = start(words, { env: asking.env });
  const first = await new Promise<string>((resolve) => {
    running.child.stdout?.once('data', resolve);
  });
  expect((await respond(JSON.parse(first).html_url, [], 'hunter2')).code).toBe(0);
  const { code, stdout } = await running.ended;
  const [, second = ''] = stdout.split('\n');
  expect(code).toBe(0);
  expect(JSON.parse(second)).toMatchObject({ response: 'hunter2', encrypted: true });
});

test('a passphrase protects the page', async () => {
  const env = { ...asking.env, PWPUSH_PASSPHRASE: 'open sesame' };
  const words = ['request', '--here', '--host', '127.0.0.1'];
  const running = start(words, { env });
  const link = await linkOf(running);
  expect((await respond(link, [], 'hunter2')).code).toBe(7);
  const given = { ...asked.env, PWPUSH_PASSPHRASE: 'open sesame' };
  const answered = await respond(link, [], 'hunter2', given);
  expect(answered.code).toBe(0);
  expect((await running.ended).stdout).toBe('hunter2');
});

test('nothing else is served, and nobody else can take the answer', async () => {
  const { running, link } = await receiving();
  const { origin, pathname } = new URL(link);
  const token = pathname.split('/').at(-1);
  const status = async (path: string, init: RequestInit = {}) =>
    (await fetch(origin + path, init)).status;
  expect(await status(pathname)).toBe(200);
  expect(await status('/')).toBe(404);
  expect(await status('/api/v2/requests/open')).toBe(404);
  expect(await status('/api/v2/pushes', { method: 'POST', body: '{}' })).toBe(404);
  expect(await status(`/api/v2/requests/${token}`, { method: 'DELETE' })).toBe(404);
  expect(await status(`/api/v2/requests/${token}/audit`)).toBe(404);
  const read = await (await fetch(`${origin}/api/v2/requests/${token}`)).json();
  expect(read).toMatchObject({
    state: 'open',
    request: 'Please enter the secret.',
    response: null,
  });
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(143);
});

test('Ctrl-C leaves nothing', async () => {
  const before = readdirSync(asking.folder, { recursive: true }).sort();
  const { running, link } = await receiving('--output', 'late.txt');
  running.child.kill('SIGINT');
  expect(await running.ended).toMatchObject({ code: 130, stdout: '' });
  expect(readdirSync(asking.folder, { recursive: true }).sort()).toEqual(before);
  expect((await respond(link, [], 'x')).code).toBe(9);
});

/** The rescue files and folders, and what the error says of them. */
function rescued(stderr: string) {
  const state = join(asking.folder, 'state');
  const names = readdirSync(state, { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => join(state, name)).filter((path) => statSync(path).isFile());
  rmSync(state, { recursive: true, force: true });
  expect(stderr).not.toMatch(/--resume|With the key|another view/i);
  return files.map((path) => basename(path)).filter((name) => stderr.includes(name));
}

test('files for which the disk is too full are saved elsewhere', needsDisk, async () => {
  const disk = mountDisk(1);
  const { running, link } = await receiving('--allow-files', '--output', disk.folder);
  writeFileSync(join(asked.folder, 'big.bin'), Buffer.alloc(3_000_000, 7));
  writeFileSync(join(asked.folder, 'small'), 'S');
  const files = ['--file', join(asked.folder, 'big.bin'), '--file', join(asked.folder, 'small')];
  expect((await respond(link, files)).code).toBe(0);
  const { code, stderr } = await running.ended;
  expect([code, readFileSync(join(disk.folder, 'small'), 'utf8')]).toEqual([1, 'S']);
  disk.remove();
  const path = /the secret was saved to (\S+big\.bin)$/m.exec(stderr)?.[1] ?? '';
  expect(readFileSync(path).equals(Buffer.alloc(3_000_000, 7))).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(rescued(stderr)).toEqual(['big.bin']);
});

test('Ctrl-C while a file is written saves it', async () => {
  const words = ['request', '--here', '--host', '127.0.0.1', '--allow-files', '--output', '-'];
  const [file, ...first] = program;
  const child = spawn(file, [...first, ...words], { env: asking.env, cwd: asking.folder });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  await expect.poll(() => stderr).toMatch(/#age1\S+\n/);
  writeFileSync(join(asked.folder, 'big.bin'), Buffer.alloc(3_000_000, 7));
  const answered = await respond(stderr.trim(), ['--file', join(asked.folder, 'big.bin')]);
  expect(answered.code).toBe(0);
  // The rest does not fit into the pipe, which nobody reads on.
  await once(child.stdout, 'readable');
  // Standard error can end after the process; standard output is not read to its end.
  const ended = [once(child, 'exit'), once(child.stderr, 'end')];
  child.kill('SIGINT');
  const [[code]] = (await Promise.all(ended)) as [[number], unknown];
  const path = /interrupted; the secret was saved to (\S+)$/m.exec(stderr)?.[1] ?? '';
  expect([code, readFileSync(path).length]).toEqual([130, 3_000_000]);
  expect(rescued(stderr)).toEqual(['big.bin']);
});

/** Sends an answer as it is. */
async function send(link: string, response: string) {
  const { origin, pathname } = new URL(link);
  await fetch(`${origin}/api/v2/requests/${pathname.split('/').at(-1)}/respond`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ request: { response } }),
  });
}

test('a visitor of the page is named once', async () => {
  const { running, link } = await receiving();
  for (let at = 0; at < 3; at += 1) await (await fetch(link)).text();
  expect((await respond(link, [], 'hunter2')).code).toBe(0);
  const { stderr } = await running.ended;
  expect(stderr).toBe(`${link}\n127.0.0.1 opened the page\n`);
});

test('an answer whose confirmation was lost is printed, and can be sent again', async () => {
  const { running, link } = await receiving();
  const { origin, pathname } = new URL(link);
  const path = `${origin}/api/v2/requests/${pathname.split('/').at(-1)}/respond`;
  const key = 'Jk3dF8s-Qw2mZx0pLr7tVg';
  const body = JSON.stringify({ request: { response: 'hunter2' } });
  let said = '';
  running.child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  await lose(path, key, { method: 'PATCH', body });
  await expect.poll(() => said).toContain('waiting up to 2 minutes for a repetition');
  const headers = { 'content-type': 'application/json', 'idempotency-key': `"${key}"` };
  expect((await fetch(path, { method: 'PATCH', headers, body })).status).toBe(200);
  expect(await running.ended).toMatchObject({ code: 0, stdout: 'hunter2' });
});

test('an answer that comes while others fill the memory is not lost', async () => {
  const { running, link } = await receiving();
  const { origin, pathname, port } = new URL(link);
  const path = `/api/v2/requests/${pathname.split('/').at(-1)}/respond`;
  const MIB = 1024 * 1024;
  // Of the 64 MiB for bodies and responses they leave enough for the answer, and too little for its reading.
  const others = Array.from({ length: 9 }, (_, at) => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    const type = 'content-type: application/json';
    const length = `content-length: ${8 * MIB}`;
    socket.write(`PATCH ${path} HTTP/1.1\r\nhost: localhost\r\n${type}\r\n${length}\r\n\r\n`);
    socket.write(Buffer.alloc(at === 8 ? 6.75 * MIB : 7 * MIB, ' '));
    return socket;
  });
  const headers = { 'content-type': 'application/json' };
  const large = { method: 'PATCH', headers, body: ' '.repeat(1.5 * MIB) };
  await expect.poll(async () => (await fetch(origin + path, large)).status).toBe(503);
  const response = 'x'.repeat(MIB - 10_000);
  await send(link, response);
  const { code, stdout } = await running.ended;
  for (const socket of others) socket.destroy();
  expect([code, stdout.length]).toEqual([0, response.length]);
});

test('an answer that is not text is saved with the key that opens it', async () => {
  const { running, link } = await receiving();
  const bytes = Buffer.from([0xff, 0xfe, 0]);
  await send(link, await encryptText(bytes, [parseRecipient(link.split('#')[1] ?? '')]));
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const [, armor = ''] =
    /the encrypted data is not text; the secret was saved to (\S+)/.exec(stderr) ?? [];
  const [, key = ''] = /its private key was saved to (\S+): try age -d -i /.exec(stderr) ?? [];
  expect(statSync(key).mode & 0o777).toBe(0o600);
  const identities = parseIdentities(readFileSync(key, 'utf8'));
  expect(Buffer.from(await decryptText(readFileSync(armor, 'utf8'), identities))).toEqual(bytes);
});

test('a file that was damaged is saved as it came, with the key', async () => {
  const { running, link } = await receiving('--allow-files', '--output', 'damaged/');
  const recipients = [parseRecipient(link.split('#')[1] ?? '')];
  const files = [];
  const bodies: Buffer[] = [];
  for (const name of ['whole.txt', 'damaged.txt']) {
    const { mac, encrypt } = await prepareFile(recipients);
    bodies.push(await joined(encrypt(pieces(Buffer.alloc(200_000, name)))));
    files.push({ name, type: 'text/plain', size: 200_000, mac });
  }
  const [one = Buffer.alloc(0), two = Buffer.alloc(0)] = bodies;
  two.writeUInt8(two.readUInt8(150_000) ^ 1, 150_000);
  const form = new FormData();
  const manifest = encodeManifest({ message: 'there you are', files });
  form.set('request[response]', await encryptText(Buffer.from(manifest), recipients));
  form.append('request[files][]', new Blob([new Uint8Array(one)]), '1.age');
  form.append('request[files][]', new Blob([new Uint8Array(two)]), '2.age');
  const { origin, pathname } = new URL(link);
  const path = `/api/v2/requests/${pathname.split('/').at(-1)}/respond`;
  expect((await fetch(origin + path, { method: 'PATCH', body: form })).status).toBe(200);
  const { code, stderr } = await running.ended;
  const into = join(asking.folder, 'damaged');
  expect([code, readdirSync(into).sort()]).toEqual([1, ['secret.txt', 'whole.txt']]);
  const [, kept = ''] = /the secret was saved to (\S+2\.age)$/m.exec(stderr) ?? [];
  expect(readFileSync(kept).equals(two)).toBe(true);
  const [, key = ''] = /its private key was saved to (\S+): try age -d -i /.exec(stderr) ?? [];
  const [identity] = parseIdentities(readFileSync(key, 'utf8'));
  expect(identity).toBeDefined();
  expect(stderr).not.toContain('NOT ALL IS SAVED');
  expect(rescued(stderr)).toHaveLength(2);
});

test('an answer to another key is saved as it is', async () => {
  const { running, link } = await receiving('--output', 'forged.txt');
  await send(link, await encryptText('forged', [parseRecipient(newKeyPair().recipient)]));
  const { code, stderr } = await running.ended;
  expect(code).toBe(7);
  expect(stderr).toContain('the private key does not open the answer; the secret was saved to ');
  expect(rescued(stderr)).toHaveLength(1);
});

test.each(['0.0.0.0', '127.0.0.1'])(
  'a terminal shows the link once, drawn for phones at %s, then the answer',
  async (host) => {
    const terminal = onTerminal(`$PWPUSH request --here --host ${host}`, asking.env);
    await terminal.shows('waiting for an answer');
    const [link = ''] = /http:\S+#age1[a-z0-9]+/.exec(terminal.screen()) ?? [];
    expect(terminal.screen().includes('▀')).toBe(host === '0.0.0.0');
    expect(terminal.screen().split(link)).toHaveLength(2);
    expect((await respond(link, [], 'hunter2')).code).toBe(0);
    expect(await terminal.ended).toBe(0);
    expect(await linesOf(terminal.screen())).toContain('hunter2');
  },
);
