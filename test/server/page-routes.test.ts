import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { proven } from '../helpers/age';
import { overNoted, stuck } from '../helpers/over-database';
import { type Answer, filePart, inTab, opened, partsOf, type TestService } from '../helpers/service';
import { addressIn, problemsIn, secretIn, titleOf, wordsIn } from './page/pages';

let service: TestService;

beforeEach(async () => {
  service = await opened();
});

const open = (path: string, headers: Record<string, string> = {}) =>
  service.call('GET', path, { headers: { ...inTab, ...headers } });
const submit = (path: string, fields: Record<string, string>, headers = {}) =>
  service.call('POST', path, { fields, headers });
const pageOf = async (push: object) => open(`/p/${await service.create({ ...push, ...atOnce })}`);
const atOnce = { retrieval_step: false };
const shown = ({ text }: Answer) => secretIn(text);

test.each([
  ['POST', '/p.json', 'POST /api/v2/pushes'],
  ['POST', '/f.json', 'POST /api/v2/pushes'],
  ['GET', '/d/active.json', '/api/v2'],
  ['DELETE', '/p/abc.json', '/api/v2'],
])('%s %s of API v1 says what to use instead', async (method, path, instead) => {
  const { status, json } = await service.call(method, path);
  expect([status, json]).toEqual([404, { error: `API v1 is not supported: use ${instead}` }]);
});

const FOOTER = 'Secrets are deleted when the link expires.';

test('an address that never was a link is no page, and neither it nor /open stores anything', async () => {
  const { status, text } = await open('/whatever/page');
  expect([status, titleOf(text)]).toEqual([404, 'There is no such page']);
  expect(wordsIn(text)).not.toContain('link');
  expect([text, (await open('/open')).text].filter((page) => page.includes(FOOTER))).toEqual([]);
});

test('a push without step and passphrase is shown at once and takes a view', async () => {
  const token = await service.create({ payload: 'hunter2', expire_after_views: 2, ...atOnce });
  const { status, text } = await open(`/p/${token}`);
  expect([status, titleOf(text), secretIn(text)]).toEqual([200, 'The secret', 'hunter2']);
  expect(text).toContain('<title>The secret · pwpush</title>');
  expect(text.split('hunter2')).toHaveLength(2);
  expect(wordsIn(text)).toContain('1 view left. Loading this page again uses one.');
  expect(text).toContain(FOOTER);
  expect(wordsIn(text)).toContain('Expires in 7 days. August 27, 2026 at 11:06 AM UTC');
  const last = (await open(`/p/${token}`)).text;
  expect(wordsIn(last)).toContain('That was the last view. The secret is deleted from the server.');
  expect(last).not.toContain('<form');
  expect(last).not.toContain(FOOTER);
  const gone = await open(`/p/${token}`);
  expect([gone.status, titleOf(gone.text)]).toEqual([404, 'This link is no longer available']);
});

test('a visit to a link that has ended is in its log', async () => {
  const token = await service.createOwn({ expire_after_views: 1, ...atOnce });
  expect([(await open(`/p/${token}`)).status, (await open(`/p/${token}`)).status]).toEqual([200, 404]);
  const log = () => service.kindsOf(token);
  await expect.poll(log, { message: 'the visit in the log' }).toEqual(['creation', 'view', 'failed_view']);
});

test('a push without step and passphrase its text is escaped, and comes back to the character', async () => {
  const payload = '\n<script>alert("1")</script>\r\n&amp; \'x\'</pre>';
  expect(shown(await pageOf({ payload }))).toBe(
    '\n&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#13;\n&amp;amp; &#39;x&#39;&lt;/pre&gt;',
  );
});

