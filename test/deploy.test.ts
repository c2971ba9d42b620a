import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { variables } from '../src/commands/serve/serve-options';
import { GRACE_MS } from '../src/server/http/hardening/connections';
import { compose, deployedEnv, documents, manifest, root } from './helpers/deploy';
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

describe('deploy/Dockerfile', () => {
  const lines = read('deploy/Dockerfile')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  const of = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));

  test('copies only what .dockerignore lets through, which is copied', () => {
    const copied = of('COPY')
      .filter((line) => !line.includes('--from='))
      .flatMap((line) =>
        line
          .split(' ')
          .filter((word) => !word.startsWith('--'))
          .slice(0, -1),
      );
    const [all, ...allowed] = read('.dockerignore')
      .split('\n')
      .filter((line) => /^[^#]/.test(line));
    expect([all, ...allowed.sort()]).toEqual(['*', ...copied.map((name) => `!${name}`).sort()]);
  });

  test('runs nothing while it is built, and downloads nothing but its base', () => {
    expect([...of('RUN'), ...of('ADD')]).toEqual([]);
  });

  test('knows the names of executables', () => {
    const build = read('.config/binary.mjs');
    for (const [, platform] of read('.dockerignore').matchAll(/pwpush-(linux-\w+)/g))
      expect(build).toContain(`'${platform}': [`);
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

  test('names volumes and secrets that it has', () => {
    for (const [, { volumes, secrets }] of services) {
      for (const volume of volumes) expect(file.volumes).toHaveProperty(volume.split(':')[0]);
      for (const secret of secrets) expect(file.secrets).toHaveProperty(secret);
    }
    const { build } = file.services.pwpush;
    expect(existsSync(join(root, 'deploy', build.context, build.dockerfile))).toBe(true);
  });
});

describe('deploy/kubernetes.yaml', () => {
  const deployment = manifest('Deployment');
  const { template } = deployment.spec;
  const [container] = template.spec.containers;
  const { matchLabels } = deployment.spec.selector;
  const ports = container.ports.map(({ name }: Plain) => name);

  test('has no Secret, which would be in version control', () => {
    const kinds = ['Namespace', 'Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'];
    expect(documents('kubernetes.yaml').map(({ kind }) => kind)).toEqual(kinds);
    const [namespace, ...others] = documents('kubernetes.yaml');
    expect(new Set(others.map(({ metadata }) => metadata.namespace))).toEqual(
      new Set([namespace.metadata.name]),
    );
  });

  test('selects its own pods', () => {
    const labels = { 'app.kubernetes.io/name': 'pwpush' };
    expect([matchLabels, template.metadata.labels]).toEqual([labels, labels]);
    expect(manifest('Service').spec.selector).toEqual(labels);
    expect(manifest('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels);
    expect(manifest('NetworkPolicy').spec.podSelector.matchLabels).toEqual(labels);
    const [spread] = template.spec.topologySpreadConstraints;
    expect(spread.labelSelector.matchLabels).toEqual(labels);
  });

  test('names ports that the container has', () => {
    const { startupProbe, readinessProbe, livenessProbe } = container;
    const named = [
      ...[startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.port),
      manifest('Service').spec.ports[0].targetPort,
      manifest('NetworkPolicy').spec.ingress[0].ports[0].port,
    ];
    expect(named.filter((name) => !ports.includes(name))).toEqual([]);
  });

  test('runs this version', () => {
    expect(container.image).toBe(`registry.example/pwpush:${version}`);
    expect(container.env.filter(({ valueFrom }: Plain) => valueFrom)).toEqual([]);
  });

  test('reads files of the Secret that docs/deploy.md creates', () => {
    const [{ name, mountPath, readOnly, subPath }] = container.volumeMounts;
    const [volume] = template.spec.volumes;
    expect([readOnly, subPath, volume.name]).toEqual([true, undefined, name]);
    const text = Object.values(deployedEnv()).join(' ');
    const files = [...text.matchAll(/\/run\/secrets\/pwpush\/([\w.-]+)/g)].map(([, file]) => file);
    const created = [...guide.matchAll(/--from-file=([\w.-]+)/g)].map(([, file]) => file);
    const each = [...new Set(created)];
    expect(mountPath).toBe('/run/secrets/pwpush');
    expect(guide).toContain(`create secret generic ${volume.secret.secretName} `);
    expect(files.sort()).toEqual(each.sort());
    // A group that is not that of the files could not read them.
    expect(volume.secret.defaultMode).toBe(0o440);
    expect(template.spec.securityContext.fsGroup).toBe(65532);
  });

  // https://kubernetes.io/docs/concepts/security/pod-security-standards/, "Restricted", and what is stricter
  test('has no privileges, and no access to the API', () => {
    expect(template.spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        runAsGroup: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
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
    const peers = [
      ...ingress.flatMap(({ from }: Plain) => from),
      ...egress.flatMap(({ to }: Plain) => to),
    ];
    const name = 'kubernetes.io/metadata.name';
    expect(peers.map(({ namespaceSelector }) => namespaceSelector.matchLabels[name])).toEqual([
      'ingress',
      'kube-system',
      'postgresql',
    ]);
    expect(egress.flatMap((rule: Plain) => rule.ports.map(({ port }: Plain) => port))).toEqual([
      53, 53, 5432,
    ]);
    const { hostname } = new URL(deployedEnv().PWPUSH_SERVE_DATABASE ?? '');
    expect(hostname).toBe('postgresql.postgresql');
  });

  test('has time to stop, and stays available while nodes are drained', () => {
    const { seconds } = container.lifecycle.preStop.sleep;
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(seconds + STOP);
    expect(deployment.spec.replicas).toBeGreaterThan(
      manifest('PodDisruptionBudget').spec.maxUnavailable,
    );
    // The service waits two seconds for its database before /up says that it is down.
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      expect(container[probe].timeoutSeconds).toBeGreaterThan(2);
  });
});
