import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newKeyPair, parseRecipient } from '../../src/age/key-files';
import type { Transport } from '../../src/platform/context';
import { encryptText } from '../helpers/age';
import {
  commercialRequests,
  type Guesses,
  OWNER,
  PRO,
  type StandIn,
} from '../helpers/commercial-requests';
import { mountDisk, needsDisk } from '../helpers/disk';
import { BASE, type Instance, instance, overFetch } from '../helpers/instance';
import { type Place, place } from '../helpers/run';
import { broken } from '../helpers/wire';

// What is said is told by the transcripts test/cases/request-*.txt and respond-*.txt.

const LINK = new RegExp(`^${BASE}/r/([\\w-]+)#(age1[a-z0-9]{58})\n$`);

const LINK_LINE = new RegExp(`^${BASE}/r/[\\w-]+#age1[a-z0-9]{58}$`, 'm');

describe('with the service', () => {
  let here: Instance;
  beforeEach(async () => {
    let naps = 0;
    here = await instance({
      asleep: (milliseconds) => {
        here.service.clock.advance(milliseconds);
        naps += 1;
        if (naps > 1000) throw new Error('it waits for ever');
      },
    });
  });
  afterEach(() => here.close());

  const owner = () => here.under({ env: here.admin });
  const keys = () => Object.keys(here.rescued()).filter((name) => name.endsWith('.key'));

  /** Asks, and returns the link. */
  async function asked(...more: string[]) {
    const { code, stdout, stderr } = await owner().run('request', 'The password?', ...more);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [, token = '', key = ''] = LINK.exec(stdout) ?? [];
    return { link: stdout.trim(), token, key };
  }

  test('the one who asks takes no answer by answering', async () => {
    const { link } = await asked();
    await here.under({ stdin: 'first' }).run('respond', link);
    await here.under({ stdin: 'second', env: here.admin }).run('respond', link);
    expect((await owner().run('get', link)).stdout).toBe('first');
  });

  test('expire closes it and removes the key; wait ends with 6', async () => {
    const { link, token } = await asked();
    expect((await owner().run('expire', link)).code).toBe(0);
    expect(keys()).toEqual([]);
    expect((await owner().run('wait', link)).code).toBe(6);
    expect((await here.under({ stdin: 'x' }).run('respond', link)).code).toBe(6);
    // From a page that was open before: the log has the attempt.
    const late = await here.service.fetch(
      new Request(`${BASE}/api/v2/requests/${token}/respond`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: '{"request":{"response":"late"}}',
      }),
    );
    expect(late.status).toBe(410);
    expect((await owner().run('wait', link)).code).toBe(6);
    expect((await owner().run('get', token)).code).toBe(6);
  });

  test('a key that cannot be removed is told of, and the command has run', async () => {
    const { link, token } = await asked();
    await here.under({ stdin: '123456' }).run('respond', link);
    const key = here.file(`state/requests/${token}.key`);
    const env = { ...here.admin, PATH: process.env.PATH };
    const script = `rm '${key}'; mkdir '${key}'; exit 3`;
    const ran = await here.under({ env }).run('run', link, '--as', 'OTP', '--', 'sh', '-c', script);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 3, stdout: '' });
    expect(ran.stderr).toContain(key);
  });

  test('an answer is not taken while its key cannot be read', async () => {
    const { link, token } = await asked();
    await here.under({ stdin: '123456' }).run('respond', link);
    const key = here.file(`state/requests/${token}.key`);
    renameSync(key, here.file('aside'));
    mkdirSync(key);
    expect(await owner().run('get', link)).toMatchObject({ code: 1, stdout: '' });
    rmdirSync(key);
    renameSync(here.file('aside'), key);
    expect((await owner().run('get', link)).stdout).toBe('123456');
  });

  test('the key is kept before the link is printed, and the link reaches the user', async () => {
    const held: string[] = [];
    const stdout = () => held.push(...keys());
    const ended = new AbortController();
    const hold = () => {
      stdout();
      ended.abort('SIGTERM');
    };
    const made = await here
      .under({ env: here.admin, held: { stdout: hold }, signal: ended.signal })
      .run('request', 'Q');
    expect(made.code).toBe(143);
    expect(held).toHaveLength(1);
    const failed = await here
      .under({ env: here.admin, failing: { stdout: 'EPIPE' } })
      .run('request', 'Q');
    expect(failed.stderr).toMatch(LINK_LINE);
    expect(keys()).toHaveLength(2);
  });

  test('what cannot be given to the one who asks leaves no key', async () => {
    writeFileSync(here.file('words'), '');
    const words = ['--generate-passphrase', '--passphrase-out', here.file('words')];
    expect((await owner().run('request', 'Q', ...words)).code).toBe(2);
    expect(here.rescued()).toEqual({});
    expect(here.asked).toEqual([]);
  });

  test('a file in place of the state folder is noticed before anything is sent', async () => {
    writeFileSync(here.file('state'), 'a file in its place');
    const made = await owner().run('request', 'Q');
    expect(made).toMatchObject({ code: 1, stdout: '' });
    expect(here.asked).toEqual([]);
  });

  test('a full disk is noticed before anything is sent', needsDisk, async () => {
    const disk = mountDisk(1);
    const env = { ...here.admin, PWPUSH_STATE_DIR: join(disk.folder, 'state') };
    disk.fill();
    const made = await here.under({ env }).run('request', 'Q');
    disk.remove();
    expect(made).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('ENOSPC') });
    expect(here.asked).toEqual([]);
  });

  test('--no-encrypt gives a link without a key', async () => {
    const { code, stdout } = await owner().run('request', 'Q', '--no-encrypt');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\/r\/[\w-]+\n$/)]);
    await here.under({ stdin: 'hunter2' }).run('respond', stdout.trim());
    expect((await owner().run('get', stdout.trim())).stdout).toBe('hunter2');
  });

  test('--json has the object of the instance, and the answer in it', async () => {
    const made = await owner().run('request', 'Q', '--json');
    const { html_url, encrypted, public_key } = JSON.parse(made.stdout);
    expect([encrypted, html_url.endsWith(`#${public_key}`)]).toEqual([true, true]);
    const answered = await here.under({}).run('respond', html_url, '--generate', '12', '--json');
    const { generated, state } = JSON.parse(answered.stdout);
    expect(state).toBe('ready');
    const got = JSON.parse((await owner().run('get', html_url, '--json')).stdout);
    expect(got).toMatchObject({ response: generated, encrypted: true });
    expect('payload' in got).toBe(false);
  });
});

