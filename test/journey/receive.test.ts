import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { person, pwpush, type Running, start } from '../helpers/program';
import { linesOf, onTerminal } from '../helpers/pty';

const asking = person();
const asked = person();

/** Starts `receive` on this machine alone, and returns it with its link, the first thing it says. */
async function receiving(...more: string[]) {
  const words = ['receive', '--host', '127.0.0.1', ...more];
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

const respond = (link: string, words: string[] = [], input = '') =>
  pwpush(['respond', link, ...words], { env: asked.env, input });

test('the answer goes to stdout, and it ends', async () => {
  const { running, link } = await receiving('Which code?');
  const answered = await respond(link, [], '123456\n');
  expect(answered).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'the question:\n  Which code?\nthe answer was sent\n',
  });
  expect(await running.ended).toEqual({
    code: 0,
    signal: null,
    stdout: '123456',
    stderr: `${link}\n`,
  });
});

test('files and text go to a folder', async () => {
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
  const env = { ...asking.env };
  const running = start(['receive', '--host', '127.0.0.1', '--json'], { env });
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
  const env = { ...asking.env, WORD: 'open sesame' };
  const words = ['receive', '--host', '127.0.0.1', '--passphrase-env', 'WORD'];
  const running = start(words, { env });
  const link = await linkOf(running);
  expect((await respond(link, [], 'hunter2')).code).toBe(7);
  const given = { ...asked.env, PWPUSH_PASSPHRASE: 'open sesame' };
  const answered = await pwpush(['respond', link], { env: given, input: 'hunter2' });
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

test('a terminal shows link and QR code at once, then the answer', async () => {
  const terminal = onTerminal('$PWPUSH receive --host 127.0.0.1', asking.env);
  await terminal.shows('waiting for an answer');
  const [link = ''] = /http:\S+#age1[a-z0-9]+/.exec(terminal.screen()) ?? [];
  expect(terminal.screen()).toContain('▀');
  expect((await respond(link, [], 'hunter2')).code).toBe(0);
  expect(await terminal.ended).toBe(0);
  expect(await linesOf(terminal.screen())).toContain('hunter2');
});
