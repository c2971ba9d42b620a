import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { locales } from '../../../src/contract/api';
import {
  create,
  createWithFiles,
  fetchLink,
  filePart,
  type TestService,
  testService,
} from '../../helpers/service';

let service: TestService;

beforeEach(async () => {
  service = await testService();
});

afterEach(() => service.close());

interface Opened {
  status: number;
  html: string;
  headers: Headers;
}

async function open(
  path: string,
  method = 'GET',
  headers: Record<string, string> = {},
): Promise<Opened> {
  const response = await service.fetch(new Request(`http://pw.test${path}`, { method, headers }));
  return { status: response.status, html: await response.text(), headers: response.headers };
}

async function submit(path: string, fields: Record<string, string>, headers = {}): Promise<Opened> {
  const body = new URLSearchParams(fields);
  const response = await service.fetch(
    new Request(`http://pw.test${path}`, { method: 'POST', body, headers }),
  );
  return { status: response.status, html: await response.text(), headers: response.headers };
}

const title = ({ html }: Opened) => /<h1>(.*)<\/h1>/.exec(html)?.[1];
const problem = ({ html }: Opened) =>
  /<p class="problem" id="problem" role="alert">(.*)<\/p>/.exec(html)?.[1]?.replace(/<[^>]*>/g, '');
/** Newer versions of ICU write a narrow space in times. */
const words = ({ html }: Opened) =>
  html.replace(/<(style|script)>.*?<\/\1>|<[^>]*>/gs, '').replaceAll('\u202f', ' ');
const shown = ({ html }: Opened) => /<pre class="value[^>]*>\n([\s\S]*)<\/pre>/.exec(html)?.[1];

describe('a push without step and passphrase', () => {
  test('is shown at once and takes a view', async () => {
    const token = await create(service, {
      payload: 'hunter2',
      retrieval_step: false,
      expire_after_views: 2,
    });
    const first = await open(`/p/${token}`);
    expect([first.status, title(first), shown(first)]).toEqual([200, 'The secret', 'hunter2']);
    expect(words(first)).toContain('1 view left. Loading this page again uses one.');
    expect(words(first)).toContain('Expires in 7 days. August 27, 2026 at 11:06 AM UTC');
    const last = await open(`/p/${token}`);
    expect(words(last)).toContain('That was the last view. The secret is deleted from the server.');
    expect(last.html).not.toContain('<form');
    expect((await open(`/p/${token}`)).status).toBe(404);
  });

  test.each([
    ['HEAD', {}],
    ['GET', { 'sec-purpose': 'prefetch;prerender' }],
    ['GET', { purpose: 'prefetch' }],
  ])('%s with %j takes none', async (method, headers) => {
    const token = await create(service, {
      payload: 'hunter2',
      retrieval_step: false,
      expire_after_views: 1,
    });
    expect((await open(`/p/${token}`, method, headers)).html).not.toContain('hunter2');
    expect(shown(await open(`/p/${token}`))).toBe('hunter2');
  });

  test('its text is escaped, and comes back to the character', async () => {
    const payload = '\n<script>alert("1")</script>\r\n&amp; \'x\'</pre>';
    const token = await create(service, { payload, retrieval_step: false });
    expect(shown(await open(`/p/${token}`))).toBe(
      '\n&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#13;\n&amp;amp; &#39;x&#39;&lt;/pre&gt;',
    );
  });
});

describe('a push with a step', () => {
  test.each(['', '/r'])('waits for the button at /p/:token%s', async (suffix) => {
    const token = await create(service, { payload: 'hunter2', expire_after_views: 1 });
    for (let i = 0; i < 3; i++) {
      const asked = await open(`/p/${token}${suffix}`);
      expect([asked.status, title(asked)]).toEqual([200, 'A secret was shared with you']);
      expect(asked.html).toContain('<form method="post" autocomplete="off">');
      expect(asked.html).not.toContain('hunter2');
      expect(asked.html).not.toContain('passphrase');
      expect(words(asked)).toContain('1 view left. Opening the secret uses it');
    }
    expect(shown(await submit(`/p/${token}${suffix}`, {}))).toBe('hunter2');
    expect((await submit(`/p/${token}${suffix}`, {})).status).toBe(404);
  });
});