test.each(['', '/r'])('a push with a step waits for the button at /p/:token%s', async (suffix) => {
  const token = await service.create({ payload: 'hunter2', expire_after_views: 1 });
  for (let i = 0; i < 3; i++) {
    const { status, text } = await open(`/p/${token}${suffix}`);
    expect([status, titleOf(text)]).toEqual([200, 'A secret was shared with you']);
    expect(text).toContain('<form method="post" autocomplete="off">');
    expect(text).not.toMatch(/hunter2|passphrase/);
    expect(wordsIn(text)).toContain('1 view left. Opening the secret uses it');
  }
  expect(shown(await submit(`/p/${token}${suffix}`, {}))).toBe('hunter2');
  expect((await submit(`/p/${token}${suffix}`, {})).status).toBe(404);
});

test('pages ask browsers and password managers to leave secrets and fields alone', async () => {
  const locked = await service.create({ payload: 'x', passphrase: 'p' });
  for (const path of ['/', '/ask', `/p/${locked}`]) {
    const { text } = await open(path);
    expect(text).toContain('<meta name="format-detection" content="telephone=no');
    const fields = text.match(/<(?:input|textarea)\b[^>]* id="(?!encrypt)[^>]*>/g) ?? [];
    expect(fields).not.toEqual([]);
    for (const field of fields)
      expect(field).toMatch(/data-1p-ignore data-lpignore="true" data-bwignore data-form-type="other"/);
  }
});

test('a push with a passphrase asks for it, counts the tries down, and then says when to try again', async () => {
  const push = { payload: 'hunter2', passphrase: 'open & sesame', ...atOnce };
  const token = await service.create(push);
  expect((await open(`/p/${token}`)).text).toContain('<input type="password" ');
  const left = [];
  for (const passphrase of ['', ...Array<string>(5).fill('open')]) {
    const { status, text } = await submit(`/p/${token}`, { passphrase });
    expect([status, text.includes('hunter2')]).toEqual([401, false]);
    left.push(/\d/.exec(problemsIn(text).join())?.[0]);
  }
  expect(left).toEqual([undefined, '4', '3', '2', '1', undefined]);
  const many = await submit(`/p/${token}`, { passphrase: 'open & sesame' });
  expect([many.status, many.headers.get('retry-after')]).toEqual([429, '60']);
  service.clock.advance(60_000);
  expect(shown(await submit(`/p/${token}`, { passphrase: 'open & sesame' }))).toBe('hunter2');
});

describe('kinds', () => {
  test('a url is a link that tells nobody where it was found', async () => {
    const { text } = await pageOf({ payload: 'https://example.com/?a="b"&c', kind: 'url' });
    expect(text).toContain(
      '<a class="button" href="https://example.com/?a=&quot;b&quot;&amp;c" target="_blank" rel="noreferrer noopener">',
    );
    expect(addressIn(text)).toBe('https://<strong>example.com</strong>/?a=&quot;b&quot;&amp;c');
    expect(text).not.toContain('value="expire"');
  });

  test('a qr code is drawn with its text, unless it is too long, which the page says', async () => {
    const drawn = '<svg role="img" aria-label="QR code" viewBox="0 0 29 29"';
    const short = await pageOf({ payload: 'WIFI:S:x;;', kind: 'qr' });
    expect([shown(short), short.text.includes(drawn)]).toEqual(['WIFI:S:x;;', true]);
    const long = await pageOf({ payload: '日'.repeat(1000), kind: 'qr' });
    expect([shown(long), long.text.includes('role="img"')]).toEqual(['日'.repeat(1000), false]);
    expect(wordsIn(long.text)).toContain('meant to be a QR code, but it is too long for one.');
  });

  test.each(['url', 'qr'])('an encrypted %s is armor, which leads nowhere', async (kind) => {
    const { payload } = await proven('https://example.com/');
    const { status, text, headers } = await pageOf({ payload, kind });
    const leads = [headers.get('location'), headers.get('refresh'), text.includes('<meta http-equiv')];
    expect([status, ...leads]).toEqual([200, null, null, false]);
    expect(text).toContain(payload);
    const token = await service.create({ payload, kind, ...atOnce });
    expect((await open(`/p/${token}`, { accept: 'text/plain' })).text).toBe(payload);
  });
});

describe('files', () => {
  const hrefIn = (html: string) => /<a [^>]*href="([^"]+)"/.exec(html)?.[1] ?? '';

  test('are links after the message, and showing them takes a view', async () => {
    const token = await service.createWithFiles(
      filePart('<b>%22.txt', 'hunter2'),
      filePart('b.bin', 'B'),
      ...partsOf({ payload: 'a <message>', expire_after_views: 2 }),
    );
    expect((await open(`/p/${token}`)).text).not.toContain('/files/');
    const { status, text } = await submit(`/p/${token}`, {});
    expect([status, secretIn(text)]).toEqual([200, 'a &lt;message&gt;']);
    const links = text.matchAll(/href="http:\/\/pw\.test\/files\/[\w-]+" download="(.*?)"/g);
    const names = [...links].map(([, name]) => name);
    expect(names).toEqual(['&lt;b&gt;&quot;.txt', 'b.bin']);
    expect(wordsIn(text)).toContain('Save the files before you leave this page.');
    expect(wordsIn(text)).toContain('The download buttons work until 11:11:45 AM UTC.');
    expect((await service.fetchLink(hrefIn(text))).text).toBe('hunter2');
  });

  test('of the last view are there for five minutes, and the page says so', async () => {
    const once = partsOf({ expire_after_views: 1, ...atOnce });
    const token = await service.createWithFiles(filePart('a', 'A'), ...once);
    const { text } = await open(`/p/${token}`);
    expect([titleOf(text), secretIn(text)]).toEqual(['1 file was shared with you', undefined]);
    expect(wordsIn(text)).toContain('Save the file before you leave this page.');
    expect(wordsIn(text)).toContain(
      'That was the last view. This page cannot be loaded again. The file is deleted when',
    );
    expect((await open(`/p/${token}`)).status).toBe(404);
    expect((await service.fetchLink(hrefIn(text))).text).toBe('A');
  });
});

