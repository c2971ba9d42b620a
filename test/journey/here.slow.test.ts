import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { connect, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decryptText, prepareFile } from '../../src/age/age';
import { newKeyPair, parseIdentities, parseRecipient } from '../../src/age/key-files';
import { encodeManifest } from '../../src/age/manifest';
import { encryptText, joined, pieces } from '../helpers/age';
import { mountDisk, needsDisk } from '../helpers/disk';
import { lose } from '../helpers/here';
import { needs, onLinux } from '../helpers/needs';
import { alsoBinary, person, program, pwpush, shell, start } from '../helpers/program';
import { linesOf, onTerminal } from '../helpers/pty';
import { read } from '../helpers/qr';
import { overSocket } from '../helpers/sockets';

// `push --here` and `request --here`, which serve from this machine; test/cases/push-here.txt and request-here.txt tell
// what they say, test/server/serve-here*.test.ts have what is served, and how they end.

const sender = person();
const other = person();
const KEY = 'Jk3dF8s-Qw2mZx0pLr7tVg';
const LINK = /^http:\S+(?=\n)/m;
const PHRASE = 'waiting up to 2 minutes for a repetition';

/** Starts one of them, and resolves with its link, the first thing that it says, and what that is about at the API. */
async function serving(words: string[], input = 's3cret', by: readonly string[] = program) {
  const options = { env: sender.env, cwd: sender.folder, input, by };
  const running = start([...words.slice(0, 1), '--here', ...words.slice(1)], options);
  const [link = ''] = await running.says(LINK, words[0] === 'push' ? 'stdout' : 'stderr');
  const { origin, pathname } = new URL(link);
  const items = words[0] === 'push' ? 'pushes' : 'requests';
  return { running, link, origin, item: `${origin}/api/v2/${items}/${pathname.split('/')[2]}` };
}

const asking = (...words: string[]) => serving(['request', '--host', '127.0.0.1', ...words], '');
const get = (link: string, ...words: string[]) =>
  pwpush(['get', link, ...words], { env: other.env, cwd: other.folder });
/** Answers; what is tested is the other process. */
const respond = (link: string, words: string[] = [], stdin = '') =>
  overSocket(['respond', link, ...words], { env: other.env, stdin });
const send = (item: string, response: string) =>
  fetch(`${item}/respond`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ request: { response } }),
  });
const file = (name: string, content: string | Buffer) => {
  writeFileSync(join(other.folder, name), content);
  return join(other.folder, name);
};

