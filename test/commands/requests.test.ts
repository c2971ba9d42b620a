import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { newKeyPair, parseRecipient } from '../../src/age/key-files';
import type { Transport } from '../../src/platform/context';
import { encryptText } from '../helpers/age';
import { BASE, eachInstance, type Instance, instance, overFetch } from '../helpers/instance';
import { served } from '../helpers/mcp';
import { read } from '../helpers/qr';
import type { Conditions } from '../helpers/run';
import { broken, rewriting } from '../helpers/wire';

// What is said is told by the transcripts test/cases/request-*.txt and respond-*.txt.

describe('the key of a request', () => {
  const here = eachInstance();
  const owner = (more = {}) => here.under({ env: { ...here.admin, ...more } });
  const keys = () => Object.keys(here.rescued()).filter((name) => name.endsWith('.key'));
  const respond = (link: string) => here.under({ stdin: '123456' }).run('respond', link);

  async function asked() {
    const { code, stdout, stderr } = await owner().run('request', 'The password?');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const link = stdout.trim();
    return { link, key: here.file(`state/requests/${/\/r\/([\w-]+)#/.exec(link)?.[1]}.key`) };
  }

  test('is in capitals in a QR code, where they take less room, and is taken in them', async () => {
    const { stdout, stderr } = await owner().run('request', 'The password?', '--qr');
    const drawn = read(`${stderr}`, { ink: 'light' }) ?? '';
    expect(drawn).toBe(stdout.trim().replace(/#.*/, (key) => key.toUpperCase()));
    await respond(drawn);
    expect((await owner().run('get', stdout.trim())).stdout).toBe('123456');
  });

  test('a key that cannot be removed is told of, and the command has run', async () => {
    const { link, key } = await asked();
    await respond(link);
    const script = `rm '${key}'; mkdir '${key}'; exit 3`;
    const run = ['run', link, '--as', 'OTP', '--', 'sh', '-c', script];
    const { code, stdout, stderr } = await owner({ PATH: process.env.PATH }).run(...run);
    expect([code, stdout, stderr.includes(key)]).toEqual([3, '', true]);
  });

  test('an answer is not taken while its key cannot be read', async () => {
    const { link, key } = await asked();
    await respond(link);
    renameSync(key, here.file('aside'));
    mkdirSync(key);
    expect(await owner().run('get', link)).toMatchObject({ code: 1, stdout: '' });
    rmdirSync(key);
    renameSync(here.file('aside'), key);
    expect((await owner().run('get', link)).stdout).toBe('123456');
  });

  test('the key is kept before the link is printed, and the link reaches the user', async () => {
    const ended = new AbortController();
    let kept = 0;
    const hold = () => {
      kept = keys().length;
      ended.abort('SIGTERM');
    };
    const request = (conditions: object) => here.under({ env: here.admin, ...conditions }).run('request', 'Q');
    const { code } = await request({ held: { stdout: hold }, signal: ended.signal });
    expect([code, kept]).toEqual([143, 1]);
    const { stderr } = await request({ failing: { stdout: 'EPIPE' } });
    expect(stderr).toMatch(new RegExp(`^${BASE}/r/[\\w-]+#age1[a-z0-9]{58}$`, 'm'));
    expect(keys()).toHaveLength(2);
  });
});

/** A place for the owner, whose requests go through `sending` on their way to the service. */
async function owning(sending: (send: Transport) => Transport): Promise<Instance> {
  const here: Instance = await instance({
    stdin: 'hunter2',
    env: { PATH: process.env.PATH },
    send: (request) => sending(overFetch(here.service, here.asked))(request),
  });
  const under = (conditions: Conditions) => here.under({ ...conditions, env: { ...here.admin, ...conditions.env } });
  return { ...here, under, run: under({}).run };
}

const idOf = (link: string) => /\/r\/([\w-]+)/.exec(link)?.[1] ?? '';

describe('a server that cheats', () => {
  type Body = Record<string, unknown>;
  let here: Instance;
  let cheat: (body: Body, method: string) => Body;
  const other = newKeyPair();
  const replacing = (body: Body) => ({ ...body, public_key: other.recipient });
  const forging = (response: string) => (body: Body) => (body.response ? { ...body, response } : body);
  beforeEach(async () => {
    cheat = (body) => body;
    here = await owning((send) =>
      rewriting(send, (text, { method }) => JSON.stringify(cheat(JSON.parse(text), method))),
    );
  });

  const asked = async (...more: string[]) => {
    cheat = (body) => body;
    return (await here.under({ stdin: '' }).run('request', 'The password?', ...more)).stdout.trim();
  };
  /** The link of a request that was answered, before the server cheats. */
  const answered = async (...more: string[]) => {
    const link = await asked(...more);
    await here.run('respond', link);
    return link;
  };
  const states = async () => {
    cheat = (body) => body;
    const rows = async (state: string) => (await here.run('list', 'requests', state)).stdout.match(/\n/g)?.length ?? 0;
    return { open: await rows('open'), ready: await rows('ready'), closed: await rows('closed') };
  };
  const saved = () =>
    Object.entries(here.rescued()).flatMap(([name, text]) => (name.startsWith('secret') ? [text] : []));

  test('by another key has no effect, and is noticed', async () => {
    const link = await asked();
    cheat = replacing;
    const { code, stderr } = await here.run('respond', link);
    expect([code, /^warning: /m.test(stderr)]).toEqual([0, true]);
    expect((await here.run('get', link)).stdout).toBe('hunter2');
  });

  test.each([
    ['dropped', ({ public_key: _, ...body }: Body) => body],
    ['replaced', replacing],
  ])('its key is %s: the request is closed again, unless that is allowed', async (_how, by) => {
    cheat = by;
    const out = ['--passphrase-out', here.file('words')];
    const words = ['request', 'Q', '--identity-out', here.file('ci.key'), ...out];
    for (const more of [words.slice(0, 2), words])
      expect(await here.under({ stdin: '' }).run(...more)).toMatchObject({ code: 8, stdout: '' });
    const left = ['ci.key', 'words'].filter((name) => existsSync(here.file(name)));
    expect([here.rescued(), left]).toEqual([{}, []]);
    const made = await here.under({ stdin: '' }).run('request', 'Q', '--no-encrypt');
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/\/r\/[\w-]+\n$/)]);
    expect(await states()).toEqual({ open: 1, ready: 0, closed: 2 });
  });

  test('by no token for its key is not used', async () => {
    cheat = (body) => ({ ...body, url_token: '', html_url: `${BASE}/new` });
    const { code, stdout, stderr } = await here.under({ stdin: '' }).run('request', 'Q');
    expect([code, stdout, stderr.includes('FAILED')]).toEqual([1, '', true]);
    expect(Object.keys(here.rescued())).toHaveLength(1);
  });

  test('by a looser passphrase than asked for is refused', async () => {
    cheat = (body) => ({ ...body, passphrase: '' });
    const under = here.under({ stdin: '', env: { PWPUSH_PASSPHRASE: 'open sesame' } });
    expect(await under.run('request', 'Q')).toMatchObject({ code: 8, stdout: '' });
    expect(here.rescued()).toEqual({});
    const { code, stderr } = await under.run('request', 'Q', '--accept-limits');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: .*\n$/)]);
    expect(await states()).toEqual({ open: 1, ready: 0, closed: 1 });
  });

  test.each([
    ['version', 1, 0],
    ['key', 7, 'age-encryption.org/v1\n-> X25519 '.length + 60],
    ['MAC', 1, -50],
    ['text', 1, -1],
  ])('by an altered answer is noticed, the answer is kept: %s, exit %d', async (_, code, at) => {
    const link = await answered();
    cheat = (body) => {
      const [first, ...lines] = String(body.response).trim().split('\n');
      const last = lines.pop();
      const bytes = Buffer.from(lines.join(''), 'base64');
      bytes.write(bytes.at(at) === 65 ? 'B' : 'A', (at + bytes.length) % bytes.length);
      const text = bytes.toString('base64').replace(/.{64}(?!$)/g, '$&\n');
      return forging(`${first}\n${text}\n${last}\n`)(body);
    };
    expect(await here.run('get', link)).toMatchObject({ code, stdout: '' });
    expect([saved().length, Object.keys(here.rescued())]).toEqual([
      1,
      expect.arrayContaining([`requests/${idOf(link)}.key`]),
    ]);
  });

  test('by views of an answer, which has none, does not keep it from being saved', async () => {
    const link = await answered();
    cheat = (body) => (body.response ? { ...body, views_remaining: 3 } : body);
    const { code } = await here.under({ failing: { stdout: 'ENOSPC' } }).run('get', link);
    expect([code, saved()]).toEqual([1, ['hunter2']]);
  });

  test('by an answer to another key is noticed', async () => {
    const link = await answered();
    cheat = forging(await encryptText('forged', [parseRecipient(other.recipient)]));
    expect(await here.run('get', link)).toMatchObject({ code: 7, stdout: '' });
  });

  describe('by an answer that is not encrypted', () => {
    const run = ['run', 'LINK', '--as', 'OTP', '--', 'sh', '-c', 'echo "$OTP"'];
    const using = (words: readonly string[], link: string, ...more: string[]) => {
      cheat = forging('forged');
      const [name = '', ...others] = words.map((word) => (word === 'LINK' ? link : word));
      return here.under({ env: { GITHUB_ENV: here.file('job') } }).run(name, ...more, ...others);
    };

    const bare = async () => (await answered()).replace(/#.*/, '');

    test('is warned of where only the key was kept, to a person, and passed to no command', async () => {
      const person = { terminals: ['stderr'] } as const;
      const link = await bare();
      cheat = forging('forged');
      const { code, stdout, stderr } = await here.under(person).run('get', link);
      expect([code, stdout, stderr]).toEqual([0, 'forged', expect.stringContaining('warning')]);
      expect(await using(run, await bare())).toMatchObject({ code: 1, stdout: '' });
    });

    test.each<[string, Conditions]>([
      ['a script', {}],
      ['an agent', { terminals: ['stderr'], env: { CLAUDECODE: '1' } }],
      ['a CI job with a terminal', { terminals: ['stderr'], env: { CI: '1' } }],
    ])('is refused where no person reads a warning, also by its ID: %s', async (_, conditions) => {
      for (const name of [(link: string) => link, idOf]) {
        const link = await bare();
        cheat = forging('forged');
        const got = await here.under(conditions).run('get', name(link), '-o', here.file('out'));
        expect([got.code, existsSync(here.file('out'))]).toEqual([1, false]);
        expect(Object.keys(here.rescued())).toContain(`requests/${idOf(link)}.key`);
      }
      expect(saved()).toEqual(['forged', 'forged']);
    });

    test('is saved by no tool of mcp', async () => {
      const { call } = await served(here);
      const link = await bare();
      cheat = forging('forged');
      const refused = expect.stringMatching(/^! the answer is not encrypted/);
      expect(await call('save', { link, file: 'out' })).toEqual(refused);
      const told = await call('ask', { question: 'Q', file: 'out', expire: '4w', seconds: 1 });
      const page = /https:\S+/.exec(told)?.[0] ?? '';
      await here.run('respond', page);
      expect(await call('wait', { link: page, seconds: 60 })).toEqual(refused);
      expect(existsSync(here.file('root/out'))).toBe(false);
    });

    test.each([
      ['run', run],
      ['a job', ['get', 'LINK', '--github-env', 'OTP']],
    ])('passes nothing to %s, unless that is allowed', async (_what, words) => {
      expect(await using(words, await answered())).toMatchObject({ code: 1, stdout: '' });
      expect([saved(), existsSync(here.file('job'))]).toEqual([['forged'], words[0] === 'get']);
      expect((await using(words, await answered(), '--no-decrypt')).code).toBe(0);
    });
  });

  test('by the token of a request elsewhere neither gets nor removes its key', async () => {
    const url_token = idOf(await asked());
    const before = here.rescued();
    const elsewhere = `https://evil.test/r/${url_token}`;
    cheat = (body) => ({ ...body, url_token, html_url: elsewhere });
    const there = here.under({ stdin: '', env: { PWPUSH_URL: 'https://evil.test' } });
    expect(await there.run('request', 'Q')).toMatchObject({ code: 1, stdout: '' });
    expect(here.asked.at(-1)).toBe(`DELETE /api/v2/requests/${url_token}`);
    expect(here.rescued()).toEqual(before);
    expect((await there.run('expire', `${elsewhere}#age1`)).code).toBe(0);
    expect(here.rescued()).toEqual(before);
  });

  test.each<[string, (link: string) => string]>([
    ['cut', (link) => link.slice(0, -1)],
    ['changed', (link) => link.replace(/.$/, link.endsWith('q') ? 'p' : 'q')],
    ['after white space', (link) => link.replace('#', '#%20')],
    ['after a sign', (link) => link.replace('#', '#!')],
    ['in a text fragment', (link) => link.replace('#', '#:~:text=')],
    ['escaped', (link) => link.replace('#a', '#%61')],
    ['gone, with what followed it', (link) => link.replace(/#.*/, '#&utm_source=mail')],
  ])('a damaged key in the link is refused: %s', async (_how, damage) => {
    expect(await here.run('respond', damage(await asked()))).toMatchObject({ code: 2, stdout: '' });
    expect(await states()).toEqual({ open: 1, ready: 0, closed: 0 });
  });
});

test('a connection that is cut before the response to a creation keeps the key', async () => {
  let cutting: 'sent' | 'not sent' | undefined = 'not sent';
  const here = await owning((send) => async (request) => {
    if (cutting === 'not sent') throw broken(false);
    const answer = await send(request);
    if (cutting === 'sent') throw broken(true);
    return answer;
  });
  expect([(await here.under({ stdin: '' }).run('request', 'Q')).code, here.rescued()]).toEqual([9, {}]);
  cutting = 'sent';
  expect((await here.under({ stdin: '' }).run('request', 'Q')).code).toBe(11);
  expect(Object.keys(here.rescued())).toEqual([expect.stringMatching(/^requests\/age1\w+\.key$/)]);
  cutting = undefined;
  // It is found by the public one.
  const [token = ''] = (await here.run('list', 'requests')).stdout.split('\t');
  const link = (await here.run('preview', token)).stdout.trim();
  await here.run('respond', link);
  expect(await here.run('get', token)).toEqual({ code: 0, stdout: 'hunter2', stderr: '' });
  expect(here.rescued()).toEqual({});
});

test('an answer that is interrupted is asked nothing more', async () => {
  const end = new AbortController();
  const here = await owning((send) => async (request) => {
    const answer = await send(request);
    if (request.method !== 'PATCH') return answer;
    end.abort('SIGINT');
    throw broken(true);
  });
  const link = (await here.under({ stdin: '' }).run('request', 'Q')).stdout.trim();
  const { code, stderr } = await here.under({ signal: end.signal }).run('respond', link);
  expect([code, stderr]).toEqual([130, expect.not.stringContaining('checking')]);
  expect(here.asked.at(-1)).toBe(`PATCH /api/v2/requests/${idOf(link)}/respond`);
});

describe('files of an answer that were not saved are kept,', () => {
  const cut = () => {
    throw broken(true);
  };
  const interrupt = (end: AbortController) => {
    end.abort('SIGINT');
    cut();
  };
  const byGet = (link: string, out: string) => ['get', link, '--output', out];
  const byRun = (link: string) => ['run', link, '--file', 'K=b.key', '--', 'sh'];

  test.each([
    ['Ctrl-C', interrupt, byGet, 130],
    ['a failure', cut, byGet, 1],
    ['a failure of run', cut, byRun, 1],
  ])('after %s, and --resume gets them with the key of the request', async (_, how, by, code) => {
    const end = new AbortController();
    const ran = by === byRun;
    const fetched = new Set<string>();
    let fails = false;
    const here = await owning((send) => async (request) => {
      if (request.url.includes('/files/')) fetched.add(request.url);
      // For run it is the only one that is wanted.
      if (fails && request.url === [...fetched][ran ? 0 : 1]) how(end);
      return send(request);
    });
    const files = ['a.crt', 'b.key'].map((name) => here.file(name));
    for (const file of files) writeFileSync(file, file.endsWith('key') ? 'B' : 'A');
    const link = (await here.under({ stdin: '' }).run('request', 'Q', '--allow-files')).stdout.trim();
    expect((await here.run('respond', link, '--file', ...files)).code).toBe(0);
    const out = here.file('out/');
    fails = true;
    const first = await here.under({ signal: end.signal }).run(...by(link, out));
    fails = false;
    expect(first.code).toBe(code);
    expect(first.stderr).not.toContain('uses another view');
    const [, kept = ''] = /pwpush get --resume '(.*)'\n/.exec(first.stderr) ?? [];
    expect(readFileSync(kept, 'utf8')).not.toContain('b.key');
    // Nothing of them is printed where an agent reads it.
    const agent = here.under({ env: { CLAUDECODE: '1' } });
    expect((await agent.run('get', '--resume', kept, '--output', '-')).code).toBe(2);
    // What run has fetched it saves elsewhere, as nothing is started.
    const there = ran ? ['--output', out] : [];
    const again = await agent.run('get', link, '--resume', kept, '--json', ...there);
    expect([again.code, again.stdout.includes('payload')]).toEqual([0, false]);
    expect(readdirSync(out).sort()).toEqual(ran ? ['b.key'] : ['a.crt', 'b.key']);
    expect(readFileSync(here.file('out/b.key'), 'utf8')).toBe('B');
    expect(Object.values(here.rescued())).toEqual(ran ? ['A'] : []);
  });
});