test.each([
  [true, 200, 'The secret is deleted'],
  [false, 403, 'This is not allowed'],
])('the button to delete is there if viewers may, and deletes: %s', async (may, status, title) => {
  const push = { payload: 'x', deletable_by_viewer: may, ...atOnce };
  const token = await service.create(push);
  const page = (await open(`/p/${token}`)).text;
  expect(page.includes('<button name="do" value="expire">')).toBe(may);
  const { text, ...answer } = await submit(`/p/${token}`, { do: 'expire' });
  expect([answer.status, titleOf(text)]).toEqual([status, title]);
  expect(text.includes(FOOTER)).toBe(!may);
  expect((await open(`/p/${token}`)).status).toBe(may ? 404 : 200);
});

test('a page that showed what has a passphrase deletes it', async () => {
  const token = await service.create({ payload: 'x', passphrase: 'sesame' });
  const { text } = await submit(`/p/${token}`, { passphrase: 'sesame' });
  expect(text).not.toContain('sesame');
  const [, seen = ''] = /name="seen" value="([\w-]+)"/.exec(text) ?? [];
  for (const wrong of ['', 'x', `${seen}x`]) {
    const { status, text } = await submit(`/p/${token}`, { do: 'expire', seen: wrong });
    expect([status, wordsIn(text)]).toEqual([401, expect.stringContaining('Passphrase')]);
  }
  const other = await service.create({ payload: 'x', passphrase: 'sesame' });
  expect((await submit(`/p/${other}`, { do: 'expire', seen })).status).toBe(401);
  expect((await submit(`/p/${token}`, { do: 'expire', seen })).status).toBe(200);
});