describe('a push with a passphrase', () => {
  test('asks for it, again when it is wrong, and then shows the secret', async () => {
    const push = { payload: 'hunter2', passphrase: 'open & sesame', retrieval_step: false };
    const token = await create(service, push);
    expect((await open(`/p/${token}`)).html).toContain('<input type="password" ');
    const wrong = await submit(`/p/${token}`, { passphrase: 'open' });
    expect([wrong.status, problem(wrong)]).toEqual([
      401,
      'Wrong passphrase. 4 attempts left for now.',
    ]);
    expect(wrong.html).toMatch(/<input [^>]*aria-invalid="true" aria-describedby="problem"/);
    expect(wrong.html).not.toContain('hunter2');
    expect(shown(await submit(`/p/${token}`, { passphrase: 'open & sesame' }))).toBe('hunter2');
  });

  test('says that it needs one', async () => {
    const token = await create(service, { payload: 'hunter2', passphrase: 'right' });
    const { status, ...none } = await submit(`/p/${token}`, {});
    expect([status, problem({ status, ...none })]).toEqual([401, 'Enter the passphrase.']);
  });

  test('counts the tries down, and then says when to try again', async () => {
    const token = await create(service, { payload: 'hunter2', passphrase: 'right' });
    const wrong = () => submit(`/p/${token}`, { passphrase: 'wrong' });
    const tries = [await wrong(), await wrong(), await wrong(), await wrong(), await wrong()];
    expect(tries.map((page) => problem(page)?.replace('Wrong passphrase. ', ''))).toEqual([
      '4 attempts left for now.',
      '3 attempts left for now.',
      '2 attempts left for now.',
      '1 attempt left for now.',
      'Wait a minute before you try again.',
    ]);
    const many = await submit(`/p/${token}`, { passphrase: 'right' });
    expect([many.status, many.headers.get('retry-after')]).toEqual([429, '60']);
    expect(problem(many)).toBe('Too many attempts. Try again in 1 minute.');
    service.clock.advance(60_000);
    expect(shown(await submit(`/p/${token}`, { passphrase: 'right' }))).toBe('hunter2');
  });
});

describe('kinds', () => {
  test('a url is a link that tells nobody where it was found', async () => {
    const payload = 'https://example.com/?a="b"&c';
    const token = await create(service, { payload, kind: 'url', retrieval_step: false });
    const { html } = await open(`/p/${token}`);
    expect(html).toContain(
      '<a class="button" href="https://example.com/?a=&quot;b&quot;&amp;c" target="_blank" rel="noreferrer noopener">',
    );
    expect(html).toContain(
      '<bdo class="value" dir="ltr">https://<strong>example.com</strong>/?a=&quot;b&quot;&amp;c</bdo>',
    );
    expect(html).not.toContain('value="expire"');
  });

  test('a qr code is drawn, with its text beside it', async () => {
    const payload = 'WIFI:S:x;;';
    const token = await create(service, { payload, kind: 'qr', retrieval_step: false });
    const page = await open(`/p/${token}`);
    expect(shown(page)).toBe(payload);
    expect(page.html).toContain('<svg role="img" aria-label="QR code" viewBox="0 0 29 29"');
  });

  test('one that is too long to be drawn is text, and says so', async () => {
    const payload = '日'.repeat(1000);
    const token = await create(service, { payload, kind: 'qr', retrieval_step: false });
    const page = await open(`/p/${token}`);
    expect(shown(page)).toBe(payload);
    expect(page.html).not.toContain('role="img"');
    expect(words(page)).toContain('meant to be a QR code, but it is too long for one.');
  });

  test('null characters, which HTML has not, are shown as signs, and the page says so', async () => {
    const token = await create(service, { payload: 'a\0b', retrieval_step: false });
    const page = await open(`/p/${token}`);
    expect(shown(page)).toBe('a␀b');
    expect(words(page)).toContain('The text contains null characters');
  });
});

