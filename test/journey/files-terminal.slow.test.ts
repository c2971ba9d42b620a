import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { listening } from '../helpers/listen';
import { alsoBinary, person } from '../helpers/program';
import { linesOf, onTerminal } from '../helpers/pty';
import { json, offering, taking, whole } from '../helpers/transfer';

const somebody = person();
let stop: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of stop) await one();
  stop = [];
});
const here = () => mkdtempSync(join(somebody.folder, 'here-'));

/** Answers with a file of 1 MiB, of which a part comes at once and the rest so slowly that no test sees its end. */
function dripping() {
  let finish = () => {};
  const answer = (_request: unknown, response: ServerResponse) => {
    let left = 1024 * 1024;
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

test('get shows how far it is, then where the files are', alsoBinary, async () => {
  const { answer, finish } = dripping();
  const instance = await offering([
    { filename: 'first\u001b[2J.txt', answer: whole('1') },
    { filename: 'long.bin', answer },
  ]);
  stop.push(instance.close);
  const folder = here();
  const terminal = onTerminal(`cd ${folder}; $PWPUSH get ${instance.url}/p/abc`, somebody.env);
  await terminal.shows('2 of 2 files');
  await terminal.shows(' of 1.0 MiB');
  finish();
  expect(await terminal.ended).toBe(0);
  expect(terminal.screen()).toMatch(/long\.bin {2}2 of 2 files {2}\d+% {2}[\d.]+ KiB of 1\.0 MiB/);
  expect(terminal.screen()).toMatch(/saved long\.bin \(1\.0 MiB\)\r\n4 views/);
  expect(terminal.screen()).not.toContain('\u001b[2J');
  expect(readdirSync(folder).sort()).toEqual(['first[2J.txt', 'long.bin']);
});

test('push shows how far it is, and the link', async () => {
  let finish = () => {};
  const instance = await listening((request, response) => {
    const sip = () => {
      request.pause();
      setTimeout(() => request.resume(), 5);
    };
    request.on('data', sip);
    finish = () => request.off('data', sip).resume();
    request.on('end', () =>
      json(response, 201, { url_token: 'abc', html_url: `${instance.url}/p/abc` }),
    );
  });
  stop.push(instance.close);
  const path = join(somebody.folder, 'big.bin');
  writeFileSync(path, Buffer.alloc(64 * 1024 * 1024));
  const line = `$PWPUSH push -f ${path} --message m --url ${instance.url}`;
  const terminal = onTerminal(line, somebody.env);
  await terminal.shows('MiB of 64.0 MiB');
  finish();
  expect(await terminal.ended).toBe(0);
  const screen = terminal.screen();
  expect(screen).toContain('hint: other users of this machine can read');
  expect(screen).toMatch(/big\.bin {2}\d+% {2}[\d.]+ MiB of 64\.0 MiB/);
  expect(screen).toContain(`${instance.url}/p/abc\r\n`);
});

/** `push` of 64 MiB to an instance that takes them sip by sip; `refuse` has it answer 413 meanwhile. */
async function uploading() {
  let refuse = () => {};
  const instance = await listening((request, response) => {
    request.on('data', () => {
      request.pause();
      setTimeout(() => request.resume(), 5);
    });
    refuse = () => json(response, 413, { error: 'A file is larger than 16.0 MiB.' });
  });
  stop.push(instance.close);
  const path = join(somebody.folder, 'upload.bin');
  writeFileSync(path, Buffer.alloc(64 * 1024 * 1024));
  const terminal = onTerminal(`$PWPUSH push -f ${path} --url ${instance.url}`, somebody.env);
  await terminal.shows('MiB of 64.0 MiB');
  return { terminal, refuse: () => refuse() };
}

test('a refused upload wipes its progress before the error', async () => {
  const { terminal, refuse } = await uploading();
  refuse();
  expect(await terminal.ended).toBe(8);
  expect((await linesOf(terminal.screen())).slice(0, 2)).toEqual([
    'pwpush: the instance refused the request: A file is larger than 16.0 MiB.',
    expect.stringMatching(/^hint: the files exceed a limit/),
  ]);
});

test('Control-C wipes the progress of an upload', async () => {
  const { terminal } = await uploading();
  terminal.type('\u0003');
  expect(await terminal.ended).toBe(130);
  expect(terminal.screen()).toContain('^C');
  expect((await linesOf(terminal.screen()))[0]).toBe('pwpush: interrupted');
});

test('Control-C wipes the progress of a download', async () => {
  const { answer } = dripping();
  const instance = await offering([
    { filename: 'a', answer },
    { filename: 'b', answer },
  ]);
  stop.push(instance.close);
  const line = `cd ${here()}; $PWPUSH get ${instance.url}/p/abc`;
  const terminal = onTerminal(line, somebody.env);
  await terminal.shows('1 of 2 files');
  terminal.type('\u0003');
  expect(await terminal.ended).toBe(130);
  expect((await linesOf(terminal.screen()))[0]).toMatch(
    /^(4 views and 6 days left|pwpush: interrupted)$/,
  );
  expect(terminal.screen()).toContain('^C');
});

describe('Control-C in the download of a push without a view left', () => {
  const NOTICE = 'warning: no view is left; press Ctrl-C again to stop';

  /** `get` of a file that comes slowly, until it is finished. */
  async function downloading(...words: string[]) {
    const { answer, finish } = dripping();
    const instance = await offering([{ filename: 'last.bin', answer }], '', 0);
    stop.push(instance.close);
    const folder = here();
    // In place of the shell, which would end by the signal in any case.
    const line = `cd ${folder}; exec $PWPUSH get ${instance.url}/p/abc ${words.join(' ')}`;
    const terminal = onTerminal(line, { ...somebody.env, NO_COLOR: '1' });
    await terminal.shows(' of 1.0 MiB');
    terminal.type('\u0003');
    await terminal.shows(NOTICE);
    return { terminal, folder, finish };
  }

  test.each([[], ['-o', '-', '>', 'out']])('goes on at the first one %j', async (...words) => {
    const { terminal, folder, finish } = await downloading(...words);
    const before = terminal.screen().split(' of 1.0 MiB').length;
    await terminal.shows(' of 1.0 MiB', before);
    finish();
    expect(await terminal.ended).toBe(0);
    const lines = await linesOf(terminal.screen());
    expect(lines).toEqual(expect.arrayContaining([NOTICE, 'that was the last view']));
    const name = words.length === 0 ? 'last.bin' : 'out';
    expect(readFileSync(join(folder, name))).toHaveLength(1024 * 1024);
  });

  test('stops at the second one, and says how to get the rest', async () => {
    const { terminal, folder } = await downloading();
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    const lines = await linesOf(terminal.screen());
    expect(lines[0]).toBe(NOTICE);
    expect(lines.join(' ')).toMatch(/no view is left, and 1 file not saved.*get --resume '/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test.each(['CI=1', 'TERM=dumb'])('with %s no progress is drawn', async (setting) => {
  const instance = await taking();
  stop.push(instance.close);
  const path = join(somebody.folder, 'a');
  writeFileSync(path, 'A');
  const line = `${setting} $PWPUSH push -f ${path} --url ${instance.url}`;
  const terminal = onTerminal(line, somebody.env);
  expect(await terminal.ended).toBe(0);
  expect(terminal.screen()).not.toContain('\u001b[J');
});

test('get --output - does not write a file to the terminal', async () => {
  const instance = await offering([{ filename: 'a', answer: whole('\u001b[2Jraw') }]);
  stop.push(instance.close);
  const folder = here();
  const line = `cd ${folder}; $PWPUSH get ${instance.url}/p/abc -o -`;
  const terminal = onTerminal(line, somebody.env);
  expect(await terminal.ended).toBe(1);
  expect(terminal.screen()).toContain(
    'standard output is a terminal; the file was saved to the current folder',
  );
  expect(terminal.screen()).not.toContain('\u001b[2J');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('\u001b[2Jraw');
});

test('push --file - on a terminal is bad usage', async () => {
  const terminal = onTerminal('$PWPUSH push -f - --url http://127.0.0.1:1', somebody.env);
  expect(await terminal.ended).toBe(2);
  expect(terminal.screen()).toContain('--file - reads standard input, which is a terminal');
});