test.each([
  ['request', 'Q', '--wait'],
  ['wait', `${PRO}/r/request1`],
])('an instance that does not respond is not waited for longer: %j', async (...words) => {
  const standIn = commercialRequests({ encrypts: true });
  let time = 0;
  const send: Transport = async (request) => {
    if (request.method === 'POST') return standIn.send(request);
    time += 3000;
    throw broken(true);
  };
  const env = { PWPUSH_URL: PRO, PWPUSH_TOKEN: OWNER };
  const here = place({ send, env, now: () => new Date(Date.UTC(2026, 7, 20) + time) });
  const { code } = await here.run(...words, '--for', '3');
  expect(code).toBe(12);
  expect(here.transports.at(-1)?.timeout).toBe(3);
  here.close();
});

describe('with the commercial edition', () => {
  let standIn: StandIn;
  let here: Place;
  const edition = (guesses: Guesses = {}) => {
    standIn = commercialRequests(guesses);
    here = place({ send: standIn.send, env: { PWPUSH_URL: PRO, PWPUSH_TOKEN: OWNER } });
  };
  afterEach(() => here.close());
  const asked = async (...more: string[]) =>
    (await here.run('request', 'The password?', '--no-encrypt', ...more)).stdout.trim();

  test('its key is dropped: the request is closed again, unless that is allowed', async () => {
    edition();
    const out = ['--generate-passphrase', '--passphrase-out', here.file('words')];
    const words = ['request', 'Q', '--identity-out', here.file('ci.key'), ...out];
    for (const more of [words.slice(0, 2), words])
      expect(await here.run(...more)).toMatchObject({ code: 8, stdout: '' });
    expect([...standIn.requests.values()].map(({ state }) => state)).toEqual(['closed', 'closed']);
    const left = ['ci.key', 'words'].filter((name) => existsSync(here.file(name)));
    expect([here.rescued(), left]).toEqual([{}, []]);
    const made = await here.run('request', 'Q', '--expire', '90m', '--no-encrypt');
    expect(made).toMatchObject({ code: 0, stdout: `${PRO}/r/request3\n` });
    expect(made.stderr).toMatch(/^warning: .* 1 hour granted$/m);
  });

  test('--account chooses whose it is, in JSON and in a form', async () => {
    edition();
    const owner = ['--account', '8'];
    await asked(...owner);
    writeFileSync(here.file('a.txt'), 'A');
    await asked(...owner, '--file', here.file('a.txt'));
    await asked();
    const list = async (...argv: string[]) =>
      (await here.run('list', 'requests', 'open', ...argv)).stdout.match(/^request\d/gm);
    expect(await list(...owner)).toEqual(['request1', 'request2']);
    expect(await list()).toEqual(['request3']);
    const link = 'https://pro.test/r/request1';
    expect((await here.run('wait', link, ...owner, '--for', '1')).code).toBe(12);
    expect((await here.run('show', link, ...owner)).code).toBe(0);
    const waiting = ['--no-encrypt', '--wait', '--for', '1'];
    expect((await here.run('request', 'Four', ...owner, ...waiting)).code).toBe(12);
  });

  const guesses: [string, Guesses][] = [
    ['without a listing of active ones', { active: false }],
    ['without accounts', { accounts: false }],
    ['as documented', {}],
    ['of API 2.0, without features', { features: false }],
    ['that closes a request once its answer was read', { keepsAnswer: false }],
    ['whose listings have one page', { pages: false }],
    ['whose previews need a token', { openPreview: false }],
    ['whose page encrypts', { encrypts: true }],
    ['whose log names an answer otherwise', { answerKind: 'request_response' }],
  ];
  test.each(guesses)('one %s', async (_name, guess) => {
    edition(guess);
    const made = await here.run('request', 'Q', ...(guess.encrypts ? [] : ['--no-encrypt']));
    const link = made.stdout.trim();
    expect((await here.run('wait', link, '--for', '0.5')).code).toBe(12);
    expect((await here.under({ stdin: 'hunter2' }).run('respond', link, '--quiet')).code).toBe(0);
    expect((await here.run('wait', link)).code).toBe(0);
    expect((await here.run('list', 'requests')).stdout).toMatch(/^request1\t\tready\t/);
    expect(JSON.parse((await here.run('show', link, '--json')).stdout).state).toBe('ready');
    expect((await here.run('audit', link)).stdout).toContain(
      `\t${guess.answerKind ?? 'response'}\t`,
    );
    expect(await here.run('get', link)).toEqual({ code: 0, stdout: 'hunter2', stderr: '' });
    const stored = standIn.requests.get('request1')?.response ?? '';
    expect(stored.startsWith('-----BEGIN AGE')).toBe(guess.encrypts === true);
    expect((await here.run('expire', link)).code).toBe(0);
    expect((await here.run('wait', link)).code).toBe(0);
  });

  test('files of an answer', async () => {
    edition();
    const link = await asked('--allow-files');
    writeFileSync(here.file('a.txt'), 'AAA');
    expect((await here.run('respond', link, '--file', here.file('a.txt'))).code).toBe(0);
    expect((await here.run('get', link, '--output', here.file('out/'))).code).toBe(0);
    expect(readFileSync(here.file('out/a.txt'), 'utf8')).toBe('AAA');
  });

  test.each<[string, Guesses]>([
    ['takes no files', { answerFiles: false }],
    ['names their parts otherwise', { fileParts: 'request[response_files][]' }],
  ])('one that %s refuses them, and nothing is lost', async (_name, guess) => {
    edition(guess);
    const link = await asked('--allow-files');
    writeFileSync(here.file('a.txt'), 'AAA');
    const answered = await here.run('respond', link, '--file', here.file('a.txt'));
    expect(answered.code).toBe(8);
    expect(standIn.requests.get('request1')?.state).toBe('open');
  });

  test('/r/TOKEN is a URL push where it is no request', async () => {
    edition();
    standIn.pushes.set('pushed', 'https://secret.test');
    expect((await here.run('get', `${PRO}/r/pushed`)).stdout).toBe('https://secret.test');
    expect(standIn.asked).toEqual([
      'GET /api/v2/version',
      'GET /api/v2/requests/pushed/preview',
      'GET /api/v2/pushes/pushed',
    ]);
  });

  test.each([
    ['request', 'Q'],
    ['list', 'requests'],
    ['list', 'requests', 'closed'],
    ['respond', `${PRO}/r/some`, '--generate'],
    ['get', `${PRO}/api/v2/requests/some`],
    ['expire', `${PRO}/api/v2/requests/some`],
    ['wait', `${PRO}/api/v2/requests/some`],
    ['show', `${PRO}/api/v2/requests/some`],
    ['audit', `${PRO}/api/v2/requests/some`],
    ['preview', `${PRO}/api/v2/requests/some`],
  ])('%s says that an instance has no requests', async (...words) => {
    edition({ requests: false });
    expect(await here.run(...words)).toMatchObject({ code: 8, stdout: '' });
    expect(here.rescued()).toEqual({});
  });
});

