import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, rename, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compose, deployedEnv, manifest } from '../helpers/deploy';
import { buildImage, type Image, type Mount, needsImages, runContainer, startContainer, USER } from '../helpers/image';
import { allOf } from '../helpers/needs';
import { type Cluster, freePort, needsPostgres, PASSWORD, startCluster } from '../helpers/postgres';
import { binary, onBinary, person, pwpush } from '../helpers/program';
import { cert, key } from '../server/certificate';

// What deploy/ describes, with the executable, as the user of the image in a read-only root.

const PROGRAM = '/usr/bin/pwpush';
const here = person();
let image: Image;
let cluster: Cluster | undefined;

beforeAll(async () => {
  if (!binary || needsImages.skip) return;
  image = await buildImage(binary);
});
afterAll(async () => {
  await image?.remove();
  await cluster?.remove();
});

const start = (env: Record<string, string>, mounts: readonly Mount[]) => startContainer(image, { env, mounts });

/** A folder of this machine that is mounted, and that the user owns; Docker makes a volume so. */
function mounted(to: string, mode: Mount['mode'], owner: number): Mount {
  const from = mkdtempSync(join(here.folder, 'mounted-'));
  chownSync(from, owner, owner);
  return { from, to, mode };
}
const volume = () => mounted('/var/lib/pwpush', 'rw', USER);

/** Another container of the image, with the network of this machine, as all have it. */
const health = (env: Record<string, string>) =>
  runContainer(image, { env, command: image.config.Healthcheck.Test.slice(2) });

async function client(port: number, input: string, ...words: string[]) {
  const env = { ...here.env, PWPUSH_URL: `http://127.0.0.1:${port}` };
  const { code, stdout } = await pwpush(words, { env, input });
  return { code, stdout };
}

async function pushAndGet(port: number, other = port): Promise<void> {
  const pushed = await client(port, 'hunter2', 'push', '--views', '1');
  expect(pushed.code).toBe(0);
  // The link names the public address.
  const link = `http://127.0.0.1:${other}${new URL(pushed.stdout.trim()).pathname}`;
  expect(await client(other, '', 'get', link)).toEqual({ code: 0, stdout: 'hunter2' });
  expect((await client(other, '', 'get', link)).code).toBe(6);
}

