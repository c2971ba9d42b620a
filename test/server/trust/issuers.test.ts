import { describe, expect, test } from 'vitest';
import { checkNaming } from '../../../src/server/trust/claims';
import { checkIssuer } from '../../../src/server/trust/issuer-address';

const GITHUB = 'https://token.actions.githubusercontent.com';
const GITLAB = 'https://gitlab.com';
const BUILDKITE = 'https://agent.buildkite.com';
const GOOGLE = 'https://accounts.google.com';

describe('an issuer that many organizations share', () => {
  const check = (issuer: string, ...claims: string[]) => checkNaming(issuer, claims);

  test.each([
    [GITHUB, 'repository=org/app'],
    [GITHUB, 'repository=org/*'],
    [GITHUB, 'repository=org/app-*'],
    [GITHUB, 'repository_owner=org'],
    [GITHUB, 'repository_owner_id=17'],
    [GITHUB, 'repository_id=17'],
    [GITHUB, 'sub=repo:org/app:ref:refs/heads/main'],
    [GITHUB, 'sub=repo:org@12/app@34:environment:prod'],
    [GITHUB, 'sub=repo:org/app:*'],
    [`${GITHUB}/enterprise`, 'repository_owner=org'],
    [GITLAB, 'project_path=group/app'],
    [GITLAB, 'project_path=group/*'],
    [GITLAB, 'project_path=group/sub/app'],
    [GITLAB, 'project_id=17'],
    [GITLAB, 'namespace_path=group'],
    [GITLAB, 'namespace_path=group/sub'],
    [GITLAB, 'namespace_path=group/*'],
    [GITLAB, 'namespace_id=17'],
    [GITLAB, 'sub=project_path:group/app:ref_type:branch:ref:main'],
    [GITLAB, 'sub=project_path:group/app:*'],
    [BUILDKITE, 'organization_slug=org'],
    [BUILDKITE, 'organization_id=0184990a-477b-4fa8-9968-496074483cee'],
    [BUILDKITE, 'pipeline_id=0184990a-4782-42b5-afc1-16715b10b8ff'],
    [BUILDKITE, 'sub=organization:org:pipeline:app:ref:refs/heads/main:commit:*'],
    [BUILDKITE, 'sub=organization:org:*'],
    [GOOGLE, 'sub=113774264463038321964'],
    ['https://gitlab.example.com', 'ref=main'],
    ['https://gitlab.com.example.com', 'ref=main'],
    ['https://oidc.circleci.com/org/0184990a', 'oidc.circleci.com/project-id=0184990b'],
  ])('of %s: %s names one', (issuer, claim) => {
    expect(() => check(issuer, 'workflow=deploy', claim)).not.toThrow();
  });

  test.each([
    [GITHUB, 'ref=refs/heads/main'],
    [GITHUB, 'repository=org*'],
    [GITHUB, 'repository=app'],
    [GITHUB, 'repository=org/'],
    [GITHUB, 'repository=/app'],
    [GITHUB, 'repository_owner=org*'],
    [GITHUB, 'repository_owner_id=1*'],
    [GITHUB, 'repository_id=1*'],
    [GITHUB, 'sub=repo:*'],
    [GITHUB, 'sub=repo:org*'],
    [GITHUB, 'sub=repo:org'],
    // An organization may leave the repository out of `sub`.
    [GITHUB, 'sub=environment:production'],
    [GITHUB, 'sub=job_workflow_ref:org/app/.github/workflows/x.yml@refs/heads/main'],
    // A workflow that is public may be called by anybody.
    [GITHUB, 'job_workflow_ref=org/app/.github/workflows/x.yml@refs/heads/main'],
    [GITHUB, 'actor=octocat'],
    [GITHUB, 'project_path=org/app'],
    [GITHUB, 'constructor=x'],
    [GITHUB, '__proto__=x'],
    [`${GITHUB}/`, 'ref=refs/heads/main'],
    [`${GITHUB}/enterprise`, 'ref=refs/heads/main'],
    [GITLAB, 'ref=main'],
    [GITLAB, 'project_path=group*'],
    [GITLAB, 'project_path=app'],
    [GITLAB, 'project_id=1*'],
    [GITLAB, 'namespace_path=group*'],
    [GITLAB, 'namespace_id=1*'],
    [GITLAB, 'sub=project_path:group*'],
    [GITLAB, 'user_login=octocat'],
    [GITLAB, 'ci_config_ref_uri=gitlab.com/group/app//.gitlab-ci.yml@refs/heads/main'],
    [BUILDKITE, 'organization_slug=org*'],
    [BUILDKITE, 'organization_id=0*'],
    [BUILDKITE, 'pipeline_id=0*'],
    [BUILDKITE, 'pipeline_slug=deploy'],
    [BUILDKITE, 'sub=organization:org*'],
    [BUILDKITE, 'sub=organization:org'],
    [GOOGLE, 'sub=1137742*'],
    [GOOGLE, 'email=ci@org.iam.gserviceaccount.com'],
    [GOOGLE, 'azp=113774264463038321964'],
  ])('of %s: %s alone is refused, with the claim to use', (issuer, claim) => {
    expect(() => check(issuer, 'workflow=deploy', claim)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: expect.stringMatching(/^\S+ signs for everybody, and no --claim names one organization exactly$/),
        hint: expect.stringMatching(/^add --claim (?:repository|project_path|organization_slug|sub)=/),
      }),
    );
  });
});

