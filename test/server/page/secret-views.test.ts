import fc from 'fast-check';
import jsqr from 'jsqr';
import { describe, expect, test } from 'vitest';
import { isWebAddress } from '../../../src/contract/address';
import { wordsFor } from '../../../src/server/page/language';
import { linkView, qrView } from '../../../src/server/page/secret-views';
import { times } from '../../helpers/long';

/** What a page in English is made for; its secret is under a veil. */
const view = {
  words: await wordsFor(new Request('http://pw.test/')),
  site: { title: undefined, logo: undefined, contact: undefined },
  now: 0,
  open: false,
};

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const text = (html = '') =>
  html.replace(/<[^>]*>/g, '').replace(/&([^;]+);/g, (whole, name) => ENTITIES[name] ?? whole);

/** What a link's page says: the address as shown, its emphasised part, where it leads, the remarks. */
function told(payload: string) {
  const html = linkView(view, payload).pieces.join('');
  const shown = /<bdo [^>]*>(.*?)<\/bdo>/s.exec(html)?.[1] ?? '';
  return {
    shown: text(shown),
    strong: text(/<strong>(.*?)<\/strong>/.exec(shown)?.[1]),
    leads: text(/This link leads to <strong[^>]*>(.*?)<\/strong>/.exec(html)?.[1]),
    notes: html.match(/class="note"/g)?.length ?? 0,
  };
}

describe('a link is shown as it is, and with the host it leads to', () => {
  test.each([
    ['https://example.com/a?b#c', 'example.com', 'example.com', 0],
    ['http://10.0.0.1/', '10.0.0.1', '10.0.0.1', 1],
    ['https://[2001:db8::1]:80/', '[2001:db8::1]', '[2001:db8::1]:80', 0],
    ['https://mybank.com@evil.example/', 'evil.example', 'evil.example', 1],
    ['https://evil.example\\@mybank.com/', 'evil.example', 'evil.example', 0],
    ['https:///\\evil.example/https://mybank.com', 'evil.example', 'evil.example', 0],
    ['https://аррӏе.com/', 'аррӏе.com', 'xn--80ak6aa92e.com', 1],
    ['https://MYBANK.com%2ea.example/', 'MYBANK.com%2ea.example', 'mybank.com.a.example', 0],
    // A slash of another script is no host, so such a link is none.
    ['https://mybank.com／evil.example/', 'mybank.com／evil.example', undefined, 0],
    ['http://0x7f.1/', '0x7f.1', '127.0.0.1', 1],
  ])('%s', (payload, strong, leads, notes) => {
    expect(isWebAddress(payload)).toBe(leads !== undefined);
    if (leads !== undefined) expect(told(payload)).toEqual({ shown: payload, strong, leads, notes });
  });

  test('whatever it is', () => {
    const piece = fc.constantFrom('a.example', 'b.example', '%2e', ...'@:/\\?#[]۰é&<"x');
    const scheme = fc.constantFrom('http://', 'https://', 'HTTPS:////');
    const address = fc
      .tuple(scheme, fc.array(piece, { maxLength: 12 }))
      .map(([scheme, pieces]) => scheme + pieces.join(''))
      .filter(isWebAddress);
    fc.assert(
      fc.property(address, (payload) => {
        const { shown, strong, leads } = told(payload);
        const { host, hostname } = new URL(payload);
        expect([shown, leads]).toEqual([payload, host]);
        if (strong !== '') expect(new URL(`http://${strong}`).hostname).toBe(hostname);
      }),
      { numRuns: times(2000) },
    );
  });
});

const SCALE = 3;

/** Whether each module of the drawing of a QR code is dark, the quiet zone included. */
function modules(payload: string): boolean[][] {
  const html = qrView(view, payload).pieces.join('');
  const size = Number(/viewBox="0 0 (\d+) \d+" shape-rendering/.exec(html)?.[1]);
  const rows = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const path = /fill="#000" d="([^"]*)"/.exec(html)?.[1] ?? '';
  for (const [, x, y, run] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    rows[Number(y)]?.fill(true, Number(x), Number(x) + Number(run));
  return rows;
}

function read(rows: boolean[][]): string | undefined {
  const side = rows.length * SCALE;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++)
      if (rows[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)])
        pixels.fill(0, 4 * (y * side + x), 4 * (y * side + x) + 3);
  return jsqr(pixels, side, side, { inversionAttempts: 'dontInvert' })?.data;
}

test.each([
  ['a letter', 'a'],
  ['what is a checkerboard, too', 'U'.repeat(1024)],
  ['an address', 'https://pw.example/p/abc-def?x=1#y'],
  // The last of a version, and the first of the next one (ISO/IEC 18004, table 7).
  ...[17, 18, 230, 231, 271, 272, 1465, 1466, 2953].map((bytes) => [
    `${bytes} bytes`,
    'Yz5'.repeat(1000).slice(0, bytes),
  ]),
])('a QR code of %s is read by a reader, and has the first mask', (_, payload = '') => {
  const rows = modules(payload);
  expect(read(rows)).toBe(payload);
  const quiet = rows.findIndex((row) => row.includes(true));
  // The format has 000, of which it shows 101 (ISO/IEC 18004, 7.9.1).
  expect(rows[quiet + 8]?.slice(quiet + 2, quiet + 5)).toEqual([true, false, true]);
});
