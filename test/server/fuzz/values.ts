import fc from 'fast-check';

// Input that is nearly right, or wrong in a way that somebody got wrong before.

/** What something may be called, or hold, that was not thought of. */
export const odd = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '.',
    '..',
    '../../etc/passwd',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'null',
    'undefined',
    'NaN',
    'true',
    '-1',
    '0',
    '1e309',
    '9007199254740993',
    '0x10',
    '\u0000',
    'a\u0000b',
    '\r\nX-Injected: 1',
    '\u2028',
    '\u202e',
    '\ufeff',
    '\ud800',
    '\udfff\ud800',
    '🔑',
    'é',
    "' OR 1=1--",
    '"; DROP TABLE pushes; --',
    '<script>alert(1)</script>',
    '{{7*7}}',
    '%00',
    '%',
    '%zz',
    '%c0%ae',
    '%ed%a0%80',
    '\\',
    'CON',
    'a;b',
    'a&b=c',
    'a#b',
    'a?b',
  ),
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.integer({ min: 1, max: 20_000 }).map((length) => 'x'.repeat(length)),
);

/** A number as JSON may spell it, which JavaScript cannot hold. */
const number = fc.constantFrom(
  '0',
  '-0',
  '1',
  '90',
  '91',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740993',
  `1${'0'.repeat(400)}`,
  '1.5',
  '0.1e1',
  '01',
  '+1',
  '.5',
  'NaN',
  'Infinity',
);

/** JSON text, deep or broken as it may be. */
const json: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.json() },
  { weight: 3, arbitrary: odd.map((text) => JSON.stringify(text)) },
  { weight: 3, arbitrary: number },
  { weight: 1, arbitrary: fc.constantFrom('"\\ud800"', '"\\u0000"', '"\\x"', '"\n"', "'a'", '') },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('[', '{"a":', '[{"push":'), fc.integer({ min: 1, max: 20_000 }))
      .map(([open, depth]) => open.repeat(depth)),
  },
);

const good = new Map<string, fc.Arbitrary<string>>(
  Object.entries({
    payload: fc.constantFrom('"x"', '"https://example.com/"', '"two\\nlines"', '" "', '""'),
    kind: fc.constantFrom('"text"', '"url"', '"qr"', '"file"'),
    expire_after_days: fc.constantFrom('1', '"7"', '90'),
    expire_after_views: fc.constantFrom('1', '2', '"100"'),
    deletable_by_viewer: fc.constantFrom('true', 'false', '"true"', 'null'),
    retrieval_step: fc.constantFrom('true', '"false"'),
    name: fc.constantFrom('"n"', '""'),
    note: fc.constantFrom('"m"', 'null'),
    files: fc.constantFrom('[]', 'null'),
  }),
);

/** One that costs a hash each time: seldom. */
const passphrase = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom('""', '" "', '5', 'null', '"\\ud800"') },
  { weight: 1, arbitrary: fc.constant('"p"') },
);

const names = [...good.keys(), 'passphrase', '__proto__', 'constructor', 'colour', 'push', ''];

const field = fc
  .constantFrom(...names)
  .chain((name) =>
    fc
      .oneof(
        { weight: 4, arbitrary: good.get(name) ?? (name === 'passphrase' ? passphrase : json) },
        { weight: 1, arbitrary: name === 'passphrase' ? passphrase : json },
      )
      .map((value) => `${JSON.stringify(name)}:${value}`),
  );

/** Mostly with a payload, for what comes after that to be looked at; a name may come twice. */
export const creationJson = fc
  .tuple(
    fc.array(field, { maxLength: 5 }),
    fc.constantFrom(['"payload":"x"'], ['"payload":"x"'], []),
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('{"push":{*}}') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '{"push":[{*}]}',
          '{"push":{*},"push":{}}',
          '{"__proto__":{"push":{*}}}',
          '{"push":{*}}}',
          '{"push":{*}',
          '[{*}]',
          '\ufeff{"push":{*}}',
          '{"push":{*}}\u0000',
          '{*}',
        ),
      },
    ),
  )
  .map(([fields, payload, frame]) => frame.replace('*', () => [...fields, ...payload].join(',')));

/** JSON of any kind. */
export const anyJson = json;

const boundary = fc.oneof(
  { weight: 8, arbitrary: fc.constant('b') },
  { weight: 1, arbitrary: fc.constantFrom('--', 'b b', '=', 'x'.repeat(70), 'x'.repeat(71), '') },
);

const partName = fc.oneof(
  fc.constantFrom(
    'push[payload]',
    'push[kind]',
    'push[expire_after_days]',
    'push[expire_after_views]',
    'push[retrieval_step]',
    'push[name]',
    'push[files][]',
    'push[files][]',
    'push[files]',
    'push[__proto__]',
    'push[constructor]',
    'push[]',
    'push',
  ),
  odd,
);

