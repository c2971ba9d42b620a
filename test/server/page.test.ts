import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  create,
  createWithFiles,
  fetchLink,
  filePart,
  type TestService,
  testService,
} from '../helpers/service';

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
const shown = ({ html }: Opened) => /<pre tabindex="0">\n([\s\S]*)<\/pre>/.exec(html)?.[1];

describe('a push without step and passphrase', () => {
  test('is shown at once and takes a view', async () => {
    const token = await create(service, {
      payload: 'hunter2',
      retrieval_step: false,
      expire_after_views: 2,
    });
    const first = await open(`/p/${token}`);
    expect([first.status, title(first), shown(first)]).toEqual([200, 'The secret', 'hunter2']);
    expect(first.html).toContain('1 view and 7 days left.');
    const last = await open(`/p/${token}`);
    expect(last.html).toContain('That was the last view: it is deleted.');
    expect(last.html).not.toContain('<button');
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
      expect(asked.html).toContain('<form method="post">');
      expect(asked.html).not.toContain('hunter2');
      expect(asked.html).not.toContain('passphrase');
    }
    expect(shown(await submit(`/p/${token}${suffix}`, {}))).toBe('hunter2');
    expect((await submit(`/p/${token}${suffix}`, {})).status).toBe(404);
  });
});

describe('a push with a passphrase', () => {
  test('asks for it, again when it is wrong, and then shows the secret', async () => {
    const push = { payload: 'hunter2', passphrase: 'open & sesame', retrieval_step: false };
    const token = await create(service, push);
    expect((await open(`/p/${token}`)).html).toContain('name="passphrase" type="password"');
    const wrong = await submit(`/p/${token}`, { passphrase: 'open' });
    expect(wrong.status).toBe(401);
    expect(wrong.html).toContain('<p role="alert">That passphrase is not right.</p>');
    expect(wrong.html).toContain('name="passphrase"');
    expect(shown(await submit(`/p/${token}`, { passphrase: 'open & sesame' }))).toBe('hunter2');
  });

  test('says when there were too many tries', async () => {
    const token = await create(service, { payload: 'hunter2', passphrase: 'right' });
    const wrong = () => submit(`/p/${token}`, { passphrase: 'wrong' });
    await Promise.all([wrong(), wrong(), wrong(), wrong(), wrong()]);
    const { status, headers } = await submit(`/p/${token}`, { passphrase: 'right' });
    expect([status, headers.get('retry-after')]).toEqual([429, '60']);
  });
});

describe('kinds', () => {
  test('a url is a link', async () => {
    const payload = 'https://example.com/?a="b"&c';
    const token = await create(service, { payload, kind: 'url', retrieval_step: false });
    const { html } = await open(`/p/${token}`);
    expect(html).toContain(
      '<a href="https://example.com/?a=&quot;b&quot;&amp;c" rel="noreferrer noopener">https://example.com/?a=&quot;b&quot;&amp;c</a>',
    );
    expect(html).not.toContain('value="expire"');
  });

  test('a qr code is text, for now', async () => {
    const token = await create(service, {
      payload: 'WIFI:S:x;;',
      kind: 'qr',
      retrieval_step: false,
    });
    expect(shown(await open(`/p/${token}`))).toBe('WIFI:S:x;;');
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
    const items = [...page.html.matchAll(/<li>(.*)<\/li>/g)].map(([, item]) => item);
    expect(items.map((item) => item?.replace(/\/files\/[\w-]+/, '/files/…'))).toEqual([
      '<a href="http://pw.test/files/…" download="&lt;b&gt;&quot;.txt" rel="noreferrer">&lt;b&gt;&quot;.txt</a> (7 bytes)',
      '<a href="http://pw.test/files/…" download="b.bin" rel="noreferrer">b.bin</a> (1.5 MiB)',
    ]);
    expect(page.html).toContain('The links work for five minutes.');
    expect(page.html).toContain('1 view and 7 days left.');
    const [, url = ''] = /href="([^"]+)"/.exec(page.html) ?? [];
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
    expect(page.html).toContain('That was the last view: in five minutes the files are deleted.');
    expect(page.html).not.toContain('<pre');
    expect((await open(`/p/${token}`)).status).toBe(404);
    const [, url = ''] = /href="([^"]+)"/.exec(page.html) ?? [];
    expect((await fetchLink(service, url)).text).toBe('A');
  });
});

describe('the button to delete', () => {
  test('is there where viewers may, and deletes', async () => {
    const token = await create(service, { payload: 'x', retrieval_step: false });
    expect((await open(`/p/${token}`)).html).toContain('<button name="do" value="expire">');
    expect(title(await submit(`/p/${token}`, { do: 'expire' }))).toBe('Deleted');
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
  expect([never.status, title(never)]).toEqual([404, 'Nothing here']);
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

test('every page is locked down', async () => {
  const { headers } = await open('/p/neverwas');
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  expect([
    headers.get('referrer-policy'),
    headers.get('cache-control'),
    headers.get('x-content-type-options'),
    headers.get('x-robots-tag'),
    headers.get('x-frame-options'),
  ]).toEqual(['no-referrer', 'no-store', 'nosniff', 'noindex', 'DENY']);
});

test('with anonymous access off no page shows anything', async () => {
  await service.close();
  service = await testService({ anonymous: false });
  const token = await create(
    service,
    { payload: 'hunter2', retrieval_step: false },
    service.adminToken,
  );
  const pages = [
    await open(`/p/${token}`),
    await submit(`/p/${token}`, {}),
    await open('/p/neverwas'),
  ];
  expect(pages.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(pages.map(({ html }) => html.includes('hunter2'))).toEqual([false, false, false]);
});
