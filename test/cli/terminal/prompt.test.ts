import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyboard } from '../../../src/cli/terminal/keyboard';
import { inquirerPrompter } from '../../../src/cli/terminal/prompt';
import { typedText } from '../../../src/cli/terminal/typed-text';
import type { Extent } from '../../../src/platform/context';
import { linesOf } from '../../helpers/pty';
import { seed } from '../../helpers/seed';

/** What a terminal shows once two lines were pasted for a secret. */
async function asked(columns: number, question: string): Promise<readonly string[]> {
  const { answer, shown } = await answered('lines', columns, question, '\u001b[200~one\ntwo\u001b[201~');
  expect(answer).toBe('one\ntwo');
  return shown;
}

async function answered(extent: Extent, columns: number, question: string, keys: string) {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns });
  const streams = { input, output, signal: new AbortController().signal };
  const { secret } = inquirerPrompter(streams, { interrupt: () => {} });
  const answer = secret(question, extent);
  input.write(keys);
  await setImmediate();
  input.write('\r');
  const written = async () => `${output.read()}`.replaceAll('\n', '\r\n');
  return { answer: await answer, shown: await linesOf(await written(), columns) };
}

test.each([
  [40, 'Secret:', ['? Secret: (hidden, 2 lines)']],
  [20, 'Secret:', ['? Secret: (hidden)']],
  [12, 'Secret:', ['? Secret:']],
  [20, 'Passphrase (Enter for none):', ['? Passphrase (Enter', 'for none):']],
])('on %i columns "%s" is not cut when it is drawn again', async (columns, question, lines) => {
  expect(await asked(columns, question)).toEqual(lines);
});

const PASTED_LINK = '\u001b[200~Hi:\nhttps://pw.test/p/ab#key\nBye\u001b[201~';
test.each([
  [60, 'https://pw.test/p/ab#key', '? Link: https://pw.test/p/ab#***'],
  [60, 'https://pw.test/p/ab%2523key\u001b[D\u007f', '? Link: https://pw.test/p/ab%2523**'],
  [24, 'https://pw.test/p/ab#key', '? Link: ….test/p/ab#***'],
  [60, PASTED_LINK, '? Link: Hi: https://pw.test/p/ab#*******'],
  [60, '\u001b[200~a\u009b2Jb\u001b[201~', '? Link: a\\x9b2Jb'],
])('of a link, on %i columns, what is before its key is shown: %j', async (columns, keys, line) => {
  expect((await answered('link', columns, 'Link:', keys)).shown).toEqual([line]);
});

test('a choice that is wider than the terminal goes on under its first word', async () => {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns: 20 });
  const streams = { input, output, signal: new AbortController().signal };
  const { choose } = inquirerPrompter(streams, { interrupt: () => {} });
  const answer = choose('Where?', [{ name: 'from this machine alone', short: 'here', value: 'here' }]);
  await once(output, 'readable');
  const screen = stripVTControlCharacters(`${output.read()}`);
  input.write('\r');
  expect(await answer).toBe('here');
  expect(screen).toContain('❯ from this machine\n  alone\n');
});

/** What a question reads of keys that come piece by piece, as fingers and slow lines send them. */
function read(...pieces: (string | Buffer)[]): string {
  const terminal = new PassThrough();
  const { keys, take, release } = keyboard(terminal, { interrupt: () => {} });
  const heard: Buffer[] = [];
  keys.on('data', (data) => void heard.push(data));
  take();
  for (const piece of pieces) terminal.emit('data', Buffer.from(piece));
  release();
  return Buffer.concat(heard).toString();
}

/** Answers of terminals to what programs ask of them, and what they say of themselves (ECMA-48, xterm, kitty). */
const REPORTS = [
  '\u001b]11;rgb:1e1e/1e1e/1e1e\u001b\\',
  '\u001b]4;0;rgb:0000/0000/0000\u0007',
  '\u001b]l\u00e9 title\u001b\\',
  '\u001b[?62;22c',
  '\u001b[>0;276;0c',
  '\u001b[?1u',
  '\u001b[?2026;2$y',
  '\u001b[12;40R',
  '\u001b[8;24;80t',
  '\u001b[0n',
  '\u001b[I',
  '\u001b[O',
  '\u001b[97;5u',
  '\u001b[<0;10;20M',
  '\u001b[<0;10;20m',
  '\u001b[32;10;20M',
  '\u001b[M !!',
  '\u001b[M#\u00e9~',
  '\u001bP>|XTerm(370)\u001b\\',
  '\u001bP1+r544e=787465726d\u001b\\',
  '\u001b_Gi=31;OK\u001b\\',
  '\u001b^private\u001b\\',
  '\u001bXstring\u001b\\',
].map((report) => Buffer.from(report, 'latin1'));

