import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { ServiceError } from '../../../src/server/service-errors';
import { readAddress } from '../../../src/server/store/pg-url';
import { openPostgres } from '../../../src/server/store/postgres';
import { onPostgres } from '../../helpers/stores';
import { cert, key } from '../certificate';

const folder = mkdtempSync(join(tmpdir(), 'pwpush-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return encodeURIComponent(join(folder, name));
}

const ours = file('ours.pem', cert);
const another = file('another.pem', rootCertificates[0] as string);

onPostgres(
  (cluster) => {
    // The certificate is that of localhost and 127.0.0.1; this machine is reached under 0.0.0.0, too.
    const address = (query: string, host = '127.0.0.1') =>
      readAddress(`${cluster().url('postgres').replace('127.0.0.1', host)}?${query}`, {}, folder);

    const withTls = async (query: string, host?: string) => {
      const database = await openPostgres(() => address(query, host));
      const [row] = await database.sql<{ ssl: boolean }>`
        SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
      await database.close();
      return row?.ssl;
    };

    const failure = async (query: string, host?: string) => {
      const error = await withTls(query, host).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ServiceError);
      return /could not be verified \((\w+)\)$/.exec((error as ServiceError).message)?.[1];
    };

    // What each query means, ./pg-url.test.ts says.
    test.each([
      ['', true],
      ['sslmode=disable', false],
      ['sslmode=require', true],
      [`sslmode=verify-full&sslrootcert=${ours}`, true],
    ])('%s', async (query, expected) => {
      expect(await withTls(query)).toBe(expected);
    });

    describe('a certificate', () => {
      test('of an authority that is not trusted is refused, whatever the environment says', async () => {
        vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
        const code = 'DEPTH_ZERO_SELF_SIGNED_CERT';
        for (const query of [
          'verify-full',
          ...['require', 'verify-ca'].map((mode) => `${mode}&sslrootcert=${another}`),
        ])
          expect(await failure(`sslmode=${query}`)).toBe(code);
        vi.unstubAllEnvs();
      });

      test('of another host is refused where the name is verified', async () => {
        const query = `sslrootcert=${ours}`;
        expect(await withTls(`sslmode=verify-full&${query}`, 'localhost')).toBe(true);
        expect(await withTls(`sslmode=verify-ca&${query}`, '0.0.0.0')).toBe(true);
        expect(await failure(`sslmode=verify-full&${query}`, '0.0.0.0')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
      });
    });
  },
  { settings: ['ssl = on'], files: { 'server.crt': cert, 'server.key': key } },
);
