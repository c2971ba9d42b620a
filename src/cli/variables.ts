import { nearest } from './near-words';
import type { Entry } from './terminal/output';

const ours = (names: string) => names.split(' ').map((name) => `PWPUSH_${name}`);

/** A child that runs pwpush itself needs these variables, which neither hold nor name a secret. */
export const plainVariables: readonly string[] = ours(
  'URL PROFILE EDITION ENCRYPT RECEIPTS CA_FILE TIMEOUT NO_INPUT DEBUG CONFIG_DIR STATE_DIR',
);

/** Every variable of our own but those of `serve`. */
export const ownVariables: readonly string[] = [
  ...plainVariables,
  ...ours('TOKEN TOKEN_FILE TOKEN_COMMAND TOKEN_FROM TOKEN_AUDIENCE ID_TOKEN ID_TOKEN_FILE'),
  ...ours('PASSPHRASE KEY HEADERS_FILE CERT_FILE CERT_KEY_FILE'),
  ...ours('DB_PASSWORD_FILE INSTANCE_KEY_FILE'),
];

/**
 * Returns a warning for each variable that is nearly one of ours. Others may be people's own, except that those with the
 * prefix of `serve` are ours in a service, whose variables are `serve`.
 */
export function unknownVariables({ context: { env }, say }: Entry, serve: readonly string[] = []) {
  const names = Object.keys(env).filter((name) => name.startsWith('PWPUSH_'));
  const all = [...ownVariables, ...serve];
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length === 0 || say.manner.quiet) return [];
  // Kubernetes sets these in containers, also for a service that is named pwpush.
  const isOfService = (name: string) =>
    `${name.split(/_(?:SERVICE|PORT)(?:_|$)/)[0]}_SERVICE_HOST` in env;
  // The prefix would allow more wrong letters in a short name.
  const bare = (name: string) => name.replace('PWPUSH_', '');
  const meant = new Map(all.map((name) => [bare(name), name]));
  for (const name of serve) meant.set(bare(name).replace('SERVE_', ''), name);
  return unknown.flatMap((name) => {
    const isOfServe = name.startsWith('PWPUSH_SERVE_');
    if (isOfService(name) || (isOfServe && serve.length === 0)) return [];
    const positive = name.replace('_SERVE_NO_', '_SERVE_');
    const near = meant.get(nearest([...meant.keys()], bare(positive)) ?? '');
    if (!near && !isOfServe) return [];
    const hint = near ? `; did you mean ${near}${positive === name ? '' : '=false'}?` : '';
    return [`${name} is not a variable of pwpush${hint}`];
  });
}
