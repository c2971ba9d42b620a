import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  call,
  type FormPart,
  filePart,
  type TestService,
  testService,
} from '../../helpers/service';

let service: TestService;

beforeEach(async () => {
  service = await testService();
});

afterEach(() => service.close());

async function restart(options: Parameters<typeof testService>[0]): Promise<void> {
  await service.close();
  service = await testService(options);
}

const field = (name: string, value: string): FormPart => ({ name: `push[${name}]`, value });

/** Sends the form as a browser does, which fills in all fields. */
async function submit(fields: Record<string, string>, files?: readonly FormPart[]) {
  const all = {
    payload: '',
    expire_after_views: '5',
    expire_after_days: '7',
    passphrase: '',
    ...fields,
  };
  const parts = Object.entries(all).map(([name, value]) => field(name, value));
  if (files) return call(service, 'POST', '/', { form: [...parts, ...files] });
  const body = new URLSearchParams(
    Object.fromEntries(parts.map(({ name, value }) => [name, String(value)])),
  );
  const response = await service.fetch(new Request('http://pw.test/', { method: 'POST', body }));
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const linkIn = (html: string) => /<bdo class="value" dir="ltr">(.*?)<\/bdo>/.exec(html)?.[1] ?? '';
const titleOf = (html: string) => /<h1>(.*)<\/h1>/.exec(html)?.[1];
const notes = (html: string) =>
  [...html.matchAll(/<p class="(?:wrong|problem)"[^>]*>(.*?)<\/p>/gs)].map(([, text = '']) =>
    text.replace(/<[^>]*>/g, ''),
  );
const retrieve = (link: string, query = '') =>
  call(service, 'GET', `/api/v2/pushes/${/\/p\/([\w-]+)/.exec(link)?.[1]}${query}`);

describe('the form of the front page', () => {
  test('creates a push without an account, and shows its link', async () => {
    const { status, text } = await submit({
      payload: 'hunter2',
      expire_after_views: '2',
      passphrase: 'sesame',
    });
    expect([status, titleOf(text)]).toEqual([201, 'Your link is ready']);
    const link = linkIn(text);
    expect(link).toMatch(/^http:\/\/pw\.test\/p\/[\w-]{19}\/r$/);
    expect(text).toContain('aria-label="QR code of the link"');
    expect(text).toContain('Give them the passphrase another way');
    expect(text).not.toMatch(/hunter2|sesame/);
    const { json } = await retrieve(link, '?passphrase=sesame');
    expect(json).toMatchObject({
      payload: 'hunter2',
      views_remaining: 1,
      days_remaining: 7,
      retrieval_step: true,
    });
  });

  test.each([
    ['0', '6', '2026-08-20T17:06:45.000Z'],
    ['1', '12', '2026-08-21T23:06:45.000Z'],
    ['7', '0', '2026-08-27T11:06:45.000Z'],
  ])('has days and hours: %s and %s', async (expire_after_days, hours, expires_at) => {
    const { text } = await submit({ payload: 'x', expire_after_days, hours });
    expect((await retrieve(linkIn(text))).json).toMatchObject({ expires_at });
  });

  test.each([
    ['0', '0'],
    ['90', '1'],
    ['1', 'x'],
  ])('refuses %s days and %s hours, and keeps them', async (expire_after_days, hours) => {
    const { status, text } = await submit({ payload: 'x', expire_after_days, hours });
    expect([status, notes(text)]).toEqual([422, ['Enter a whole number from 1 to 90.']]);
    expect(text).toContain(`value="${hours}" id="hours"`);
  });

  test('keeps the lines of a text as they were typed', async () => {
    const { text } = await submit({ payload: '-----BEGIN KEY-----\r\nabc\r\n' });
    expect((await retrieve(linkIn(text))).json.payload).toBe('-----BEGIN KEY-----\nabc\n');
  });

  test('neither the link nor the text is in the log', async () => {
    const { text } = await submit({ payload: 'hunter2' });
    const log = service.lines.join('\n');
    expect(log).toContain('POST /');
    expect(log).not.toContain(linkIn(text).split('/')[4]);
    expect(log).not.toContain('hunter2');
  });

  test.each<[string, Record<string, string>, string[]]>([
    ['a blank text', { payload: ' ' }, ['Enter a text.']],
    [
      'numbers',
      { payload: 'x', expire_after_views: '101', expire_after_days: 'x' },
      ['Enter a whole number from 1 to 100.', 'Enter a whole number from 1 to 90.'],
    ],
    [
      'a long passphrase',
      { payload: 'x', passphrase: 'p'.repeat(1025) },
      ['The passphrase is too long. The limit is 1,024 characters.'],
    ],
    ['a blank passphrase', { payload: 'x', passphrase: '  ' }, ['This value is not valid.']],
    [
      'a long text',
      { payload: 'x'.repeat(1024 * 1024 + 1) },
      ['The text is too large. The limit is 1\u00a0MiB.'],
    ],
    [
      'a text of any size',
      { payload: 'x'.repeat(9 * 1024 * 1024) },
      ['The text is too large. The limit is 1\u00a0MiB.'],
    ],
    [
      'another field',
      { payload: 'x', kind: 'letter' },
      ['The request is not valid. Go back and try again.'],
    ],
  ])('says what is wrong with %s', async (_, fields, problems) => {
    const { status, text } = await submit(fields);
    expect([status, titleOf(text), notes(text)]).toEqual([
      fields.payload && fields.payload.length > 8e6 ? 413 : 422,
      'Share a secret as a link that expires',
      problems,
    ]);
  });

  test('keeps what was entered, but not the passphrase, and goes to the first problem', async () => {
    const payload = '\n</textarea><script>1</script>';
    const { text } = await submit({
      payload,
      expire_after_days: '1000',
      passphrase: 'open sesame',
    });
    expect(/<textarea[^>]*>\n([\s\S]*?)<\/textarea>/.exec(text)?.[1]).toBe(
      '\n&lt;/textarea&gt;&lt;script&gt;1&lt;/script&gt;',
    );
    expect(text).toMatch(/value="1000" id="expire_after_days"[^>]* aria-invalid="true" autofocus/);
    expect(text.match(/ autofocus/g)).toHaveLength(1);
    expect(text).toContain('Enter the passphrase again.');
    expect(text).not.toContain('open sesame');
  });

  test('is refused from another site', async () => {
    const body = new URLSearchParams({ 'push[payload]': 'x' });
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      const request = new Request('http://pw.test/', { method: 'POST', body, headers });
      const response = await service.fetch(request);
      expect([response.status, await response.text()]).toEqual([
        403,
        expect.stringContaining('This form was sent from another site.'),
      ]);
    }
  });

  test('is a request as any other to the rate limit', async () => {
    await restart({ rateLimit: { requests: 1, milliseconds: 60_000 } });
    expect((await submit({ payload: 'x' })).status).toBe(201);
    const { status, text } = await submit({ payload: 'x' });
    expect([status, titleOf(text)]).toEqual([429, 'Too many requests']);
  });

  test('offers what this instance grants', async () => {
    await restart({ defaultDays: 3, maxDays: 14, maxViews: 9 });
    const { text } = await call(service, 'GET', '/');
    expect(text).toContain('min="0" max="14" required value="3"');
    expect(text).toContain('min="1" max="9" required value="5"');
  });

  describe('where only users push', () => {
    beforeEach(() => restart({ anonymous: false, anonymousFiles: true }));

    test('asks for a token, and pushes as its owner', async () => {
      const { text: form } = await call(service, 'GET', '/');
      expect(form).toContain('Only users of this instance can create links.');
      expect(form).toMatch(/type="password"[^>]* required id="api_token" name="push\[api_token\]"/);
      const made = await submit({ payload: 'x', api_token: ` ${service.otherToken}\n` });
      expect(made.status).toBe(201);
      expect(made.text).not.toContain(service.otherToken);
      const token = service.otherToken;
      const { json } = await call(service, 'GET', '/api/v2/pushes/active', { token });
      expect(json).toMatchObject([{ html_url: linkIn(made.text) }]);
    });

    test.each(['', 'nonsense'])('takes nothing with the token %j', async (api_token) => {
      const { status, text } = await submit({ payload: 'hunter2', api_token });
      expect([status, notes(text)]).toEqual([422, ['This value is not valid.']]);
      expect(text).toContain('hunter2');
      expect(text).not.toContain('nonsense');
      const files = await submit({ api_token }, [filePart('a', 'A')]);
      expect([files.status, notes(files.text)[0]]).toEqual([422, 'This value is not valid.']);
    });

    test('takes files after the token, whether it takes them from everybody or not', async () => {
      await restart({ anonymous: false });
      const { text: form } = await call(service, 'GET', '/');
      expect(form.indexOf('name="push[api_token]"')).toBeLessThan(
        form.indexOf('name="push[files][]"'),
      );
      const fields = { api_token: service.otherToken, payload: 'the scans' };
      const { status, text } = await submit(fields, [filePart('a', 'A')]);
      expect(status).toBe(201);
      const token = service.otherToken;
      const path = `/api/v2/pushes/${linkIn(text).split('/')[4]}`;
      const { json } = await call(service, 'GET', path, { token });
      expect(json).toMatchObject({ payload: 'the scans', files: [{ filename: 'a' }] });
    });
  });

  describe('asks for a secret', () => {
    const post = (path: string, fields: Record<string, string>) =>
      call(service, 'POST', path, {
        form: Object.entries(fields).map(([name, value]) => ({ name, value })),
      });
    const question = { 'push[payload]': 'The password?', 'push[hours]': '0' };
    const asked = (token: string, days = '1') =>
      post('/ask', { ...question, 'push[api_token]': token, 'push[expire_after_days]': days });

    test('of whoever has the link, and shows the answer to the user who asked, once', async () => {
      expect((await call(service, 'GET', '/ask')).text).toContain('What is asked for');
      const made = await asked(service.otherToken);
      expect(made.status).toBe(201);
      const path = new URL(linkIn(made.text).replace(/&.*/, '')).pathname;
      expect((await post(path, { 'request[response]': 'hunter2' })).text).toContain('was sent');
      const read = (token: string) => post(path, { 'request[api_token]': token });
      for (const wrong of ['', 'nonsense', service.adminToken])
        expect((await read(wrong)).text).not.toContain('hunter2');
      const { text } = await read(service.otherToken);
      expect(text).toContain('hunter2');
      expect(text).toContain('That was the last view.');
      expect((await read(service.otherToken)).text).not.toContain('hunter2');
    });

    test('and keeps what was typed where a value is wrong', async () => {
      for (const [token, days] of [
        ['nonsense', '1'],
        [service.otherToken, '999'],
      ] as const) {
        const { status, text } = await asked(token, days);
        expect([status, notes(text).length]).toEqual([422, 1]);
        expect(text).toContain('The password?');
      }
    });
  });

  test('asks for no token where everybody pushes', async () => {
    expect((await call(service, 'GET', '/')).text).not.toContain('api_token');
  });
});