describe('an issuer', () => {
  test.each([
    [GITHUB],
    [`${GITHUB}/enterprise`],
    ['https://tenant.example.com/'],
    ['https://example.com:8443/realms/ci'],
    ['https://93.184.215.14'],
    ['http://localhost:9000'],
    ['http://127.0.0.1:9000'],
    ['https://[::1]:9000'],
    ['https://xn--bcher-kva.example'],
  ])('may be %s', (issuer) => {
    expect(() => checkIssuer({ issuer, private_issuer: false })).not.toThrow();
  });

  test.each([
    ['', 'must be an https URL'],
    ['gitlab.com', 'must be an https URL'],
    ['http://gitlab.com', 'must be an https URL'],
    ['ftp://gitlab.com', 'must be an https URL'],
    ['http://10.0.0.1', 'must be an https URL'],
    ['https://user:secret@gitlab.com', 'must be an https URL'],
    ['https://gitlab.com?', 'must be an https URL'],
    ['https://gitlab.com/?a=b', 'must be an https URL'],
    ['https://gitlab.com/#a', 'must be an https URL'],
    [`https://gitlab.com/${'a'.repeat(256)}`, 'must be an https URL'],
    // What `iss` never is, which would not find its row in the table either.
    ['https://GitLab.com', 'must be an https URL'],
    ['HTTPS://gitlab.com', 'must be an https URL'],
    ['https://gitlab.com:443', 'must be an https URL'],
    ['https://gitlab.com/a/../b', 'must be an https URL'],
    [' https://gitlab.com', 'must be an https URL'],
    ['https://bücher.example', 'must be an https URL'],
    ['https:gitlab.com', 'must be an https URL'],
  ])('%j is refused', (issuer, message) => {
    for (const isPrivate of [false, true])
      expect(() => checkIssuer({ issuer, private_issuer: isPrivate })).toThrow(
        expect.objectContaining({ code: 'usage', message: expect.stringContaining(`--issuer ${message}`) }),
      );
  });

  test('is not repeated with a password that it has', () => {
    expect(() => checkIssuer({ issuer: 'https://user:hunter2@gitlab.com', private_issuer: false })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    );
  });

  test.each(['https://10.0.0.1', 'https://192.168.1.2:8443/realms/ci', 'https://[fd00::1]', 'https://169.254.169.254'])(
    '%s, in a private network, requires --private-issuer',
    (issuer) => {
      expect(() => checkIssuer({ issuer, private_issuer: false })).toThrow(
        expect.objectContaining({ code: 'usage', hint: '--private-issuer allows that' }),
      );
      expect(() => checkIssuer({ issuer, private_issuer: true })).not.toThrow();
    },
  );
});
