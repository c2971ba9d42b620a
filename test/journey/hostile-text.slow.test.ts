import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { person, pwpush, serving, shell } from '../helpers/program';
import { onTerminal } from '../helpers/pty';

const somebody = person();
const service = serving(somebody.env);
const ATTACK =
  '\u001b]0;owned\u0007\u001b]8;;https://evil.test\u0007x\u001b]52;c;eA==\u0007\u009b2J\u202efdp.exe\u200b\rend';
let link = '';

beforeAll(async () => {
  const words = ['push', '--name', ATTACK, '--note', ATTACK, '--views', '50'];
  const { stdout } = await pwpush(words, { env: somebody.env, input: `${ATTACK}\nof two lines\n` });
  link = stdout.trim();
  const token = new URL(link).pathname.split('/')[2];
  // Headers carry no controls, but all the rest of Latin-1, in which C1 controls are.
  const headers = {
    'user-agent': 'agent\u009b31m\u0090',
    referer: 'https://x.test/\u009d52;c;eA==\u009c',
  };
  await fetch(`${service.url}/api/v2/pushes/${token}`, { headers });
});

/** What a program wrote to a terminal, without the line ends that the terminal makes. */
async function screenOf(line: string, code = 0): Promise<string> {
  const terminal = onTerminal(`NO_COLOR=1 $PWPUSH ${line}`, somebody.env);
  expect(await terminal.ended).toBe(code);
  return terminal.screen().replaceAll('\r\n', '\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
const harmful = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202e]/;

test.each([
  'list',
  'list --json',
  'audit LINK',
  'audit LINK --json',
  'get LINK',
  'get LINK --json',
])('on a terminal %s shows what was said, and nothing of it acts', async (line) => {
  const screen = await screenOf(line.replace('LINK', link));
  expect(screen).not.toMatch(harmful);
  expect(screen).toMatch(/\\x1b|\\u001b|\\x9b|\\u009b/);
});

test('in a list every line is one line of the screen', async () => {
  const lines = (await screenOf('list')).trimEnd().split('\n');
  expect(lines.map((line) => line.length <= 80)).toEqual([true, true]);
});

test('an error shows it harmless, too', async () => {
  const path = join(somebody.folder, 'x\u001b]0;owned\u0007');
  expect(await screenOf(`push --from '${path}'`, 2)).not.toMatch(harmful);
  expect(await screenOf(`get '${ATTACK}'`, 2)).not.toMatch(harmful);
});

test('in a pipe and in a file every byte is there', async () => {
  const line = `$PWPUSH get ${link} | cat && $PWPUSH get ${link} >"$HOME/got"`;
  const { code, stdout } = await shell(line, { env: somebody.env });
  expect([code, stdout]).toEqual([0, `${ATTACK}\nof two lines\n`]);
  expect(readFileSync(join(somebody.folder, 'got'), 'utf8')).toBe(stdout);
});
