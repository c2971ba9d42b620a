import fc from 'fast-check';

// Input that is nearly right, or wrong in a way that somebody got wrong before.

/** One of them, the more often the larger its number is. */
export const weighted = <T>(...all: readonly (readonly [number, fc.Arbitrary<T>])[]) =>
  fc.oneof(...all.map(([weight, arbitrary]) => ({ weight, arbitrary })));

/** The first mostly; seldom one of the others. */
export const rarely = <T>(usual: T, ...others: readonly T[]) =>
  weighted([12, fc.constant(usual)], [1, fc.constantFrom(...others)]);

const repeated = (text: string, max: number) => fc.integer({ min: 1, max }).map((length) => text.repeat(length));

/** What something may be called, or hold, that was not thought of. */
export const odd = fc.oneof(
  fc.constantFrom(
    ...['', ' ', '.', '..', '../../etc/passwd', '\\', 'CON', 'a;b', 'a&b=c', 'a#b', 'a?b'],
    ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'null'],
    ...['undefined', 'NaN', 'true', '-1', '0', '1e309', '9007199254740993', '0x10'],
    ...['\u0000', 'a\u0000b', '\r\nX-Injected: 1', '\u2028', '\u202e', '\ufeff', '\ud800'],
    ...['\udfff\ud800', '🔑', 'é', "' OR 1=1--", '"; DROP TABLE pushes; --', '{{7*7}}'],
    ...['<script>alert(1)</script>', '%00', '%', '%zz', '%c0%ae', '%ed%a0%80'],
  ),
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  repeated('x', 20_000),
);

/** Numbers as JSON may spell them, which JavaScript cannot hold, and some that are none. */
const numbers = '0 -0 91 1e400 -1e400 1e-400 9007199254740993 1.5 01 +1 .5 NaN Infinity'.split(' ');

export const anyJson: fc.Arbitrary<string> = weighted(
  [4, fc.json()],
  [3, odd.map((text) => JSON.stringify(text))],
  [3, fc.constantFrom(...numbers)],
  [1, fc.constantFrom('"\\ud800"', '"\\u0000"', '"\\x"', '"\n"', "'a'", '')],
  [1, fc.constantFrom('[', '{"a":', '[{"push":').chain((open) => repeated(open, 20_000))],
);

/** Values of a creation that are good, and others; a passphrase costs a hash each time. */
const good: Readonly<Record<string, fc.Arbitrary<string>>> = {
  payload: fc.constantFrom('"x"', '"https://example.com/"', '"two\\nlines"', '" "', '""'),
  kind: fc.constantFrom('"text"', '"url"', '"qr"', '"file"'),
  expire_after_days: fc.constantFrom('1', '"7"', '90'),
  expire_after_views: fc.constantFrom('1', '2', '"100"'),
  deletable_by_viewer: fc.constantFrom('true', 'false', '"true"', 'null'),
  retrieval_step: fc.constantFrom('true', '"false"'),
  name: fc.constantFrom('"n"', '""'),
  note: fc.constantFrom('"m"', 'null'),
  files: fc.constantFrom('[]', 'null'),
};
const passphrase = fc.constantFrom('""', '" "', '5', 'null', '"\\ud800"');
const named = (name: string, value: fc.Arbitrary<string>) => value.map((text) => `${JSON.stringify(name)}:${text}`);
const field = fc.oneof(
  ...Object.entries(good).map(([name, value]) => named(name, weighted([4, value], [1, anyJson]))),
  named('passphrase', weighted([30, passphrase], [1, fc.constant('"p"')])),
  ...['__proto__', 'constructor', 'colour', 'push', ''].map((name) => named(name, anyJson)),
);

/** Mostly with a payload, for what comes after that to be looked at; a name may come twice. */
export const creationJson = fc
  .tuple(
    fc.array(field, { maxLength: 5 }),
    fc.constantFrom(['"payload":"x"'], ['"payload":"x"'], []),
    rarely(
      '{"push":{*}}',
      ...['{"push":[{*}]}', '{"push":{*},"push":{}}', '{"__proto__":{"push":{*}}}', '{*}'],
      ...['{"push":{*}}}', '{"push":{*}', '[{*}]', '\ufeff{"push":{*}}', '{"push":{*}}\u0000'],
    ),
  )
  .map(([fields, payload, frame]) => frame.replace('*', () => [...fields, ...payload].join(',')));

