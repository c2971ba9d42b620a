import { expect, test } from 'vitest';
import { parseReference } from '../../src/client/link';
import { repairedPath } from '../../src/contract/link-marks';

const KEY = 'Zm9v-_YmFyIGJhego0MjEx';

// As browsers write paths.
const tails = [
  ...['=', '|', '~', '~~', '*', '.', ',', ';', ':', '!', ')', ']', "'", '%22', '%3E', '%60', '%7D'],
  ...['%20', '%E2%80%8B', '%C2%A0', '&gt;', '&quot;.', '.)'],
];

test.each([...tails, '_', '__'])('a page and a client read a link that %j follows', (tail) => {
  expect(repairedPath(`/x/p/abcdef/r${tail}`)).toEqual(['/x/p/abcdef/r', undefined]);
  expect(repairedPath(`/p/abcdef%23${KEY}${tail}`)).toEqual(['/p/abcdef', KEY]);
  const links = [`https://pw.test/p/abcdef/r${tail}#${KEY}`, `https://pw.test/p/abcdef#${KEY}${tail}`];
  for (const link of links)
    expect(parseReference(link)).toMatchObject({
      token: 'abcdef',
      base: 'https://pw.test',
      key: KEY,
    });
});

test.each(tails)('also where it follows the ID: %j', (tail) => {
  expect(repairedPath(`/p/abcdef${tail}`)).toEqual(['/p/abcdef', undefined]);
  expect(parseReference(`https://pw.test/p/abcdef${tail}`)).toMatchObject({ token: 'abcdef' });
});

test.each(['/p/abcdef', '/p/abc_def_/r', '/r/a-b', '/p/abc_def/x', '/new', '/p/', '/'])('the path %j stays', (path) => {
  expect(repairedPath(path)).toBe(undefined);
});