const hash = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('a page is hidden when nobody gets its text again, and not before:', () => {
  const key = 'Jk3dF8s-Qw2mZx0pLr7tVg';
  const headers = { 'idempotency-key': `"${key}"` };

  test('a secret', async () => {
    const service = await overNoted();
    const token = await service.create({ payload: 'hunter2', expire_after_views: 1 });
    const read = async () => (await service.retrieve(token, { headers })).json.payload;
    await isHidden(service, `/p/${token}`, { do: 'hide', once: key }, read);
  });

  test('an answer', async () => {
    const service = await overNoted();
    const token = await service.createRequest();
    await service.respond(token, 'hunter2');
    const how = { ...service.asAdmin, headers };
    const read = async () => (await service.call('GET', `/api/v2/requests/${token}`, how)).json.response;
    const fields = { 'request[do]': 'hide', 'request[once]': key };
    await isHidden(service, `/r/${token}`, fields, read);
  });

  async function isHidden(
    { database, call }: Awaited<ReturnType<typeof overNoted>>,
    path: string,
    fields: Record<string, string>,
    read: () => Promise<string | null>,
  ) {
    const hide = async () => (await call('POST', path, { headers: { origin: 'http://pw.test' }, fields })).status;
    expect(await read()).toBe('hunter2');
    const unstick = await stuck(database, 'UPDATE OF sealed ON audit');
    expect([await hide(), await read()]).toEqual([500, 'hunter2']);
    await unstick();
    expect([await hide(), await read()]).toEqual([200, null]);
  }
});

const pages = ['/', '/open', '/p/neverwas', 'a secret', 'a question'];
test.each(pages)('every page is locked down: %s', async (path) => {
  const token = await service.create({ payload: 'x', retrieval_step: path === 'a question' });
  const { headers, text } = await open(path.startsWith('/') ? path : `/p/${token}`);
  const hashes = (tag: string) =>
    [...text.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, one]) => hash(one));
  expect(headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    `style-src ${hashes('style').join(' ')}`,
    `script-src ${hashes('script').join(' ')}`,
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
  expect(Object.fromEntries(headers)).toMatchObject({
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store, no-transform',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
    'x-frame-options': 'DENY',
  });
  expect(text).not.toMatch(/ style=| on\w+=/);
});

test('all pages say their language, and that they have others', async () => {
  const token = await service.create({ payload: 'x' });
  const asked = await service.createRequest();
  for (const path of ['/', `/p/${token}`, '/p/neverwas', `/r/${asked}`]) {
    const { text, headers } = await open(path, { 'accept-language': 'xx, ur;q=0.5' });
    expect(text).toContain('<html lang="ur" dir="rtl">');
    expect(headers.get('vary')).toBe('accept-language');
  }
});

test('where only users push, the front page says how, and a link opens without a token', async () => {
  service = await opened({ anonymous: false, publicUrl: 'https://pw.example.com/x' });
  expect(wordsIn((await open('/')).text)).toContain('pwpush login https://pw.example.com/x\n');
  const token = await service.createOwn({ payload: 'hunter2', ...atOnce });
  expect(shown(await open(`/p/${token}`))).toBe('hunter2');
});

test('who has to wait is told how long, and tries again with one press', async () => {
  const token = await service.create({ payload: 'x', passphrase: 'p' });
  const wrong = () => submit(`/p/${token}`, { passphrase: 'wrong' });
  const pages = await Promise.all(Array.from({ length: 40 }, wrong));
  const { headers, text } = pages.find(({ status }) => status === 503) as Answer;
  expect([headers.get('retry-after'), titleOf(text)]).toEqual(['5', 'The service is busy']);
  expect(wordsIn(text)).toContain('Try again in 5 seconds.');
  expect(text).toContain('<a class="button" href="">Try again</a>');
});

describe('what was pasted with a link', () => {
  const ends = '/ // . , ) ] /. >. %3E %20 %20for%20Ann %22 ;'.split(' ');
  const wide = ['%E2%80%8B', '%E2%80%9D', '%EF%BC%89', '*', '&utm_source=x', '%2F', '%0A'];
  test.each([...ends, ...wide])('leads to the link without it, taking no view: %s', async (end) => {
    service = await opened({ publicUrl: 'https://pw.example.com/x' });
    const token = await service.create({ payload: 'x', expire_after_views: 1, ...atOnce });
    for (const path of [`/p/${token}`, `/p/${token}/r`, `/r/${token}`])
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, text } = await service.call(method, `${path}${end}?locale=fr`);
        const location = `https://pw.example.com/x${path}?locale=fr`;
        expect([status, headers.get('location'), text]).toEqual([302, location, '']);
      }
    expect(shown(await open(`/p/${token}`))).toBe('x');
  });

  const others = '/p//evil.example /p/a/x /p/a%23key /p/a.%2523key /q/a. /p/. /p/a/r/b'.split(' ');
  test.each(others)('is nothing else: %s', async (path) => {
    expect((await open(path)).status).toBe(404);
  });
});