const inPieces = (bytes: Buffer, cuts: readonly number[]) => {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
};
const mixed = fc.array(fc.oneof(fc.constantFrom(...REPORTS), fc.constantFrom('a', '[', 'Oé', '\r')));

test('reports of a terminal are no typing, between letters and in whatever pieces', () => {
  const keysOfOthers = ['\u001b[[A', '\u001bO5P', '\u001bOq'].map((key) => Buffer.from(key));
  for (const report of [...REPORTS, ...keysOfOthers]) {
    expect(read('a', report, 'b'), `${report}`).toBe('ab');
    expect(read('a', ...inPieces(report, [...report.keys()]), 'b'), `${report}`).toBe('ab');
  }
  fc.assert(
    fc.property(mixed, fc.array(fc.nat()), (parts, cuts) => {
      const typed = parts.filter((part) => typeof part === 'string');
      const all = Buffer.concat(parts.map((part) => Buffer.from(part)));
      expect(read(...inPieces(all, cuts))).toBe(typed.join(''));
    }),
    { seed },
  );
});

test('pasted text that looks like a report stays', () => {
  fc.assert(
    fc.property(mixed, fc.array(fc.nat()), (parts, cuts) => {
      const text = parts.map((part) => part.toString()).join('');
      const pasted = `\u001b[200~${text}\u001b[201~`;
      expect(read(...inPieces(Buffer.from(`${pasted}a`), cuts))).toBe(`${pasted}a`);
    }),
    { seed },
  );
});

test('letters after what only begins as a report stay', () => {
  expect(read('\u001b]', 'a', 'b', '\r')).toBe('\u001b]ab\r');
  expect(read('\u001bPab', '\u007f')).toBe('\u001bPab\u007f');
});

// A terminal sends Alt and a letter as Escape and that letter, which is no part of an answer.
test.each([
  [['\u001b', 'abc'], 'abc'],
  [['a', '\u001b', 'b', 'c'], 'abc'],
  [['\u001b', 'Oslo'], 'Oslo'],
  [['\u001b', '[x]'], '[x]'],
  [['\u001b', 'x\r'], 'x\r'],
])('the Escape key takes nothing of what is typed next: %j', (pieces, expected) => {
  expect(read(...pieces)).toBe(expected);
});

test.each([[['\u001b[A']], [['\u001b', 'OP']], [['\u001b', '[1;5D']], [['\u001b[15~']]])(
  'an arrow or a function key stays one: %j',
  (pieces) => {
    expect(read(...pieces)).toBe(pieces.join(''));
  },
);

test('the mark after pasted text stays one in whatever pieces, however late', () => {
  const pieces = ['\u001b[20', '0~a', '\u001b', '[2', '01~', '\u001b', 'b'];
  expect(read(...pieces)).toBe('\u001b[200~a\u001b[201~b');
});

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
    await setImmediate();
  }
  return text;
}

test('Ctrl-C counts, also where what was typed ahead of it has a line end', async () => {
  await expect(typed('one\rtwo\u0003')).rejects.toMatchObject({ code: 'interrupted' });
});

test.each([
  ['bc\u001b[D\u001b[Da\u001b[C\u001bOC\u001b[Cd\r', 'abcd'],
  ['b\u001b[Ha\u001b[Fc\u00010\u0005\u007fd\r', '0abd'],
  ['aXb\u001b[D\u001b[D\u001b[3~\u001b[F\u001b[3~c\r', 'abc'],
  ['gone last\u001bOH\u001bOC\u001b[C\u001b[C\u001b[C\u001b[C\u0017\r', 'last'],
  ['gone\u001b[Dx\u0015\u007f\r', 'e'],
])('keys that move and delete do so in what is hidden: %j', async (keys, text) => {
  expect(await typed(keys)).toBe(text);
});

test('marks of pasted text may come in pieces', async () => {
  const marked = '\u001b[200~one\ntwo\u001b[201~\r';
  expect(await typed(...marked)).toBe('one\ntwo');
  expect(await typed(marked)).toBe('one\ntwo');
});