describe('files without an account', () => {
  test('are not in the form unless the operator says so, nor taken', async () => {
    expect((await call(service, 'GET', '/')).text).not.toContain('type="file"');
    expect((await submit({}, [filePart('a', 'A')])).status).toBe(401);
  });

  describe('where the operator says so', () => {
    beforeEach(() => restart({ anonymousFiles: true, maxFileSize: 1024 }));

    test('are pushed by the form, with or without a text', async () => {
      const { status, text } = await submit({ payload: 'the scans' }, [
        filePart('a', 'A'),
        filePart('b', 'B'),
      ]);
      expect(status).toBe(201);
      const { json } = await retrieve(linkIn(text));
      expect(json).toMatchObject({
        payload: 'the scans',
        files: [{ filename: 'a' }, { filename: 'b' }],
      });
      expect((await submit({}, [filePart('a', 'A')])).status).toBe(201);
    });

    test('and by the API, which says so', async () => {
      const form = [filePart('a', 'A')];
      expect((await call(service, 'POST', '/api/v2/pushes', { form })).status).toBe(201);
      const { json } = await call(service, 'GET', '/api/v2/version');
      expect(json.features.pushes.file_attachments.requires_authentication).toBe(false);
    });

    test('a text needs none, as browsers send the empty field', async () => {
      const none = {
        name: 'push[files][]',
        filename: '',
        value: '',
        type: 'application/octet-stream',
      };
      const { status, text } = await submit({ payload: 'hunter2' }, [none]);
      expect([status, (await retrieve(linkIn(text))).json.payload]).toEqual([201, 'hunter2']);
      expect(notes((await submit({}, [none])).text)).toEqual(['Enter a text or choose files.']);
    });

    const eleven = Array.from({ length: 11 }, (_, at) => filePart(`${at}`, 'x'));
    test.each([
      [
        'one that is too large',
        413,
        [filePart('a', 'A'), filePart('b', Buffer.alloc(1025))],
        'A file is too large. The limit is 1\u00a0KiB.',
      ],
      ['too many', 422, eleven, 'Choose at most 10 files.'],
      [
        'a name that is too long',
        422,
        [filePart('a'.repeat(300), 'x')],
        'This value is not valid.',
      ],
    ])('%s: the text stays, and nothing else', async (_, status, files, problem) => {
      const answer = await submit({ payload: 'the scans' }, files);
      expect([answer.status, notes(answer.text)]).toEqual([status, [problem]]);
      expect(answer.text).toContain('\nthe scans</textarea>');
    });

    test('all of it together', async () => {
      const headers = { 'content-length': '99999999' };
      const { status, text } = await call(service, 'POST', '/', {
        form: [filePart('a', 'A')],
        headers,
      });
      expect([status, notes(text)]).toEqual([
        413,
        ['What you sent is larger than this instance accepts.'],
      ]);
    });

    test('have to be chosen again when something else is wrong', async () => {
      const { text } = await submit({ expire_after_days: '1000' }, [filePart('a', 'A')]);
      expect(text).toContain('Choose the files again.');
    });
  });
});
