import { expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { changed, RETRIEVED, VERSION } from '../helpers/reference';
import { json, type Literal } from '../helpers/wire';

// docs/encryption.md, "Proof of the key". The proofs are made of those of test/age/key.test.ts, for https://pw.test.

const KEY = 'Zm9v-_YmFyIGJhego0MjEw';
const PROOF = 'xZ1vLzF9en2o_ZYN3SASaQ';
const WORDS = 'abacus-abdomen-abdominal-abide-abiding-ability';
const PROOF_OF_WORDS = 'Y1j5RqZny4inBvezY9YoDA';
const SALT = 'AAECAwQFBgcICQoLDA0ODw';
const LINK = 'https://pw.test/p/quyul5r5w08';
const incomplete = (more: object = {}) => json(403, JSON.stringify({ error: 'link_incomplete', ...more }));

/** The exit code, and the first line of each request with its proof. */
async function asked(answers: Literal[], line: string, env: Record<string, string> = {}) {
  const outcome = await asking(answers, line.split(' '), { env });
  const sent = outcome.sent.map((request) => {
    const [first = ''] = request.split('\n');
    return [first, ...(/^x-key-proof: (.*)$/m.exec(request)?.slice(1) ?? [])].join(' ');
  });
  return { ...outcome, told: [outcome.code, ...sent] };
}

const GET = 'GET https://pw.test/api/v2/pushes/quyul5r5w08';

test('a retrieval without a key has no proof, and neither have other calls', async () => {
  expect((await asked([json(200, RETRIEVED)], `get ${LINK}`)).told).toEqual([0, GET]);
  const { told } = await asked([json(200, `{"url":"${LINK}"}`)], `preview ${LINK}#${KEY}`);
  expect(told).toEqual([0, `${GET}/preview`]);
});

test.each([
  [`get ${LINK}#${KEY}`, {}],
  [`get ${LINK}`, { PWPUSH_KEY: KEY }],
])('%s, %j: the key is proved, which no message has', async (line, env) => {
  const answer = json(403, JSON.stringify({ error: `refused: x-key-proof: ${PROOF}` }));
  const { told, stdout, stderr } = await asked([answer], line, env);
  expect(told).toEqual([4, `${GET} ${PROOF}`, 'GET https://pw.test/api/v2/version']);
  expect(stdout + stderr).not.toContain(PROOF);
});

test('words are proved once it has the salt of the push', async () => {
  const answers = [incomplete({ key_salt: SALT }), incomplete()];
  const { told } = await asked(answers, `get ${LINK}`, { PWPUSH_KEY: WORDS });
  expect(told).toEqual([7, GET, `${GET} ${PROOF_OF_WORDS}`]);
});

test('a link at another address is proved for that alone, as by its form', async () => {
  const shown = [];
  for (const link of [LINK, `${LINK.replace('.test', '.test:444')}`, LINK.replace('/p/', '/x/p/')]) {
    const { told } = await asked([incomplete()], `get ${link}#${KEY}`);
    shown.push(`${told[1]}`.split(' ')[2]);
  }
  expect(shown).toEqual([PROOF, 'QdJT0hLk1tsSo4ASBTYHrQ', 'KsIGEEM8Ma2r89uBPAaRYA']);
});

test.each([
  ['https://localhost:5100', 'the link opens at https://localhost:5100 only'],
  ['https://localhost:5100', 'if you trust the operator of localhost:5100, who gets its key then'],
  ['https://localhost:5100', 'if the instance has moved, its operator starts it with --public-url'],
  ['http://localhost:5100', 'the instance refused the key'],
  ['javascript:alert(1)', 'the instance refused the key'],
  [`https://pw.test/${PROOF}`, 'the instance refused the key'],
  [7, 'the instance refused the key'],
])('that the link opens at %j is told without asking again', async (opens_at, told) => {
  const outcome = await asked([incomplete({ opens_at })], `get ${LINK}#${KEY}`);
  expect(outcome.told).toEqual([7, `${GET} ${PROOF}`]);
  expect(outcome.stderr).toContain(told);
  expect(outcome.stderr).not.toContain(PROOF);
});

test.each(['../x', 7, null, `${SALT.slice(0, -1)}x`, { length: 22 }])(
  'words prove nothing with the salt %s',
  async (key_salt) => {
    const { told } = await asked([incomplete({ key_salt })], `get ${LINK}`, { PWPUSH_KEY: WORDS });
    expect(told).toEqual([7, GET]);
  },
);

test('a retrieval makes no proof of a text that could be guessed', async () => {
  const answer = incomplete({ key_salt: SALT });
  for (const PWPUSH_KEY of ['hunter2', 'correct horse battery staple', 'one two three'])
    expect((await asked([answer], `get ${LINK}`, { PWPUSH_KEY })).told.slice(1)).toEqual([GET]);
});

test('the key is proved at the page too, where the API requires a token', async () => {
  const features = { anonymous_access: false, pushes: { json_pages: { enabled: true } } };
  const answers = [json(401, '{}'), json(200, changed(VERSION, { features })), incomplete()];
  const { told } = await asked(answers, `get ${LINK}#${KEY}`);
  const version = 'GET https://pw.test/api/v2/version';
  expect(told).toEqual([7, `${GET} ${PROOF}`, version, `POST ${LINK} ${PROOF}`]);
});