describe('files', () => {
  const field = (name: string, value: string) => ({ name: `push[${name}]`, value });

  test('are links after the message, and showing them takes a view', async () => {
    const token = await createWithFiles(
      service,
      field('payload', 'a <message>'),
      filePart('<b>%22.txt', 'hunter2'),
      filePart('b.bin', Buffer.alloc(1_600_000)),
      field('expire_after_views', '2'),
    );
    expect((await open(`/p/${token}`)).html).not.toContain('/files/');
    const page = await submit(`/p/${token}`, {});
    expect([page.status, shown(page)]).toEqual([200, 'a &lt;message&gt;']);
    const names = [
      ...page.html.matchAll(
        /<span class="name" translate="no"><bdi>(.*?)<\/bdi><\/span>.*?>(.*?)<\/span>/g,
      ),
    ];
    expect(names.map(([, name, size]) => [name, size])).toEqual([
      ['&lt;b&gt;&quot;.txt', '7 bytes'],
      ['b.bin', '1.5\u00a0MiB'],
    ]);
    const links = [...page.html.matchAll(/<a (.*?)>/g)].map(([, link]) => link);
    expect(links.map((link) => link?.replace(/\/files\/[\w-]+/, '/files/…'))).toEqual([
      'class="button" href="http://pw.test/files/…" download="&lt;b&gt;&quot;.txt" rel="noreferrer" aria-label="Download &lt;b&gt;&quot;.txt"',
      'class="button" href="http://pw.test/files/…" download="b.bin" rel="noreferrer" aria-label="Download b.bin"',
    ]);
    expect(words(page)).toContain('The download buttons work until 11:11:45 AM UTC.');
    expect(words(page)).toContain('1 view left.');
    const [, url = ''] = /<a [^>]*href="([^"]+)"/.exec(page.html) ?? [];
    expect((await fetchLink(service, url)).text).toBe('hunter2');
  });

  test('of the last view are there for five minutes, and the page says so', async () => {
    const token = await createWithFiles(
      service,
      filePart('a', 'A'),
      field('expire_after_views', '1'),
      field('retrieval_step', 'false'),
    );
    const page = await open(`/p/${token}`);
    expect(title(page)).toBe('1 file was shared with you');
    expect(words(page)).toContain('That was the last view. This page cannot be loaded again.');
    expect(page.html).not.toContain('<pre');
    expect((await open(`/p/${token}`)).status).toBe(404);
    const [, url = ''] = /<a [^>]*href="([^"]+)"/.exec(page.html) ?? [];
    expect((await fetchLink(service, url)).text).toBe('A');
  });
});

describe('the button to delete', () => {
  test('is there where viewers may, and deletes', async () => {
    const token = await create(service, { payload: 'x', retrieval_step: false });
    expect((await open(`/p/${token}`)).html).toContain('<button name="do" value="expire">');
    expect(title(await submit(`/p/${token}`, { do: 'expire' }))).toBe('The secret is deleted');
    expect((await open(`/p/${token}`)).status).toBe(404);
  });

  test('is not there where they may not, nor does asking help', async () => {
    const token = await create(service, {
      payload: 'x',
      retrieval_step: false,
      deletable_by_viewer: false,
    });
    expect((await open(`/p/${token}`)).html).not.toContain('value="expire"');
    expect((await submit(`/p/${token}`, { do: 'expire' })).status).toBe(403);
    expect(shown(await open(`/p/${token}`))).toBe('x');
  });
});

