import { describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { RETRIEVED, VERSION } from '../helpers/reference';
import { json, type Literal } from '../helpers/wire';

// docs/encryption.md, "Proof of the key". The proofs are those of test/age/key-proof.test.ts.

const KEY = 'Zm9v-_YmFyIGJhego0MjEw';
const PROOF = 'x-key-proof: hAfrg5GYp9KlhtHsy4udnQ';
const WORDS = 'abacus-abdomen-abdominal-abide-abiding-ability';
const PROOF_OF_WORDS = 'x-key-proof: _LIpFUaibLvglSiVVwthow';
const LINK = 'https://pw.test/p/quyul5r5w08';
const incomplete = (more: object = {}) =>
  json(403, JSON.stringify({ error: 'link_incomplete', ...more }));

/** The first line of each request, and its proof. */
async function asked(answers: Literal[], argv: string[], env: Record<string, string> = {}) {
  const outcome = await asking(answers, argv, { env });
  const sent = outcome.sent.map((request) => {
    const [line = ''] = request.split('\n');
    return [line, ...(request.match(/^x-key-proof: .*$/m) ?? [])].join('\n');
  });
  return { ...outcome, sent };
}

const GET = 'GET https://pw.test/api/v2/pushes/quyul5r5w08';

describe('a retrieval', () => {
  test('without a key has no proof', async () => {
    expect(await asked([json(200, RETRIEVED)], ['get', LINK])).toMatchObject({
      code: 0,
      sent: [GET],
    });
  });

  test.each([
    [[`${LINK}#${KEY}`], {}],
    [[LINK], { PWPUSH_KEY: KEY }],
  ])('with the key %s %s has its proof, which no message has', async (argv, env) => {
    const text = `refused: ${PROOF}`;
    const answer = json(403, JSON.stringify({ error: text }));
    const { code, sent, stdout, stderr } = await asked([answer], ['get', ...argv], env);
    expect({ code, sent }).toEqual({ code: 4, sent: [`${GET}\n${PROOF}`] });
    expect(stdout + stderr).not.toContain('hAfrg5GYp9KlhtHsy4udnQ');
  });

  test('with words proves them once it has the salt of the push', async () => {
    const answers = [incomplete({ key_salt: 'AAECAwQFBgcICQoLDA0ODw' }), incomplete()];
    const { code, sent } = await asked(answers, ['get', LINK], { PWPUSH_KEY: WORDS });
    expect({ code, sent }).toEqual({ code: 7, sent: [GET, `${GET}\n${PROOF_OF_WORDS}`] });
  });

  test.each(['../x', 7, null, 'AAECAwQFBgcICQoLDA0ODx', { length: 22 }])(
    'with words proves nothing with the salt %s',
    async (key_salt) => {
      const { code, sent } = await asked([incomplete({ key_salt })], ['get', LINK], {
        PWPUSH_KEY: WORDS,
      });
      expect({ code, sent }).toEqual({ code: 7, sent: [GET] });
    },
  );

  test('makes no proof of a text that could be guessed', async () => {
    const answer = incomplete({ key_salt: 'AAECAwQFBgcICQoLDA0ODw' });
    for (const PWPUSH_KEY of ['hunter2', 'correct horse battery staple', 'one two three'])
      expect((await asked([answer], ['get', LINK], { PWPUSH_KEY })).sent).toEqual([GET]);
  });

  test('proves the key at the page too, where the API requires a token', async () => {
    const features = { anonymous_access: false, pushes: { json_pages: { enabled: true } } };
    const version = JSON.stringify({ ...JSON.parse(VERSION), features });
    const answers = [json(401, '{}'), json(200, version), incomplete()];
    const { code, sent } = await asked(answers, ['get', `${LINK}#${KEY}`]);
    expect(code).toBe(7);
    expect(sent).toEqual([
      `${GET}\n${PROOF}`,
      'GET https://pw.test/api/v2/version',
      `POST https://pw.test/p/quyul5r5w08\n${PROOF}`,
    ]);
  });

  test.each([301, 302, 303, 307, 308])('does not follow a %d to another origin', async (status) => {
    const answer = { status, headers: { location: 'https://evil.test/api/v2/pushes/quyul5r5w08' } };
    const { code, sent } = await asked([answer], ['get', `${LINK}#${KEY}`]);
    expect({ code, sent }).toEqual({ code: 1, sent: [`${GET}\n${PROOF}`] });
  });
});

test('other calls for a link with a key have no proof', async () => {
  const { sent } = await asked(
    [json(200, '{"url":"https://pw.test/p/quyul5r5w08"}')],
    ['preview', `${LINK}#${KEY}`],
  );
  expect(sent).toEqual([`${GET}/preview`]);
});
