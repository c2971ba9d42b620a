import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { newKeyPair, parseRecipient } from '../../src/age/key-files';
import type { Transport } from '../../src/platform/context';
import { encryptText } from '../helpers/age';
import { commercialEdition, type Guesses, OWNER, PRO, type StandIn } from '../helpers/commercial';
import { BASE, eachInstance } from '../helpers/instance';
import { place } from '../helpers/run';
import { broken, rewriting } from '../helpers/wire';

// What is said is told by the transcripts test/cases/request-*.txt and respond-*.txt.

describe('with the service', () => {
  const here = eachInstance();
  const owner = (more = {}) => here.under({ env: { ...here.admin, ...more } });
  const keys = () => Object.keys(here.rescued()).filter((name) => name.endsWith('.key'));
  const respond = (link: string) => here.under({ stdin: '123456' }).run('respond', link);

  /** Asks, and returns the link and the path of the key. */
  async function asked() {
    const { code, stdout, stderr } = await owner().run('request', 'The password?');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const link = stdout.trim();
    return { link, key: here.file(`state/requests/${/\/r\/([\w-]+)#/.exec(link)?.[1]}.key`) };
  }

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
    const request = (conditions: object) =>
      here.under({ env: here.admin, ...conditions }).run('request', 'Q');
    const { code } = await request({ held: { stdout: hold }, signal: ended.signal });
    expect([code, kept]).toEqual([143, 1]);
    const { stderr } = await request({ failing: { stdout: 'EPIPE' } });
    expect(stderr).toMatch(new RegExp(`^${BASE}/r/[\\w-]+#age1[a-z0-9]{58}$`, 'm'));
    expect(keys()).toHaveLength(2);
  });
});

/** A place for the owner at a stand-in for the commercial edition, whose answers go through `send`. */
function standIn(guesses: Guesses = {}, send: (standIn: StandIn) => Transport = (one) => one.send) {
  const instance = commercialEdition(guesses);
  const env = { PWPUSH_URL: PRO, PWPUSH_TOKEN: OWNER, PATH: process.env.PATH };
  const here = place({ env, send: send(instance), stdin: 'hunter2' });
  /** Asks, and returns the link. */
  const asked = async (...more: string[]) =>
    (await here.run('request', 'The password?', ...more)).stdout.trim();
  return { instance, here, asked };
}

test.each([
  ['request', 'Q', '--wait'],
  ['wait', `${PRO}/r/request1`],
])('an instance that does not respond is not waited for longer: %j', async (...words) => {
  const { send } = commercialEdition({ encrypts: true });
  let time = 0;
  const here = place({
    env: { PWPUSH_URL: PRO, PWPUSH_TOKEN: OWNER },
    now: () => new Date(Date.UTC(2026, 7, 20) + time),
    send: async (request) => {
      if (request.method === 'POST') return send(request);
      time += 3000;
      throw broken(true);
    },
  });
  const { code } = await here.run(...words, '--for', '3');
  expect([code, here.transports.at(-1)?.timeout]).toEqual([12, 3]);
});

/** Its page does not encrypt. */
const CLEAR = ['--no-encrypt'];

