import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rows, variables } from '../src/commands/serve/serve-options';
import { GRACE_MS } from '../src/server/http/hardening/connections';
import { compose, deployedEnv, documents, manifest, root } from './helpers/deploy';
import { folders } from './helpers/memory';
import type { Plain } from './helpers/yaml';

// What deploy/ says, compared with the program. test/journey/container.slow.test.ts runs it.

const read = (name: string) => readFileSync(join(root, name), 'utf8');
const { version } = JSON.parse(read('package.json'));
const guide = read('docs/deploy.md');
const known = [...variables.values(), 'PWPUSH_DB_PASSWORD_FILE', 'PWPUSH_INSTANCE_KEY_FILE'];

/** Seconds for running requests, and for the database to be closed. */
const STOP = GRACE_MS / 1000 + 5;

test('variables are those that the program knows', () => {
  const image = read('deploy/Dockerfile').match(/\bPWPUSH_\w+(?==)/g) ?? [];
  const { environment } = compose({ PWPUSH_PUBLIC_URL: 'x' }).services.pwpush;
  const all = [image, Object.keys(environment), Object.keys(deployedEnv())];
  expect(all.map(({ length }) => length > 2)).toEqual([true, true, true]);
  expect(all.flat().filter((name) => !known.includes(name))).toEqual([]);
});

test('image and manifest listen on IPv4 and IPv6', () => {
  const image = /PWPUSH_SERVE_HOST=(\S+)/.exec(read('deploy/Dockerfile'))?.[1];
  expect([image, deployedEnv().PWPUSH_SERVE_HOST]).toEqual(['::', '::']);
});

