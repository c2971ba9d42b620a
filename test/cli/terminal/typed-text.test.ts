import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { keyboard } from '../../../src/cli/terminal/keyboard';
import { typedText } from '../../../src/cli/terminal/typed-text';

/** What is typed in these pieces, each read by itself. */
async function typed(...pieces: string[]): Promise<string> {
  const terminal = new PassThrough();
  const { keys, take } = keyboard(terminal, { interrupt: () => {}, suspend: undefined });
  take();
  const output = new PassThrough();
  const streams = { input: keys, output, signal: new AbortController().signal };
  const text = typedText(streams, { extent: 'lines', draw: () => {} });
  // Looked at below; it may be rejected before.
  text.catch(() => {});
  for (const piece of pieces) {
    terminal.write(piece);
    await new Promise(setImmediate);
  }
  return text;
}

test('Ctrl-C counts, also where what was typed ahead of it has a line end', async () => {
  await expect(typed('one\rtwo\u0003')).rejects.toMatchObject({ code: 'interrupted' });
});

test('marks of pasted text may come in pieces', async () => {
  const marked = '\u001b[200~one\ntwo\u001b[201~\r';
  expect(await typed(...marked)).toBe('one\ntwo');
  expect(await typed(marked)).toBe('one\ntwo');
});
