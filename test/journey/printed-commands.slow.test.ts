import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { passphraseRecipient } from '../../src/age/age';
import { newLinkKey } from '../../src/age/key';
import { newKeyPair } from '../../src/age/key-files';
import { encryptText, keyOf, withoutKey } from '../helpers/age';
import { partOf } from '../helpers/long';
import { needsPrograms } from '../helpers/needs';
import { ending, pathWith, person, pushed, pwpush, rescued, serving, shell } from '../helpers/program';
import { onTerminal } from '../helpers/pty';
import { makeSshKey } from '../helpers/ssh-key';

// The commands that the service prints for a link, typed as they stand by a reader who has no more than the program and
// an empty folder, with the key and without. Each push has one view.

const SECRET = 'http://secret.example/hunter2';
const PASSPHRASE = 'open sesame';
const sender = person();
const service = serving(sender.env, ['--anonymous-files']);
const reader = person();
const cwd = join(reader.folder, 'work');
const at = (name: string) => join(sender.folder, name);
let env: Record<string, string>;
beforeAll(() => {
  env = { ...reader.env, PATH: pathWith(join(reader.folder, 'bin')) };
  writeFileSync(at('secret.txt'), SECRET);
});

const contents = {
  text: [],
  url: ['--kind', 'url'],
  qr: ['--kind', 'qr'],
  file: ['--file', at('secret.txt')],
};
type Content = keyof typeof contents;
const seals = ['clear', 'link', 'words', 'age', 'ssh'] as const;
type Seal = (typeof seals)[number];

/** What a reader has besides the link. */
interface Holding {
  readonly passphrase?: string;
  readonly key?: string;
  readonly identity?: string;
}

const WRONG: Holding = {
  passphrase: PASSPHRASE,
  key: newLinkKey(),
  identity: newKeyPair().identity,
};

/** Pushes it with one view, and returns its link without key, and what opens it. */
async function push(content: Content, seal: Seal, locked: boolean) {
  const files = ['words', 'passphrase', 'id', 'id.pub'];
  for (const name of files) rmSync(at(name), { force: true });
  writeFileSync(at('passphrase'), PASSPHRASE);
  const step = locked ? ['--passphrase-file', at('passphrase')] : ['--click'];
  const pair = newKeyPair();
  const keyFile = seal === 'ssh' ? makeSshKey(at('id'), 'ed25519') : '';
  /** The words of each way, and what opens what they encrypt. */
  const ways: Record<Seal, [words: string[], right: (link: string) => Holding]> = {
    clear: [['--no-encrypt'], () => ({})],
    link: [['--encrypt'], (link) => ({ key: keyOf(link) })],
    words: [['--encrypt=words', '--key-out', at('words')], () => ({ key: readFileSync(at('words'), 'utf8').trim() })],
    age: [['--to', pair.recipient], () => ({ identity: pair.identity })],
    ssh: [['--to', `${keyFile}.pub`], () => ({ identity: readFileSync(keyFile, 'utf8') })],
  };
  const [sealing, right] = ways[seal];
  const words = ['push', ...contents[content], '--views', '1', '--quiet', ...step, ...sealing];
  const { stdout, stderr } = await pwpush(words, { env: sender.env, input: content === 'file' ? '' : SECRET });
  expect(stdout, stderr).toMatch(/^http/);
  return { link: withoutKey(stdout), right: { passphrase: PASSPHRASE, ...right(stdout) } };
}

