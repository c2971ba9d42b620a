import { invalidInput } from '../service-errors';

/** What an identity token must say of a job; a `*` at the end of a value stands for the rest of a path component. */
export type Claims = Readonly<Record<string, string>>;

/** Whether all of `claims` match those of a verified token, or are in other claims so that they match what these do. */
export const matches = (claims: Claims, payload: Readonly<Record<string, unknown>>): boolean =>
  mismatch(claims, payload) === undefined;

/** Returns the name of a claim that does not match. */
export function mismatch(claims: Claims, payload: Readonly<Record<string, unknown>>) {
  const isMet = ([name, value]: readonly [string, string]) =>
    Object.hasOwn(payload, name) && covers(value, payload[name]);
  return Object.entries(claims).find((claim) => !isMet(claim))?.[0];
}

/** Strings, numbers and booleans are compared by their JSON text. */
function covers(pattern: string, value: unknown): boolean {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return false;
  // JSON.parse rounds integers beyond that, so that the IDs of two projects would be one.
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const text = `${value}`;
  if (!pattern.endsWith('*')) return pattern === text;
  const start = pattern.slice(0, -1);
  const rest = text.slice(start.length);
  return text.startsWith(start) && rest !== '' && !rest.includes('/');
}

/** The service checks these of every identity token. */
const CHECKED = ['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'];

/**
 * Parses `NAME=VALUE`, split at the first `=`.
 * @throws ServiceError (usage) for what cannot match, such as a name twice, and for what matches everything
 */
export function parseClaims(texts: readonly string[]): Claims {
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
  return Object.fromEntries(claims);
}

/**
 * Issuers that sign for everybody, what a claim must be to name an organization by their documentation, and an example.
 * The last `*` is a wildcard. Claims that say whose workflow or configuration runs are not here: a job of anybody may
 * use a public one. Neither is `email` of Google, which may be unverified.
 */
const sharedIssuers: readonly (readonly [url: string, naming: RegExp, example: string])[] = [
  [
    'https://token.actions.githubusercontent.com',
    // An organization may have its `sub` begin with something else, which then names nobody.
    /^(?:(?:repository=|sub=repo:)[^/*]+\/.|repository_(?:id|owner|owner_id)=[^*]+$)/,
    'repository=ORG/REPOSITORY, repository=ORG/* or repository_owner=ORG',
  ],
  [
    'https://gitlab.com',
    /^(?:(?:sub=project_path:|project_path=)[^/*]+\/.|namespace_path=[^/*]+(?:\/.+)?$|(?:project|namespace)_id=[^*]+$)/,
    'project_path=GROUP/PROJECT, project_path=GROUP/* or namespace_path=GROUP',
  ],
  [
    'https://agent.buildkite.com',
    /^(?:sub=organization:[^:*]+:.|(?:organization_slug|organization_id|pipeline_id)=[^*]+$)/,
    'organization_slug=ORG',
  ],
  ['https://accounts.google.com', /^sub=[^*]+$/, 'sub=ID, the unique ID of the service account'],
];

/**
 * @param claims as `parseClaims` takes them
 * @throws ServiceError (usage) when many organizations share the issuer, and no claim names one exactly
 */
export function checkNaming(issuer: string, claims: readonly string[]): void {
  for (const [url, naming, example] of sharedIssuers)
    if (`${issuer}/`.startsWith(`${url}/`) && !claims.some((claim) => naming.test(claim)))
      throw invalidInput(
        `${url} signs for everybody, and no --claim names one organization exactly`,
        `add --claim ${example}`,
      );
}
