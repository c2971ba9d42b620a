import { invalidInput } from '../service-errors';
import type { Claim } from './claims';
import { reachOf } from './issuer-address';

/**
 * Checks an issuer, which `iss` of its tokens must equal in all characters.
 * @throws ServiceError (usage)
 */
export function checkIssuer(issuer: string, privateIssuer: boolean): void {
  const href = reachOf({ issuer, privateIssuer: true }).allowed(issuer);
  if (href === undefined || /[?#]/.test(issuer) || issuer.length > 255)
    throw invalidInput('--issuer must be an https URL without a user, a query and a fragment');
  if (!reachOf({ issuer, privateIssuer }).allowed(issuer))
    throw invalidInput(`${issuer} is in a private network`, '--private-issuer allows that');
  // Another spelling would equal no `iss`, and get round the table below.
  if (href !== issuer && href !== `${issuer}/`)
    throw invalidInput(
      '--issuer is not as a URL is written',
      `write ${issuer.endsWith('/') ? href : href.replace(/\/$/, '')}`,
    );
}

interface SharedIssuer {
  readonly name: string;
  readonly url: string;
  /** Claims that name an organization, and what their values must be for that; the last `*` is a wildcard. */
  readonly naming: Readonly<Record<string, RegExp>>;
  readonly example: string;
}

const exact = /^[^*]+$/;
const inPath = /^[^/*]+\/./;

/**
 * Issuers that sign for everybody, and what tells one organization from another by their documentation. Claims that say
 * whose workflow or configuration runs are not here: a job of anybody may use a public one. Neither is `email` of
 * Google, which may be unverified.
 */
const sharedIssuers: readonly SharedIssuer[] = [
  {
    name: 'GitHub',
    url: 'https://token.actions.githubusercontent.com',
    naming: {
      repository: inPath,
      repository_id: exact,
      repository_owner: exact,
      repository_owner_id: exact,
      // An organization may have its `sub` begin with something else, which then names nobody.
      sub: /^repo:[^/*]+\/./,
    },
    example: 'repository=ORG/REPOSITORY, repository=ORG/* or repository_owner=ORG',
  },
  {
    name: 'GitLab.com',
    url: 'https://gitlab.com',
    naming: {
      project_path: inPath,
      project_id: exact,
      namespace_path: /^[^/*]+(?:\/.+)?$/,
      namespace_id: exact,
      sub: /^project_path:[^/*]+\/./,
    },
    example: 'project_path=GROUP/PROJECT, project_path=GROUP/* or namespace_path=GROUP',
  },
  {
    name: 'Buildkite',
    url: 'https://agent.buildkite.com',
    naming: {
      organization_slug: exact,
      organization_id: exact,
      pipeline_id: exact,
      sub: /^organization:[^:*]+:./,
    },
    example: 'organization_slug=ORG',
  },
  {
    name: 'Google',
    url: 'https://accounts.google.com',
    naming: { sub: exact },
    example: 'sub=ID, the unique ID of the service account',
  },
];

/** @throws ServiceError (usage) when many organizations share the issuer, and no claim names one exactly */
export function checkNaming(issuer: string, claims: readonly Claim[]): void {
  const shared = sharedIssuers.find(({ url }) => `${issuer}/`.startsWith(`${url}/`));
  if (!shared) return;
  const { naming } = shared;
  if (claims.some(({ name, value }) => Object.hasOwn(naming, name) && naming[name]?.test(value)))
    return;
  throw invalidInput(
    `no --claim names one organization exactly, and ${shared.name} signs for all`,
    `add --claim ${shared.example}`,
  );
}
