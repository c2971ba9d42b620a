import { invalidInput } from '../service-errors';

/** What an identity token must say of a job; a `*` at the end of `value` stands for the rest of a path component. */
export interface Claim {
  readonly name: string;
  readonly value: string;
}

/** Whether the claims of a verified identity token are all that a trust asks for. */
export function matches(
  trust: { readonly claims: readonly Claim[] },
  payload: Readonly<Record<string, unknown>>,
): boolean {
  return trust.claims.every(({ name, value }) => {
    const text = Object.hasOwn(payload, name) ? textOf(payload[name]) : undefined;
    return text !== undefined && covers(value, text);
  });
}

/** Returns what a claim is compared by: a string itself, the JSON text of a number or boolean; else undefined. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? `${value}` : undefined;
}

/** Whether each token that has `claims` has those of `general`, too. */
export const isCovered = (claims: readonly Claim[], general: readonly Claim[]): boolean =>
  general.every(({ name, value }) =>
    claims.some((claim) => claim.name === name && covers(value, claim.value)),
  );

/** Whether `pattern` takes all that `value` takes, which is itself unless it ends in `*`. */
function covers(pattern: string, value: string): boolean {
  if (!pattern.endsWith('*')) return pattern === value;
  const start = pattern.slice(0, -1);
  const rest = value.slice(start.length);
  return value.startsWith(start) && rest !== '' && !rest.includes('/');
}

/** The service checks these of every identity token. */
const CHECKED = ['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'];

/**
 * Parses `NAME=VALUE`, split at the first `=`.
 * @throws ServiceError (usage) for what cannot match, such as a name twice, and for what matches everything
 */
export function parseClaims(texts: readonly string[]): Claim[] {
  const claims = new Map<string, string>();
  for (const text of texts) {
    const [, name = '', value = ''] = /^([^=]+)=([^*]+\*?)$/.exec(text) ?? [];
    if (name === '' || text.length > 1000 || /\p{C}/u.test(text))
      throw invalidInput(
        `--claim must be NAME=VALUE, at most 1000 printable characters, not "${text}"`,
        'a * can only be the last character of a value, and not the first',
      );
    if (CHECKED.includes(name))
      throw invalidInput(`--claim ${name} is checked anyway, and does not say who a job is`);
    if (claims.has(name)) throw invalidInput(`--claim ${name} is there twice: all must match`);
    claims.set(name, value);
  }
  if (claims.size === 0) throw invalidInput('--claim is missing');
  return [...claims].map(([name, value]) => ({ name, value }));
}
