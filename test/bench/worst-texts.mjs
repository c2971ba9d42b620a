// How long others wait while a stranger sends a text that takes long: to how long they wait for a plain one of its size.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { loader, script, serve } from './runner.mjs';

const MIB = 1024 * 1024;
/** Node.js takes 16 KiB of headers. */
const HEADER = 12 * 1024;
/** A part of a form may have 8 KiB of them. */
const PART = 7 * 1024;

const repeated = (part) => (size) => part.repeat(size / Buffer.byteLength(part));
/** An address whose host is one label, of a piece for each index. */
const hostOf = (piece) => (size) => {
  let host = 'http://a';
  for (let i = 0; host.length * 3 < size; i += 1) host += piece(i);
  return `${host}/`;
};
const texts = {
  'points in the wrong order': hostOf((i) => String.fromCharCode(0x5bb - (i % 12))),
  'many letters': hostOf((i) => String.fromCharCode(0x4e00 + (i % 20_000))),
  'letters of Latin-1': hostOf((i) => String.fromCharCode(0xe0 + (i % 31))),
  'escaped letters': hostOf((i) => encodeURIComponent(String.fromCharCode(0x4e00 + (i % 20_000)))),
  'the longest host': () =>
    `http://${Array.from({ length: 4 }, () => '\u3316'.repeat(62)).join('.')}/${'é'.repeat(3837)}`,
  'an address': repeated('https://a.b/'),
  'a login': repeated('a@'),
  'what is escaped in HTML': repeated('<&"\''),
  'control characters': repeated('\u0001'),
  'composed characters': repeated('ﷺ'),
  emoji: repeated('😀'),
  'line ends': repeated('\n'),
  spaces: repeated(' '),
  'beginnings of armor': repeated('-----BEGIN AGE ENCRYPTED FILE-----\n'),
  'armor of empty lines': (size) => ARMOR + '\n'.repeat(size - ARMOR.length),
  'spaces within': (size) => `x${' '.repeat(size - 2)}x`,
  'quotes and backslashes': repeated('"\\'),
  'quoted parameters': repeated(';a="'),
  escapes: repeated('%25'),
  'no escapes': repeated('%'),
  digits: repeated('9'),
  signs: repeated('-1e'),
  lists: repeated(','),
  'dots and dashes': repeated('a.-'),
  brackets: repeated('['),
  ranges: (size) => `bytes=${'0-9,'.repeat(size / 4 - 2)}`,
  schemes: repeated('Bearer '),
  languages: repeated('en-US;q=0.1,'),
  'parts of a language': repeated('en-'),
  weights: repeated(';q=0.'),
};
const STANZA = Buffer.from('age-encryption.org/v1\n-> X25519 abc\n').toString('base64');
const ARMOR = `-----BEGIN AGE ENCRYPTED FILE-----\n${STANZA}\n`;
const plain = repeated('x');

const PUSHES = '/api/v2/pushes';
const posted = (path, type, body) => ({ method: 'POST', path, headers: { 'content-type': type }, body });
const inJson = (path, root, fields) => (text) =>
  posted(path, 'application/json', JSON.stringify({ [root]: fields(text) }));
const ofPush = (fields) => inJson(PUSHES, 'push', (text) => ({ expire_after_views: 1, ...fields(text) }));
const ofRequest = (fields) => inJson('/api/v2/requests', 'request', fields);
const FORM = 'application/x-www-form-urlencoded';
const inForm = (path, field, more) => (text) =>
  posted(path, FORM, `${new URLSearchParams({ ...more, [field]: text })}`);
/** As bytes: what is no Latin-1 goes as UTF-8, as clients send it. */
const headerOf = (text) => Buffer.from(text.replace(/[^ -\uffff]/g, '')).toString('latin1');
const inHeader =
  (name, path = '/') =>
  (text) => ({ method: 'GET', path, headers: { [name]: headerOf(text) } });
/** A form with files, of which `head` is the head of the last part; who sees that sends `seen`. */
const inPart = (head, seen) => (text) => {
  const first = '--b\r\ncontent-disposition: form-data; name="push[payload]"\r\n\r\nx\r\n';
  const last = `--b\r\ncontent-disposition: form-data; ${head(headerOf(text))}\r\n\r\nx\r\n--b--\r\n`;
  const body = Buffer.from(first + last, 'latin1');
  return { ...posted(PUSHES, 'multipart/form-data; boundary=b', body), seen: seen && { [seen]: headerOf(text) } };
};
const FILE = 'name="push[files][]"; filename';
/** The header of who sees a push with a file, and fetches that. */
const inSeeing = (name) => inPart(() => `${FILE}="a"`, name);
const inAddress = (text) => encodeURIComponent(text.toWellFormed()).slice(0, HEADER);
const inQuery = (path, name) => (text) => ({ method: 'GET', path: `${path}?${name}=${inAddress(text)}` });
const typeWith = (text) => ({ 'content-type': headerOf(`multipart/form-data; boundary=${text}`) });

/** A row for each name: what sends a text in it, and the bytes that the text may have. */
const rows = (size, carry, names, nameOf = (name) => name) => names.map((name) => [nameOf(name), [size, carry(name)]]);
const inPush = (name) => ofPush((text) => ({ payload: 'x', [name]: text }));
const seen = (name) => `${name} of who sees it`;

