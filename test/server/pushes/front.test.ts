import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { type FormPart, filePart, opened, type TestOptions, type TestService } from '../../helpers/service';
import { addressIn as linkIn, problemsIn, titleOf } from '../page/pages';

let service: TestService;

beforeEach(async () => {
  service = await opened();
});

async function restart(options: TestOptions): Promise<void> {
  service = await opened(options);
}

/** Sends the form as a browser does, which fills in all fields. */
async function submit(
  own: Record<string, string>,
  { files, headers = {} }: { files?: readonly FormPart[]; headers?: Record<string, string> } = {},
) {
  const usual = { payload: '', expire_after_views: '5', expire_after_days: '7', passphrase: '' };
  const named = Object.entries({ ...usual, ...own }).map(([name, value]) => [`push[${name}]`, value] as const);
  const parts = named.map(([name, value]) => ({ name, value }));
  const sent = files ? { form: [...parts, ...files] } : { fields: Object.fromEntries(named) };
  return service.call('POST', '/', { ...sent, headers });
}

const front = async () => (await service.call('GET', '/')).text;
const behind = async (html: string, query = '', how = {}) =>
  (await service.retrieve(`${/\/p\/([\w-]+)/.exec(linkIn(html))?.[1]}${query}`, how)).json;

test('the front page has commands that encrypt: the profile of a login does', async () => {
  expect(await front()).toContain('pwpush push --encrypt --url http://pw.test</pre>');
  await restart({ anonymous: false });
  expect(await front()).toContain('pwpush login http://pw.test\npwpush push</pre>');
});

test('the front page offers an installation from npm as soon as there is a release', async () => {
  const isReleased = /^## .* - \d/m.test(readFileSync('CHANGELOG.md', 'utf8'));
  expect((await front()).includes('npm install -g pwpush')).toBe(isReleased);
});