// What it gives, and without a token, test/cases/get-where-all-need-a-token.txt says.
test('the page of a link, for a program that asks for JSON, refuses as the API does', async () => {
  const asked = { accept: 'application/json' };
  const token = await service.create({ payload: 'x', expire_after_views: 1, passphrase: 'p' });
  for (const [path, fields] of [
    [token, {}],
    [token, { passphrase: 'q' }],
    ['neverwas', {}],
  ] as const) {
    const { status, json } = await submit(`/p/${path}`, fields, asked);
    const api = await service.retrieve(`${path}?${new URLSearchParams(fields)}`);
    expect([status, json]).toEqual([api.status, api.json]);
  }
  const foreign = await submit(`/p/${token}`, {}, { ...asked, origin: 'https://evil.example' });
  expect(foreign.status).toBe(403);
  expect((await submit(`/p/${token}`, { passphrase: 'p' }, asked)).status).toBe(200);
});

describe('asked for text, as by curl', () => {
  const accept = { accept: 'text/plain' };
  const send = async (path: string, fields: Record<string, string>) => {
    const { status, text } = await submit(path, fields, accept);
    return [status, text];
  };

  test('a link without step is the text to the byte, and says that it is text', async () => {
    const payload = ' π <b>\r\n\t\n';
    const token = await service.create({ payload, ...atOnce });
    const { text, headers } = await open(`/p/${token}`, accept);
    expect([text, headers.get('content-type'), headers.get('vary')]).toEqual([
      ...[payload, 'text/plain; charset=utf-8', 'accept'],
    ]);
  });

  test('a step says what to type, as an error, and takes no view; that takes one', async () => {
    const token = await service.create({ payload: 'hunter2', expire_after_views: 1 });
    const { status, text } = await open(`/p/${token}/r`, accept);
    expect([status, text]).toEqual([
      405,
      `This link has 1 view left. To use one:
  curl -fsS -o - -H 'Accept: text/plain' -d '' 'http://pw.test/p/${token}/r'
`,
    ]);
    expect(await send(`/p/${token}/r`, {})).toEqual([200, 'hunter2']);
    expect(await send(`/p/${token}/r`, {})).toEqual([404, 'This link has expired, was deleted or never existed.\n']);
  });

  test('files are their message and addresses, which work', async () => {
    const token = await service.createWithFiles(
      ...partsOf({ payload: 'both', ...atOnce }),
      filePart('a.txt', 'A'),
      filePart('b.txt', 'B'),
    );
    const { text } = await open(`/p/${token}`, accept);
    const [message, empty, ...addresses] = text.trimEnd().split('\n');
    const files = addresses.map(async (address) => (await service.fetchLink(address)).text);
    expect([message, empty, ...(await Promise.all(files))]).toEqual(['both', '', 'A', 'B']);
  });

  test('a passphrase is asked for, and tried; the page for a browser says how', async () => {
    const token = await service.create({ payload: 'hunter2', passphrase: 'sesame' });
    const offered = await open(`/p/${token}`, accept);
    expect(offered.text).toContain('--data-urlencode passphrase@FILE');
    // A browser accepts anything after HTML.
    const browser = 'text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.7';
    for (const headers of [{ accept: browser }, {}] as Record<string, string>[]) {
      const { text } = await open(`/p/${token}`, headers);
      expect(text).toContain('<!doctype html>');
      expect(text).toMatch(/<noscript>.*--data-urlencode passphrase@FILE.*<\/noscript>/s);
    }
    expect((await send(`/p/${token}`, { passphrase: 'wrong' }))[0]).toBe(401);
    expect(await send(`/p/${token}`, { passphrase: 'sesame' })).toEqual([200, 'hunter2']);
  });
});
