import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { plainPrompter } from '../../../src/cli/terminal/plain-prompt';

/** A prompter whose keys are typed by hand, and what it wrote. */
function terminal(columns = 80) {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns });
  const controller = new AbortController();
  const streams = { input, output, signal: controller.signal };
  const prompter = plainPrompter(streams, { interrupt: () => controller.abort('SIGINT') });
  return { prompter, type: (keys: string) => input.write(keys), shown: () => `${output.read()}` };
}

test('a secret is not shown, and backspace and arrow keys leave nothing in it', async () => {
  const { prompter, type, shown } = terminal();
  const answer = prompter.secret('Secret:');
  type('hunterX\u007f2\u001b[A\r');
  expect([await answer, shown()]).toEqual(['hunter2', 'Secret: \n']);
});

test('a question that is wider than the terminal is folded', async () => {
  const { prompter, type, shown } = terminal(20);
  const answer = prompter.secret('Passphrase (Enter for none):');
  type('hunter2\r');
  expect([await answer, shown()]).toEqual(['hunter2', 'Passphrase (Enter\nfor none): \n']);
});

test('a text is shown as it is typed, and its preset is taken for nothing', async () => {
  const { prompter, type, shown } = terminal();
  const answer = prompter.text('Address:', 'https://pw.test');
  type('ab\u007f\u007f\u007f\r');
  expect([await answer, shown()]).toEqual([
    'https://pw.test',
    'Address: (https://pw.test) ab\b \b\b \b\n',
  ]);
});

test.each([
  ['\r', true],
  ['n\r', false],
  ['maybe\r', 'asked again'],
])('a question to confirm, answered %j', async (keys, expected) => {
  const { prompter, type, shown } = terminal();
  const answer = prompter.confirm('Sure?', true);
  type(keys);
  if (expected !== 'asked again') return expect(await answer).toBe(expected);
  await expect.poll(shown).toContain('Sure? (Y/n)');
  type('y\r');
  return expect(await answer).toBe(true);
});

test('one of several is chosen by its number', async () => {
  const { prompter, type, shown } = terminal();
  const choices = ['a', 'b'].map((value) => ({ name: `the ${value}`, short: value, value }));
  const answer = prompter.choose('Which?', choices);
  type('2\r');
  expect([await answer, shown()]).toEqual(['b', 'Which?\n1) the a\n2) the b\n1-2: 2\n']);
});

test('several lines pasted for a secret are refused', async () => {
  const { prompter, type } = terminal();
  const answer = prompter.secret('Secret:');
  type('one\ntwo\n');
  await expect(answer).rejects.toMatchObject({ code: 'usage' });
});

test.each(['\u0003', '\u0004'])('%j rejects as interrupted', async (key) => {
  const { prompter, type } = terminal();
  const answer = prompter.secret('Secret:');
  type(key);
  await expect(answer).rejects.toMatchObject({ code: 'interrupted' });
});
