import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { type Instance, instance } from '../helpers/instance';
import { CREATED, changed, EXPIRED } from '../helpers/reference';
import { place } from '../helpers/run';
import { broken, json, wire } from '../helpers/wire';

const WORDS = '[a-z]+(?:-[a-z]+){4,}';

let here: Instance;
let path: string;
beforeEach(async () => {
  here = await instance({ stdin: 'hunter2' });
  path = here.file('passphrase');
});
afterEach(() => here.close());

const push = (...words: string[]) => here.run('push', '--generate-passphrase', ...words);
const get = (link: string, passphrase: string) =>
  here.under({ env: { PWPUSH_PASSPHRASE: passphrase } }).run('get', link.trim());

describe('--generate-passphrase', () => {
  test.each([[[]], [['--quiet']]])(
    'shows it on stderr, and it opens the push: %j',
    async (words) => {
      const { code, stdout, stderr } = await push(...words);
      const passphrase = new RegExp(`^passphrase: (${WORDS})\n$`).exec(stderr)?.[1] ?? '';
      expect(code).toBe(0);
      expect((await get(stdout, passphrase)).stdout).toBe('hunter2');
      expect((await get(stdout, `${passphrase}x`)).code).toBe(7);
    },
  );

  test('is a line of JSON on stderr with --json, and not on stdout', async () => {
    const { stdout, stderr } = await push('--json');
    const { passphrase } = JSON.parse(stderr);
    expect(passphrase).toMatch(new RegExp(`^${WORDS}$`));
    expect(stdout).not.toContain(passphrase);
    expect((await get(JSON.parse(stdout).html_url, passphrase)).stdout).toBe('hunter2');
  });

  test('is masked by --dry-run, which shows none', async () => {
    const { stdout, stderr } = await push('--dry-run', '--json', '--passphrase-out', path);
    expect({ push: JSON.parse(stdout).body.push, stderr, there: existsSync(path) }).toEqual({
      push: { payload: '***', passphrase: '***' },
      stderr: '',
      there: false,
    });
  });

  test.each([{ closed: ['stderr'] as const }, { failing: { stderr: 'EPIPE' } as const }])(
    'sends nothing where it cannot be shown: %j',
    async (conditions) => {
      const { code } = await here.under(conditions).run('push', '--generate-passphrase');
      expect({ code, asked: here.asked }).toEqual({ code: 2, asked: [] });
    },
  );
});

describe('--passphrase-out', () => {
  const out = () => push('--passphrase-out', path);

  test('writes it to a new file, 0600, and shows nothing', async () => {
    const before = process.umask(0);
    const { code, stdout, stderr } = await out();
    process.umask(before);
    const text = readFileSync(path, 'utf8');
    expect({ code, stderr, text, mode: (statSync(path).mode & 0o777).toString(8) }).toEqual({
      code: 0,
      stderr: '',
      text: expect.stringMatching(new RegExp(`^${WORDS}\n$`)),
      mode: '600',
    });
    const words = ['get', stdout.trim(), '--passphrase-file', path];
    expect((await here.run(...words)).stdout).toBe('hunter2');
  });

  test('leaves what is there as it is, a link too, and sends nothing', async () => {
    writeFileSync(path, 'mine');
    expect(await out()).toEqual({
      code: 2,
      stdout: '',
      stderr: `pwpush: "${path}" already exists; nothing was sent\nhint: choose a new file\n`,
    });
    path = here.file('link');
    symlinkSync(here.file('target'), path);
    expect({ code: (await out()).code, there: existsSync(here.file('target')) }).toEqual({
      code: 2,
      there: false,
    });
    expect([readFileSync(here.file('passphrase'), 'utf8'), here.asked]).toEqual(['mine', []]);
  });

  test('in a folder that is not there sends nothing', async () => {
    path = here.file('none/passphrase');
    expect({ code: (await out()).code, asked: here.asked }).toEqual({ code: 2, asked: [] });
  });

  test.each([
    [[json(422, '{"payload":["is bad"]}')], 8, false],
    [[broken(false)], 9, false],
    [[broken(true)], 11, true],
    [[json(502, '')], 11, true],
    [[json(201, changed(CREATED, { passphrase: null }))], 0, true],
    // Looser than asked for: expired again, or not.
    [[json(201, changed(CREATED, { passphrase: '' })), json(200, EXPIRED)], 8, false],
    [[json(201, changed(CREATED, { passphrase: '' })), json(403, '{}')], 8, true],
  ])('after %j, which is %d, the file is there: %j', async (answers, code, kept) => {
    const { send } = wire(answers);
    const there = place({ send, stdin: 's', env: { PWPUSH_URL: 'https://pw.test' } });
    const file = there.file('passphrase');
    const outcome = await there.run('push', '--generate-passphrase', '--passphrase-out', file);
    expect({ code: outcome.code, kept: existsSync(file) }).toEqual({ code, kept });
    there.close();
  });
});

test.each([
  [['-p', '--generate-passphrase'], 'not from -p and --generate-passphrase'],
  [['--generate-passphrase', '--passphrase-env', 'A'], 'not from --passphrase-env and --gen'],
  [['--passphrase-out', 'x'], '--passphrase-out requires --generate-passphrase'],
])('%j is bad usage', async (words, message) => {
  const { code, stderr, sent } = await asking([], ['push', ...words], { stdin: 's' });
  expect({ code, told: stderr.includes(message), sent }).toEqual({ code: 2, told: true, sent: [] });
});