describe('the form of the front page', () => {
  test('creates a push without an account, and shows its link', async () => {
    const payload = '-----BEGIN KEY-----\r\nhunter2\r\n';
    const entered = { payload, expire_after_views: '2', passphrase: 'sesame' };
    const { status, text } = await submit(entered);
    expect([status, titleOf(text)]).toEqual([201, 'Your link is ready']);
    const link = linkIn(text);
    expect(link).toMatch(/^http:\/\/pw\.test\/p\/[\w-]{19}\/r$/);
    expect(text).not.toMatch(/hunter2|sesame/);
    const lines = '-----BEGIN KEY-----\nhunter2\n';
    const pushed = { payload: lines, views_remaining: 1, days_remaining: 7 };
    expect(await behind(text, '?passphrase=sesame')).toMatchObject(pushed);
  });

  test.each([
    ['1', '12', '2026-08-21T23:06:45.000Z'],
    ['0', '0', undefined],
    ['90', '1', undefined],
    ['1', 'x', undefined],
  ])('of %s days and %s hours expires at %s', async (expire_after_days, hours, expires_at) => {
    const { status, text } = await submit({ payload: 'x', expire_after_days, hours });
    expect(status).toBe(expires_at ? 201 : 422);
    if (expires_at) expect(await behind(text)).toMatchObject({ expires_at });
    else expect(text).toContain(`value="${hours}" id="hours"`);
  });

  const LONG = 'The passphrase is too long. The limit is 1,024 characters.';
  const TOO_LARGE = 'The text is too large. The limit is 1\u00a0MiB.';
  test.each<[string, Record<string, string>, number, string]>([
    ['a blank text', { payload: ' ' }, 422, 'Enter a text.'],
    ['a number', { expire_after_views: '101' }, 422, 'Enter a whole number from 1 to 100.'],
    ['a blank passphrase', { passphrase: '  ' }, 422, 'This value is not valid.'],
    ['a long passphrase', { passphrase: 'p'.repeat(1025) }, 422, LONG],
    ['a long text', { payload: 'x'.repeat(1024 * 1024 + 1) }, 422, TOO_LARGE],
    ['a text of any size', { payload: 'x'.repeat(9 * 1024 * 1024) }, 413, TOO_LARGE],
    ['another field', { kind: 'letter' }, 422, 'The request is not valid. Go back and try again.'],
  ])('says what is wrong with %s', async (_, fields, status, problem) => {
    const answer = await submit({ payload: 'x', ...fields });
    expect([answer.status, problemsIn(answer.text)]).toEqual([status, [problem]]);
  });

  test('says that hours are too short a time where days are the least', async () => {
    service = await opened({ minDays: 2, maxDays: 2 });
    const { text } = await service.call('GET', '/');
    expect(text).toContain('min="2" max="2" required value="2" id="expire_after_days"');
    const answer = await submit({ payload: 'x', expire_after_days: '0', hours: '3' });
    const problem = 'Enter a whole number from 2 to 2.';
    expect([answer.status, problemsIn(answer.text)]).toEqual([422, [problem]]);
  });

  test('keeps what was entered, but not the passphrase, and goes to the first problem', async () => {
    const payload = '\n</textarea><script>1</script>';
    const entered = { payload, expire_after_days: '1000', passphrase: 'open sesame' };
    const { text } = await submit(entered);
    expect(/<textarea[^>]*>\n([\s\S]*?)<\/textarea>/.exec(text)?.[1]).toBe(
      '\n&lt;/textarea&gt;&lt;script&gt;1&lt;/script&gt;',
    );
    expect(text).toMatch(/value="1000" id="expire_after_days"[^>]* aria-invalid="true" autofocus/);
    expect(text.match(/ autofocus/g)).toHaveLength(1);
    expect(text).toContain('Enter the passphrase again.');
    expect(text).not.toContain('open sesame');
  });

  test('is refused from another site', async () => {
    const foreign = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }];
    for (const headers of foreign as Record<string, string>[]) {
      const { status, text } = await submit({ payload: 'x' }, { headers });
      const said = expect.stringContaining('This form was sent from another site.');
      expect([status, text]).toEqual([403, said]);
    }
  });

  describe('where only users push', () => {
    const NO_TOKEN = 'This is not a valid token. Copy it again.';
    beforeEach(() => restart({ anonymous: false, anonymousFiles: true }));

    test('asks for a token, and pushes as its owner', async () => {
      const form = await front();
      expect(form).toContain('Only users of this instance can create links.');
      expect(form).toMatch(/type="password"[^>]* required id="api_token" name="push\[api_token\]"/);
      expect(form).toContain('aria-label="Show: API token" data-other="Hide: API token"');
      const api_token = ` ${service.otherToken}\n`;
      const { status, text } = await submit({ payload: 'x', api_token });
      expect([status, text.includes(service.otherToken)]).toEqual([201, false]);
      const own = await service.list('active', service.asOther);
      expect(own).toMatchObject([{ html_url: linkIn(text) }]);
    });

    test.each(['', 'nonsense'])('takes nothing with the token %j', async (api_token) => {
      const { status, text } = await submit({ payload: 'hunter2', api_token });
      expect([status, problemsIn(text)]).toEqual([422, [NO_TOKEN]]);
      expect(text).toContain('hunter2');
      expect(text).not.toContain('nonsense');
      const files = await submit({ api_token }, { files: [filePart('a', 'A')] });
      expect([files.status, problemsIn(files.text)[0]]).toEqual([422, NO_TOKEN]);
    });

    test('takes files after the token, whether it takes them from everybody or not', async () => {
      await restart({ anonymous: false });
      const form = await front();
      const order = form.match(/name="push\[(?:api_token|files)\]/g);
      expect(order).toEqual(['name="push[api_token]', 'name="push[files]']);
      const fields = { api_token: service.otherToken, payload: 'the scans' };
      const { status, text } = await submit(fields, { files: [filePart('a', 'A')] });
      expect(status).toBe(201);
      const pushed = { payload: 'the scans', files: [{ filename: 'a' }] };
      expect(await behind(text, '', service.asOther)).toMatchObject(pushed);
    });
  });

  describe('asks for a secret', () => {
    const post = (path: string, fields: Record<string, string>) => {
      const form = Object.entries(fields).map(([name, value]) => ({ name, value }));
      return service.call('POST', path, { form });
    };
    const question = { 'push[payload]': 'The password?', 'push[hours]': '0' };
    const asked = (token: string, days = '1') =>
      post('/ask', { ...question, 'push[api_token]': token, 'push[expire_after_days]': days });

    test('of whoever has the link, and shows the answer to the user who asked, once', async () => {
      const [path] = /\/ask(?=")/.exec(await front()) ?? [];
      const form = (await service.call('GET', `${path}`)).text;
      expect(form).toContain('What is asked for');
      expect(form).toContain('the person who runs this server, and anyone who has your token, can read it.');
      const made = await asked(service.otherToken);
      expect(made.status).toBe(201);
      const at = new URL(linkIn(made.text).replace(/&.*/, '')).pathname;
      expect((await post(at, { 'request[response]': 'hunter2' })).text).toContain('was sent');
      const read = (token: string) => post(at, { 'request[api_token]': token });
      for (const wrong of ['', 'nonsense', service.adminToken])
        expect((await read(wrong)).text).not.toContain('hunter2');
      const { text } = await read(service.otherToken);
      expect(text).toContain('hunter2');
      expect(text).toContain('That was the last view.');
      expect((await read(service.otherToken)).text).not.toContain('hunter2');
    });
  });
});