describe('with the commercial edition', () => {
  test('--account chooses whose it is, in JSON and in a form', async () => {
    const { here, asked } = standIn();
    writeFileSync(here.file('a.txt'), 'AAA');
    const owner = ['--account', '8'];
    const link = await asked(...CLEAR, ...owner);
    await asked(...CLEAR, ...owner, '--file', here.file('a.txt'));
    await asked(...CLEAR);
    const list = async (...argv: string[]) =>
      (await here.run('list', 'requests', 'open', ...argv)).stdout.match(/^request\d/gm);
    expect(await list(...owner)).toEqual(['request1', 'request2']);
    expect(await list()).toEqual(['request3']);
    expect((await here.run('wait', link, ...owner, '--for', '1')).code).toBe(12);
    expect((await here.run('show', link, ...owner)).code).toBe(0);
    const waiting = [...CLEAR, ...owner, '--wait', '--for', '1'];
    expect((await here.run('request', 'Four', ...waiting)).code).toBe(12);
  });

  const guesses: [string, Guesses][] = [
    ['without a listing of active ones', { active: false }],
    ['as documented', {}],
    ['of API 2.0, without features', { features: false }],
    ['that closes a request once its answer was read', { keepsAnswer: false }],
    ['whose listings have one page', { pages: false }],
    ['whose previews need a token', { openPreview: false }],
    ['whose page encrypts', { encrypts: true }],
    ['whose log names an answer otherwise', { answerKind: 'request_response' }],
  ];
  test.each(guesses)('one %s', async (_name, guess) => {
    const { here, instance, asked } = standIn(guess);
    const link = await asked(...(guess.encrypts ? [] : CLEAR));
    expect((await here.run('wait', link, '--for', '0.5')).code).toBe(12);
    expect((await here.run('respond', link, '--quiet')).code).toBe(0);
    expect((await here.run('wait', link)).code).toBe(0);
    expect((await here.run('list', 'requests')).stdout).toMatch(/^request1\t\tready\t/);
    expect(JSON.parse((await here.run('show', link, '--json')).stdout).state).toBe('ready');
    const kind = guess.answerKind ?? 'response';
    expect((await here.run('audit', link)).stdout).toContain(`\t${kind}\t`);
    expect(await here.run('get', link)).toEqual({ code: 0, stdout: 'hunter2', stderr: '' });
    const stored = instance.requests.get('request1')?.response ?? '';
    expect(stored.startsWith('-----BEGIN AGE')).toBe(guess.encrypts === true);
    for (const command of ['expire', 'wait']) expect((await here.run(command, link)).code).toBe(0);
  });

  test.each<[string, Guesses, number, string]>([
    ['takes files', {}, 0, 'ready'],
    ['takes no files', { answerFiles: false }, 8, 'open'],
    ['names their parts otherwise', { fileParts: 'request[response_files][]' }, 8, 'open'],
  ])('one that %s of an answer loses nothing', async (_name, guess, code, state) => {
    const { here, instance, asked } = standIn(guess);
    writeFileSync(here.file('a.txt'), 'AAA');
    const link = await asked(...CLEAR, '--allow-files');
    expect((await here.run('respond', link, '--file', here.file('a.txt'))).code).toBe(code);
    expect(instance.requests.get('request1')?.state).toBe(state);
    if (code !== 0) return;
    expect((await here.run('get', link, '--output', here.file('out/'))).code).toBe(0);
    expect(readFileSync(here.file('out/a.txt'), 'utf8')).toBe('AAA');
  });

  test.each([
    ...['request Q', 'list requests', 'list requests closed', `respond ${PRO}/r/some --generate`],
    ...['get', 'expire', 'wait', 'show', 'audit', 'preview'].map(
      (command) => `${command} ${PRO}/api/v2/requests/some`,
    ),
  ])('%s says that an instance has no requests', async (line) => {
    const { here } = standIn({ requests: false });
    expect(await here.run(...line.split(' '))).toMatchObject({ code: 8, stdout: '' });
    expect(here.rescued()).toEqual({});
  });
});