test('deploy/Dockerfile copies what .dockerignore lets through, and runs and downloads nothing', () => {
  const lines = read('deploy/Dockerfile').replace(/\\\n\s*/g, '');
  const copied = [...lines.matchAll(/^COPY (?!.*--from=)(.*) \S+$/gm)]
    .flatMap(([, words = '']) => words.split(' '))
    .filter((word) => !word.startsWith('--'));
  const [all, ...allowed] = read('.dockerignore').match(/^[^#\n].*/gm) ?? [];
  expect([all, ...allowed.sort()]).toEqual(['*', ...copied.map((name) => `!${name}`).sort()]);
  expect(lines.match(/^(RUN|ADD) .*/gm)).toBeNull();
});

test('a setting of the Debian package is described by the help of its option', () => {
  const helps = new Map(
    Object.values(rows).map(({ variable, options }) => [
      `${variable}`,
      options.map(({ description }) => description).join(' '),
    ]),
  );
  helps.set('DATABASE_URL', 'PostgreSQL to use: postgres://');
  const paragraphs = read('deploy/debian/serve.env').split('\n\n');
  const described = paragraphs.slice(1).flatMap((paragraph) => {
    const [comment = '', ...names] = paragraph.split(/^#(\w+)=.*$\n?/m).filter(Boolean);
    return names.map((name) => [name, comment.replaceAll(/\n?# /g, ' ').toLowerCase()] as const);
  });
  expect(described.length).toBeGreaterThan(7);
  for (const [name, comment] of described) expect(comment, name).toContain(helps.get(name)?.trim().toLowerCase());
});

test('the Debian package says what to do where a person has the name of its user', () => {
  const script = `id() { echo 1000; }\n${read('deploy/debian/postinst')}`;
  const words = ['-c', script, 'postinst', 'configure'];
  const { status, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('usermod --login NEWNAME pwpush')]);
});

describe('a purge of the Debian package', () => {
  const newFolder = folders();

  test.each(['a folder', 'a link to one', 'nothing'])('deletes data and key: %s', async (kind) => {
    const folder = await newFolder();
    const [data, etc, elsewhere] = ['data', 'etc', 'elsewhere'].map((name) => join(folder, name));
    mkdirSync(join(elsewhere ?? '', 'sub'), { recursive: true });
    mkdirSync(etc ?? '');
    for (const path of [`${elsewhere}/pwpush.db`, `${elsewhere}/sub/x`, `${etc}/instance.key`]) writeFileSync(path, '');
    if (kind === 'a folder') renameSync(elsewhere ?? '', data ?? '');
    if (kind === 'a link to one') symlinkSync(elsewhere ?? '', data ?? '');
    const script = read('deploy/debian/postrm')
      .replaceAll('/var/lib/pwpush', data ?? '')
      .replaceAll('/etc/pwpush', etc ?? '')
      .replaceAll('deb-systemd-helper', 'no-such-helper');
    const { status, stderr } = spawnSync('sh', ['-c', script, 'postrm', 'purge'], {
      encoding: 'utf8',
    });
    const left = readdirSync(folder, { recursive: true }).sort();
    const kept = ['elsewhere', 'elsewhere/pwpush.db', 'elsewhere/sub', 'elsewhere/sub/x'];
    const expected = { 'a folder': [], 'a link to one': ['elsewhere'], nothing: kept }[kind];
    expect([status, stderr, left]).toEqual([0, '', expected]);
  });
});

describe('deploy/compose.yaml', () => {
  const file = compose({ PWPUSH_PUBLIC_URL: 'https://pwpush.example' });
  const services = Object.entries<Plain>(file.services);

  test('needs the public address, and has no password', () => {
    expect(() => compose({})).toThrow('PWPUSH_PUBLIC_URL: set it to the address of links');
    const settings = read('deploy/compose.yaml').replace(/#.*/g, '');
    expect(settings).not.toMatch(/password[^:\n]*: *[^\s/]/i);
    expect(file.secrets).toEqual({ 'database-password': { file: 'secrets/database-password' } });
    expect(read('.gitignore').split('\n')).toContain('deploy/secrets/');
  });

  test('publishes the service to this machine only, and the database not at all', () => {
    expect(services.map(([name, { ports, networks }]) => [name, ports, networks])).toEqual([
      ['pwpush', ['127.0.0.1:5100:5100'], ['proxy', 'database']],
      ['database', undefined, ['database']],
    ]);
    expect(file.networks).toEqual({ proxy: null, database: { internal: true } });
  });

  test.each(services)('%s has no privileges, and a read-only root', (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ulimits: { core: 0 },
    });
    expect(service.privileged ?? service.cap_add).toBeUndefined();
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(STOP);
  });
});

describe('deploy/kubernetes.yaml', () => {
  const deployment = manifest('Deployment');
  const { template } = deployment.spec;
  const [container] = template.spec.containers;

  test('has no Secret, which would be in version control, and runs this version', () => {
    const kinds = ['Namespace', 'Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'];
    expect(documents('kubernetes.yaml').map(({ kind }) => kind)).toEqual(kinds);
    expect(container.image).toBe(`registry.example/pwpush:${version}`);
  });

  test('selects its own pods', () => {
    const labels = { 'app.kubernetes.io/name': 'pwpush' };
    const selector = [deployment, manifest('PodDisruptionBudget')].map(({ spec }) => spec.selector);
    const { podSelector } = manifest('NetworkPolicy').spec;
    for (const { matchLabels } of [...selector, podSelector]) expect(matchLabels).toEqual(labels);
    expect([template.metadata.labels, manifest('Service').spec.selector]).toEqual([labels, labels]);
  });

  test('reads files of the Secret that docs/deploy.md creates', () => {
    const [{ name, mountPath, readOnly, subPath }] = container.volumeMounts;
    const [volume] = template.spec.volumes;
    expect([readOnly, subPath, volume.name]).toEqual([true, undefined, name]);
    const text = Object.values(deployedEnv()).join(' ');
    const files = [...text.matchAll(/\/run\/secrets\/pwpush\/([\w.-]+)/g)].map(([, file]) => file);
    const created = [...guide.matchAll(/--from-file=([\w.-]+)/g)].map(([, file]) => file);
    expect(mountPath).toBe('/run/secrets/pwpush');
    expect(guide).toContain(`create secret generic ${volume.secret.secretName} `);
    expect(files.sort()).toEqual([...new Set(created)].sort());
    // A group that is not that of the files could not read them.
    expect(volume.secret.defaultMode).toBe(0o440);
    expect(template.spec.securityContext.fsGroup).toBe(65532);
  });

  // https://kubernetes.io/docs/concepts/security/pod-security-standards/, "Restricted", and what is stricter
  test('has no privileges, and no access to the API', () => {
    expect(template.spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const { labels } = manifest('Namespace').metadata;
    expect(labels['pod-security.kubernetes.io/enforce']).toBe('restricted');
  });

  test('lets only the ingress controller in, and DNS and PostgreSQL out', () => {
    const { policyTypes, ingress, egress } = manifest('NetworkPolicy').spec;
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    const rules = [...ingress, ...egress].map(({ from, to, ports }: Plain) => [
      ...(from ?? to).map((peer: Plain) => peer.namespaceSelector.matchLabels['kubernetes.io/metadata.name']),
      ...ports.map(({ port }: Plain) => port),
    ]);
    expect(rules).toEqual([
      ['ingress', container.ports[0].name],
      ['kube-system', 53, 53],
      ['postgresql', 5432],
    ]);
  });

  test('has time to stop, and stays available while nodes are drained', () => {
    const { seconds } = container.lifecycle.preStop.sleep;
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(seconds + STOP);
    expect(deployment.spec.replicas).toBeGreaterThan(manifest('PodDisruptionBudget').spec.maxUnavailable);
    // The service waits two seconds for its database before /up says that it is down.
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      expect(container[probe].timeoutSeconds).toBeGreaterThan(2);
  });
});
