import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Api } from '../../src/client/client';
import { findLink, parseReference } from '../../src/client/link';
import { CliError } from '../../src/errors';

const api = (preview: () => Promise<{ url: string }>) => ({ preview }) as unknown as Api;
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
      const asked = fails ? failing : api(async () => ({ url: url as string }));
      const created = { url_token: 'quyul5r5w08', html_url };
      const { link } = await findLink(asked, 'https://pw.test/x', created);
      expect(link).toMatch(/^https?:\/\/[\x21-\x7e]+$/i);
    }),
    { numRuns: 1000 },
  );
});

test('a made link has the path prefix, and the step where there is one', async () => {
  const made = async (retrieval_step: boolean | undefined) =>
    (await findLink(failing, 'https://pw.test/x', { url_token: 'quyul5r5w08', retrieval_step }))
      .link;
  expect([await made(true), await made(false), await made(undefined)]).toEqual([
    'https://pw.test/x/p/quyul5r5w08/r',
    'https://pw.test/x/p/quyul5r5w08',
    'https://pw.test/x/p/quyul5r5w08',
  ]);
});

/** Every way of naming a push after its base (docs/wire.md, "Tokens and addresses"). */
const forms = ['/p/T', '/p/T/r', '/f/T', '/r/T', '/api/v2/pushes/T'].flatMap((path) =>
  ['', '.json', '/preview', '/passphrase', '/audit', '/r', '/preview.json', '/'].flatMap((end) =>
    ['', '?locale=fr', '#x', '?locale=fr&push_locale=de#top'].map((rest) => path + end + rest),
  ),
);

const token = fc.stringMatching(/^[a-z0-9_-]{8,20}$/);
const origin = fc
  .tuple(
    fc.constantFrom('https', 'http'),
    fc.constantFrom(
      'pw.test',
      'sub.pw.test',
      '127.0.0.1',
      '[::1]',
      'localhost',
      'xn--mnchen-3ya.de',
    ),
    fc.constantFrom('', ':8443', ':5100'),
  )
  .map(([scheme, host, port]) => `${scheme}://${host}${port}`);
const prefix = fc.constantFrom('', '/secrets', '/a/b', '/p', '/p/p', '/api/v2', '/f/r');

test('a link of any form is read: token and base, whatever the prefix and port', () => {
  fc.assert(
    fc.property(origin, prefix, fc.constantFrom(...forms), token, (at, below, form, name) => {
      const link = at + below + form.replace('T', name);
      expect(parseReference(link)).toEqual({ token: name, base: at + below });
    }),
    { numRuns: 2000 },
  );
});

test('a bare token is one, and belongs to no instance', () => {
  fc.assert(
    fc.property(token, (name) => {
      expect(parseReference(name)).toEqual({ token: name, base: undefined });
    }),
  );
});

describe('a link or token copied with the text around it', () => {
  const before = [
    '',
    '(',
    '<',
    '[',
    '"',
    "'",
    '\u201e',
    '\u201c',
    '\u00ab',
    '*',
    '`',
    ' (\u2018',
    '{',
  ];
  const after = [
    '',
    '.',
    ',',
    ';',
    ':',
    '!',
    '?',
    ')',
    '>',
    ']',
    '"',
    "'",
    '\u201c',
    '\u201d',
    '\u00bb',
  ];
  const ends = [...after, '**', '`', ').', '>,', '\u3002', '\uff0c', '"!?', '}', '.)\n'];
  // What may follow a token in a path is ambiguous below a base like /p/p.
  const suffix = /^(?:r|preview|passphrase|audit)$/;
  const anyToken = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/).filter((name) => !suffix.test(name));
  const surroundings = fc.tuple(fc.constantFrom(...before), fc.constantFrom(...ends));

  test('is read without it, and no character of the token is lost', () => {
    fc.assert(
      fc.property(
        origin,
        prefix,
        fc.constantFrom(...forms),
        anyToken,
        surroundings,
        (at, below, form, name, [left, right]) => {
          const link = at + below + form.replace('T', name);
          expect(parseReference(left + link + right)).toEqual({ token: name, base: at + below });
          expect(parseReference(left + name + right)).toEqual({ token: name, base: undefined });
        },
      ),
      { numRuns: 2000 },
    );
  });

  test.each([
    '[the key](https://pw.test/p/quyul5r5w08)',
    '[the key](<https://pw.test/p/quyul5r5w08>).',
    '(pw.test/p/quyul5r5w08).',
  ])('%s', (pasted) => {
    expect(parseReference(pasted)).toEqual({ token: 'quyul5r5w08', base: 'https://pw.test' });
  });

  test('of an address in IPv6 keeps its brackets, without a scheme too', () => {
    const found = { token: 'quyul5r5w08', base: 'http://[::1]:5100' };
    expect(parseReference('[::1]:5100/p/quyul5r5w08.')).toEqual(found);
    expect(parseReference('([::1]:5100/p/quyul5r5w08)')).toEqual(found);
  });
});