// biome-ignore format: a row for each.
const fields = Object.fromEntries([
  ...rows(MIB, (kind) => ofPush((payload) => ({ kind, payload })), ['url', 'text', 'qr']),
  ...rows(MIB, inPush, ['name', 'note', 'passphrase', 'key_proof', 'expires_in', 'kind', 'expire_after_days']),
  ['request', [MIB, ofRequest((text) => ({ request: text }))]],
  ...rows(MIB, (name) => ofRequest((text) => ({ request: 'x', [name]: text })), ['public_key', 'close_after']),
  ['name of a field', [MIB, ofPush((text) => ({ payload: 'x', [text]: text }))]],
  ['name of a field in a form', [MIB, (text) => inForm(PUSHES, `push[${text}]`)('x')]],
  ['url in a form', [MIB, inForm(PUSHES, 'push[payload]', { 'push[kind]': 'url' })]],
  ['days in a form', [MIB, inForm('/', 'push[expire_after_days]', { 'push[payload]': 'x' })]],
  ['once in a form', [MIB, inForm('/', 'push[once]', { 'push[payload]': 'x' })]],
  ['text of the page', [MIB, inForm('/', 'payload')]],
  ['name of the page', [MIB, inForm('/', 'name', { payload: 'x' })]],
  ...rows(HEADER, (name) => inHeader(name), [
    'Host', 'X-Forwarded-Host', 'X-Forwarded-For', 'X-Forwarded-Proto', 'Origin', 'Referer', 'User-Agent', 'Accept',
    'Accept-Language', 'Accept-Encoding', 'If-None-Match', 'If-Modified-Since', 'Cookie', 'Connection', 'Sec-Fetch-Site',
    'Sec-Purpose',
  ]),
  ...rows(HEADER, (name) => inHeader(name, `${PUSHES}/abcdefgh`), [
    'Authorization', 'X-User-Token', 'Idempotency-Key', 'X-Key-Proof', 'X-Age-Identity',
  ]),
  ...rows(HEADER, inSeeing, ['Range', 'If-Range', 'Referer', 'User-Agent', 'Accept', 'Content-Type', 'Origin'], seen),
  ['boundary', [HEADER, (text) => ({ ...inPart(() => '')(''), headers: typeWith(text) })]],
  ['name of a part', [PART, inPart((text) => `name="push[${text}]"`)]],
  ['parameters of a part', [PART, inPart((text) => text)]],
  ['name of a file', [PART, inPart((text) => `${FILE}="${text}"`)]],
  ['encoded name of a file', [PART, inPart((text) => `${FILE}*=UTF-8''${text}`)]],
  ['type of a file', [PART, inPart((text) => `${FILE}="a"\r\ncontent-type: ${text}`)]],
  ['path', [HEADER, (text) => ({ method: 'GET', path: `/p/${inAddress(text)}`, headers: {} })]],
  ['passphrase of a query', [HEADER, inQuery(`${PUSHES}/abcdefgh`, 'passphrase')]],
  ['locale of a query', [HEADER, inQuery('/', 'locale')]],
]);

/** More is no matter of ratios: a service that is as busy as that would keep the bench for hours. */
const MOST_MS = 20_000;

/** A wait that is shorter says more of the machine than of the text. */
const USUAL_MS = 2;

/** Sends a request; answers the body of the response. */
function send({ port, token }, { method, path, headers, body }) {
  return new Promise((resolve, reject) => {
    const all = { authorization: `Bearer ${token}`, ...headers };
    const signal = AbortSignal.timeout(MOST_MS);
    const sent = request({ port, method, path, headers: all, agent: false, signal }, (response) =>
      text(response).then(resolve, reject),
    );
    sent.on('error', reject).end(body);
  });
}

/** The longest that another waits, in milliseconds, while a request is answered, and what it has made is seen. */
async function longest(service, client, made) {
  const job = { port: service.port, connections: 1, path: '/up' };
  await client.run('repeat', { ...job, count: 5 });
  const probing = client.run('repeat', job);
  const [, kind, token] = /\/([pr])\/([\w-]+)/.exec(await send(service, made)) ?? [];
  if (token) {
    const form = posted(`/${kind}/${token}`, FORM, '');
    const page = await send(service, { ...form, headers: { ...form.headers, ...made.seen } });
    const [path] = /\/files\/[\w-]+/.exec(page) ?? [];
    if (path) await send(service, { method: 'GET', path, headers: { ...made.seen } });
  }
  client.enough();
  return (await probing).longest;
}

/**
 * The ratios of the longest wait beside each of the worst texts in each field to that beside a plain text of the same size:
 * the best of three, as others may use the machine during one.
 * @param most a ratio that needs no second time
 * @throws Error for a text that keeps the service for longer than `MOST_MS`
 */
export async function worstTexts(most) {
  const service = await serve([process.execPath, script], '--ephemeral', '--rate-limit', 'off', '--trust-proxy');
  const client = loader();
  const ratios = {};
  for (const [field, [size, carry]] of Object.entries(fields))
    for (const [name, text] of Object.entries(texts)) {
      const what = `${field}: ${name}`;
      const waitBeside = (text) =>
        longest(service, client, carry(text(size))).catch((cause) => {
          throw new Error(`${what}, for more than ${MOST_MS} ms`, { cause });
        });
      let ratio = Number.POSITIVE_INFINITY;
      for (let times = 0; times < 3 && ratio > most; times += 1) {
        const usual = await waitBeside(plain);
        ratio = Math.min(ratio, (await waitBeside(text)) / Math.max(usual, USUAL_MS));
      }
      ratios[what] = ratio;
    }
  await client.stop();
  await service.stop();
  return ratios;
}