const disposition = fc
  .tuple(
    partName,
    fc.option(odd, { freq: 2 }),
    fc.constantFrom('form-data', 'form-data', 'form-data', 'attachment', 'FORM-DATA', ''),
    fc.constantFrom('"', '"', '"', '', "'", '""'),
    fc.constantFrom(
      '',
      '',
      '',
      "; filename*=UTF-8''%e2%82%ac",
      "; filename*=UTF-8''%ff",
      "; filename*=''",
      '; filename',
      '; name="b"',
      ';;;',
    ),
  )
  .map(([name, file, kind, quote, more]) => {
    const filename = file === null ? '' : `; filename=${quote}${file}${quote}`;
    return `Content-Disposition: ${kind}; name=${quote}${name}${quote}${filename}${more}`;
  });

const partHead = fc
  .tuple(
    fc.oneof({ weight: 9, arbitrary: disposition }, { weight: 1, arbitrary: odd }),
    fc.constantFrom(
      '',
      '',
      '\r\nContent-Type: text/plain',
      '\r\nContent-Type: multipart/mixed; boundary=c',
      '\r\nContent-Transfer-Encoding: base64',
      '\r\n folded: 1',
      `\r\nX: ${'x'.repeat(20_000)}`,
      '\r\nno colon',
      '\r\n: no name',
      '\r\nContent-Disposition: form-data; name="push[kind]"',
    ),
  )
  .map((lines) => lines.join(''));

const partBody = fc.oneof(
  fc.constantFrom(
    'x',
    '',
    'text',
    'file',
    '1',
    'true',
    '--c\r\n\r\nnested\r\n--c--',
    '\r\n--',
    '\r\n--b',
  ),
  odd,
  fc.integer({ min: 1, max: 200_000 }).map((length) => 'y'.repeat(length)),
);

export interface Body {
  readonly type: string;
  readonly bytes: Buffer;
}

/** A form, its boundaries at the right places or not. */
export const multipart: fc.Arbitrary<Body> = fc
  .record({
    boundary,
    declared: fc.option(boundary, { freq: 12 }),
    parts: fc.oneof(
      { weight: 40, arbitrary: fc.array(fc.tuple(partHead, partBody), { maxLength: 4 }) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.tuple(partHead, fc.constant('x')), fc.constantFrom(11, 101))
          .map(([part, count]) => Array<[string, string]>(count).fill(part)),
      },
    ),
    newline: fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r'),
    before: fc.constantFrom('', '', '', 'preamble\r\n', '\r\n'),
    end: fc.constantFrom('--\r\n', '--\r\n', '--', '', '--\r\nepilogue', '-', '--\r\n--b\r\n'),
    quoted: fc.boolean(),
  })
  .map(({ boundary, declared, parts, newline, before, end, quoted }) => {
    const said = declared ?? boundary;
    const pieces = parts.map(
      ([head, body]) => `--${boundary}${newline}${head}${newline}${newline}${body}${newline}`,
    );
    return {
      type: `multipart/form-data; boundary=${quoted ? `"${said}"` : said}`,
      bytes: Buffer.from(`${before}${pieces.join('')}--${boundary}${end}`),
    };
  });

const formField = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('do', 'passphrase', '__proto__', 'x'),
      fc
        .constantFrom('payload', 'kind', 'expire_after_days', 'files', '__proto__')
        .chain((name) => fc.constantFrom(`push[${name}]`, `push%5B${name}%5D[]`, `push[${name}`)),
    ),
    fc.constantFrom('expire', '', 'show', '%00', '%zz', '%ff', '+', '5', 'x'.repeat(20_000)),
  )
  .filter(([name, value]) => name !== 'passphrase' || value !== 'show')
  .map((pair) => pair.join('='));

/** What a browser sends. */
export const urlencoded = fc.array(formField, { maxLength: 3 }).map((fields) => ({
  type: 'application/x-www-form-urlencoded',
  bytes: Buffer.from(fields.join('&')),
}));

/** Bytes with something broken: cut, doubled, flipped, or nothing at all. */
export const mutated = (bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc.oneof(
    { weight: 8, arbitrary: bytes },
    {
      weight: 2,
      arbitrary: fc
        .tuple(bytes, fc.nat(1_000_000), fc.uint8Array({ maxLength: 4 }), fc.nat(3))
        .map(([all, where, insert, drop]) => {
          const at = where % (all.length + 1);
          return Buffer.concat([all.subarray(0, at), insert, all.subarray(at + drop)]);
        }),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(bytes, fc.nat(1_000_000))
        .map(([all, where]) => all.subarray(0, where % (all.length + 1))),
    },
  );
