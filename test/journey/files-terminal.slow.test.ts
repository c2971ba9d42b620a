import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { listening } from '../helpers/listen';
import { alsoBinary, person } from '../helpers/program';
import { linesOf, onTerminal } from '../helpers/pty';
import { json, offering, whole } from '../helpers/transfer';

// Progress on a terminal, which is wiped before anything else is said, and Ctrl-C in a download.

const CTRL_C = '\u0003';
const MIB = 1024 * 1024;
const somebody = person();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(somebody.folder, 'here-'));
});
// In place of the shell, which would end by a signal in any case.
const run = (words: string) =>
  onTerminal(`cd ${folder}; exec $PWPUSH ${words}`, { ...somebody.env, NO_COLOR: '1' });

/** Answers with a file of 1 MiB, of which a part comes at once and the rest so slowly that no test sees its end. */
function dripping() {
  let finish = () => {};
  const answer = (_request: unknown, response: ServerResponse) => {
    let left = MIB;
    const drop = (bytes: number) => {
      left -= bytes;
      response.write(Buffer.alloc(bytes));
    };
    response.writeHead(200, { 'content-length': left });
    drop(64 * 1024);
    const timer = setInterval(drop, 20, 16);
    response.on('close', () => clearInterval(timer));
    finish = () => {
      clearInterval(timer);
      response.end(Buffer.alloc(left));
    };
  };
  return { answer, finish: () => finish() };
}

/** `push` of 64 MiB to an instance that takes them sip by sip, until it is finished or refuses them. */
async function uploading() {
  let finish = () => {};
  let refuse = () => {};
  const instance = await listening((request, response) => {
    const sip = () => {
      request.pause();
      setTimeout(() => request.resume(), 5);
    };
    request.on('data', sip);
    finish = () => request.off('data', sip).resume();
    refuse = () => json(response, 413, { error: 'A file is larger than 16.0 MiB.' });
    request.on('end', () =>
      json(response, 201, { url_token: 'abc', html_url: `${instance.url}/p/abc` }),
    );
  });
  writeFileSync(join(folder, 'big.bin'), Buffer.alloc(64 * MIB));
  const terminal = run(`push -f big.bin --message m --url ${instance.url}`);
  await terminal.shows('MiB of 64.0 MiB');
  return {
    terminal,
    link: `${instance.url}/p/abc`,
    finish: () => finish(),
    refuse: () => refuse(),
  };
}

test('get shows how far it is, then where the files are', alsoBinary, async () => {
  const { answer, finish } = dripping();
  const instance = await offering([
    { filename: 'first\u001b[2J.txt', answer: whole('1') },
    { filename: 'long\u001b[2J.bin', answer },
  ]);
  const terminal = run(`get ${instance.url}/p/abc`);
  await terminal.shows('2 of 2 files');
  await terminal.shows(' of 1.0 MiB');
  finish();
  expect(await terminal.ended).toBe(0);
  expect(terminal.screen()).toMatch(
    /long\[2J\.bin {2}2 of 2 files {2}\d+% {2}[\d.]+ KiB of 1\.0 MiB/,
  );
  expect(terminal.screen()).toMatch(/saved long\[2J\.bin \(1\.0 MiB\)\r\n4 views/);
  expect(terminal.screen()).not.toContain('\u001b[2J');
  expect(readdirSync(folder).sort()).toEqual(['first[2J.txt', 'long[2J.bin']);
});

describe('push', () => {
  test('shows how far it is, and then the link', async () => {
    const { terminal, link, finish } = await uploading();
    finish();
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain('hint: other users of this machine can read');
    expect(terminal.screen()).toMatch(/big\.bin {2}\d+% {2}[\d.]+ MiB of 64\.0 MiB/);
    expect(terminal.screen()).toContain(`${link}\r\n`);
  });

  test('wipes its progress before an error', async () => {
    const { terminal, refuse } = await uploading();
    refuse();
    expect(await terminal.ended).toBe(8);
    const lines = await linesOf(terminal.screen());
    expect(lines).toContain(
      'pwpush: the instance refused the request: A file is larger than 16.0 MiB.',
    );
    expect(lines.join()).not.toContain('MiB of');
  });

  test('wipes it at Ctrl-C, too', async () => {
    const { terminal } = await uploading();
    terminal.type(CTRL_C);
    expect(await terminal.ended).toBe(130);
    expect(terminal.screen()).toContain('^C');
    const lines = await linesOf(terminal.screen());
    expect([lines.at(-1), lines.join().includes('MiB of')]).toEqual(['pwpush: interrupted', false]);
  });
});

describe('Ctrl-C in a download', () => {
  /** `get` of a file that comes slowly, until it is finished. */
  async function downloading(views: number, ...words: string[]) {
    const { answer, finish } = dripping();
    const instance = await offering([{ filename: 'last.bin', answer }], '', views);
    const terminal = run(`get ${instance.url}/p/abc ${words.join(' ')}`);
    await terminal.shows(' of 1.0 MiB');
    terminal.type(CTRL_C);
    return { terminal, finish };
  }

  test('wipes its progress', async () => {
    const { terminal } = await downloading(4);
    expect(await terminal.ended).toBe(130);
    expect((await linesOf(terminal.screen()))[0]).toMatch(
      /^(4 views and 6 days left|pwpush: interrupted)$/,
    );
    expect(terminal.screen()).toContain('^C');
  });

  const NOTICE = 'warning: no view is left; press Ctrl-C again to stop';

  test.each([[], ['-o', '-', '>', 'out']])(
    'of a push without a view left goes on at the first one %j',
    async (...words) => {
      const { terminal, finish } = await downloading(0, ...words);
      await terminal.shows(NOTICE);
      const before = terminal.screen().split(' of 1.0 MiB').length;
      await terminal.shows(' of 1.0 MiB', before);
      finish();
      expect(await terminal.ended).toBe(0);
      const lines = await linesOf(terminal.screen());
      expect(lines).toEqual(expect.arrayContaining([NOTICE, 'that was the last view']));
      const name = words.length === 0 ? 'last.bin' : 'out';
      expect(readFileSync(join(folder, name))).toHaveLength(MIB);
    },
  );

  test('stops that at the second one, and says how to get the rest', async () => {
    const { terminal } = await downloading(0);
    await terminal.shows(NOTICE);
    terminal.type(CTRL_C);
    expect(await terminal.ended).toBe(130);
    const lines = await linesOf(terminal.screen());
    expect(lines[0]).toBe(NOTICE);
    expect(lines.join(' ')).toMatch(/no view is left, and 1 file not saved.*get --resume '/);
    expect(readdirSync(folder)).toEqual([]);
  });
});
