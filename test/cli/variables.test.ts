import { expect, test } from 'vitest';
import type { Entry } from '../../src/cli/terminal/output';
import { ownVariables, unknownVariables } from '../../src/cli/variables';
import { variables } from '../../src/commands/serve/serve-options';
import { instance } from '../helpers/instance';
import { variablesInSource } from '../helpers/source-variables';

const warned = (names: string, serve: readonly string[] = []) => {
  const env = Object.fromEntries(names.split(' ').map((name) => [name, 'S3cret']));
  return unknownVariables({ context: { env }, say: { manner: {} } } as Entry, serve);
};

test('every variable that the source reads is one of our own, and no other', () => {
  const read = variablesInSource().filter((name) => name.startsWith('PWPUSH_'));
  expect([...ownVariables].sort()).toEqual(read);
});

test('a name that is nearly one of our own is warned of, also in a pipe, but not with -q', async () => {
  const { run } = await instance({ env: { PWPUSH_ENCYRPT: 'S3cret' } });
  const warning = 'PWPUSH_ENCYRPT is not a variable of pwpush; did you mean PWPUSH_ENCRYPT?';
  const { code, stderr } = await run('push', 'x', '--dry-run');
  expect({ code, first: stderr.split('\n')[0] }).toEqual({ code: 0, first: `warning: ${warning}` });
  expect(stderr).not.toContain('S3cret');
  const { stderr: json } = await run('push', 'x', '--dry-run', '--json');
  expect(JSON.parse(json)).toEqual({ warning: { message: warning } });
  expect((await run('push', 'x', '--dry-run', '-q')).stderr).toBe('');
});

test.each([
  'PWPUSH_DB_PASSWORD PWPUSH_API PWPUSH_USER PWPUSH_DB PWPUSH_UI',
  'PWPUSH_SERVE_PROT PWPUSH_MAX_BUFFER',
  ownVariables.join(' '),
])('%s: nothing is said', (names) => {
  expect(warned(names)).toEqual([]);
});

test.each([
  ['PWPUSH_MAX_BUFFER', '; did you mean PWPUSH_SERVE_MAX_BUFFER?'],
  ['PWPUSH_SERV_PORT', '; did you mean PWPUSH_SERVE_PORT?'],
  ['PWPUSH_SERVE_MAXDAYS', '; did you mean PWPUSH_SERVE_MAX_DAYS?'],
  ['PWPUSH_SERVE_NO_ANONYMOUS', '; did you mean PWPUSH_SERVE_ANONYMOUS=false?'],
  ['PWPUSH_SERVE_SOMETHING_ELSE', ''],
])('of serve: %s is named%s', (name, meant) => {
  expect(warned(name, [...variables.values()])).toEqual([`${name} is not a variable of pwpush${meant}`]);
});

test('what Kubernetes sets for a service is not warned of', () => {
  for (const prefix of ['PWPUSH', 'PWPUSH_SERVE', 'PWPUSH_URLS']) {
    const names = ['SERVICE_HOST', 'SERVICE_PORT_HTTP', 'PORT', 'PORT_80_TCP_ADDR'];
    const all = names.map((name) => `${prefix}_${name}`).join(' ');
    expect(warned(all, [...variables.values()])).toEqual([]);
  }
  expect(warned('PWPUSH_PORT', [...variables.values()])).toHaveLength(1);
});
