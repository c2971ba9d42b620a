import { expect, test } from 'vitest';
import { parseRecipient } from '../../src/age/key-files';
import { sealedWith } from '../../src/age/sealed-with';
import { encryptText, passphraseRecipient } from '../../src/server/page/browser/age-passphrase';
import { encryptText as encryptToKeys } from '../helpers/age';

const PUBLIC_KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

test('tells what opens armor by its header', async () => {
  const link = await encryptText('x', passphraseRecipient('a key', 10));
  const words = await encryptText('x', passphraseRecipient('six words', 11));
  const keys = await encryptToKeys('x', [parseRecipient(PUBLIC_KEY)]);
  const [begin = ''] = link.split('\n');
  const texts = [link, ` \n${link.replaceAll('\n', '\r\n')}`, words, keys];
  expect(texts.map(sealedWith)).toEqual(['link', 'link', 'words', 'recipient']);
  const others = ['x', `a line\n${link}`, begin, `${begin}\n`, `${begin}\n</pre>\n\n`];
  expect(others.map(sealedWith)).toEqual(others.map(() => undefined));
});
