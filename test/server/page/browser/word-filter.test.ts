import { expect, test } from 'vitest';
import { wordsIn } from '../../../../src/age/link-key';
import { wordList } from '../../../../src/age/words';
import { areKeyWords, bitsOf, FILTER } from '../../../../src/server/page/browser/keys-in';

test('the filter is that of the list', async () => {
  const bytes = Buffer.alloc(2 ** 15 / 8);
  for (const bit of (await wordList()).flatMap(wordsIn).flatMap(bitsOf))
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
  expect(FILTER).toBe(bytes.toString('base64'));
});

test.each([
  'abacus-bloated-cycling-dwindle-emperor-fidgety',
  'Abacus BLOATED  cycling dwindle\temperor fidgety',
  ' -abacus-bloated-cycling-dwindle-emperor-fidgety- ',
  '\u201cAbacus\u2013bloated\u2013cycling_dwindle, emperor; fidgety\u201d.',
  'drop-down-felt-tip-t-shirt-yo-yo-zoom-abdomen',
  'abacus-bloated-cycling-dwindle-emperor-fidgety-zoom-abdomen-acid',
])('%j are key words', (text) => {
  expect(areKeyWords(text)).toBe(true);
});

test.each([
  '',
  'sesame',
  'abacus-bloated-cycling-dwindle-emperor',
  'please open the door for me',
  'the quick brown fox jumps over the lazy dog',
  'ich habe heute leider gar keine zeit',
])('%j are none', (text) => {
  expect(areKeyWords(text)).toBe(false);
});