test('a link that expired and one that never was get the same answer', async () => {
  const token = await create(service, { payload: 'x', passphrase: 'p' });
  await submit(`/p/${token}`, { do: 'expire' });
  const never = await open('/p/neverwas');
  expect([never.status, title(never)]).toEqual([404, 'This link is no longer available']);
  for (const path of [`/p/${token}`, `/p/${token}/r`, '/p/neverwas/r', '/p/%00']) {
    const { status, html, headers } = await open(path);
    expect({ status, html, headers: [...headers] }).toEqual({
      ...never,
      headers: [...never.headers],
    });
  }
});

test.each([
  ['a button', 404, { do: 'expire' }, {}],
  ['a passphrase', 404, { passphrase: 'p' }, {}],
  ['a form from elsewhere', 403, {}, { origin: 'https://evil.example' }],
  ['a form that is too large', 413, { passphrase: 'x'.repeat(20_000) }, {}],
])(
  '%s is answered %i where a link expired and where none ever was',
  async (_, status, fields, headers) => {
    const push = { payload: 'x', expire_after_days: 1 };
    const fixed = { ...push, payload: 'x', deletable_by_viewer: false };
    const [ended, overdue, kept] = [
      await create(service, push),
      await create(service, push),
      await create(service, fixed),
    ];
    await submit(`/p/${ended}`, { do: 'expire' });
    service.clock.advance(86_400_000);
    const never = await submit('/p/neverwas', fields, headers);
    expect(never.status).toBe(status);
    for (const token of [ended, overdue, kept]) {
      for (const path of [`/p/${token}`, `/p/${token}/r`]) {
        const answer = await submit(path, fields, headers);
        expect({ ...answer, headers: [...answer.headers] }).toEqual({
          ...never,
          headers: [...never.headers],
        });
      }
    }
  },
);

test('a form from another site is refused', async () => {
  const token = await create(service, { payload: 'x' });
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    expect((await submit(`/p/${token}`, {}, headers)).status).toBe(403);
  }
  const own = { 'sec-fetch-site': 'same-origin', origin: 'null' };
  expect(shown(await submit(`/p/${token}`, {}, own))).toBe('x');
});

const hash = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('every page is locked down', () => {
  test.each(['/', '/open', '/p/neverwas', 'a secret', 'a question'])('%s', async (path) => {
    const token = await create(service, { payload: 'x', retrieval_step: path === 'a question' });
    const { headers, html } = await open(path.startsWith('/') ? path : `/p/${token}`);
    const hashes = (tag: string) =>
      [...html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, text]) => hash(text));
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
    expect([
      headers.get('referrer-policy'),
      headers.get('cache-control'),
      headers.get('x-content-type-options'),
      headers.get('x-robots-tag'),
      headers.get('x-frame-options'),
    ]).toEqual(['no-referrer', 'no-store', 'nosniff', 'noindex', 'DENY']);
    expect(html).not.toMatch(/ style=| on\w+=/);
    // With the scripts that encrypt and decrypt, and the words that are no passphrase.
    const most = ['/', '/open'].includes(path) ? 55_296 : 18_432;
    expect(Buffer.byteLength(html)).toBeLessThan(most);
  });
});

test.each(locales)('in %s all pages say so', async (locale) => {
  const token = await create(service, { payload: 'x' });
  const direction = locale === 'ur' ? 'rtl' : 'ltr';
  for (const path of ['/', `/p/${token}`, '/p/neverwas']) {
    const { html, headers } = await open(`${path}?locale=${locale}`);
    expect(html).toContain(`<html lang="${locale}" dir="${direction}">`);
    expect(headers.get('vary')).toBe('accept-language');
  }
  const { html } = await open('/p/neverwas', 'GET', { 'accept-language': `xx, ${locale};q=0.5` });
  expect(html).toContain(`<html lang="${locale}" dir="${direction}">`);
});

test('the title names no secret', async () => {
  const token = await create(service, { payload: 'hunter2', retrieval_step: false });
  const { html } = await open(`/p/${token}`);
  expect(html).toContain('<title>The secret · pwpush</title>');
  expect(html.split('hunter2')).toHaveLength(2);
});

