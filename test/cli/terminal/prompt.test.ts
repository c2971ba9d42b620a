import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inquirerPrompter } from '../../../src/cli/terminal/prompt';
import { linesOf } from '../../helpers/pty';

/** What a terminal shows once two lines were pasted for a secret. */
async function asked(columns: number, question: string): Promise<readonly string[]> {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns });
  const streams = { input, output, signal: new AbortController().signal };
  const { secret } = inquirerPrompter(streams, { interrupt: () => {} });
  const answer = secret(question, 'lines');
  input.write('\u001b[200~one\ntwo\u001b[201~');
  await setImmediate();
  input.write('\r');
  expect(await answer).toBe('one\ntwo');
  // As the terminal driver does.
  return linesOf(`${output.read()}`.replaceAll('\n', '\r\n'), columns);
}

test.each([
  [80, 'Secret:', ['? Secret: (hidden, 2 lines)']],
  [40, 'Secret:', ['? Secret: (hidden, 2 lines)']],
  [20, 'Secret:', ['? Secret: (hidden)']],
  [12, 'Secret:', ['? Secret:']],
  [20, 'Passphrase (Enter for none):', ['? Passphrase (Enter', 'for none):']],
])('on %i columns "%s" is not cut when it is drawn again', async (columns, question, lines) => {
  expect(await asked(columns, question)).toEqual(lines);
});

test('a question for a text is broken at spaces', async () => {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns: 40 });
  const signal = new AbortController().signal;
  const { text, release } = inquirerPrompter({ input, output, signal }, { interrupt: () => {} });
  const answer = text('Address of the instance, such as https://eu.pwpush.com:');
  await once(output, 'readable');
  input.write('x\r');
  expect(await answer).toBe('x');
  release();
  expect(await linesOf(`${output.read()}`.replaceAll('\n', '\r\n'), 40)).toEqual([
    '? Address of the instance, such as',
    'https://eu.pwpush.com: x',
  ]);
});