const idOf = (link: string) => /\/p\/([\w-]+)/.exec(link)?.[1] ?? '';
const isUnused = async (link: string) => {
  const { json } = await service.ask('GET', `/pushes/${idOf(link)}/audit`);
  return !JSON.stringify(json).includes('"view"');
};

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const plain = (html: string) => html.replace(/&(#?\w+);/g, (_, name) => entities[name] ?? '');
const commandsIn = (html: string) =>
  [...html.matchAll(/<code[^>]*>(.*?)<\/code>/g)]
    .map(([, code]) => plain(code ?? ''))
    .filter((code) => /^(curl|pwpush|age) /.test(code));

/** What the service prints for a link before a view is used: as text, and in the page. */
async function printedFor(link: string): Promise<string[]> {
  const ask = async (accept: string) => (await fetch(link, { headers: { accept } })).text();
  const [, command = ''] = /^ {2}(.*)$/m.exec(await ask('text/plain')) ?? [];
  return [...new Set([command, ...commandsIn(await ask('text/html'))])];
}

function emptyFolder(): void {
  rmSync(cwd, { recursive: true, force: true });
  rmSync(env.PWPUSH_STATE_DIR ?? '', { recursive: true, force: true });
  mkdirSync(cwd);
}

/** Types a command, and returns whether the secret is there then, or its ciphertext in a file. */
async function typed(command: string, { passphrase, key, identity }: Holding) {
  if (passphrase) writeFileSync(join(cwd, 'FILE'), passphrase);
  if (identity) writeFileSync(join(cwd, 'YOUR_KEY'), identity, { mode: 0o600 });
  const variables = {
    ...(passphrase && { PWPUSH_PASSPHRASE: passphrase }),
    ...(key && { PWPUSH_KEY: key }),
  };
  const how = { env: { ...env, ...variables }, cwd };
  const { stdout, stderr, code } = await shell(command, how);
  const files = readdirSync(cwd).map((name) => readFileSync(join(cwd, name), 'latin1'));
  const addresses = stdout.match(/^http\S+\/files\/\S+$/gm) ?? [];
  const fetched = await Promise.all(addresses.map(async (url) => (await fetch(url)).text()));
  const said = [...files, ...fetched, stdout];
  const sealed = [...files, ...rescued(env)];
  return {
    opened: said.some((text) => text.includes(SECRET)),
    isSaved: sealed.some((text) => /-----BEGIN AGE ENCRYPTED FILE-----/.test(text)),
    report: `${command}\n${code} ${stdout}${stderr}`,
  };
}

const combined = seals.flatMap((seal) =>
  (Object.keys(contents) as Content[])
    // What an instance draws or redirects to is not encrypted.
    .filter((content) => seal === 'clear' || content === 'text' || content === 'file')
    .flatMap((content) => [false, true].map((locked) => ({ seal, content, locked }))),
);

describe('what is printed (needs age, curl)', needsPrograms('age', 'curl', 'ssh-keygen'), () => {
  test.each(partOf(combined, 0, 3))(
    'loses no view of $content, $seal, with a passphrase: $locked',
    async ({ seal, content, locked }) => {
      const first = await push(content, seal, locked);
      const count = (await printedFor(first.link)).length;
      expect(count).toBeGreaterThan(0);
      for (let index = 0; index < count; index++)
        for (const holding of ['nothing', 'a wrong key', 'the right key'] as const) {
          if (seal === 'clear' && holding === 'a wrong key') continue;
          const { link, right } = await push(content, seal, locked);
          const command = (await printedFor(link))[index] ?? '';
          emptyFolder();
          const hasKey = holding === 'the right key';
          const held = { nothing: {}, 'a wrong key': WRONG, 'the right key': right }[holding];
          const { opened, isSaved, report } = await typed(command, held);
          const isUsed = !(await isUnused(link));
          expect(hasKey ? opened && isUsed : opened || isSaved || !isUsed, report).toBe(true);
        }
    },
  );

  test.each(combined.filter(({ seal }) => seal === 'age' || seal === 'ssh'))(
    'after a view of $content for $seal opens what the page saves, with a passphrase: $locked',
    async ({ seal, content, locked }) => {
      const { link, right } = await push(content, seal, locked);
      emptyFolder();
      const body = new URLSearchParams(locked ? { passphrase: PASSPHRASE } : {});
      const headers = { accept: 'text/html' };
      const page = await (await fetch(link, { method: 'POST', headers, body })).text();
      const saves = page.matchAll(/<a class="button" href="([^"]+)" download="([^"]+)"/g);
      for (const [, url = '', name = ''] of saves)
        writeFileSync(join(cwd, name), Buffer.from(await (await fetch(plain(url))).arrayBuffer()));
      const commands = commandsIn(page);
      expect(commands).toHaveLength(1);
      for (const command of commands) {
        expect(await typed(command, WRONG)).toMatchObject({ opened: false, isSaved: true });
        const { opened, report } = await typed(command, right);
        expect(opened, report).toBe(true);
      }
    },
  );

  test.each([10, 16])('loses no view of armor without a proof: 2^%i', async (work) => {
    const key = newLinkKey();
    const payload = await encryptText(SECRET, [passphraseRecipient(key, work)]);
    for (const held of [{}, WRONG, { key }]) {
      const link = await pushed(service, payload, { expire_after_views: 1, retrieval_step: true });
      const printed = await printedFor(link);
      expect(printed).toHaveLength(1);
      emptyFolder();
      const { opened, isSaved, report } = await typed(printed[0] ?? '', held);
      expect('key' in held && held !== WRONG ? opened : isSaved, report).toBe(true);
    }
  });

  test('for a text with null characters shows it on a terminal', async () => {
    const link = await pushed(service, 'null \0 hunter2', {
      expire_after_views: 1,
      retrieval_step: true,
    });
    const [command = ''] = await printedFor(link);
    const terminal = onTerminal(command, env);
    await terminal.shows('hunter2');
    expect(await terminal.ended).toBe(0);
  });
});

describe('docs/encryption.md, "By hand" (age, curl)', needsPrograms('age', 'curl', 'bash'), () => {
  const [, section = ''] = readFileSync('docs/encryption.md', 'utf8').split('\n## By hand\n');
  const [, toKey = '', proving = ''] = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
  const kinds = [
    ['text', SECRET],
    ['file', '"name":"secret.txt"'],
  ] as const;
  test.each(kinds)('saves a %s to a key before it is opened', async (content, plaintext) => {
    const { link, right } = await push(content, 'age', false);
    const command = `LINK=${link}\n${toKey}`;
    emptyFolder();
    writeFileSync(join(cwd, 'secret.txt'), 'mine');
    await typed(command, right);
    expect(readFileSync(join(cwd, 'secret.txt'), 'utf8')).toBe('mine');
    expect(await isUnused(link)).toBe(true);
    emptyFolder();
    expect(await typed(command, {})).toMatchObject({ opened: false, isSaved: true });
    const last = toKey.split('&&').at(-1) ?? '';
    expect((await typed(last, right)).report).toContain(plaintext);
  });

  test('saves what is given for a proof', async () => {
    const { link, right } = await push('text', 'link', false);
    emptyFolder();
    const child = spawn('bash', ['-c', proving], { cwd, env: { ...env, LINK: link } });
    child.stdin.end(`${right.key}\n`);
    await ending(child);
    expect(readFileSync(join(cwd, 'secret.age'), 'utf8')).toMatch(/^-----BEGIN AGE/);
  });
});
