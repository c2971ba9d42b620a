import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { newKeyPair } from '../../src/age/key-files';
import { eachInstance } from '../helpers/instance';
import { cert } from '../server/certificate';

// Texts that people write for us, in the ways in which editors save them. Secrets keep each byte.

const here = eachInstance();
const PAIR = newKeyPair();

const TEXTS = {
  passphrase: 'horse',
  token: 'TOKEN',
  headers: '# of a proxy\nX-Access: yes',
  recipients: `# mine\n${PAIR.recipient}`,
  identity: `# mine\n${PAIR.identity}`,
  ca: cert.trimEnd(),
  each: 'hunter2\nhunter3',
  'config/config.json': JSON.stringify({ profiles: { work: { name: 'x' } } }, null, 1),
};

type Name = keyof typeof TEXTS;

function write(save: (text: string, name: Name) => Buffer) {
  mkdirSync(here.file('config'), { recursive: true });
  for (const [name, text] of Object.entries(TEXTS) as [Name, string][]) {
    const filled = text.replace('TOKEN', here.service.adminToken);
    writeFileSync(here.file(name), save(`${filled}\n`, name), { mode: 0o600 });
  }
}

/** The words of a line, in which a name in angle brackets is a path. */
const words = (line: string) => line.replace(/<(\w+)>/g, (_, name: string) => here.file(name)).split(' ');
const READING =
  '--each --from <each> --passphrase-file <passphrase> --token-file <token> --to <recipients> ' +
  '--headers-file <headers> --ca-file <ca> --profile work';
const push = () => words(`push ${READING} --url https://pw.test -q`);
const get = (link = '') => ['get', link, ...words('--passphrase-file <passphrase> --identity <identity> --anonymous')];

test('a byte order mark and CRLF are no part of what they say', async () => {
  write((text) => Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`));
  const { code, stdout, stderr } = await here.run(...push());
  expect([code, stderr]).toEqual([0, '']);
  const [one, two] = stdout.split('\n');
  const plain = here.under({ env: { PWPUSH_PASSPHRASE: 'horse', PWPUSH_PROFILE: '' } });
  const both = [await here.run(...get(one)), await plain.run('get', `${two}`, ...get().slice(4))];
  expect(both.map((got) => got.stdout)).toEqual(['hunter2', 'hunter3']);
});

const wide = (text: string) => Buffer.from(text, 'utf16le');

test.each([
  ...(Object.keys(TEXTS) as Name[]).map((name) => [name, wide('\ufeff')] as const),
  ['each', wide('')] as const,
  ['passphrase', Buffer.from([0xfe, 0xff])] as const,
])('UTF-16 is named, and nothing is sent: %s', async (name, mark) => {
  const other = (text: string) => (mark[0] === 0xfe ? wide(text).swap16() : wide(text));
  write((text, file) => (file === name ? Buffer.concat([mark, other(text)]) : Buffer.from(text)));
  const { code, stderr } = await here.run(...(name === 'identity' ? get('abc') : push()));
  expect([code, here.asked]).toEqual([2, []]);
  expect(stderr).toContain('is in UTF-16');
});
