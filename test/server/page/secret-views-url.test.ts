import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linkView } from '../../../src/server/page/secret-views';
import { isWebAddress } from '../../../src/server/rules/new-push';
import { times } from '../../helpers/long';
import { englishView } from '../../helpers/view';

const view = await englishView();

/** What a link's page says: the address as shown, its emphasised part, where it leads, the remarks. */
function told(payload: string) {
  const html = linkView(view, payload).pieces.join('');
  const shown = /<bdo [^>]*>(.*?)<\/bdo>/s.exec(html)?.[1] ?? '';
  return {
    shown: text(shown),
    strong: text(/<strong>(.*?)<\/strong>/.exec(shown)?.[1] ?? ''),
    leads: text(/This link leads to <strong[^>]*>(.*?)<\/strong>/.exec(html)?.[1] ?? ''),
    notes: html.match(/class="note"/g)?.length ?? 0,
  };
}

function text(html: string): string {
  const entities: Record<string, string> = {
    '&amp;': '&',
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
  };
  return html.replace(/<[^>]*>/g, '').replace(/&[^;]+;/g, (name) => entities[name] ?? name);
}

describe('a link is shown as it is, and with the host it leads to', () => {
  test.each([
    ['https://example.com/a?b#c', 'example.com', 'example.com', 0],
    ['https://example.com:8443/', 'example.com', 'example.com:8443', 0],
    ['http://10.0.0.1/', '10.0.0.1', '10.0.0.1', 1],
    ['https://[2001:db8::1]:80/', '[2001:db8::1]', '[2001:db8::1]:80', 0],
    ['https://mybank.com@evil.example/', 'evil.example', 'evil.example', 1],
    ['https://a:b@mybank.com:x@evil.example/', 'evil.example', 'evil.example', 1],
    ['https://evil.example\\@mybank.com/', 'evil.example', 'evil.example', 0],
    ['https://evil.example#@mybank.com/', 'evil.example', 'evil.example', 0],
    ['https:///\\evil.example/https://mybank.com', 'evil.example', 'evil.example', 0],
    ['https://аррӏе.com/', 'аррӏе.com', 'xn--80ak6aa92e.com', 1],
    [
      'https://MYBANK.com%2eevil.example/',
      'MYBANK.com%2eevil.example',
      'mybank.com.evil.example',
      0,
    ],
    ['https://mybank.com／evil.example/', 'mybank.com／evil.example', undefined, 0],
    ['http://0x7f.1/', '0x7f.1', '127.0.0.1', 1],
  ])('%s', (payload, strong, leads, notes) => {
    // A slash of another script is no host, so such a link is none.
    if (leads === undefined) return expect(isWebAddress(payload)).toBe(false);
    expect(isWebAddress(payload)).toBe(true);
    expect(told(payload)).toEqual({ shown: payload, strong, leads, notes });
  });

  test('whatever it is', () => {
    const piece = fc.constantFrom(
      'a.example',
      'b.example',
      '@',
      ':',
      '/',
      '\\',
      '?',
      '#',
      '[',
      ']',
      '%2e',
      '۰',
      'é',
      '&',
      '<',
      '"',
      'x',
    );
    const address = fc
      .tuple(
        fc.constantFrom('http://', 'https://', 'HTTPS:////'),
        fc.array(piece, { maxLength: 12 }),
      )
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