test('the address itself says what this is, and how to push to it', async () => {
  const page = await open('/');
  expect(page.status).toBe(200);
  expect(words(page)).toContain('pwpush push --url http://pw.test');
  await service.close();
  service = await testService({ anonymous: false, publicUrl: 'https://pw.example.com/x' });
  expect(words(await open('/'))).toContain('pwpush login https://pw.example.com/x\npwpush push');
});

test('a failure is explained in the log, and not on the page', async () => {
  const token = await create(service, { payload: 'x' });
  await service.service.close();
  const { status, html } = await open(`/p/${token}`);
  expect([status, title({ status, html, headers: new Headers() })]).toEqual([
    500,
    'Something went wrong',
  ]);
  expect(html).not.toContain('database');
  expect(service.lines.join('\n')).toMatch(/ error /);
});

describe('who has to wait is told how long, and tries again with one press', () => {
  const again = '<a class="button" href="">Try again</a>';

  test('too many requests', async () => {
    await service.close();
    service = await testService({ rateLimit: { requests: 1, milliseconds: 60_000 } });
    await open('/');
    const page = await open('/p/neverwas');
    expect([page.status, title(page), page.headers.get('retry-after')]).toEqual([
      429,
      'Too many requests',
      '60',
    ]);
    expect(words(page)).toContain('Try again in 1 minute.');
    expect(page.html).toContain(again);
  });

  test('too many passphrases at once', async () => {
    const token = await create(service, { payload: 'x', passphrase: 'p' });
    const pages = await Promise.all(
      Array.from({ length: 40 }, () => submit(`/p/${token}`, { passphrase: 'wrong' })),
    );
    const busy = pages.find(({ status }) => status === 503) as Opened;
    expect([title(busy), busy.headers.get('retry-after')]).toEqual(['The service is busy', '5']);
    expect(words(busy)).toContain('Try again in 5 seconds.');
    expect(busy.html).toContain(again);
  });
});

test('with anonymous access off the page of a link opens without a token', async () => {
  await service.close();
  service = await testService({ anonymous: false });
  const push = { payload: 'hunter2', retrieval_step: false };
  const token = await create(service, push, service.adminToken);
  expect(shown(await open(`/p/${token}`))).toBe('hunter2');
  expect(shown(await submit(`/p/${token}`, {}))).toBe('hunter2');
  expect((await open('/p/neverwas')).status).toBe(404);
});

describe('the page of a link, for a program that asks for JSON', () => {
  const asked = { accept: 'application/json' };

  test('is what a retrieval by the API returns, and takes a view', async () => {
    const token = await create(service, { payload: 'x', expire_after_views: 2, passphrase: 'p' });
    const { status, html, headers } = await submit(`/p/${token}`, { passphrase: 'p' }, asked);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const api = await open(`/api/v2/pushes/${token}?passphrase=p`);
    const [atPage, byApi] = [JSON.parse(html), JSON.parse(api.html)];
    expect(atPage).toEqual({ ...byApi, views_remaining: 1, updated_at: atPage.updated_at });
    const gone = JSON.parse((await submit(`/p/${token}`, { passphrase: 'p' }, asked)).html);
    expect(gone).toMatchObject({ expired: true, payload: null });
  });

  test('is refused as by the API', async () => {
    const token = await create(service, { payload: 'x', expire_after_views: 1, passphrase: 'p' });
    for (const [path, fields] of [
      [token, {}],
      [token, { passphrase: 'q' }],
      ['neverwas', {}],
    ] as const) {
      const { status, html } = await submit(`/p/${path}`, fields, asked);
      const api = await open(`/api/v2/pushes/${path}?${new URLSearchParams(fields)}`);
      expect([status, JSON.parse(html)]).toEqual([api.status, JSON.parse(api.html)]);
    }
    const foreign = await submit(`/p/${token}`, {}, { ...asked, origin: 'https://evil.example' });
    expect(foreign.status).toBe(403);
    expect((await submit(`/p/${token}`, { passphrase: 'p' }, asked)).status).toBe(200);
  });
});

