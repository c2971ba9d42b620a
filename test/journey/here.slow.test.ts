import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { lose } from '../helpers/here';
import { alsoBinary, person, program, pwpush, type Running, start } from '../helpers/program';
import { onTerminal } from '../helpers/pty';
import { read } from '../helpers/qr';

const sender = person();
const recipient = person();

const LINK = /http:\/\/127\.0\.0\.1:\d+\/p\/[a-z0-9_-]+\/r/;

/** Starts `push --here`, and resolves with its first line. */
async function serving(words: readonly string[] = [], input = 's3cret') {
  const running = start(['push', '--here', ...words], { env: sender.env, input });
  return { running, first: await firstLine(running) };
}

function firstLine({ child, ended }: Running): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  return new Promise((resolve, reject) => {
    lines.once('line', resolve);
    ended.then(({ stderr }) => reject(new Error(`it told no link: ${stderr}`)));
  });
}

const get = (link: string, ...words: string[]) =>
  pwpush(['get', link, ...words], { env: recipient.env, cwd: recipient.folder });

describe('push --here', () => {
  test(
    'prints the link alone, tells what happens, and ends with 0 once it was seen',
    alsoBinary,
    async () => {
      const { running, first } = await serving();
      expect(first).toMatch(LINK);
      await (await fetch(first)).text();
      expect(await get(first)).toMatchObject({ code: 0, stdout: 's3cret' });
      expect(await running.ended).toEqual({
        code: 0,
        signal: null,
        stdout: `${first}\n`,
        stderr: '127.0.0.1 opened the page\n127.0.0.1 viewed it: 1 of 1\n',
      });
      expect(await get(first)).toMatchObject({ code: 9, stdout: '' });
    },
  );

  test('ends with 6 when it was deleted unseen', async () => {
    const { running, first } = await serving();
    expect((await pwpush(['expire', first], { env: recipient.env })).code).toBe(0);
    expect(await running.ended).toMatchObject({
      code: 6,
      stderr: '127.0.0.1 deleted it\npwpush: the push expired without a view\n',
    });
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s expires it and ends with %d', async (signal, code) => {
    const { running, first } = await serving();
    running.child.kill(signal);
    expect(await running.ended).toMatchObject({ code, stdout: `${first}\n` });
    expect((await get(first)).code).toBe(9);
  });

  test('with --json prints the push, then what happens, a line each', async () => {
    const { running, first } = await serving(['--json', '-v', '2', '-e', '90m', '--locale', 'fr']);
    const { html_url: link } = JSON.parse(first);
    expect(await (await fetch(link)).text()).toContain('<html lang="fr"');
    const { origin } = new URL(link);
    expect((await fetch(origin)).status).toBe(404);
    expect((await fetch(origin, { method: 'POST', body: new URLSearchParams() })).status).toBe(404);
    await get(link);
    await get(link);
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [push, ...events] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(push).toMatchObject({ expire_after_views: 2, html_url: link });
    expect(Date.parse(push.expires_at) - Date.parse(push.created_at)).toBe(90 * 60_000);
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(events).toEqual([
      { event: 'opened', ip: '127.0.0.1', at },
      { event: 'viewed', ip: '127.0.0.1', count: 1, at },
      { event: 'viewed', ip: '127.0.0.1', count: 2, at },
    ]);
  });

  test('serves files, and ends when they were fetched', async () => {
    const path = join(sender.folder, 'report.bin');
    const bytes = Buffer.alloc(3_000_000, 'pwpush');
    writeFileSync(path, bytes);
    const { running, first } = await serving(['--file', path, '--message', 'hi']);
    const file = await get(first, '--output', '-');
    expect(file).toMatchObject({ code: 0 });
    expect(file.stdout).toBe(bytes.toString());
    expect(await running.ended).toMatchObject({
      code: 0,
      stderr: '127.0.0.1 viewed it: 1 of 1\n127.0.0.1 downloaded the file\n',
    });
  });

  test('uses no instance, even if one is configured', async () => {
    const env = { ...sender.env, PWPUSH_URL: 'http://127.0.0.1:1', PWPUSH_TOKEN: 't0ken' };
    const running = start(['push', '--here'], { env, input: 's' });
    expect(await get(await firstLine(running))).toMatchObject({ stdout: 's' });
    expect((await running.ended).code).toBe(0);
  });

  test('ends if its link cannot be printed', async () => {
    const line = 'echo s | $PWPUSH push --here >/dev/full';
    const env = { ...sender.env, PWPUSH: program.join(' ') };
    const { status, stderr } = spawnSync('sh', ['-c', line], { env, encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toMatch(LINK);
  });
});

describe('a response that was lost', () => {
  const KEY = 'Jk3dF8s-Qw2mZx0pLr7tVg';
  const LOST =
    'warning: 127.0.0.1 may not have the response: waiting up to 2 minutes for a repetition (Ctrl-C ends this)';

  async function losing() {
    const { running, first } = await serving();
    let said = '';
    running.child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    const { origin, pathname } = new URL(first);
    const link = `${origin}/api/v2/pushes/${pathname.split('/')[2]}`;
    await lose(link, KEY);
    await expect.poll(() => said).toContain(LOST);
    return { running, link };
  }

  test('is given again, and then it ends', alsoBinary, async () => {
    const { running, link } = await losing();
    const headers = { 'idempotency-key': `"${KEY}"` };
    expect(await (await fetch(link, { headers })).json()).toMatchObject({ payload: 's3cret' });
    const stderr = `127.0.0.1 viewed it: 1 of 1\n${LOST}\n`;
    expect(await running.ended).toMatchObject({ code: 0, stderr });
  });

  test('keeps it up until Ctrl-C', async () => {
    const { running } = await losing();
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130 });
  });
});

describe('on a terminal', () => {
  const waiting = 'waiting for a view … (Ctrl-C expires the push)';
  const drawn = (screen: string) =>
    screen.split('\r\n').filter((line) => line.startsWith('\u001b[38;5;16'));

  test('draws the link for phones, and prints it once, below', async () => {
    const line = 'echo s | (exec $PWPUSH push --here --host 0.0.0.0)';
    const terminal = onTerminal(line, sender.env);
    await terminal.shows(waiting);
    const screen = terminal.screen();
    terminal.type('\u0003');
    await terminal.ended;
    const drawing = drawn(screen);
    const link = /http:\S+/.exec(screen)?.[0] ?? '';
    expect(read(drawing.join('\n'))).toBe(link);
    expect(screen.split(link)).toHaveLength(2);
    expect(screen.indexOf(link)).toBeGreaterThan(screen.lastIndexOf(drawing.at(-1) ?? ''));
  });

  test(
    'draws no link that only this machine can open, and Control-C expires it',
    alsoBinary,
    async () => {
      const terminal = onTerminal('echo s | (exec $PWPUSH push --here)', sender.env);
      await terminal.shows(waiting);
      const screen = terminal.screen();
      const link = LINK.exec(screen)?.[0] ?? '';
      expect(screen.split('\r\n')).toEqual([
        link,
        expect.stringContaining('expires after 1 view or 7 days'),
        'hint: use --host 0.0.0.0 to serve it to the whole LAN',
        waiting,
        '',
      ]);
      terminal.type('\u0003');
      await terminal.shows('pwpush: interrupted');
      await terminal.ended;
      expect(terminal.screen()).toContain('^C\r\nthe push was expired\r\npwpush: interrupted');
      expect((await get(link)).code).toBe(9);
    },
  );
});
