import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { locales } from '../../src/contract/api';
import { asking } from '../helpers/foreign';
import { type Instance, instance } from '../helpers/instance';
import { CREATED } from '../helpers/reference';
import { json } from '../helpers/wire';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

const linkLine = expect.stringMatching(/^https:\/\/pw\.test\/p\/[a-z0-9_-]{11,19}\/r\n$/);

test('a generated secret is told on a terminal', async () => {
  const shown = here.under({ terminals: ['stdout', 'stderr'] });
  const { stdout, stderr } = await shown.run('push', '--generate');
  expect(stderr).toContain((await here.run('get', stdout.trim())).stdout);
});

describe('a QR code of a loopback address, which leads a phone to itself, is said to', () => {
  test.each([
    ['http://127.0.0.1:5100', true],
    ['http://localhost:5100', true],
    ['http://[::1]:5100', true],
    ['https://pw.test', false],
  ])('%s', async (base, local) => {
    const created = CREATED.replaceAll('https://pw.test', base);
    const env = { PWPUSH_URL: base };
    const pushed = await asking([json(201, created)], ['push', 'x', '--qr', '--quiet'], { env });
    const answer = `{"url":"${base}/p/abc/r"}`;
    const shown = await asking([json(200, answer)], ['preview', 'abc', '--qr'], { env });
    const said = [pushed, shown].map(({ stderr }) => /only this machine/.test(stderr));
    expect([pushed.code, shown.code, said]).toEqual([0, 0, [local, local]]);
  });
});

test('--qr on a terminal that is too narrow draws nothing, and the link is there', async () => {
  const narrow = here.under({ terminals: ['stderr'], columns: 30, stdin: 'x' });
  const { code, stdout, stderr } = await narrow.run('push', '--qr');
  expect([code, stdout, /[█▀▄]/.test(stderr)]).toEqual([0, linkLine, false]);
});

test('a link with a language is a link as any other, in JSON and of each line, too', async () => {
  const { stdout } = await here.run('push', 'x', '--locale', 'pt-BR');
  expect((await here.run('expire', stdout.trim())).code).toBe(0);
  const asObject = await here.run('push', 'x', '--locale', 'ur', '--json');
  expect(JSON.parse(asObject.stdout).html_url).toMatch(/\/r\?locale=ur$/);
  const each = here.under({ stdin: 'a\nb\n' });
  const links = (await each.run('push', '--each', '--locale', 'ja')).stdout.trim().split('\n');
  expect(links.map((one) => one.split('?')[1])).toEqual(['locale=ja', 'locale=ja']);
});

test('the languages of --locale are those of the reference', async () => {
  const help = (await here.run('push', '--help')).stdout.replace(/\s+/g, ' ');
  expect(help).toContain(`Languages of --locale: ${locales.join(' ')}.`);
});
