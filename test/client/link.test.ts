import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import type { Api } from '../../src/client/client';
import { elsewhere, findLink, parseReference, repairsOf, withKey } from '../../src/client/link';
import { createdSchema, previewSchema } from '../../src/contract/decode';
import { CliError, phrase } from '../../src/platform/errors';
import { times } from '../helpers/long';

const api = (preview: () => Promise<unknown>) => ({ preview }) as unknown as Api;
const failing = api(async () => {
  throw new CliError('failed', 'no');
});

test('whatever the instance answers, a link comes back: one line that is an http address', async () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.webUrl(),
    fc.constant(null),
    fc.constant(undefined),
    fc.string().map((text) => `https://pw.test/p/${text}`),
  );
  await fc.assert(
    fc.asyncProperty(anything, anything, fc.boolean(), async (html_url, url, fails) => {
      const asked = fails ? failing : api(async () => v.parse(previewSchema(), { url }));
      const created = v.parse(createdSchema(), { url_token: 'quyul5r5w08', html_url });
      const { link } = await findLink(asked, 'https://pw.test/x', created);
      expect(link).toMatch(/^https?:\/\/[\w.~:/?#@%=&+,-]+$/);
    }),
    { numRuns: times(1000) },
  );
});

test('an answer to a creation without a token is accepted only with a link that can be printed', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const html_url = `${before}https://pw.test/p/${after}x`;
      const created = v.safeParse(createdSchema(), { html_url });
      if (!created.success) return;
      const found = await findLink(failing, 'https://pw.test', created.output);
      expect(found).not.toHaveProperty('doubt');
    }),
    { numRuns: times(1000) },
  );
});

test.each([true, false, undefined])(
  'a made link has the path prefix, and the step where there is one (%s)',
  async (retrieval_step) => {
    const created = { url_token: 'quyul5r5w08', retrieval_step };
    const { link } = await findLink(failing, 'https://pw.test/x', created);
    expect(link).toBe(`https://pw.test/x/p/quyul5r5w08${retrieval_step ? '/r' : ''}`);
  },
);

/** Every way of naming a push after its base (docs/wire.md, "Tokens and addresses"). */
const forms = ['/p/T', '/p/T/r', '/f/T', '/r/T', '/api/v2/pushes/T'].flatMap((path) =>
  ['', '.json', '/preview', '/passphrase', '/audit', '/r', '/preview.json', '/'].flatMap((end) =>
    ['', '?locale=fr', '#', '?locale=fr&push_locale=de#'].map((rest) => path + end + rest),
  ),
);

const origin = fc
  .tuple(
    fc.constantFrom('https', 'http'),
    fc.constantFrom(...['pw.test', 'sub.pw.test', '127.0.0.1', '[::1]', 'localhost', 'xn--mnchen-3ya.de']),
    fc.constantFrom('', ':8443', ':5100'),
  )
  .map(([scheme, host, port]) => `${scheme}://${host}${port}`);
const prefix = fc.constantFrom('', '/secrets', '/a/b', '/p', '/p/p', '/api/v2', '/f/r');

// What may follow a token in a path is ambiguous below a base like /p/p.
const suffix = /^(?:r_*|preview|passphrase|audit)$/;
const token = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/).filter((name) => !suffix.test(name));

/** The text that a link was copied from. */
const before = fc.constantFrom(
  ...['', '(', '<', '[', '"', "'", '\u201e', '\u201c', '\u00ab', '*', '`', ' (\u2018', '{'],
  ...['|', '~~', '&lt;', '&quot;'],
);
const after = fc.constantFrom(
  ...['', '.', ',', ';', ':', '!', '?', ')', '>', ']', '"', "'", '\u201c', '\u201d', '\u00bb'],
  ...['**', '`', ').', '>,', '\u3002', '\uff0c', '"!?', '}', '.)\n'],
  ...['~~', '&gt;', '&quot;,'],
);

test('a link of any form is read, without the text around it, and so is a bare token', () => {
  const anyLink = fc.tuple(origin, prefix, fc.constantFrom(...forms), token);
  fc.assert(
    fc.property(anyLink, before, after, ([at, below, form, name], left, right) => {
      const repairs = left + right === '' ? {} : { repairs: ['repaired-surroundings'] };
      const kind = form.startsWith('/r/') ? { kind: 'unknown' } : {};
      const link = at + below + form.replace('T', name);
      const expected = { token: name, base: at + below, ...kind, ...repairs };
      expect(parseReference(left + link + right)).toEqual(expected);
      expect(parseReference(left + name + right)).toEqual({ token: name, base: undefined, ...repairs });
    }),
    { numRuns: 2000 },
  );
});

