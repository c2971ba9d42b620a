import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decryptText } from '../../src/age/age';
import { parseIdentities, parseRecipient, parseRecipients } from '../../src/age/key-files';
import { encryptText } from '../helpers/age';

// Why a key is refused is told by test/cases/push-to-refused.txt and get-identity-refused.txt.

// The pair of age.md (https://c2sp.org/age).
const RECIPIENT = 'age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj';
const IDENTITY = 'AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX';

const field = (bytes: Uint8Array) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
const wire = (type: string, ...fields: Uint8Array[]) =>
  Buffer.concat([Buffer.from(type), ...fields].map(field)).toString('base64');

/** An SSH public key as ssh-keygen writes it, without its comment. */
function sshLine(publicKey: KeyObject): string {
  const jwk = publicKey.export({ format: 'jwk' });
  return `ssh-ed25519 ${wire('ssh-ed25519', Buffer.from(jwk.x ?? '', 'base64url'))}`;
}

const ed25519 = generateKeyPairSync('ed25519');
const pem = ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const line = sshLine(ed25519.publicKey);
const key = line.slice('ssh-ed25519 '.length);

const opens = async (recipient: string, identity: string) => {
  const armor = await encryptText('secret', parseRecipients(recipient));
  return (await decryptText(armor, parseIdentities(identity))).toString() === 'secret';
};

test('an age key in either case, among comments', async () => {
  const recipients = `# somebody\n\n  ${RECIPIENT}\r\n#x\n`;
  const identities = `# created: now\r\n# public key: ${RECIPIENT}\r\n${IDENTITY}\r\n`;
  expect(await opens(recipients, identities)).toBe(true);
  expect(await opens(RECIPIENT.toUpperCase(), IDENTITY.toLowerCase())).toBe(true);
});

test.each([
  ...[line, `${line} somebody@somewhere`, `${line} for the private key of my laptop`],
  ...[`  ${line}\tssh-rsa AAAA`, `no-pty ${line} a comment`],
  `from="10.0.0.0/8",command="echo \\"ssh-rsa AAAA\\" # x",no-pty ${line}`,
  `command="C:\\\\dir \\\\" ",restrict\t${line}`,
  `environment="A=ssh-ed25519 ${key}" ${line}`,
])('an SSH key as it stands in authorized_keys: %j', async (text) => {
  expect(await opens(`# team\n${text}\n`, pem)).toBe(true);
});

describe('stanzas that someone made for an SSH key', () => {
  const real = parseRecipient(line);
  const identities = parseIdentities(pem);
  /** The text is encrypted to stanzas of random bytes with the tag of the key, and then to the key. */
  const behind = async (count: number) => {
    const { type, args } = await real.wrap(randomBytes(16));
    const junk = { wrap: () => ({ type, args, body: randomBytes(32) }) };
    return encryptText('secret', [...Array(count).fill(junk), real]);
  };

  test('are tried up to the 20th, and signals are handled between two', async () => {
    let turns = 0;
    let next: NodeJS.Immediate | undefined;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    const armor = await behind(19);
    count();
    expect(`${await decryptText(armor, identities)}`).toBe('secret');
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(20);
    await expect(decryptText(await behind(20), identities)).rejects.toMatchObject({ reason: 'no-match' });
  });

  test.each([
    [['AAAA', 'A'.repeat(43)]],
    [['!AAAAA', 'A'.repeat(43)]],
    [['AAAAAA', 'AAAA']],
    [['AAAAAA', 'A'.repeat(43), 'x']],
    [['AAAAAA']],
    [[]],
  ])('are refused with the arguments %j', async (args) => {
    const malformed = { wrap: () => ({ type: 'ssh-ed25519', args, body: randomBytes(32) }) };
    const armor = await encryptText('secret', [malformed, real]);
    await expect(decryptText(armor, identities)).rejects.toMatchObject({ reason: 'header' });
  });
});

