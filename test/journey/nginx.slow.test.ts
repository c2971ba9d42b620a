import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { literal } from '../helpers/manual';
import { needsPrograms } from '../helpers/needs';
import { freePort } from '../helpers/postgres';
import { person, pwpush, serving } from '../helpers/program';
import { cert, key } from '../server/certificate';

// The service behind nginx, with the configuration of the manual.

const somebody = person();
const settings = ['--trust-proxy', '--anonymous-files', '--max-file-size', '64MiB'];
const service = serving(somebody.env, settings);
let nginx: ChildProcess | undefined;
let port: number;
let env: Record<string, string>;

function configuration(folder: string): string {
  const changes = [
    [/listen 443/, `listen 127.0.0.1:${port}`],
    [/\/etc\/ssl\/pwpush.example.pem/, join(folder, 'cert')],
    [/\/etc\/ssl\/private\/pwpush.example.key/, join(folder, 'key')],
    [/\/var\/log\/nginx/, folder],
    [/http:\/\/127.0.0.1:5100/, service.url],
  ] as const;
  const server = changes.reduce((all, [from, to]) => {
    expect(all).toMatch(from);
    return all.replace(from, to);
  }, literal('nginx:'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};\n`,
  );
  const user = process.geteuid?.() === 0 ? 'user root;' : '';
  return `${user} daemon off; pid ${folder}/pid; worker_processes 1;
    events {}
    http { ${paths.join('')} ${server} }`;
}

describe('behind nginx (needs nginx)', needsPrograms('nginx'), () => {
  beforeAll(async () => {
    const folder = join(somebody.folder, 'nginx');
    mkdirSync(folder);
    port = await freePort();
    writeFileSync(join(folder, 'cert'), cert);
    writeFileSync(join(folder, 'key'), key);
    writeFileSync(join(folder, 'conf'), configuration(folder));
    nginx = spawn('nginx', ['-c', join(folder, 'conf'), '-e', join(folder, 'error.log')], {
      stdio: 'ignore',
    });
    env = {
      ...somebody.env,
      HOME: join(somebody.folder, 'client'),
      PWPUSH_URL: `https://localhost:${port}`,
      PWPUSH_CA_FILE: join(folder, 'cert'),
    };
    while (!(await get('127.0.0.1', '/up').catch(() => false)));
  });
  afterAll(async () => {
    nginx?.kill('SIGTERM');
    if (nginx) await once(nginx, 'close');
  });

  /** The status that somebody at that address gets, who also says to be another. */
  async function get(localAddress: string, path: string): Promise<number | undefined> {
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const options = { host: '127.0.0.1', port, path, localAddress, headers, agent: false };
    const asked = request({ ...options, rejectUnauthorized: false }).end();
    const [response] = await once(asked, 'response');
    await text(response);
    return response.statusCode;
  }

  test('links name the public address, and the audit log the client', async () => {
    const owned = { ...env, PWPUSH_TOKEN: service.token };
    const { stdout } = await pwpush(['push', '--views', '2'], { env: owned, input: 'x' });
    const link = stdout.trim();
    expect(link).toMatch(new RegExp(`^https://localhost:${port}/p/`));
    await get('127.0.0.2', `/api/v2/pushes/${link.split('/')[4]}`);
    const audit = await pwpush(['audit', link, '--json'], { env: owned });
    expect(audit.stdout).toContain('"127.0.0.2"');
    expect(audit.stdout).not.toContain('203.0.113.9');
  });

  test('24 MiB go up and down', async () => {
    const bytes = randomBytes(24 * 1024 * 1024);
    const large = join(somebody.folder, 'large');
    writeFileSync(large, bytes);
    const link = (await pwpush(['push', '--file', large], { env })).stdout.trim();
    const folder = join(somebody.folder, 'saved');
    const got = await pwpush(['get', link, '--output', `${folder}/`], { env });
    expect(got).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, 'large')).equals(bytes)).toBe(true);
  });
});
