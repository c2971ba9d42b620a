import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asking, lines } from '../helpers/foreign';
import { type Instance, instance } from '../helpers/instance';
import { CREATED, changed, NOTIFIED, VERSION } from '../helpers/reference';
import { json } from '../helpers/wire';

const notify = (...words: string[]) => ['notify', 'quyul5r5w08', ...words];
const NOT_FOUND = json(404, '{"error":"not-found"}');

describe('notify', () => {
  test('says on a terminal what the instance said', async () => {
    const terminals = ['stderr'] as const;
    const { stderr } = await asking([json(201, NOTIFIED)], notify('a@example.com'), { terminals });
    expect(stderr).toBe('The emails are being sent.\n');
    const { stderr: own } = await asking([json(201, '{}')], notify('a@x.test', 'b@x.test'), {
      terminals,
    });
    expect(own).toBe('the instance e-mails the link to a@x.test, b@x.test\n');
  });

  test('prints the answer with --json', async () => {
    const { stdout } = await asking([json(201, NOTIFIED)], notify('a@example.com', '--json'));
    expect(stdout).toBe(`${NOTIFIED}\n`);
  });

  test('takes addresses with commas too, and each once', async () => {
    const { sent } = await asking([json(201, NOTIFIED)], notify('a@x.test, b@x.test', 'a@x.test'));
    expect(sent[0]).toContain('{"notify_emails_to":"a@x.test,b@x.test"}');
  });

  test.each([
    [['ann'], '"ann" is not an e-mail address'],
    [['a@x.test,'], '"" is not an e-mail address'],
    [['Ann <a@x.test>'], '"Ann <a@x.test>" is not an e-mail address'],
    [['a@x.test\nbcc:b@x.test'], '"a@x.test\\nbcc:b@x.test" is not an e-mail address'],
    [['a@x', 'b@x', 'c@x', 'd@x', 'e@x', 'f@x'], 'at most 5 e-mail addresses are allowed, not 6'],
    [['a@x.test', '--locale', 'french!'], '"french!" is not a language code'],
    [[], 'missing <email>'],
  ])('%j is bad usage, and nothing is sent', async (words, message) => {
    const { code, stderr, sent } = await asking([], notify(...words));
    expect({ code, first: stderr.split('\n')[0], sent }).toEqual({
      code: 2,
      first: `pwpush: ${message}`,
      sent: [],
    });
  });

  test.each([
    [changed(VERSION, { features: { pushes: { email_auto_dispatch: false } } })],
    ['{"application_version":"2.4.0","api_version":"2.0","edition":"oss"}'],
  ])('of an instance without e-mail says so: %s', async (version) => {
    const outcome = await asking([NOT_FOUND, json(200, version)], notify('a@example.com'));
    expect({ code: outcome.code, stderr: outcome.stderr, asked: lines(outcome).length }).toEqual({
      code: 8,
      stderr: 'pwpush: this instance sends no e-mail\nhint: send the link yourself\n',
      asked: 2,
    });
  });

  test.each([json(200, VERSION), json(500, '')])(
    'of a push that is not there is 5 where the instance has e-mail, or does not tell',
    async (version) => {
      const { code } = await asking([NOT_FOUND, version], notify('a@example.com'));
      expect(code).toBe(5);
    },
  );

  test.each([
    [401, 3],
    [403, 4],
    [422, 8],
    [500, 11],
  ])('an answer of %d is exit %d', async (status, code) => {
    const { code: got } = await asking([json(status, '{"error":"no"}')], notify('a@example.com'));
    expect(got).toBe(code);
  });
});

describe('push --notify', () => {
  test('warns when the instance takes no notice, and prints the link', async () => {
    const { code, stdout, stderr } = await asking(
      [json(201, CREATED)],
      ['push', '--notify', 'a@example.com'],
      { stdin: 's' },
    );
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'https://pw.test/p/quyul5r5w08/r\n',
      stderr:
        'warning: the instance did not confirm that it sends e-mail: send the link yourself\n',
    });
  });

  test.each([
    [['--notify', 'ann'], 'address 1 after --notify is not an e-mail address'],
    [['--notify-locale', 'fr'], '--notify-locale requires --notify EMAIL'],
  ])('%j is bad usage', async (words, message) => {
    const { code, stderr, sent } = await asking([], ['push', ...words], { stdin: 's' });
    expect({ code, first: stderr.split('\n')[0], sent }).toEqual({
      code: 2,
      first: `pwpush: ${message}`,
      sent: [],
    });
  });
});

describe('the embedded service', () => {
  let here: Instance;
  beforeEach(async () => {
    here = await instance();
  });
  afterEach(() => here.close());

  test('sends no e-mail, and refuses to be asked', async () => {
    const token = await here.push({ payload: 's' }, here.service.adminToken);
    const owner = here.under({ env: here.admin });
    expect((await owner.run('notify', token, 'a@example.com')).code).toBe(8);
    const sender = here.under({ env: here.admin, stdin: 's' });
    expect(await sender.run('push', '--notify', 'a@example.com')).toMatchObject({
      code: 8,
      stderr: 'pwpush: the instance refused the request: --notify: This instance sends no e-mail\n',
    });
    expect((await owner.run('list')).stdout).toMatch(new RegExp(`^${token}\t[^\n]*\n$`));
  });
});