describe('as people paste them', () => {
  test.each([
    [' https://pw.test/p/quyul5r5w08\n', 'https://pw.test'],
    ['<https://pw.test/p/quyul5r5w08>', 'https://pw.test'],
    ['pw.test/p/quyul5r5w08', 'https://pw.test'],
    ['pw.test:8443/x/p/quyul5r5w08', 'https://pw.test:8443/x'],
    ['localhost:5100/p/quyul5r5w08', 'http://localhost:5100'],
    ['127.0.0.1:5100/p/quyul5r5w08/r', 'http://127.0.0.1:5100'],
    ['HTTPS://PW.test:443/p/quyul5r5w08', 'https://pw.test'],
    ['https://pw.test/p/quyul5r5w08/r/', 'https://pw.test'],
    ['https://münchen.de/p/quyul5r5w08', 'https://xn--mnchen-3ya.de'],
    [' quyul5r5w08 ', undefined],
  ])('%j', (pasted, base) => {
    expect(parseReference(pasted)).toEqual({ token: 'quyul5r5w08', base });
  });

  test('a token keeps its case', () => {
    expect(parseReference('https://pw.test/p/AbC_d-9').token).toBe('AbC_d-9');
  });
});

describe('what is no link is refused', () => {
  const hint = 'use the whole link, such as https://pwpush.example/p/abc123, or its token';
  const nothing = 'not a link or token of a push';

  test.each<[string, string, string]>([
    ['', 'the link is empty', hint],
    ['  \n', 'the link is empty', hint],
    ['<>', 'the link is empty', hint],
    ['https://pw.test/', nothing, hint],
    ['https://pw.test/p/', nothing, hint],
    ['https://pw.test/p/../../etc', nothing, hint],
    ['https://pw.test/p/a%2Fb', nothing, hint],
    ['https://pw.test/p/a b', nothing, hint],
    ['https://pw.test/x/quyul5r5w08', nothing, hint],
    ['ftp://pw.test/p/quyul5r5w08', nothing, hint],
    ['javascript:alert(1)//p/x', nothing, hint],
    ['file:///p/quyul5r5w08', nothing, hint],
    ['a'.repeat(129), nothing, hint],
    ['two words', nothing, hint],
    ['https://pw.test/p/quyul5\u2026', nothing, hint],
    ['https://pw.test/p/quyul5...', nothing, hint],
    ['https://pw.test/p/quyul5\u00e9', nothing, hint],
    [
      'https://ann:s3cret@pw.test/p/quyul5r5w08',
      'the link contains a user name or password',
      'remove what is before the @',
    ],
    [
      'https://pw.test@evil.test/p/quyul5r5w08',
      'the link contains a user name or password',
      'remove what is before the @',
    ],
  ])('%j: %s', (pasted, message, said) => {
    const error = refusal(pasted);
    expect(error).toBeInstanceOf(CliError);
    expect(error).toMatchObject({ code: 'usage', message, hint: said });
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
        expect(error).toBeInstanceOf(CliError);
        const { message, exitStatus } = error as CliError;
        expect(exitStatus).toBe(2);
        if (pasted.length > 60) expect(message).not.toContain(pasted);
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