describe('files without an account', () => {
  const send = (own: Record<string, string>, ...files: FormPart[]) => submit(own, { files });

  test('are not in the form unless the operator says so, nor taken', async () => {
    expect(await front()).not.toContain('type="file"');
    expect((await send({}, filePart('a', 'A'))).status).toBe(401);
  });

  describe('where the operator says so', () => {
    beforeEach(() => restart({ anonymousFiles: true, maxFileSize: 1024 }));

    test('are pushed by the form, with or without a text', async () => {
      const files = [filePart('a', 'A'), filePart('b', 'B')];
      const { status, text } = await send({ payload: 'the scans' }, ...files);
      expect(status).toBe(201);
      const pushed = { payload: 'the scans', files: [{ filename: 'a' }, { filename: 'b' }] };
      expect(await behind(text)).toMatchObject(pushed);
      expect((await send({}, filePart('a', 'A'))).status).toBe(201);
      const byApi = await service.call('POST', '/api/v2/pushes', { form: files });
      expect(byApi.status).toBe(201);
      const { json } = await service.call('GET', '/api/v2/version');
      expect(json.features.pushes.file_attachments.requires_authentication).toBe(false);
      const wrong = await send({ expire_after_days: '1000' }, ...files);
      expect(wrong.text).toContain('Choose the files again.');
    });

    test('a text needs none, as browsers send the empty field', async () => {
      const none = filePart('', '', 'application/octet-stream');
      const empty = { name: 'push[files][]', value: '' };
      const { status, text } = await send({ payload: 'hunter2' }, none, empty);
      expect([status, (await behind(text)).payload]).toEqual([201, 'hunter2']);
      expect(problemsIn((await send({}, none)).text)).toEqual(['Enter a text or choose files.']);
    });

    const large = [filePart('a', 'A'), filePart('b', Buffer.alloc(1025))];
    const eleven = Array(11).fill(filePart('a', 'x'));
    test.each([
      ['one that is too large', 413, large, 'A file is too large. The limit is 1\u00a0KiB.'],
      ['too many', 422, eleven, 'Choose at most 10 files.'],
    ])('%s: the text stays, and nothing else', async (_, status, files, problem) => {
      const answer = await send({ payload: 'the scans' }, ...files);
      expect([answer.status, problemsIn(answer.text)]).toEqual([status, [problem]]);
      expect(answer.text).toContain('\nthe scans</textarea>');
    });
  });
});