test.each(['get', 'wait', 'show', 'expire', 'audit', 'preview'])(
  '%s says of an unknown link what it is of',
  async (command) => {
    const here = await instance();
    const owner = here.under({ env: here.admin });
    const said = async (link: string) => (await owner.run(command, link)).stderr;
    expect(await said(`${BASE}/r/abcdefgh`)).toMatch(/^pwpush: .* request /);
    expect(await said(`${BASE}/p/abcdefgh`)).toMatch(/^pwpush: .* push /);
    await here.close();
  },
);

describe('a server that cheats', () => {
  let here: Place;
  let standIn: StandIn;
  /** Changes what it returns. */
  let cheat: (body: Record<string, unknown>, path: string) => Record<string, unknown>;
  const other = newKeyPair();
  beforeEach(() => {
    standIn = commercialRequests({ encrypts: true });
    cheat = (body) => body;
    const send: Transport = async (request) => {
      const answer = await standIn.send(request);
      const pieces: Uint8Array[] = [];
      for await (const piece of answer.body) pieces.push(piece);
      const text = Buffer.concat(pieces).toString();
      const { pathname } = new URL(request.url);
      const body = JSON.stringify(cheat(JSON.parse(text), `${request.method} ${pathname}`));
      return {
        ...answer,
        body: (async function* () {
          yield Buffer.from(body);
        })(),
      };
    };
    here = place({ send, env: { PWPUSH_URL: PRO, PWPUSH_TOKEN: OWNER } });
  });
  afterEach(() => here.close());
  const asked = async () => (await here.run('request', 'Q')).stdout.trim();
  /** An armored text, with another letter in place of the one there. */
  const altered = (armor: string, at: number) => {
    const [first, ...lines] = armor.trim().split('\n');
    const last = lines.pop();
    const bytes = Buffer.from(lines.join(''), 'base64');
    bytes.write(bytes.at(at) === 65 ? 'B' : 'A', (at + bytes.length) % bytes.length);
    const text = bytes.toString('base64').replace(/.{64}(?!$)/g, '$&\n');
    return `${first}\n${text}\n${last}\n`;
  };
  const answer = (link: string) => here.under({ stdin: 'hunter2' }).run('respond', link);

  test('by another key has no effect, and is noticed', async () => {
    const link = await asked();
    cheat = (body) => ({ ...body, public_key: other.recipient });
    const { code, stderr } = await answer(link);
    expect([code, /^warning: /m.test(stderr)]).toEqual([0, true]);
    expect((await here.run('get', link)).stdout).toBe('hunter2');
  });

  test('by another key at the creation is noticed, and the request is closed', async () => {
    cheat = (body) => ({ ...body, public_key: other.recipient });
    const out = ['--generate-passphrase', '--passphrase-out', here.file('words')];
    const words = ['request', 'Q', '--identity-out', here.file('ci.key'), ...out];
    for (const more of [words.slice(0, 2), words]) {
      expect(await here.run(...more)).toMatchObject({ code: 8, stdout: '' });
    }
    expect([...standIn.requests.values()].map(({ state }) => state)).toEqual(['closed', 'closed']);
    const left = ['ci.key', 'words'].filter((name) => existsSync(here.file(name)));
    expect([here.rescued(), left]).toEqual([{}, []]);
  });

  test('by another key, and does not close the request, is told of with its link', async () => {
    cheat = (body, path) =>
      path.startsWith('DELETE') ? { ...body, state: 'open' } : { ...body, public_key: 'age1evil' };
    const { code, stderr } = await here.run('request', 'Q');
    expect(code).toBe(8);
    expect(stderr).toContain(`${PRO}/r/request1\n`);
  });

  test('by no token for its key is not used', async () => {
    cheat = (body) => ({ ...body, url_token: '', html_url: `${PRO}/new` });
    const { code, stdout, stderr } = await here.run('request', 'Q');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('FAILED');
    expect(Object.keys(here.rescued())).toHaveLength(1);
  });

  test.each([true, false])(
    'without a place for its key it is closed (%s), or told of',
    async (closes) => {
      // The token comes from the instance: another request has its key there.
      mkdirSync(here.file('state/requests'), { recursive: true, mode: 0o700 });
      writeFileSync(here.file('state/requests/request1.key'), 'another');
      cheat = (body, path) =>
        path.startsWith('DELETE') && !closes ? { ...body, state: 'open' } : body;
      const { code, stderr } = await here.run('request', 'Q');
      expect([code, stderr.includes(`${PRO}/r/request1\n`)]).toEqual([1, !closes]);
    },
  );

  const SECONDS = { close_after: 604_800, close_after_duration: undefined };
  test.each<[string, string[], Record<string, unknown>]>([
    ['time', ['--expire', '5h'], { close_after_duration: 17 }],
    ['time in seconds', ['--expire', '5h'], SECONDS],
    ['passphrase', [], { passphrase: '' }],
  ])('by a looser %s than asked for is refused', async (_what, words, granted) => {
    cheat = (body, path) => {
      const { close_after_at: _, ...others } = body;
      return path.startsWith('POST') ? { ...others, ...granted } : body;
    };
    const env = { PWPUSH_PASSPHRASE: 'open sesame' };
    const run = (...more: string[]) => here.under({ env }).run('request', 'Q', ...words, ...more);
    expect(await run()).toMatchObject({ code: 8, stdout: '' });
    expect(standIn.requests.get('request1')?.state).toBe('closed');
    expect(here.rescued()).toEqual({});
    const { code, stderr } = await run('--accept-limits');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: .*\n$/)]);
  });

  test('by another key in a link without one is warned of', async () => {
    const link = await asked();
    cheat = (body) => ({ ...body, public_key: other.recipient });
    const { stderr } = await answer(link.replace(/#.*/, ''));
    expect(stderr).toMatch(/^warning: /m);
  });

  test.each([
    ['version', 1, 0],
    ['key', 7, 'age-encryption.org/v1\n-> X25519 '.length + 60],
    ['MAC', 1, -50],
    ['text', 1, -1],
  ])(
    'by an altered answer is noticed, and the answer is kept: %s, exit %d',
    async (_, code, at) => {
      const link = await asked();
      await answer(link);
      cheat = (body, path) =>
        path.endsWith('/request1') && typeof body.response === 'string'
          ? { ...body, response: altered(body.response, at) }
          : body;
      expect(await here.run('get', link)).toMatchObject({ code, stdout: '' });
      const kept = Object.keys(here.rescued()).sort();
      expect(kept.map((name) => name.replace(/-.*/, ''))).toEqual([
        'requests/request1.key',
        'secret',
      ]);
    },
  );

  test('by an answer to another key is noticed', async () => {
    const link = await asked();
    await answer(link);
    const forged = await encryptText('forged', [parseRecipient(other.recipient)]);
    cheat = (body) => ('response' in body ? { ...body, response: forged } : body);
    expect(await here.run('get', link)).toMatchObject({ code: 7, stdout: '' });
  });

  test('by an answer that is not encrypted is refused where the link has a key', async () => {
    const link = await asked();
    await answer(link);
    cheat = (body) => ('response' in body ? { ...body, response: 'forged' } : body);
    expect(await here.run('get', link)).toMatchObject({ code: 1, stdout: '' });
    const kept = Object.entries(here.rescued()).filter(([name]) => name.startsWith('secret'));
    expect(kept.map(([, text]) => text)).toEqual(['forged']);
  });

  test('by an answer that is not encrypted is warned of where only the key was kept', async () => {
    const link = await asked();
    await answer(link);
    cheat = (body) => ('response' in body ? { ...body, response: 'forged' } : body);
    const { code, stdout, stderr } = await here.run('get', link.replace(/#.*/, ''));
    expect([code, stdout, /^warning: /.test(stderr)]).toEqual([0, 'forged', true]);
  });

  test.each([
    ['run', ['run', 'LINK', '--as', 'OTP', '--', 'sh', '-c', 'echo "$OTP"']],
    ['a job', ['get', 'LINK', '--github-env', 'OTP']],
  ])(
    'by an answer that is not encrypted passes nothing to %s, unless that is allowed',
    async (_what, words) => {
      const env = { PATH: process.env.PATH, GITHUB_ENV: here.file('job') };
      const run = (link: string, ...more: string[]) => {
        const [name = '', ...others] = words.map((word) => (word === 'LINK' ? link : word));
        return here.under({ env }).run(name, ...more, ...others);
      };
      const forging = async () => {
        cheat = (body) => body;
        const link = await asked();
        await answer(link);
        cheat = (body) => ('response' in body ? { ...body, response: 'forged' } : body);
        return link;
      };
      expect(await run(await forging())).toMatchObject({ code: 1, stdout: '' });
      const kept = Object.entries(here.rescued()).filter(([name]) => name.startsWith('secret'));
      expect(kept.map(([, text]) => text)).toEqual(['forged']);
      expect((await run(await forging(), '--no-decrypt')).code).toBe(0);
      expect(existsSync(env.GITHUB_ENV)).toBe(words[0] === 'get');
    },
  );

  test('by an answer that is not encrypted is noticed where the private key is not, too', async () => {
    const env = { PATH: process.env.PATH };
    const forged = async (...words: string[]) => {
      cheat = (body) => body;
      const key = here.file(`${words[0]}.key`);
      const made = await here.run('request', 'Q', '--identity-out', key);
      const link = made.stdout.trim();
      await answer(link);
      cheat = (body) => ('response' in body ? { ...body, response: 'forged' } : body);
      return here.under({ env }).run(...words.map((word) => word.replace('LINK', link)));
    };
    expect(await forged('get', 'LINK')).toMatchObject({ code: 1, stdout: '' });
    const run = await forged('run', 'LINK', '--as', 'OTP', '--', 'sh', '-c', 'echo "$OTP"');
    expect(run).toMatchObject({ code: 1, stdout: '' });
  });

  test('by the token of a request elsewhere neither gets nor removes its key', async () => {
    await asked();
    const before = here.rescued();
    standIn.requests.clear();
    const there = { PWPUSH_URL: 'https://evil.test', PWPUSH_TOKEN: OWNER };
    const made = await here.under({ env: there }).run('request', 'Q');
    expect(made).toMatchObject({ code: 1, stdout: '' });
    expect(here.rescued()).toEqual(before);
    expect(
      (await here.under({ env: there }).run('expire', 'https://evil.test/r/request1#age1')).code,
    ).toBe(0);
    expect(here.rescued()).toEqual(before);
  });

  test.each([
    ['that the request is still open', { state: 'open' }, 1],
    ['nothing', {}, 11],
    ['an empty list', [], 11],
  ])('by saying %s after an answer is believed', async (_what, said, code) => {
    const link = await asked();
    cheat = (body, path) => (path.startsWith('PATCH') ? (said as typeof body) : body);
    expect((await answer(link)).code).toBe(code);
  });

  test.each<[string, (link: string) => string]>([
    ['cut', (link) => link.slice(0, -1)],
    ['changed', (link) => link.replace(/.$/, link.endsWith('q') ? 'p' : 'q')],
    ['after white space', (link) => link.replace('#', '#%20')],
    ['after a slash', (link) => link.replace('#', '#/')],
    ['after a sign', (link) => link.replace('#', '#!')],
    ['in a text fragment', (link) => link.replace('#', '#:~:text=')],
    ['escaped', (link) => link.replace('#a', '#%61')],
    ['gone, with what followed it', (link) => link.replace(/#.*/, '#&utm_source=mail')],
  ])('a damaged key in the link is refused: %s', async (_how, damage) => {
    const link = await asked();
    expect(await answer(damage(link))).toMatchObject({ code: 2, stdout: '' });
    expect(standIn.requests.get('request1')?.state).toBe('open');
  });

  test.each(['/p/pushed', '/p/pushed/r', '/p/pushed#A7byB81hWJk0HGEcRRvDRg'])(
    'the link of a push is no request: %s',
    async (path) => {
      expect(await answer(PRO + path)).toMatchObject({ code: 2, stdout: '' });
      expect(standIn.asked).toEqual([]);
    },
  );
});

describe('a connection that is cut', () => {
  test('before the response to a creation keeps the key, which is found by the public one', async () => {
    const standIn = commercialRequests({ encrypts: true });
    let cutting: 'sent' | 'not sent' | undefined = 'not sent';
    const send: Transport = async (request) => {
      if (cutting === 'not sent') throw broken(false);
      const answer = await standIn.send(request);
      if (cutting === 'sent') throw broken(true);
      return answer;
    };
    const here = place({ send, env: { PWPUSH_URL: PRO, PWPUSH_TOKEN: OWNER }, stdin: 'hunter2' });
    expect((await here.run('request', 'Q')).code).toBe(9);
    expect(here.rescued()).toEqual({});
    cutting = 'sent';
    expect((await here.run('request', 'Q')).code).toBe(11);
    expect(Object.keys(here.rescued())).toEqual([
      expect.stringMatching(/^requests\/age1\w+\.key$/),
    ]);
    cutting = undefined;
    const [token = ''] = (await here.run('list', 'requests')).stdout.split('\t');
    const link = (await here.run('preview', token)).stdout.trim();
    await here.run('respond', link);
    expect(standIn.requests.get(token)?.response).toMatch(/^-----BEGIN AGE/);
    expect(await here.run('get', token)).toEqual({ code: 0, stdout: 'hunter2', stderr: '' });
    expect(here.rescued()).toEqual({});
    here.close();
  });

  /** After the answer arrived, or before. */
  const cut = (arrives: boolean) => {
    const standIn = commercialRequests({ encrypts: true });
    const send: Transport = async (request) => {
      if (request.method !== 'PATCH') return standIn.send(request);
      if (arrives) await standIn.send(request);
      throw broken(true);
    };
    return place({ send, env: { PWPUSH_URL: PRO, PWPUSH_TOKEN: OWNER }, stdin: 'hunter2' });
  };

  test('after the last byte of an answer leaves the outcome unknown', async () => {
    const here = cut(true);
    const link = (await here.run('request', 'Q')).stdout.trim();
    expect((await here.run('respond', link)).code).toBe(11);
    expect((await here.run('get', link)).stdout).toBe('hunter2');
    here.close();
  });

  test.each([
    [true, 502],
    [true, undefined],
    [false, undefined],
  ])('where previews have the state (%s), it is checked', async (arrives, status) => {
    const here = await instance();
    const service = overFetch(here.service);
    const asked: string[] = [];
    const send: Transport = async (request) => {
      asked.push(request.method);
      if (request.method !== 'PATCH') return service(request);
      const answer = arrives ? await service(request) : undefined;
      if (!answer || status === undefined) throw broken(true);
      return { ...answer, status };
    };
    const link = (await here.under({ env: here.admin }).run('request', 'Q')).stdout.trim();
    const other = place({ send, stdin: 'hunter2' });
    const { code, stderr } = await other.run('respond', link);
    expect([code, asked.slice(-2)]).toEqual([11, ['PATCH', 'GET']]);
    expect(stderr).toContain(arrives ? ' has an answer now' : ' has no answer yet');
    other.close();
    await here.close();
  });
});

describe('files of an answer that were not saved', () => {
  /** Somebody asks, gets two files as the answer, and a run takes it of which the second file fails. */
  async function failing(how: (end: AbortController) => void, taking?: readonly string[]) {
    const standIn = commercialRequests({ encrypts: true, keepsAnswer: false });
    const end = new AbortController();
    let broken = false;
    const send: Transport = async (request) => {
      if (broken && request.url.endsWith('/1')) how(end);
      return standIn.send(request);
    };
    const env = { PWPUSH_URL: PRO, PWPUSH_TOKEN: OWNER, PATH: process.env.PATH };
    const here = place({ send, env });
    writeFileSync(here.file('a.crt'), 'A');
    writeFileSync(here.file('b.key'), 'B');
    const link = (await here.run('request', 'Q', '--allow-files')).stdout.trim();
    const files = ['--file', here.file('a.crt'), '--file', here.file('b.key')];
    expect((await here.run('respond', link, ...files)).code).toBe(0);
    broken = true;
    const words = ['get', link, '--output', here.file('out/')];
    const [name = '', ...others] = taking ?? [];
    const all = taking ? [name, link, ...others] : words;
    const first = await here.under({ signal: end.signal }).run(...all);
    broken = false;
    const [, kept = ''] = /pwpush get --resume '(.*)'\n/.exec(first.stderr) ?? [];
    return { here, first, words, kept };
  }

  const cut = () => {
    throw broken(true);
  };
  const interrupt = (end: AbortController) => {
    end.abort('SIGINT');
    cut();
  };

  test.each([
    ['are kept after Ctrl-C', 130, interrupt],
    ['are kept after a failure', 1, cut],
  ])('%s, and --resume gets them with the key of the request', async (_, code, how) => {
    const { here, first, words, kept } = await failing(how);
    expect(first.code).toBe(code);
    expect(first.stderr).not.toContain('uses another view');
    expect(readFileSync(kept, 'utf8')).not.toContain('b.key');
    const again = await here.run(...words, '--resume', kept);
    expect(again).toMatchObject({ code: 0, stdout: '' });
    expect(readdirSync(here.file('out')).sort()).toEqual(['a.crt', 'b.key']);
    expect(readFileSync(here.file('out/b.key'), 'utf8')).toBe('B');
    expect(here.rescued()).toEqual({});
    here.close();
  });

  test('are kept if run could not fetch them, and --resume gets them', async () => {
    const run = ['run', '--file', 'K=b.key', '--', 'sh'];
    const { here, first, words, kept } = await failing(cut, run);
    expect(first.code).toBe(1);
    expect((await here.run(...words, '--resume', kept)).code).toBe(0);
    expect(readFileSync(here.file('out/b.key'), 'utf8')).toBe('B');
    here.close();
  });
});
