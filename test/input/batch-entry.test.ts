import { expect, test } from 'vitest';
import { CliError } from '../../src/errors';
import { formatOf, readEntry } from '../../src/input/batch-entry';

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

test('the first line says how all are read: JSON when it is an object with a payload', () => {
  expect(formatOf(json({ payload: 'x' }))).toBe('json');
  for (const text of [
    'hunter2',
    '{"user":"x"}',
    '["payload"]',
    '"payload"',
    '{payload: 1}',
    'null',
  ])
    expect(formatOf(Buffer.from(text))).toBe('text');
  expect(formatOf(undefined)).toBe('text');
});

test('a line of text is a secret, whatever it looks like', () => {
  expect(readEntry(json({ payload: 'x' }), 'text')).toEqual({ payload: '{"payload":"x"}' });
});

test('an object has the names of the options', () => {
  const all = {
    ...{ payload: 'x', kind: 'url', days: 1, views: 2, deletable: true, 'retrieval-step': false },
    ...{ passphrase: 'sesame', name: 'n', note: 'm' },
  };
  const { 'retrieval-step': _, ...rest } = all;
  expect(readEntry(json(all), 'json')).toEqual({ ...rest, retrievalStep: false });
  expect(readEntry(json({ payload: 'x', retrieval_step: true }), 'json')).toEqual({
    payload: 'x',
    retrievalStep: true,
  });
});

const wrong: [unknown, string][] = [
  [{}, 'it has no "payload"'],
  [{ payload: '' }, '"payload" takes a text that is not empty'],
  [{ payload: 7 }, '"payload" takes a text that is not empty'],
  [{ payload: 'x', days: 0 }, '"days" takes a whole number of 1 or more'],
  [{ payload: 'x', views: '3' }, '"views" takes a whole number of 1 or more'],
  [{ payload: 'x', views: 1.5 }, '"views" takes a whole number of 1 or more'],
  [{ payload: 'x', deletable: 'yes' }, '"deletable" takes true or false'],
  [{ payload: 'x', kind: 'file' }, '"kind" takes text, url, qr'],
  [{ payload: 'x', passphrase: '' }, '"passphrase" takes a text that is not empty'],
  [{ payload: 'x', day: 1 }, 'it has an unknown field "day"'],
  [{ payload: 'x', expire_after_views: 1 }, 'it has an unknown field "expire_after_views"'],
  [{ payload: 'x', 'S3cret!': 1 }, 'it has an unknown field'],
  [[], 'it is no JSON object'],
  ['secret', 'it is no JSON object'],
];

test.each(wrong)('%j is refused: %s', (value, message) => {
  const read = () => readEntry(json(value), 'json');
  expect(read).toThrow(CliError);
  expect(read).toThrow(expect.objectContaining({ code: 'usage', message }));
});

test('nothing is quoted of a line that cannot be read', () => {
  expect(() => readEntry(Buffer.from('{"payload": hunter2'), 'json')).toThrow(
    'it is no JSON object',
  );
  expect(() => readEntry(Buffer.from([0xff]), 'text')).toThrow('it is not valid UTF-8 text');
  expect(() => readEntry(Buffer.from(''), 'text')).toThrow('it is empty: there is nothing to push');
});