const boundary = rarely('b', '--', 'b b', '=', 'x'.repeat(70), 'x'.repeat(71), '');
const parts = ['payload', 'kind', 'expire_after_days', 'expire_after_views', 'retrieval_step'];
const partName = fc.oneof(
  fc.constantFrom(
    ...[...parts, 'name', 'files', '__proto__', 'constructor', ''].map((name) => `push[${name}]`),
    ...['push[files][]', 'push[files][]', 'push'],
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
      ...['', '', '', "; filename*=UTF-8''%e2%82%ac", "; filename*=UTF-8''%ff"],
      ...["; filename*=''", '; filename', '; name="b"', ';;;'],
    ),
  )
  .map(([name, file, kind, quote, more]) => {
    const filename = file === null ? '' : `; filename=${quote}${file}${quote}`;
    return `Content-Disposition: ${kind}; name=${quote}${name}${quote}${filename}${more}`;
  });

const partHead = fc
  .tuple(
    weighted([9, disposition], [1, odd]),
    fc.constantFrom(
      ...['', '', '\r\nContent-Type: text/plain', '\r\nContent-Transfer-Encoding: base64'],
      ...['\r\nContent-Type: multipart/mixed; boundary=c', `\r\nX: ${'x'.repeat(20_000)}`],
      ...['\r\n folded: 1', '\r\nno colon', '\r\n: no name'],
      '\r\nContent-Disposition: form-data; name="push[kind]"',
    ),
  )
  .map((lines) => lines.join(''));

const nested = '--c\r\n\r\nnested\r\n--c--';
const part = fc.tuple(
  partHead,
  fc.oneof(
    fc.constantFrom('x', '', 'text', 'file', '1', 'true', nested, '\r\n--', '\r\n--b'),
    odd,
    repeated('y', 200_000),
  ),
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
    parts: fc.array(part, { maxLength: 4 }),
    newline: fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r'),
    before: fc.constantFrom('', '', '', 'preamble\r\n', '\r\n'),
    end: fc.constantFrom('--\r\n', '--\r\n', '--', '', '--\r\nepilogue', '-', '--\r\n--b\r\n'),
    quote: fc.constantFrom('"', ''),
  })
  .map(({ boundary, declared, parts, newline, before, end, quote }) => {
    const pieces = parts.map(([head, body]) => `--${boundary}${newline}${head}${newline}${newline}${body}${newline}`);
    return {
      type: `multipart/form-data; boundary=${quote}${declared ?? boundary}${quote}`,
      bytes: Buffer.from(`${before}${pieces.join('')}--${boundary}${end}`),
    };
  });

const fieldName = fc.constantFrom(
  ...['do', 'passphrase', '__proto__', 'push[payload]', 'push%5Bkind%5D', 'push[files][]'],
  ...['push[expire_after_days]', 'push[__proto__]', 'push[payload'],
);
const fieldValue = fc.constantFrom('expire', '', '%00', '%zz', '%ff', '+', '5', 'x'.repeat(20_000));

export const urlencoded = fc.array(fc.tuple(fieldName, fieldValue), { maxLength: 3 }).map((pairs) => ({
  type: 'application/x-www-form-urlencoded',
  bytes: Buffer.from(pairs.map((pair) => pair.join('=')).join('&')),
}));

const place = fc.nat(1_000_000);
const added = fc.uint8Array({ maxLength: 4 });

/** Bytes with something broken: cut, doubled, flipped, or nothing at all. */
export const mutated = (bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> => {
  const changed = fc.tuple(bytes, place, added, fc.nat(3)).map(([all, where, insert, drop]) => {
    const at = where % (all.length + 1);
    return Buffer.concat([all.subarray(0, at), insert, all.subarray(at + drop)]);
  });
  const cut = fc.tuple(bytes, place).map(([all, at]) => all.subarray(0, at % (all.length + 1)));
  return weighted([8, bytes], [2, changed], [1, cut]);
};
