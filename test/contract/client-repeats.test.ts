import { describe, expect, test } from 'vitest';
import { asking, lines } from '../helpers/foreign';
import { CREATED, EXPIRED, NOTIFIED, PREVIEWED, RETRIEVED, VERSION } from '../helpers/reference';
import { broken, json, type Literal } from '../helpers/wire';

// Which calls are sent again, and what is said; test/http/repeats.test.ts has every call against every failure.
// A retrieval takes a view, a creation leaves a second secret behind, a notification is a second e-mail: those
// are repeated after no failure that may have had an effect.

const repeatable: [string[], Literal][] = [
  [['version'], json(200, VERSION)],
  [['preview', 'quyul5r5w08'], json(200, PREVIEWED)],
  [['audit', 'quyul5r5w08'], json(200, '{"logs":[]}')],
  [['expire', 'quyul5r5w08'], json(200, EXPIRED)],
  [['list'], json(200, '[]')],
  [['list', 'expired'], json(200, '[]')],
];

const once: [string[], Literal, string][] = [
  [
    ['push'],
    json(201, CREATED),
    'a push may exist; without a token it cannot be looked up, and expires by its limits',
  ],
  [
    ['get', 'quyul5r5w08'],
    json(200, RETRIEVED),
    'a view may have been used: the owner can check with pwpush audit',
  ],
  [
    ['notify', 'quyul5r5w08', 'ann@example.com'],
    json(201, NOTIFIED),
    'the e-mail may have been sent: check with pwpush audit',
  ],
];

const all: [string[]][] = [...repeatable, ...once].map(([argv]) => [argv]);

async function asked(answers: Parameters<typeof asking>[0], argv: string[]) {
  const outcome = await asking(answers, argv, { stdin: 'hunter2' });
  const { code, stderr, waits } = outcome;
  return { code, stderr, waits, requests: lines(outcome).length };
}

const cut = (answer: Literal): Literal => ({ ...answer, cut: true });
const wait = (status: number, retryAfter?: string): Literal => ({
  status,
  headers: {
    'content-type': 'text/plain',
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  },
  body: 'Retry later\n',
});

describe('a connection that broke after the request left', () => {
  test.each(repeatable)('%j: is tried once more', async (argv, answer) => {
    const { code, requests } = await asked([broken(true), answer], argv);
    expect({ code, requests }).toEqual({ code: 0, requests: 2 });
  });

  test.each(repeatable)('%j: also when the answer was cut', async (argv, answer) => {
    const { code, requests } = await asked([cut(answer), answer], argv);
    expect({ code, requests }).toEqual({ code: 0, requests: 2 });
  });

  test.each(repeatable)('%j: but not a third time', async (argv) => {
    const { code, requests } = await asked([broken(true), broken(true)], argv);
    expect({ code, requests }).toEqual({ code: 11, requests: 2 });
  });

  test.each(once)('%j: is never tried again', async (argv, _answer, hint) => {
    expect(await asked([broken(true)], argv)).toEqual({
      code: 11,
      stderr: `pwpush: pw.test sent no complete response\nhint: ${hint}\n`,
      waits: [],
      requests: 1,
    });
  });

  test.each(once)('%j: not when the answer was cut either', async (argv, answer, hint) => {
    expect(await asked([cut(answer)], argv)).toEqual({
      code: 11,
      stderr: `pwpush: pw.test sent no complete response\nhint: ${hint}\n`,
      waits: [],
      requests: 1,
    });
  });
});

test.each(all)('%j: a request that never left is unreachable, and tried once', async (argv) => {
  expect(await asked([broken(false)], argv)).toEqual({
    code: 9,
    stderr: 'pwpush: pw.test cannot be reached\n',
    waits: [],
    requests: 1,
  });
});

describe('429 with Retry-After', () => {
  const unharmed: [string[], Literal][] = [
    [['push'], json(201, CREATED)],
    [['notify', 'quyul5r5w08', 'ann@example.com'], json(201, NOTIFIED)],
  ];

  test.each([...repeatable, ...unharmed])('%j: is waited for', async (argv, answer) => {
    const { code, waits, requests, stderr } = await asked([wait(429, '7'), answer], argv);
    expect({ code, waits, requests, stderr }).toEqual({
      code: 0,
      waits: [7],
      requests: 2,
      stderr: expect.stringMatching(/^the instance returned 429; retrying in 7 s\n/),
    });
  });

  test('is never waited for by get', async () => {
    expect(await asked([wait(429, '7')], ['get', 'quyul5r5w08'])).toEqual({
      code: 10,
      stderr:
        'pwpush: rate limited by the instance: text/plain, "Retry later"\nhint: try again in 7 s\n',
      waits: [],
      requests: 1,
    });
  });

  test('is waited for as a date', async () => {
    const answers = [wait(429, 'Thu, 20 Aug 2026 11:06:57 GMT'), json(200, VERSION)];
    const { code, waits } = await asked(answers, ['version']);
    expect({ code, waits }).toEqual({ code: 0, waits: [12] });
  });

  test('again and again is waited for 60 s in all', async () => {
    const answers = [wait(429, '25'), wait(429, '35'), wait(429, '1')];
    const { code, waits, requests } = await asked(answers, ['version']);
    expect({ code, waits, requests }).toEqual({ code: 10, waits: [25, 35], requests: 3 });
  });

  test.each(['61', '999999999', 'Thu, 20 Aug 2026 11:07:46 GMT'])(
    'of more than 60 s is not waited for: %s',
    async (value) => {
      const { code, waits, requests } = await asked([wait(429, value)], ['version']);
      expect({ code, waits, requests }).toEqual({ code: 10, waits: [], requests: 1 });
    },
  );

  test('of 0 is waited for a second, so that it cannot go on for ever', async () => {
    const answers = Array.from({ length: 61 }, () => wait(429, '0'));
    const { code, waits, requests } = await asked(answers, ['version']);
    expect({ code, waits, requests }).toEqual({
      code: 10,
      waits: Array.from({ length: 60 }, () => 1),
      requests: 61,
    });
  });

  test.each([undefined, 'soon', '-1', '1.5', '7 8'])(
    'is not waited for when it says %j',
    async (value) => {
      expect(await asked([wait(429, value)], ['list'])).toEqual({
        code: 10,
        stderr:
          'pwpush: rate limited by the instance: text/plain, "Retry later"\nhint: try again later\n',
        waits: [],
        requests: 1,
      });
    },
  );

  test('is waited for without a word with --quiet', async () => {
    const answers = [wait(429, '7'), json(200, VERSION)];
    const { code, stderr, waits } = await asked(answers, ['version', '--quiet']);
    expect({ code, stderr, waits }).toEqual({ code: 0, stderr: '', waits: [7] });
  });
});

describe('503 with Retry-After', () => {
  test.each(repeatable)('%j: is waited for', async (argv, answer) => {
    const { code, waits, requests, stderr } = await asked([wait(503, '7'), answer], argv);
    expect({ code, waits, requests, stderr }).toEqual({
      code: 0,
      waits: [7],
      requests: 2,
      stderr: expect.stringMatching(/^the instance returned 503; retrying in 7 s\n/),
    });
  });
});