describe('the image (needs a binary, buildah, unshare, root)', allOf(onBinary, needsImages), () => {
  test('has the executable and licences, and a user of a number', () => {
    const copied = (path: string) => readFileSync(join(image.files, path));
    expect(existsSync(join(image.files, 'usr/share/doc/pwpush/LICENSE'))).toBe(true);
    const notices = copied('usr/share/doc/pwpush/THIRD-PARTY-NOTICES').toString();
    expect(notices).toContain('JavaScriptCore of WebKit (LGPL-2)');
    expect(copied('usr/bin/pwpush').equals(readFileSync(binary ?? ''))).toBe(true);
    expect(image.config).toMatchObject({
      User: `${USER}:${USER}`,
      Entrypoint: [PROGRAM],
      Cmd: ['serve'],
      Volumes: { '/var/lib/pwpush': {} },
      ExposedPorts: { '5100/tcp': {} },
      StopSignal: 'SIGTERM',
    });
  });

  test('serves from a read-only root, writes to its volume only, and stops', async () => {
    const without = await runContainer(image, { env: {} });
    expect(without.stderr).toMatch(/^pwpush: .*\/var\/lib\/pwpush/);
    const [data, port] = [volume(), await freePort()];
    const env = { PWPUSH_SERVE_PORT: `${port}` };
    expect(await health(env)).toMatchObject({ code: 9 });

    const container = await start(env, [data]);
    const url = `http://127.0.0.1:${port}\n`;
    expect(await health(env)).toMatchObject({ code: 0, stdout: url, stderr: '' });
    await pushAndGet(port);
    const kept = await client(port, 'kept', 'push');
    const command = ['serve', 'token', 'add', 'alice'];
    const added = await runContainer(image, { env, mounts: [data], command });
    expect(added.stdout).toMatch(/^pwp_/);

    const { code, stdout, stderr } = await container.stop();
    expect([code, stdout]).toEqual([0, `${container.url}\n`]);
    expect(stderr).not.toContain('pwp_');
    expect(stderr).toMatch(/ stopped\n$/);
    const names = ['instance.key', 'pwpush.db', 'pwpush.reserve'];
    expect(readdirSync(data.from).sort()).toEqual(names);
    await start(env, [data]);
    expect((await client(port, '', 'get', kept.stdout.trim())).stdout).toBe('kept');
  });

  describe('with PostgreSQL', needsPostgres, () => {
    let database: string;
    beforeAll(async () => {
      const files = { 'server.crt': cert, 'server.key': key };
      cluster = await startCluster({ settings: ['ssl = on'], files });
    });

    /** The variables, with user, database and port of the server here. */
    function onHere(env: Record<string, string>, port: number): Record<string, string> {
      const url = env.PWPUSH_SERVE_DATABASE ?? '';
      const named = url.replace(/\/\/pwpush@([^/]+)\/pwpush/, `//postgres@$1/${database}`);
      const ports = { PGPORT: `${cluster?.port}`, PWPUSH_SERVE_PORT: `${port}` };
      return { ...env, PWPUSH_SERVE_DATABASE: named, ...ports };
    }

    test('deploy/compose.yaml', async () => {
      database = (await cluster?.createDatabase()) ?? '';
      const port = await freePort();
      const address = 'https://pwpush.example';
      const { services } = compose({ PWPUSH_PUBLIC_URL: address });
      const folder = mounted('/run/secrets', 'ro', 0);
      // As docs/deploy.md makes it: closed by its folder on the host.
      await chmod(folder.from, 0o755);
      await writeFile(join(folder.from, 'database-password'), `${PASSWORD}\n`);
      const data = volume();
      const env = onHere(services.pwpush.environment, port);
      const container = await start(env, [data, folder]);
      expect(container.url).toBe(address);
      expect((await health(env)).code).toBe(0);
      await pushAndGet(port);
      const quiet = expect.not.stringMatching(/warning|hunter2/);
      expect(await container.stop()).toMatchObject({ code: 0, stderr: quiet });
      expect(readdirSync(data.from)).toEqual(['instance.key']);
    });

    test('deploy/kubernetes.yaml: two replicas that begin at once, and nothing to write to', async () => {
      database = (await cluster?.createDatabase()) ?? '';
      const { spec } = manifest('Deployment').spec.template;
      const [{ volumeMounts, startupProbe, readinessProbe, livenessProbe }] = spec.containers;
      const folder = mounted(volumeMounts[0].mountPath, 'ro', 0);
      await keepSecret(folder.from, spec.volumes[0].secret.defaultMode, {
        'instance.key': `${Buffer.alloc(32, 7).toString('base64')}\n`,
        'database-password': PASSWORD,
        'database-ca.crt': cert,
      });
      mkdirSync(join(image.files, folder.to), { recursive: true });
      const ports = [await freePort(), await freePort()] as const;
      const env = deployedEnv();
      // A name that the certificate has.
      env.PWPUSH_SERVE_DATABASE = (env.PWPUSH_SERVE_DATABASE ?? '').replace(/@[^/]+/, '@localhost');
      const [one, two] = await Promise.all(ports.map((port) => start(onHere(env, port), [folder])));
      await pushAndGet(ports[0], ports[1]);
      await pushAndGet(ports[1], ports[0]);
      const ask = (probe: { httpGet: { path: string } }) =>
        fetch(`http://127.0.0.1:${ports[0]}${probe.httpGet.path}`).then(({ status }) => status);
      const probes = () => Promise.all([startupProbe, readinessProbe, livenessProbe].map(ask));
      expect(await probes()).toEqual([200, 200, 200]);
      await cluster?.stop();
      expect(await probes()).toEqual([503, 503, 200]);
      expect((await health(onHere(env, ports[0]))).code).toBe(1);
      await cluster?.start();
      const ended = await Promise.all([one?.stop(), two?.stop()]);
      expect(ended.map((one) => one?.code)).toEqual([0, 0]);
      // Each says why it was down, if anybody asked it.
      const warnings = ended.map((one) => one?.stderr.match(/"message":"[^"]+|"event":"error"/g));
      expect(warnings).toEqual([[expect.stringContaining('cannot be reached')], null]);
    });
  });
});

/** Files as the kubelet makes them of a Secret with `fsGroup`: root's, readable by the group, behind two links. */
async function keepSecret(folder: string, mode: number, files: Record<string, string>) {
  const version = join(folder, '..2026_11_22');
  mkdirSync(version);
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(version, name), text);
    chownSync(join(version, name), 0, USER);
    await chmod(join(version, name), mode);
    await symlink(join('..data', name), join(folder, name));
  }
  await chmod(folder, 0o755);
  await symlink(basename(version), join(folder, '..data.new'));
  await rename(join(folder, '..data.new'), join(folder, '..data'));
}