describe('what cannot be encrypted to is refused with the reason', () => {
  const body = wire('x', Buffer.alloc(32));
  const changed = `${RECIPIENT.slice(0, -1)}q`;
  test.each([
    ...[`ecdsa-sha2-nistp256 ${body}`, `no-pty ecdsa-sha2-nistp521 ${body} x`],
    ...[`sk-ssh-ed25519@openssh.com ${body}`, `sk-ecdsa-sha2-nistp256@openssh.com ${body}`],
    ...[`ssh-ed25519-cert-v01@openssh.com ${body}`, `ssh-dss ${body}`, `ssh-future ${body}`],
    ...[`cert-authority,principals="a" ${line}`, `command="${line}`],
    ...['age1yubikey1qgl24zj2w9jc8pkp7', 'age1pq1x34nzsvr0rxjsg', 'hunter2', 'ägé1'],
    ...[changed, RECIPIENT.replace('zv', 'ZV'), RECIPIENT.slice(0, -6), IDENTITY],
    '-----BEGIN OPENSSH PRIVATE KEY-----',
    ...[`ssh-ed25519 ${body}`, `ssh-ed25519 ${key.slice(0, -8)}`],
    `ssh-ed25519 ${wire('ssh-ed25519', Buffer.alloc(31))}`,
    `ssh-ed25519 ${wire('ssh-ed25519', Buffer.alloc(32, 255))}`,
    // y = 2 is not on the curve.
    `ssh-ed25519 ${wire('ssh-ed25519', Buffer.alloc(32).fill(2, 0, 1))}`,
    // y = 1 is the neutral point.
    `ssh-ed25519 ${wire('ssh-ed25519', Buffer.alloc(32).fill(1, 0, 1))}`,
    `ssh-rsa ${wire('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.alloc(257, 1))}`,
  ])('%#: %.60s', (text) => {
    const refused = { name: 'AgeError', reason: expect.stringMatching(/^key/) };
    expect(() => parseRecipient(text)).toThrow(expect.objectContaining(refused));
    const file = `# a\n${RECIPIENT}\n\n${text}`;
    const inFile = { ...refused, message: expect.stringMatching(/^line 4: /) };
    expect(() => parseRecipients(file)).toThrow(expect.objectContaining(inFile));
  });

  test('but whole SSH keys of other types only leave their line out of a file', async () => {
    const types = ['ecdsa-sha2-nistp256', 'sk-ssh-ed25519@openssh.com', 'ssh-rsa', 'ssh-dss'];
    const others = types.map((type) => `${type} ${wire(type, Buffer.alloc(32))} alice`);
    const why: string[] = [];
    const read = (lines: readonly string[]) => parseRecipients(lines.join('\n'), (one) => why.push(one));
    const armor = await encryptText('secret', read([...others, line]));
    expect(`${await decryptText(armor, parseIdentities(pem))}`).toBe('secret');
    expect(why.map((one) => one.slice(0, 8))).toEqual([1, 2, 3, 4].map((at) => `line ${at}: `));
    expect(() => read(others)).toThrow('line 1: ECDSA');
  });

  test.each(['', '\n', '# age1…\n'])('a file with nobody: %j', (text) => {
    expect(() => parseRecipients(text)).toThrow(expect.objectContaining({ name: 'AgeError' }));
  });
});

describe('what is no identity is refused, and not repeated', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const openssh = (bytes: Uint8Array) =>
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${Buffer.from(bytes).toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`;
  test.each([
    '',
    'hunter2',
    `# x\n${RECIPIENT}`,
    `${IDENTITY.slice(0, -1)}Q`,
    'AGE-PLUGIN-YUBIKEY-1QGL24ZJ2W',
    'age-encryption.org/v1\n',
    '-----BEGIN AGE ENCRYPTED FILE-----\n',
    `${ec.export({ type: 'pkcs8', format: 'pem' })}`,
    '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMARKER\n-----END RSA PRIVATE KEY-----\n',
    '-----BEGIN PRIVATE KEY-----\nMARKER\n-----END PRIVATE KEY-----\n',
    openssh(Buffer.alloc(0)),
    openssh(Buffer.from('openssh-key-v1\0')),
    openssh(Buffer.from('openssh-key-v1\0\xff\xff\xff\xffMARKER', 'latin1')),
  ])('%#: %.60j', (text) => {
    const marked = /hunter2|MARKER|YUBIKEY|SECRET-KEY-1\w/i;
    const message = expect.not.stringMatching(marked);
    expect(() => parseIdentities(text)).toThrow(expect.objectContaining({ name: 'AgeError', reason: 'key', message }));
  });

  test('a key with a passphrase is told apart', () => {
    const encrypted = { cipher: 'aes-256-cbc', passphrase: 'x' };
    const sealed = ed25519.privateKey.export({ type: 'pkcs8', format: 'pem', ...encrypted });
    const refused = { name: 'AgeError', reason: 'key-passphrase' };
    expect(() => parseIdentities(`${sealed}`)).toThrow(expect.objectContaining(refused));
  });
});