describe('a server that cheats', () => {
  let { here, instance, asked }: ReturnType<typeof standIn> = {} as never;
  /** Changes what it returns. */
  let cheat: (body: Record<string, unknown>, path: string) => Record<string, unknown>;
  const other = newKeyPair();
  const replacing = (body: Record<string, unknown>) => ({ ...body, public_key: other.recipient });
  const forging = (response: string) => (body: Record<string, unknown>) =>
    'response' in body ? { ...body, response } : body;
  beforeEach(() => {
    cheat = (body) => body;
    ({ here, instance, asked } = standIn({ encrypts: true }, ({ send }) =>
      rewriting(send, (text, { method, url }) =>
        JSON.stringify(cheat(JSON.parse(text), `${method} ${new URL(url).pathname}`)),
      ),
    ));
  });

  /** The link of a request that was answered, before the server cheats. */
  const answered = async (...more: string[]) => {
    cheat = (body) => body;
    const link = await asked(...more);
    await here.run('respond', link);
    return link;
  };
  const states = () => [...instance.requests.values()].map(({ state }) => state);
  const saved = () =>
    Object.entries(here.rescued()).flatMap(([name, text]) =>
      name.startsWith('secret') ? [text] : [],
    );

  test('by another key has no effect, and is noticed', async () => {
    const link = await asked();
    cheat = replacing;
    const { code, stderr } = await here.run('respond', link);
    expect([code, /^warning: /m.test(stderr)]).toEqual([0, true]);
    expect((await here.run('get', link)).stdout).toBe('hunter2');
  });

  test.each([
    ['dropped', ({ public_key: _, ...body }: Record<string, unknown>) => body],
    ['replaced', replacing],
  ])('its key is %s: the request is closed again, unless that is allowed', async (_how, by) => {
    cheat = by;
    const out = ['--generate-passphrase', '--passphrase-out', here.file('words')];
    const words = ['request', 'Q', '--identity-out', here.file('ci.key'), ...out];
    for (const more of [words.slice(0, 2), words])
      expect(await here.run(...more)).toMatchObject({ code: 8, stdout: '' });
    expect(states()).toEqual(['closed', 'closed']);
    const left = ['ci.key', 'words'].filter((name) => existsSync(here.file(name)));
    expect([here.rescued(), left]).toEqual([{}, []]);
    const made = await here.run('request', 'Q', '--expire', '90m', '--no-encrypt');
    expect(made).toMatchObject({ code: 0, stdout: `${PRO}/r/request3\n` });
    expect(made.stderr).toMatch(/^warning: .* 1 hour granted$/m);
  });

  test('by no token for its key is not used', async () => {
    cheat = (body) => ({ ...body, url_token: '', html_url: `${PRO}/new` });
    const { code, stdout, stderr } = await here.run('request', 'Q');
    expect([code, stdout, stderr.includes('FAILED')]).toEqual([1, '', true]);
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

  test.each<[string, string[], Record<string, unknown>]>([
    ['time', ['--expire', '5h'], { close_after_duration: 17 }],
    ['passphrase', [], { passphrase: '' }],
  ])('by a looser %s than asked for is refused', async (_what, words, granted) => {
    cheat = ({ close_after_at: _, ...others }, path) =>
      path.startsWith('POST') ? { ...others, ...granted } : others;
    const under = here.under({ env: { PWPUSH_PASSPHRASE: 'open sesame' } });
    const run = (...more: string[]) => under.run('request', 'Q', ...words, ...more);
    expect(await run()).toMatchObject({ code: 8, stdout: '' });
    expect([states(), here.rescued()]).toEqual([['closed'], {}]);
    const { code, stderr } = await run('--accept-limits');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: .*\n$/)]);
  });

  test.each([
    ['version', 1, 0],
    ['key', 7, 'age-encryption.org/v1\n-> X25519 '.length + 60],
    ['MAC', 1, -50],
    ['text', 1, -1],
  ])(
    'by an altered answer is noticed, and the answer is kept: %s, exit %d',
    async (_, code, at) => {
      const link = await answered();
      const { response } = instance.requests.get('request1') ?? {};
      const [first, ...lines] = response?.trim().split('\n') ?? [];
      const last = lines.pop();
      const bytes = Buffer.from(lines.join(''), 'base64');
      bytes.write(bytes.at(at) === 65 ? 'B' : 'A', (at + bytes.length) % bytes.length);
      const text = bytes.toString('base64').replace(/.{64}(?!$)/g, '$&\n');
      cheat = forging(`${first}\n${text}\n${last}\n`);
      expect(await here.run('get', link)).toMatchObject({ code, stdout: '' });
      expect([saved().length, Object.keys(here.rescued())]).toEqual([
        1,
        expect.arrayContaining(['requests/request1.key']),
      ]);
    },
  );

  test('by an answer to another key is noticed', async () => {
    const link = await answered();
    cheat = forging(await encryptText('forged', [parseRecipient(other.recipient)]));
    expect(await here.run('get', link)).toMatchObject({ code: 7, stdout: '' });
  });

  describe('by an answer that is not encrypted', () => {
    const run = ['run', 'LINK', '--as', 'OTP', '--', 'sh', '-c', 'echo "$OTP"'];
    const using = (words: readonly string[], link: string, ...more: string[]) => {
      const [name = '', ...others] = words.map((word) => (word === 'LINK' ? link : word));
      return here.under({ env: { GITHUB_ENV: here.file('job') } }).run(name, ...more, ...others);
    };

    test('is warned of where only the key was kept, and passed to no command', async () => {
      const bare = (await answered()).replace(/#.*/, '');
      cheat = forging('forged');
      const { code, stdout, stderr } = await here.run('get', bare);
      expect([code, stdout, /^warning: /.test(stderr)]).toEqual([0, 'forged', true]);
      const second = (await answered()).replace(/#.*/, '');
      cheat = forging('forged');
      expect(await using(run, second)).toMatchObject({ code: 1, stdout: '' });
    });

    test.each([
      ['run', run],
      ['a job', ['get', 'LINK', '--github-env', 'OTP']],
    ])('passes nothing to %s, unless that is allowed', async (_what, words) => {
      const link = await answered();
      cheat = forging('forged');
      expect(await using(words, link)).toMatchObject({ code: 1, stdout: '' });
      expect([saved(), existsSync(here.file('job'))]).toEqual([['forged'], words[0] === 'get']);
      const second = await answered();
      cheat = forging('forged');
      expect((await using(words, second, '--no-decrypt')).code).toBe(0);
    });

    test('is noticed where the private key is not, too', async () => {
      for (const words of [['get', 'LINK'], run]) {
        const link = await answered('--identity-out', here.file(`${words[0]}.key`));
        cheat = forging('forged');
        expect(await using(words, link)).toMatchObject({ code: 1, stdout: '' });
      }
    });
  });

  test('by the token of a request elsewhere neither gets nor removes its key', async () => {
    await asked();
    const before = here.rescued();
    instance.requests.clear();
    const there = here.under({ env: { PWPUSH_URL: 'https://evil.test' } });
    expect(await there.run('request', 'Q')).toMatchObject({ code: 1, stdout: '' });
    expect(here.rescued()).toEqual(before);
    expect((await there.run('expire', 'https://evil.test/r/request1#age1')).code).toBe(0);
    expect(here.rescued()).toEqual(before);
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
    expect(await here.run('respond', damage(await asked()))).toMatchObject({ code: 2, stdout: '' });
    expect(states()).toEqual(['open']);
  });
});

test('a connection that is cut before the response to a creation keeps the key', async () => {
  let cutting: 'sent' | 'not sent' | undefined = 'not sent';
  const { here, instance } = standIn({ encrypts: true }, ({ send }) => async (request) => {
    if (cutting === 'not sent') throw broken(false);
    const answer = await send(request);
    if (cutting === 'sent') throw broken(true);
    return answer;
  });
  expect([(await here.run('request', 'Q')).code, here.rescued()]).toEqual([9, {}]);
  cutting = 'sent';
  expect((await here.run('request', 'Q')).code).toBe(11);
  expect(Object.keys(here.rescued())).toEqual([expect.stringMatching(/^requests\/age1\w+\.key$/)]);
  cutting = undefined;
  // It is found by the public one.
  const [token = ''] = (await here.run('list', 'requests')).stdout.split('\t');
  const link = (await here.run('preview', token)).stdout.trim();
  await here.run('respond', link);
  expect(instance.requests.get(token)?.response).toMatch(/^-----BEGIN AGE/);
  expect(await here.run('get', token)).toEqual({ code: 0, stdout: 'hunter2', stderr: '' });
  expect(here.rescued()).toEqual({});
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
    let fails = false;
    const sending =
      ({ send }: StandIn): Transport =>
      async (request) => {
        if (fails && request.url.endsWith('/1')) how(end);
        return send(request);
      };
    const { here, asked } = standIn({ encrypts: true, keepsAnswer: false }, sending);
    const files = ['a.crt', 'b.key'].map((name) => here.file(name));
    for (const file of files) writeFileSync(file, file.endsWith('key') ? 'B' : 'A');
    const link = await asked('--allow-files');
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
    const ran = by === byRun;
    const there = ran ? ['--output', out] : [];
    const again = await agent.run('get', link, '--resume', kept, '--json', ...there);
    expect([again.code, again.stdout.includes('payload')]).toEqual([0, false]);
    expect(readdirSync(out).sort()).toEqual(ran ? ['b.key'] : ['a.crt', 'b.key']);
    expect(readFileSync(here.file('out/b.key'), 'utf8')).toBe('B');
    expect(Object.values(here.rescued())).toEqual(ran ? ['A'] : []);
  });
});
