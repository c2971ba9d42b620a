import { beforeEach, expect, test } from 'vitest';
import { encryptText, passphraseRecipient } from '../../../src/server/page/browser/age-passphrase';
import decryptScript from '../../../src/server/page/browser/decrypt-page.ts?script';
import encryptScript from '../../../src/server/page/browser/encrypt-form.ts?script';
import noticeScript from '../../../src/server/page/browser/key-notice.ts?script';
import proveScript from '../../../src/server/page/browser/prove-key.ts?script';
import qrScript from '../../../src/server/page/browser/qr-page.ts?script';
import refuseScript from '../../../src/server/page/browser/refuse-key.ts?script';
import respondScript from '../../../src/server/page/browser/respond-form.ts?script';
import { filePart, inTab, opened, partsOf, type TestService } from '../../helpers/service';

let service: TestService;

beforeEach(async () => {
  service = await opened({ anonymousFiles: true });
});

async function open(path: string) {
  const { text: html, headers } = await service.call('GET', path, { headers: inTab });
  const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, text = '']) => text);
  return { html, scripts: scripts.slice(1), policy: headers.get('content-security-policy') ?? '' };
}

const armor = await encryptText('hunter2', passphraseRecipient('a key', 1));
const page = async (push: object) => open(`/p/${await service.create({ ...push, retrieval_step: false })}`);

test.each([
  ['decrypt', decryptScript, 33 * 1024],
  ['encrypt', encryptScript, 31 * 1024],
  ['draw QR codes', qrScript, 16 * 1024],
  ['say whether the link has the key', noticeScript, 2 * 1024],
  ['prove the key', proveScript, 14 * 1024],
  ['answer a request', respondScript, 35 * 1024],
  ['refuse a key as a passphrase, which has the words', refuseScript, 35 * 1024],
])('the script to %s is small, and uses nothing that needs https', (_, script, most) => {
  expect(Buffer.byteLength(script)).toBeLessThan(most);
  expect(script).not.toMatch(/crypto\.subtle|serviceWorker|navigator\.|innerHTML|eval\(|import\(/);
});

const names = new Map([
  [decryptScript, 'decrypt'],
  [encryptScript, 'encrypt'],
  [qrScript, 'qr'],
  [refuseScript, 'refuse'],
]);
const files = () =>
  service.createWithFiles(filePart('1.age', 'x'), ...partsOf({ payload: armor, retrieval_step: false }));

// Nothing is fetched but files, of the service alone, so nothing else can be sent that way.
test.each<[string, () => ReturnType<typeof open>, string[], boolean]>([
  ['a secret that is not encrypted', () => page({ payload: 'x' }), [], false],
  ['an encrypted text', () => page({ payload: armor, kind: 'text' }), ['decrypt'], false],
  ['an encrypted QR code', () => page({ payload: armor, kind: 'qr' }), ['decrypt', 'qr'], false],
  ['encrypted files', async () => open(`/p/${await files()}`), ['decrypt'], true],
  ['the form', () => open('/'), ['encrypt', 'refuse'], false],
  ['/open', () => open('/open'), ['decrypt'], false],
])('a page has the scripts that it needs: %s', async (_, opening, expected, fetches) => {
  const { scripts, policy } = await opening();
  expect(scripts.map((script) => names.get(script))).toEqual(expected);
  const fetching = policy.split('; ').filter((rule) => rule.startsWith('connect-src'));
  expect(fetching).toEqual(fetches ? ["connect-src 'self'"] : []);
});

test('armor with white space before it is armor, and other text is not', async () => {
  expect((await page({ payload: `\n ${armor}` })).scripts).toHaveLength(1);
  expect((await page({ payload: `a line\n${armor}` })).scripts).toHaveLength(0);
  // What pretends to be armor is escaped.
  const payload = '-----BEGIN AGE ENCRYPTED FILE-----\n</pre><script>alert(1)</script>';
  expect((await page({ payload })).html).toContain('&lt;/pre&gt;&lt;script&gt;');
});

test('a key in a path is not logged', async () => {
  const key = 'TDwSkAO2ZmVrJkGOCxCbJg';
  for (const path of [`/p/abcdefghij%23${key}`, `/p/abcdefghij%2523${key}&a=b`, `/${key}`])
    expect((await open(path)).html).not.toContain(key);
  expect(service.lines.length).toBe(3);
  expect(service.lines.filter((line) => line.includes(key))).toEqual([]);
});
