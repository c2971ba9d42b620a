import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../../src/server/service-errors';
import { readAddress as read } from '../../../src/server/store/pg-url';
import { cert, key } from '../certificate';

const folder = mkdtempSync(join(tmpdir(), 'pwpush-'));
const authority = join(folder, 'ca.pem');
writeFileSync(authority, 'PEM');
const ca = Buffer.from('PEM');
const pair = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
writeFileSync(pair.cert, cert);
writeFileSync(pair.key, key);
const files = { cert, key };
const rejectUnauthorized = true;
// Any name will do.
const checkServerIdentity = expect.any(Function);
const readAddress = (url: string, env = {}) => read(url, env, folder);
afterAll(() => rmSync(folder, { recursive: true }));

describe('an address says where the database is', () => {
  const own = { PGHOST: 'h', PGPORT: '7', PGUSER: 'u', PGPASSWORD: 'p' };
  const me = userInfo().username;

  test.each([
    ['postgres://u:p@db:5433/name', {}, 'db 5433', 'u', 'p', 'name'],
    ['postgresql://u@[::1]/name', {}, '::1 5432', 'u', '', 'name'],
    ['postgres://u%40x:p%3A%2F%40%25@db/na%20me', {}, 'db 5432', 'u@x', 'p:/@%', 'na me'],
    ['postgres://u:a:b@db/n', {}, 'db 5432', 'u', 'a:b', 'n'],
    ['postgres://u@a:1,b,c:65535/n?port=9', {}, 'a 1, b 9, c 65535', 'u', '', 'n'],
    ['postgres://u:p@/n?host=/run/pg', {}, '/run/pg 5432', 'u', 'p', 'n'],
    ['postgres://%2Frun%2Fpg/n?user=u&password=p', {}, '/run/pg 5432', 'u', 'p', 'n'],
    ['postgres://', own, 'h 7', 'u', 'p', 'u'],
    ['postgres://v:q@db:5432/n', own, 'db 5432', 'v', 'q', 'n'],
    ['postgres://', {}, 'localhost 5432', me, '', me],
  ])('%s', (url, env, places, user, password, database) => {
    const { hosts, ...address } = readAddress(url, env);
    expect(hosts.map(({ host, port }) => `${host} ${port}`).join(', ')).toBe(places);
    expect(address).toMatchObject({ user, password, database });
  });

  test('but a password may be in a file', () => {
    const file = join(folder, 'password');
    const env = { PWPUSH_DB_PASSWORD_FILE: file };
    const password = (url: string, more = {}) => readAddress(url, { ...env, ...more }).password;
    for (const end of ['', '\n', '\r\n']) {
      writeFileSync(file, ` a%b \n${end}`);
      expect(password('postgres://u@db/n')).toBe(end === '' ? ' a%b ' : ' a%b \n');
    }
    expect(password('postgres://u:p@db/n')).toBe('p');
    expect(password('postgres://u@db/n', { PGPASSWORD: 'q\n' })).toBe('q');
    expect(password('postgres://u@db/n', { PWPUSH_DB_PASSWORD_FILE: '' })).toBe('');
    const missing = { PWPUSH_DB_PASSWORD_FILE: join(folder, 'missing') };
    const path = `"${missing.PWPUSH_DB_PASSWORD_FILE}"`;
    expect(() => password('postgres://u@db/n', missing)).toThrow(path);
  });
});

test.each([
  ['', 'prefer'],
  ['?sslmode=disable', false],
  ['?sslmode=allow', 'prefer'],
  ['?sslcert=CERT&sslkey=KEY', { ...files, rejectUnauthorized: false }],
  ['?sslmode=require', { rejectUnauthorized: false }],
  ['?sslmode=require&sslrootcert=CA', { ca, rejectUnauthorized, checkServerIdentity }],
  ['?sslmode=verify-ca&sslrootcert=CA', { ca, rejectUnauthorized, checkServerIdentity }],
  ['?sslmode=verify-full&sslrootcert=CA', { ca, rejectUnauthorized }],
  ['?sslmode=verify-full&sslrootcert=system', { rejectUnauthorized }],
])('TLS as libpq reads it: %s', (query, ssl) => {
  const paths = { '=CA': authority, '=CERT': pair.cert, '=KEY': pair.key };
  const url = Object.entries(paths).reduce(
    (text, [name, path]) => text.replace(name, `=${encodeURIComponent(path)}`),
    `postgres://db/n${query}`,
  );
  expect(readAddress(url).ssl).toEqual(ssl);
  expect(readAddress('postgres://db/n', { PGSSLMODE: 'verify-full' }).ssl).toEqual({ rejectUnauthorized });
});

describe('what is refused is said, without quoting the address', () => {
  test('but a certificate and a key that do not match are named', () => {
    const other = join(folder, 'other.pem');
    writeFileSync(other, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const url = (path: string) =>
      `postgres://db/n?sslcert=${encodeURIComponent(pair.cert)}&sslkey=${encodeURIComponent(path)}`;
    expect(() => readAddress(url(other))).toThrow('do not match');
  });

  test.each([
    ['mysql://u:MARKER@db/n', 'postgres://'],
    ['MARKER', 'postgres://'],
    ['postgres://u:MARKER@db:x/n', 'host'],
    ['postgres://u:MARKER@db:0/n', 'port'],
    ['postgres://u:MARKER@db:65536/n', 'port'],
    ['postgres://u:MARKER%@db/n', '%25'],
    ['postgres://u:MARKER@db/n?sslcrl=x', '"sslcrl"'],
    ...['#', '@', '/', '?', '5/', '5?', '@@', '/@'].flatMap((character) =>
      ['MARKER', 'MARKER=b', '@MARKER'].flatMap((rest) =>
        ['db/n', 'db:5432/n?sslmode=disable'].map((place) => [
          `postgres://u:${character}${rest}@${place}`,
          'write @ as %40, / as %2F, ? as %3F and # as %23',
        ]),
      ),
    ),
    ['postgres://u:MARKER@db/n#x', '# as %23'],
    ['postgres://db/n?a%20MARKER', 'parameter'],
    ['postgres://u:MARKER@db/n?sslmode=yes', 'sslmode'],
    ['postgres://u:MARKER@db/n?sslmode=verify-ca', 'sslrootcert'],
    ['postgres://u:MARKER@db/n?sslmode=require&sslrootcert=system', 'sslmode=verify-full'],
    ['postgres://u:MARKER@db/n?channel_binding=require', 'channel_binding=require'],
    ['postgres://u:MARKER@db/n?target_session_attrs=standby', 'cannot be written to'],
  ])('%s', (url, named) => {
    try {
      readAddress(url);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ServiceError);
      const { message, hint, code, stack } = error as ServiceError;
      expect([message.includes(named), code]).toEqual([true, 'usage']);
      expect(`${hint}${stack}`).not.toContain('MARKER');
    }
  });
});

test('an authority at home is asked, even where encryption alone was wanted', () => {
  const home = join(folder, 'home');
  mkdirSync(join(home, '.postgresql'), { recursive: true });
  copyFileSync(authority, join(home, '.postgresql', 'root.crt'));
  const ssl = { ca, rejectUnauthorized, checkServerIdentity };
  for (const mode of ['require', 'verify-ca'])
    expect(read(`postgres://db/n?sslmode=${mode}`, {}, home).ssl).toEqual(ssl);
  const missing = 'postgres://db/n?sslmode=require&sslrootcert=/nonexistent';
  expect(() => read(missing, {}, home)).toThrow('"/nonexistent"');
});
