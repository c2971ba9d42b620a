import { invalidInput } from '../service-errors';
import type { Claim } from './claims';
import { reachOf } from './issuer-address';

/**
 * Checks an issuer, which `iss` of its tokens must equal in all characters.
 * @throws ServiceError (usage)
 */
export function checkIssuer(issuer: string, privateIssuer: boolean): void {
  const href = reachOf({ issuer, privateIssuer: true }).allowed(issuer);
  // Another spelling of the URL would equal no `iss`, and not be found in the table below.
  const isSpelled = href === issuer || href === `${issuer}/`;
  if (!isSpelled || /[?#]/.test(issuer) || issuer.length > 255)
    throw invalidInput(
      '--issuer must be an https URL as "iss" has it, without a user, a query and a fragment',
      isSpelled || href === undefined
        ? undefined
        : `it is written ${href.replace(/\/$/, issuer.endsWith('/') ? '/' : '')}`,
    );
  if (!reachOf({ issuer, privateIssuer }).allowed(issuer))
    throw invalidInput(`${issuer} is in a private network`, '--private-issuer allows that');
}

interface SharedIssuer {
  readonly example: string;
  /** Claims that name an organization, and what their values must be for that; the last `*` is a wildcard. */
  readonly naming: Readonly<Record<string, RegExp>>;
}

const exact = /^[^*]+$/;
const inPath = /^[^/*]+\/./;

/**
 * Issuers that sign for everybody, and what tells one organization from another by their documentation. Claims that say
 * whose workflow or configuration runs are not here: a job of anybody may use a public one. Neither is `email` of
 * Google, which may be unverified.
 */
const sharedIssuers: Readonly<Record<string, SharedIssuer>> = {
  'https://token.actions.githubusercontent.com': {
    example: 'repository=ORG/REPOSITORY, repository=ORG/* or repository_owner=ORG',
    naming: {
      repository: inPath,
      repository_id: exact,
      repository_owner: exact,
      repository_owner_id: exact,
      // An organization may have its `sub` begin with something else, which then names nobody.
      sub: /^repo:[^/*]+\/./,
    },
  },
  'https://gitlab.com': {
    example: 'project_path=GROUP/PROJECT, project_path=GROUP/* or namespace_path=GROUP',
    naming: {
      project_path: inPath,
      project_id: exact,
      namespace_path: /^[^/*]+(?:\/.+)?$/,
      namespace_id: exact,
      sub: /^project_path:[^/*]+\/./,
    },
  },
  'https://agent.buildkite.com': {
    example: 'organization_slug=ORG',
    naming: {
      organization_slug: exact,
      organization_id: exact,
      pipeline_id: exact,
      sub: /^organization:[^:*]+:./,
    },
  },
  'https://accounts.google.com': {
    example: 'sub=ID, the unique ID of the service account',
    naming: { sub: exact },
  },
};

/** @throws ServiceError (usage) when many organizations share the issuer, and no claim names one exactly */
export function checkNaming(issuer: string, claims: readonly Claim[]): void {
  for (const [url, { naming, example }] of Object.entries(sharedIssuers)) {
    const names = ({ name, value }: Claim) =>
      Object.hasOwn(naming, name) && naming[name]?.test(value);
    if (`${issuer}/`.startsWith(`${url}/`) && !claims.some(names))
      throw invalidInput(
        `${url} signs for everybody, and no --claim names one organization exactly`,
        `add --claim ${example}`,
      );
  }
}