test.each([
  [' https://pw.test/p/quyul5r5w08\n', 'https://pw.test'],
  ['pw.test/p/quyul5r5w08', 'https://pw.test'],
  ['pw.test:8443/x/p/quyul5r5w08', 'https://pw.test:8443/x'],
  ['localhost:5100/p/quyul5r5w08', 'http://localhost:5100'],
  ['127.0.0.1:5100/p/quyul5r5w08/r', 'http://127.0.0.1:5100'],
  ['HTTPS://PW.test:443/p/quyul5r5w08', 'https://pw.test'],
  ['https://pw.test/p/quyul5r5w08/r/', 'https://pw.test'],
  ['https://münchen.de/p/quyul5r5w08', 'https://xn--mnchen-3ya.de'],
  [' quyul5r5w08 ', undefined],
  ['[the key](https://pw.test/p/quyul5r5w08)', 'https://pw.test'],
  ['[the key](<https://pw.test/p/quyul5r5w08>).', 'https://pw.test'],
  ['(pw.test/p/quyul5r5w08).', 'https://pw.test'],
  ['[::1]:5100/p/quyul5r5w08.', 'http://[::1]:5100'],
  ['([::1]:5100/p/quyul5r5w08)', 'http://[::1]:5100'],
])('%j is read as people paste it', (pasted, base) => {
  const surrounded = /^[[(]|\.$/.test(pasted);
  expect(parseReference(pasted)).toEqual({
    token: 'quyul5r5w08',
    base,
    ...(surrounded ? { repairs: ['repaired-surroundings'] } : {}),
  });
});

describe('the link in a text of several words', () => {
  const link = 'https://pw.test/p/quyul5r5w08/r#Zm9v-_YmFyIGJhego0MjEx';
  test.each([
    `Hi Bob,\n\nhere it is: ${link}. Open it soon!\nAnn`,
    `see (${link}), not https://docs.test/wiki or and/or`,
    `[the new key](${link}) for Bob`,
    `<${link}|the new key> for Bob`,
    `it is ${link} <${link}>`,
    `the link ${link.replace('#', ' #')} for Bob`,
    `by mail: https://safelinks.test/?url=${encodeURIComponent(link)}&data=05 ok`,
  ])('is read: %s', (text) => {
    const expected = { base: 'https://pw.test', token: 'quyul5r5w08', key: link.slice(-22) };
    expect(parseReference(text)).toMatchObject(expected);
    expect(parseReference(text).repairs).toContain('repaired-surroundings');
  });

  test.each([link.replace('#Z', '#A'), 'https://pw.test/p/other'])('is refused beside another: %s', (other) => {
    const error = { code: 'usage', facts: [phrase('several-links')] };
    expect(() => parseReference(`${link} or ${other}`)).toThrow(expect.objectContaining(error));
  });
});

const publicKey = `age1${'q'.repeat(58)}`;
test.each([
  ['r/abc', { kind: 'unknown' }],
  ['api/v2/requests/abc', { kind: 'request' }],
  [`r/abc#${publicKey}`, { kind: 'request', publicKey }],
  [`r/abc%23${publicKey}&utm=x`, { kind: 'request', publicKey, repairs: ['repaired-hash', 'repaired-tail'] }],
  ['r/abc#age1qq', { kind: 'request', publicKey: 'age1qq' }],
  [`p/abc#${publicKey}`, { kind: 'request', publicKey }],
])('%s may be a request', (end, expected) => {
  const base = 'https://pw.test';
  expect(parseReference(`${base}/${end}`)).toEqual({ token: 'abc', base, ...expected });
});

describe('a link with a key', () => {
  const link = 'https://pw.test/p/quyul5r5w08';
  const key = 'Zm9v-_YmFyIGJhego0MjEx';
  const encoded = encodeURIComponent;
  const safeLink = (url: string, host = 'nam02.safelinks.protection.outlook.com') =>
    `https://${host}/?url=${url}&data=05%7C01%7Cann%40pw.test%7C&sdata=AbC%3D&reserved=0`;
  const v2 = (url: string) =>
    `https://urldefense.proofpoint.com/v2/url?u=${encoded(url).replaceAll('-', '-2D').replaceAll('_', '-5F').replaceAll('%2F', '_').replaceAll('%', '-')}&d=DwMFaQ&c=a_b&r=x&m=y&s=z&e=`;
  const v3 = (url: string, bytes: string) => `https://urldefense.com/v3/__${url}__;${bytes}!!N3hqHg43uw!abc$`;

  /** What is read of a link, by the names of its repairs. */
  const read = (token: string, base: string, key: string, repairs = '') => ({
    token,
    base,
    kind: 'push',
    key,
    ...(repairs && { repairs: repairs.split(' ').map((name) => `repaired-${name}`) }),
  });

  const government = 'gcc02.safelinks.protection.office365.us';
  test.each<[string, string, string?]>([
    ['alone', `${link}#${key}`],
    ['Proofpoint 2', v2(`${link}#${key}`), 'proofpoint'],
    ['Proofpoint 3', v3(`${link}*${key}`, 'Iw'), 'proofpoint'],
    ['Proofpoint 1', `https://urldefense.proofpoint.com/v1/url?u=${encoded(`${link}#${key}`)}&k=x`, 'proofpoint'],
    ...['com', 'us'].map((end): [string, string, string] => [
      `Proofpoint 2 of .${end}`,
      v2(`${link}#${key}`).replace('proofpoint.com', end),
      'proofpoint',
    ]),
    ...['us', 'proofpoint.com'].map((end): [string, string, string] => [
      `Proofpoint 3 of .${end}`,
      v3(`${link}*${key}`, 'Iw').replace('urldefense.com', `urldefense.${end}`),
      'proofpoint',
    ]),
    ['Safe Links', safeLink(encoded(`${link}#${key}`)), 'outlook'],
    ['an escaped #', `${link}%23${key}`, 'hash'],
    ['another parameter', `${link}#${key}&a=b`, 'tail'],
    ['brackets', `(${link}#${key}).`, 'surroundings'],
    ['with a step', `${link}/r#${key}`],
    ['without a scheme', `pw.test/p/quyul5r5w08#${key}`],
    ['white space', ` ${link}#${key}\n`],
    ['parameters before the key', `${link}?utm_source=mail#${key}`],
    ['an escaped #, twice', `${link}%2523${key}`, 'hash'],
    ['an escaped # and parameters', `${link}%23${key}?utm=1`, 'hash tail'],
    ['parameters', `${link}#${key}?utm_source=mail&x=%23`, 'tail'],
    ['Safe Links of a government', safeLink(encoded(`${link}#${key}`), government), 'outlook'],
    ['Safe Links with the key outside', `${safeLink(encoded(link))}#${key}`, 'outlook'],
    ['Safe Links and an escaped #', safeLink(encoded(`${link}%23${key}`)), 'outlook hash'],
    ['Safe Links in <>', `<${safeLink(encoded(`${link}#${key}`))}>`, 'surroundings outlook'],
    ['Proofpoint 3 with one slash', v3(`${link.replace('//', '/')}*${key}`, 'Iw'), 'proofpoint'],
    ['Proofpoint 3 that left the #', v3(`${link}#${key}`, ''), 'proofpoint'],
    ['Proofpoint 3 with a run', v3(`${link}?x=**A${key}&y=1`, 'w6kj'), 'proofpoint tail'],
    ['Proofpoint 3 with two', v3(`${link}?x=*&y=1*${key}`, 'w6kj'), 'proofpoint'],
    ['both', safeLink(encoded(v3(`${link}*${key}`, 'Iw'))), 'outlook proofpoint'],
    ...[
      `https://statics.teams.cdn.office.net/evergreen-assets/safelinks/1/atp-safelinks.html?dest=https%3A%2F%2Fteams.microsoft.com%2Fapi&url=ENC&locale=en-us`,
      'https://secure-web.cisco.com/1jK-x_y/ENC',
      'https://linkprotect.cudasvc.com/url?a=ENC&c=E,1,x&typo=1',
      'https://www.google.com/url?q=ENC&sa=D&source=docs',
      'https://l.facebook.com/l.php?u=ENC&h=AT0x',
      'https://slack-redir.net/link?url=ENC',
      'https://eu-west-1.protection.sophos.com/?d=pw.test&u=B64&i=x',
      'https://gateway.test/scan/https://pw.test/p/quyul5r5w08#KEY',
      'https://gateway.test/?u=ENC2',
      'https://gateway.test/?https://pw.test/p/quyul5r5w08#KEY',
      'https://protect.checkpoint.com/v2/___https://pw.test/p/quyul5r5w08#KEY___.YXAzOmE6b',
      'https://url.avanan.click/v2/___https://pw.test/p/quyul5r5w08___.YXAzOmE6b#KEY',
    ].map((form): [string, string, string] => [
      form,
      form
        .replace('ENC2', encoded(encoded(`${link}#${key}`)))
        .replace('ENC', encoded(`${link}#${key}`))
        .replace('B64', Buffer.from(`${link}#${key}`).toString('base64url'))
        .replace('KEY', key),
      'wrapper',
    ]),
    [
      'Google in Safe Links',
      safeLink(encoded(`https://google.com/url?q=${encoded(`${link}#${key}`)}`)),
      'outlook wrapper',
    ],
    ...[')', '%20', '%3E', '.', ',', '\u200b', '/)'].map((end): [string, string, string] => [
      `${end} before the key`,
      `${link}${end}#${key}`,
      'surroundings',
    ]),
    ['a mark of direction in it', `https://pw.test/p/\u200equyul5r5w08#${key}`, 'surroundings'],
    ['of Slack', `<${link}#${key}|the password>`, 'surroundings'],
    ['emphasis', `_${link}/r#${key}_`, 'surroundings tail'],
    ['emphasis before the key', `${link}/r__#${key}`, 'surroundings'],
    ['quoted-printable', `${link}/r#${key.slice(0, 9)}=\r\n${key.slice(9)}=\n`, 'surroundings'],
    [
      'quoted-printable in a mail',
      `Hi,\n${link.replace('p/', 'p=\n/')}#${key}=\n\nAnn`.replace('p=\n/', '=\np/'),
      'surroundings',
    ],
    ['HTML', `&lt;${link}#${key}&gt;`, 'surroundings'],
    ['zero-width spaces', `\u200b${link}#\u200b${key}\u200b\ufeff`, 'surroundings'],
    ...['%20', '%3E', '%22%0D%0A', '%E2%80%8B', '.%C2%A0', '%2C'].map((end): [string, string, string] => [
      `${end} at its end`,
      `${link}#${key}${end}`,
      'surroundings',
    ]),
  ])('is read whatever it went through: %s', (_name, pasted, repairs) => {
    const found = parseReference(pasted);
    expect(found).toEqual(read('quyul5r5w08', 'https://pw.test', key, repairs));
    expect(repairsOf([found]) === undefined).toBe(repairs === undefined);
  });

  test('is read behind five gateways, and not behind six', () => {
    const behind = (count: number) => {
      let at = `${link}#${key}`;
      for (let gateway = 0; gateway < count; gateway++) at = `https://g.test/?u=${encoded(at)}`;
      return at;
    };
    const repairs = Array(5).fill('wrapper').join(' ');
    expect(parseReference(behind(5))).toEqual(read('quyul5r5w08', 'https://pw.test', key, repairs));
    expect(() => parseReference(behind(6))).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  test('goes with a bare token too', () => {
    const expected = { token: 'quyul5r5w08', base: undefined, kind: 'push', key };
    expect(parseReference(`quyul5r5w08#${key}`)).toEqual(expected);
  });

  test.each([
    ['cut', key.slice(0, 12)],
    ['cut to a character', key.slice(0, 1)],
    ['continued', `${key}xyz`],
    ['after white space', `%20${key}`],
    ['after a sign', `!${key}`],
    ['as a parameter', `x=${key}`],
    ['in a text fragment', `:~:text=${key}`],
    ['of a request, after white space', '%20age1qq'],
    ['of a request, after a slash', '/age1qq'],
    ['of a request, escaped', '%61ge1qq'],
    ['gone, with what was behind it', '&utm_source=mail'],
    ['cut, before parameters', key.slice(0, 12), '?utm_source=mail'],
  ])('that is damaged is one all the same: %s', (_how, damaged, tail = '') => {
    for (const path of ['p', 'f', 'r', 'api/v2/requests'])
      expect(parseReference(`https://pw.test/${path}/abc#${damaged}${tail}`)).toEqual(
        read('abc', 'https://pw.test', damaged, tail && 'tail'),
      );
  });

  test('replaces the fragment of an instance', () => {
    expect(withKey(`${link}#x`, key)).toBe(`${link}#${key}`);
    expect(withKey(`${link}#x`, undefined)).toBe(`${link}#x`);
  });
});

test.each<[string, string, string?]>([
  ...['https://other.test', 'https://pw.test:8443', 'http://pw.test', 'https://pw.test.evil'].map(
    (at): [string, string, string] => ['https://pw.test', `${at}/p/x`, at],
  ),
  ['https://pw.test/secrets', 'https://pw.test/p/x', 'https://pw.test'],
  ['https://pw.test/secrets', 'https://pw.test/secretsx/p/x', 'https://pw.test'],
  ['https://pw.test/secrets', 'https://pw.test/secrets/p/x'],
  ['https://pw.test/a$b', 'https://pw.test/a%24b/p/x'],
  ['https://pw.test', 'https://pw.test/secrets/p/x'],
])('of what was created at %s the link %s is on %s', (base, link, at) => {
  expect(elsewhere(base, link)).toEqual(at && phrase('link-elsewhere', at, base, ''));
});

test('repairs are told once, without the link', () => {
  const references = ['<abcdefgh>', '<abcdefgh%23key>'].map(parseReference);
  expect(repairsOf(references)).toEqual(
    phrase('links-repaired', phrase('repaired-surroundings'), phrase('repaired-hash')),
  );
});

describe('what is no link is refused', () => {
  test.each([
    ...['', '  \n', '<>', 'https://pw.test/', 'https://pw.test/p/', 'https://pw.test/p/../../etc'],
    ...['https://pw.test/p/a%2Fb', 'https://pw.test/p a', 'https://pw.test/x/quyul5r5w08'],
    ...['ftp://pw.test/p/quyul5r5w08', 'javascript:alert(1)//p/x', 'file:///p/quyul5r5w08'],
    ...['a'.repeat(129), 'two words', 'https://pw.test/p/quyul5\u2026'],
    ...['https://pw.test/p/quyul5...', 'https://pw.test/p/quyul5\u00e9'],
    ...['https://evil.test/?q=https://pw.test/', 'https://evil.test/?q=ftp://pw.test/p/abcdefgh'],
    ...[`https://${'a'.repeat(64)}.test/p/quyul5r5w08`, `${'a'.repeat(64)}.test/p/quyul5r5w08`],
    ...['x~https://pw.test/p/quyul5r5w08', 'x_http://pw.test/p/quyul5r5w08#key'],
    ...['https://https://pw.test/p/quyul5r5w08', 'https://pw-test.translate.goog/p/quyul5r5w08/r'],
    `https://safelinks.test/?url=https://pw.test/p/quyul5r5w08&x=${'a'.repeat(4096)}`,
    ...['https://ann:s3cret@pw.test/p/quyul5r5w08', 'https://pw.test@evil.test/p/quyul5r5w08'],
  ])('%j', (pasted) => {
    expect(refusal(pasted)).toMatchObject({ name: 'CliError', code: 'usage', facts: [{ of: [] }] });
  });

  const parts = '? ) /r /p/a [ %20 %23 %25 < /v3/__ ?u=https://a.b/ *'.split(' ');
  test.each(parts)('and takes no time that grows with the square: %s', (part) => {
    for (const length of [16_000, 2_000_000]) refusal(`https://pw.test/p/a${part.repeat(length / part.length)}~`);
  });

  test('and never crashes anything, nor is repeated in the message', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.constantFrom(...forms).map((form) => `https://${form}`),
      fc.tuple(origin, fc.string({ unit: 'binary' })).map(([at, rest]) => `${at}/p/${rest}`),
    );
    fc.assert(
      fc.property(hostile, (pasted) => {
        const error = refusal(pasted);
        if (error === undefined) {
          const { token: name, base } = parseReference(pasted);
          expect(name).toMatch(/^[A-Za-z0-9_-]{1,128}$/);
          if (base !== undefined) expect(new URL(base).username).toBe('');
          return;
        }
        expect(error).toMatchObject({ exitStatus: 2, facts: [{ of: [] }] });
      }),
      { numRuns: 2000 },
    );
  });

  function refusal(pasted: string): unknown {
    try {
      parseReference(pasted);
      return undefined;
    } catch (error) {
      return error;
    }
  }
});