describe('asked for text, as by curl', () => {
  const text = { accept: 'text/plain' };

  test('a link without step is the text to the byte, and says that it is text', async () => {
    const payload = ' π <b>\r\n\t\n';
    const token = await create(service, { payload, retrieval_step: false });
    const { html, headers } = await open(`/p/${token}`, 'GET', text);
    expect(html).toBe(payload);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('vary')).toBe('accept');
  });

  test('a step says what to type, as an error, and takes no view; that takes one', async () => {
    const token = await create(service, { payload: 'hunter2', expire_after_views: 1 });
    const offered = await open(`/p/${token}/r`, 'GET', text);
    expect(offered.status).toBe(405);
    expect(offered.html).toBe(
      `This link has 1 view left. To use one:
  curl -fsS -H 'Accept: text/plain' -d '' 'http://pw.test/p/${token}/r'
`,
    );
    expect((await submit(`/p/${token}/r`, {}, text)).html).toBe('hunter2');
    const gone = await submit(`/p/${token}/r`, {}, text);
    expect([gone.status, gone.html]).toEqual([
      404,
      'This link has expired, was deleted or never existed.\n',
    ]);
  });

  test('a passphrase is asked for, and tried', async () => {
    const token = await create(service, { payload: 'hunter2', passphrase: 'sesame' });
    const offered = await open(`/p/${token}`, 'GET', text);
    expect(offered.html).toContain('--data-urlencode passphrase@FILE');
    const wrong = await submit(`/p/${token}`, { passphrase: 'wrong' }, text);
    expect([wrong.status, wrong.html]).toEqual([
      401,
      'That passphrase is wrong: send the right one as the `passphrase` parameter.\n',
    ]);
    expect((await submit(`/p/${token}`, { passphrase: 'sesame' }, text)).html).toBe('hunter2');
  });

  test('files are their message and addresses, which work', async () => {
    const token = await createWithFiles(
      service,
      { name: 'push[payload]', value: 'both' },
      filePart('a.txt', 'A'),
      filePart('b.txt', 'B'),
      { name: 'push[retrieval_step]', value: 'false' },
    );
    const { html } = await open(`/p/${token}`, 'GET', text);
    const [message, empty, ...addresses] = html.trimEnd().split('\n');
    expect([message, empty, addresses.length]).toEqual(['both', '', 2]);
    for (const [at, address] of addresses.entries())
      expect((await fetchLink(service, address)).text).toBe('AB'[at]);
  });

  test('a form from elsewhere is refused, and a push may be deleted', async () => {
    const token = await create(service, { payload: 'x', deletable_by_viewer: true });
    const foreign = await submit(`/p/${token}`, {}, { ...text, origin: 'http://evil.test' });
    expect([foreign.status, foreign.html]).toEqual([
      403,
      expect.stringContaining('This form was sent from another site.'),
    ]);
    const deleted = await submit(`/p/${token}`, { do: 'expire' }, text);
    expect([deleted.status, deleted.html]).toEqual([200, 'The secret was deleted.\n']);
  });

  test('the page without script says how', async () => {
    const token = await create(service, { payload: 'x', passphrase: 'sesame' });
    const { html } = await open(`/p/${token}`);
    expect(
      /<noscript>(.*)<\/noscript>/s
        .exec(html)?.[1]
        ?.replace(/<[^>]*>/g, '')
        .replaceAll('&#39;', "'"),
    ).toBe(
      `On the command line: curl -fsS -H 'Accept: text/plain' --data-urlencode passphrase@FILE 'http://pw.test/p/${token}/r'`,
    );
  });

  test('a browser, which accepts anything after HTML, gets the page', async () => {
    const token = await create(service, { payload: 'x' });
    const accept = 'text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.7';
    expect((await open(`/p/${token}`, 'GET', { accept })).html).toContain('<!doctype html>');
    expect((await open(`/p/${token}`)).html).toContain('<!doctype html>');
  });
});