describe('push --here', () => {
  test('tells who opens it, serves files, and ends when they were fetched', async () => {
    const bytes = Buffer.alloc(3_000_000, 'pwpush');
    const path = file('report.bin', bytes);
    const words = ['push', '--encrypt', '--locale', 'fr', '--message', 'hi', '--file', path];
    const { running, link } = await serving(words);
    expect(await (await fetch(link)).text()).toContain('<html lang="fr"');
    const got = await get(link, '--output', '-');
    expect([got.code, got.stdout === `${bytes}`]).toEqual([0, true]);
    const told = ['opened the page', 'viewed it: 1 of 1', 'downloaded the file'];
    const stderr = told.map((what) => `127.0.0.1 ${what}\n`).join('');
    expect(await running.ended).toMatchObject({ code: 0, stderr });
  });

  test('serves the largest file that it takes, encrypted', async () => {
    const path = file('large.bin', '');
    truncateSync(path, 100 * 1024 ** 2);
    const { running, link } = await serving(['push', '--file', path]);
    expect(link).toMatch(/#[\w-]{22}$/);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
  });

  test('ends if its link cannot be printed', async () => {
    const line = 'echo s | $PWPUSH push --here >/dev/full';
    const { code, stderr } = await shell(line, { env: sender.env });
    expect([code, stderr]).toEqual([1, expect.stringMatching(LINK)]);
  });

  test('waits for the repetition of a response that was lost, or Ctrl-C', alsoBinary, async () => {
    for (const repeats of [true, false]) {
      const { running, item } = await serving(['push', '--no-encrypt']);
      await lose(item, KEY);
      await running.says(PHRASE, 'stderr');
      const again = () => fetch(item, { headers: { 'idempotency-key': `"${KEY}"` } });
      if (repeats) expect(await (await again()).json()).toMatchObject({ payload: 's3cret' });
      else running.child.kill('SIGINT');
      expect((await running.ended).code).toBe(repeats ? 0 : 130);
    }
  });
});

const DRAWN = '\u001b[38;5;16';

test('on a terminal, push --here draws its link; Ctrl-C expires it', alsoBinary, async () => {
  const line = 'echo s | (exec $PWPUSH push --here --host 0.0.0.0)';
  const terminal = onTerminal(line, sender.env);
  await terminal.shows('Ctrl-C expires the push');
  const screen = terminal.screen();
  const [link = ''] = /http:\S+/.exec(screen) ?? [];
  const drawing = screen.split('\r\n').filter((one) => one.startsWith(DRAWN));
  expect(read(drawing.join('\n'))).toBe(link);
  // Once, below.
  expect(screen.split(link)).toHaveLength(2);
  expect(screen.indexOf(link)).toBeGreaterThan(screen.lastIndexOf(drawing.at(-1) ?? ''));
  expect(screen.indexOf('plain http')).toBeGreaterThan(screen.indexOf(link));
  terminal.type('\u0003');
  await terminal.shows('pwpush: interrupted');
  await terminal.ended;
  expect(terminal.screen()).toContain('^C\r\nthe push was expired\r\npwpush: interrupted');
  expect((await get(link)).code).toBe(9);
});

test('on a terminal of 24 lines, request --here warns below the code', alsoBinary, async () => {
  const terminal = onTerminal('exec $PWPUSH request --here a', sender.env);
  await terminal.shows('can read the answer');
  terminal.type('\u0003');
  await terminal.ended;
  const screen = terminal.screen();
  expect(screen.lastIndexOf(DRAWN)).toBeGreaterThan(screen.indexOf('waiting for an answer'));
  expect(screen.indexOf('plain http')).toBeGreaterThan(screen.lastIndexOf(DRAWN));
});

test('on a terminal, request --here for 127.0.0.1 only prints the answer', alsoBinary, async () => {
  const terminal = onTerminal('$PWPUSH request --here --host 127.0.0.1', sender.env);
  await terminal.shows('waiting for an answer');
  const [link = ''] = /http:\S+/.exec(terminal.screen()) ?? [];
  expect((await respond(link, [], 'hunter2')).code).toBe(0);
  expect(await terminal.ended).toBe(0);
  expect(terminal.screen()).not.toContain(DRAWN);
  expect(await linesOf(terminal.screen())).toContain('hunter2');
});

describe('request --here', () => {
  test('a visitor of the page is named once', async () => {
    const { running, link } = await asking();
    for (let at = 0; at < 3; at += 1) await (await fetch(link)).text();
    expect((await respond(link, [], 'hunter2')).code).toBe(0);
    expect((await running.ended).stderr).toBe(`${link}\n127.0.0.1 opened the page\n`);
  });

  test('of its visitors twenty are named', onLinux, async () => {
    const { running, link } = await asking();
    for (let at = 1; at <= 21; at += 1) {
      const [response] = await once(httpGet(link, { localAddress: `127.0.0.${at}` }), 'response');
      await text(response);
    }
    expect((await respond(link, [], 'hunter2')).code).toBe(0);
    expect((await running.ended).stderr.match(/ opened the page$/gm)).toHaveLength(20);
  });

  test('an answer whose confirmation was lost is printed, and can be sent again', async () => {
    const { running, item } = await asking();
    const body = JSON.stringify({ request: { response: 'hunter2' } });
    await lose(`${item}/respond`, KEY, { method: 'PATCH', body });
    await running.says(PHRASE, 'stderr');
    const headers = { 'content-type': 'application/json', 'idempotency-key': `"${KEY}"` };
    const again = await fetch(`${item}/respond`, { method: 'PATCH', headers, body });
    expect(again.status).toBe(200);
    expect(await running.ended).toMatchObject({ code: 0, stdout: 'hunter2' });
  });

  test('an answer that comes while others fill the memory is not lost', async () => {
    const { running, item } = await asking();
    const { pathname, port } = new URL(`${item}/respond`);
    const MIB = 1024 * 1024;
    // Of the 64 MiB for bodies and responses they leave enough for the answer, and too little for its reading.
    const others = new Map<number, Socket>();
    const fill = (size: number, at: number) => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      const length = `content-type: application/json\r\ncontent-length: ${8 * MIB}`;
      socket.write(`PATCH ${pathname} HTTP/1.1\r\nhost: localhost\r\n${length}\r\n\r\n`);
      socket.write(Buffer.alloc(size, ' '));
      // What arrived beside the question below, and was refused.
      socket.once('data', () => others.has(at) && fill(size, at));
      others.set(at, socket);
    };
    for (let at = 0; at < 9; at++) fill((at === 8 ? 6.75 : 7) * MIB, at);
    const headers = { 'content-type': 'application/json' };
    const large = { method: 'PATCH', headers, body: ' '.repeat(1.5 * MIB) };
    const refused = async () => (await fetch(`${item}/respond`, large)).status;
    await expect.poll(refused, { interval: 1000, message: 'the memory is full' }).toBe(503);
    const response = 'x'.repeat(MIB - 10_000);
    await send(item, response);
    const { code, stdout } = await running.ended;
    for (const [at, socket] of others) {
      others.delete(at);
      socket.destroy();
    }
    expect([code, stdout.length]).toEqual([0, response.length]);
  });

  /** The names of the rescue files, of which all are told; they are removed. */
  function rescued(stderr: string): string[] {
    const state = join(sender.folder, 'state');
    const names = readdirSync(state, { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => statSync(join(state, name)).isFile());
    rmSync(state, { recursive: true, force: true });
    expect(stderr).not.toMatch(/--resume|With the key|another view|NOT ALL IS SAVED/i);
    return files.map((path) => basename(path)).filter((name) => stderr.includes(name));
  }
  /** Where the secret was saved, by what is said before and at the end of the path. */
  const savedIn = (stderr: string, end = '') =>
    new RegExp(`the secret was saved to (\\S+${end})`).exec(stderr)?.[1] ?? 'nowhere';
  /** The key that opens what was saved, which only its owner can read. */
  function keyIn(stderr: string): string {
    const [, path = ''] = /its private key was saved to (\S+): try age -d -i /.exec(stderr) ?? [];
    expect(statSync(path).mode & 0o777).toBe(0o600);
    return readFileSync(path, 'utf8');
  }

  test('files for which the disk is too full are saved elsewhere', needsDisk, async () => {
    const disk = mountDisk(1);
    const { running, link } = await asking('--allow-files', '--output', disk.folder);
    const big = Buffer.alloc(3_000_000, 7);
    const files = ['--file', file('big.bin', big), '--file', file('small', 'S')];
    expect((await respond(link, files)).code).toBe(0);
    const { code, stderr } = await running.ended;
    expect([code, readFileSync(join(disk.folder, 'small'), 'utf8')]).toEqual([1, 'S']);
    disk.remove();
    const path = savedIn(stderr, 'big.bin');
    expect([readFileSync(path).equals(big), statSync(path).mode & 0o777]).toEqual([true, 0o600]);
    expect(rescued(stderr)).toEqual(['big.bin']);
  });

  test('Ctrl-C while a file is written saves it', async () => {
    const { running, link } = await asking('--allow-files', '--output', '-');
    const { child, ended } = running;
    // What does not fit into the pipe waits, as nobody reads on.
    child.stdout?.pause();
    const path = file('big.bin', Buffer.alloc(3_000_000, 7));
    expect((await respond(link, ['--file', path])).code).toBe(0);
    await expect.poll(() => child.stdout?.readableLength, { message: 'the file is being written' }).toBeGreaterThan(0);
    child.kill('SIGINT');
    await new Promise((resolve) => child.once('exit', resolve));
    child.stdout?.destroy();
    const { code, stderr } = await ended;
    expect(stderr).toContain('interrupted; the secret was saved to ');
    expect([code, readFileSync(savedIn(stderr)).length]).toEqual([130, 3_000_000]);
    expect(rescued(stderr)).toEqual(['big.bin']);
  });

  test('an answer that is not text is saved with the key that opens it', async () => {
    const { running, link, item } = await asking();
    const bytes = Buffer.from([0xff, 0xfe, 0]);
    await send(item, await encryptText(bytes, [parseRecipient(link.split('#')[1] ?? '')]));
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('the encrypted data is not text; the secret was saved to ');
    const identities = parseIdentities(keyIn(stderr));
    const opened = await decryptText(readFileSync(savedIn(stderr), 'utf8'), identities);
    expect(Buffer.from(opened)).toEqual(bytes);
    expect(rescued(stderr)).toHaveLength(2);
  });

  test('a file that was damaged is saved as it came, with the key', alsoBinary, async () => {
    const { running, link, item } = await asking('--allow-files', '--output', 'damaged/');
    const recipients = [parseRecipient(link.split('#')[1] ?? '')];
    const files = [];
    const bodies: Buffer[] = [];
    for (const name of ['whole.txt', 'damaged.txt']) {
      const { mac, encrypt } = await prepareFile(recipients);
      bodies.push(await joined(encrypt(pieces(Buffer.alloc(200_000, name)))));
      files.push({ name, type: 'text/plain', size: 200_000, mac });
    }
    const [, two = Buffer.alloc(0)] = bodies;
    two.writeUInt8(two.readUInt8(150_000) ^ 1, 150_000);
    const form = new FormData();
    const manifest = encodeManifest({ message: 'there you are', files });
    form.set('request[response]', await encryptText(Buffer.from(manifest), recipients));
    for (const [at, body] of bodies.entries())
      form.append('request[files][]', new Blob([new Uint8Array(body)]), `${at + 1}.age`);
    const sent = await fetch(`${item}/respond`, { method: 'PATCH', body: form });
    expect(sent.status).toBe(200);
    const { code, stderr } = await running.ended;
    const into = readdirSync(join(sender.folder, 'damaged')).sort();
    expect([code, into]).toEqual([1, ['secret.txt', 'whole.txt']]);
    expect(readFileSync(savedIn(stderr, '2.age')).equals(two)).toBe(true);
    expect(parseIdentities(keyIn(stderr))).toHaveLength(1);
    expect(rescued(stderr)).toHaveLength(2);
  });

  test('an answer to another key is saved as it is', async () => {
    const { running, item } = await asking('--output', 'forged.txt');
    await send(item, await encryptText('forged', [parseRecipient(newKeyPair().recipient)]));
    const { code, stderr } = await running.ended;
    expect(code).toBe(7);
    expect(stderr).toContain('the private key does not open the answer; the secret was saved to ');
    expect(rescued(stderr)).toHaveLength(1);
  });
});

const [here, there] = [`pwpush-a-${process.pid}`, `pwpush-b-${process.pid}`] as const;
const ip = (...words: string[]) => spawnSync('ip', words, { encoding: 'utf8' });

/** Two machines of a wire: a network namespace each, the first with another wire, which leads nowhere. */
function wired(): boolean {
  const done = `
    netns add ${here}
    netns add ${there}
    -n ${here} link add aside type veth peer name nowhere
    -n ${here} link add eth0 type veth peer name eth0 netns ${there}
    -n ${here} address add 10.99.0.1/24 dev aside
    -n ${here} address add 10.98.0.1/24 dev eth0
    -n ${there} address add 10.98.0.2/24 dev eth0
    -n ${here} address add fd00:77::1/64 dev eth0 nodad
    -n ${there} address add fd00:77::2/64 dev eth0 nodad
    -n ${here} link set lo up
    -n ${there} link set lo up
    -n ${here} link set eth0 up
    -n ${there} link set eth0 up
    -n ${here} link set aside up
    -n ${here} link set nowhere up
    -n ${here} route add default via 10.98.0.2`;
  const lines = done.trim().split('\n');
  return lines.every((line) => ip(...line.trim().split(' ')).status === 0);
}

function tornDown(): void {
  for (const machine of [here, there]) ip('netns', 'delete', machine);
}

const works = wired();
if (!works) tornDown();
const missing = needs('network namespaces', works);

describe('on a LAN (needs ip netns, and to be root)', missing, () => {
  beforeAll(() => {
    if (!works) throw new Error('no network namespaces can be made here');
  });
  afterAll(tornDown);
  const on = (machine: string) => ['ip', 'netns', 'exec', machine, ...program];
  const onHere = (...words: string[]) => serving(words, words[0] === 'push' ? 's3cret' : '', on(here));
  const fromThere = (words: string[], input = '') => pwpush(words, { env: other.env, input, by: on(there) });

  test.each([
    ['0.0.0.0', '10.98.0.1', '10.98.0.2'],
    ['::', '10.98.0.1', '10.98.0.2'],
    ['fd00:77::1', '[fd00:77::1]', 'fd00:77::2'],
  ])('push at %s: the link names %s, and works at the other machine', async (...row) => {
    const [host, named, from] = row;
    const { running, link } = await onHere('push', '--host', host);
    expect(new URL(link).hostname).toBe(named);
    expect(await fromThere(['get', link])).toMatchObject({ code: 0, stdout: 's3cret' });
    const { code, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(stderr).toContain('warning: plain http: anyone on the way could change the page, which decrypts');
    expect(stderr).toContain(`${from} viewed it: 1 of 1\n`);
  });

  test('request: the answer of the other machine is printed, without any option', async () => {
    const { running, link } = await onHere('request', 'Which code?');
    expect(new URL(link).hostname).toBe('10.98.0.1');
    expect(await fromThere(['respond', link], '123456')).toMatchObject({ code: 0, stdout: '' });
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '123456' });
    expect(stderr).toContain('warning: plain http: someone who changes the page on its way');
  });

  test('who asks too often is refused', async () => {
    const { running, link } = await onHere('push', '--host', '10.98.0.1');
    // Until it is: a busy machine asks slowly, above all when it opens a connection for each request.
    const many = `const http = require('node:http');
      const agent = new http.Agent({ keepAlive: true });
      const ask = () => http.get('${link}', { agent }, (response) => {
        if (response.statusCode === 429) console.log(true), process.exit();
        response.resume().on('end', ask);
      }).on('error', ask);
      for (let i = 0; i < 20; i++) ask();`;
    const by = ['ip', 'netns', 'exec', there, process.execPath];
    expect((await pwpush(['-e', many], { env: other.env, by })).stdout).toBe('true\n');
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
  });

  test('without a route to the world it is the first address that is not for this machine alone', async () => {
    ip('-n', here, 'route', 'delete', 'default');
    ip('-n', here, 'link', 'set', 'aside', 'down');
    const { running, link } = await onHere('push', '--host', '0.0.0.0');
    expect((await fromThere(['get', link])).stdout).toBe('s3cret');
    expect((await running.ended).code).toBe(0);
    // A machine of no network is told to name an address.
    ip('-n', here, 'link', 'set', 'eth0', 'down');
    for (const device of ['eth0', 'aside']) ip('-n', here, 'address', 'flush', 'dev', device);
    const words = ['push', '--here', '--host', '0.0.0.0'];
    expect(await pwpush(words, { env: sender.env, input: 's', by: on(here) })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'pwpush: this machine has no address that others can reach\nhint: choose one with --host\n',
    });
  });
});
