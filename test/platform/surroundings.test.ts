import { describe, expect, test } from 'vitest';
import { isUtf8 } from '../../src/platform/surroundings';
import { place } from '../helpers/run';

// By one variable of those that each system documents, without CI, with a value that it has there.
const systems: readonly (readonly [system: string, variable: string, value: string])[] = [
  ['any, by the common variable', 'CI', 'true'],
  ['AppVeyor', 'APPVEYOR', 'True'],
  ['AWS CodeBuild', 'CODEBUILD_BUILD_ID', 'build:7f1d'],
  ['Azure Pipelines', 'TF_BUILD', 'True'],
  ['Bamboo', 'bamboo_planKey', 'OPS-DEPLOY'],
  ['Bamboo, of a job', 'bamboo_buildKey', 'OPS-DEPLOY-JOB1'],
  ['Bamboo, of a deployment', 'bamboo_deploy_environment', 'production'],
  ['Bitbucket Pipelines', 'BITBUCKET_BUILD_NUMBER', '12'],
  ['Bitrise', 'BITRISE_IO', 'true'],
  ['Buildkite', 'BUILDKITE', 'true'],
  ['Buildkite, in a container', 'BUILDKITE_BUILD_ID', '0190-4f'],
  ['CircleCI', 'CIRCLECI', 'true'],
  ['Cirrus CI', 'CIRRUS_CI', 'true'],
  ['Codefresh', 'CF_BUILD_ID', '5f2e'],
  ['Drone', 'DRONE', 'true'],
  ['GitHub Actions', 'GITHUB_ACTIONS', 'true'],
  ['GitLab CI', 'GITLAB_CI', 'true'],
  ['GoCD', 'GO_PIPELINE_LABEL', '1.0.7'],
  ['Google Cloud Build', 'BUILDER_OUTPUT', '/builder/outputs'],
  ['Harness', 'HARNESS_BUILD_ID', '31'],
  ['Jenkins, without its address', 'JENKINS_HOME', '/var/jenkins_home'],
  ['Jenkins', 'JENKINS_URL', 'https://jenkins.example/'],
  ['Prow', 'PROW_JOB_ID', '8d1c'],
  ['Semaphore', 'SEMAPHORE', 'true'],
  ['Taskcluster', 'TASKCLUSTER_ROOT_URL', 'https://tc.example'],
  ['TeamCity', 'TEAMCITY_VERSION', '2026.1'],
  ['Travis CI', 'TRAVIS', 'true'],
];

/** Variables that clients of a system read, so that people have them in their shells. */
const ofPeople = ['JENKINS_URL', 'TASKCLUSTER_ROOT_URL'];

const LINK = 'https://pwpush.test/p/abc';

/** What `pwpush run` plans in that environment. */
const planned = (env: Record<string, string>) => place({ env }).plan('run', LINK, '--', 'env');

describe.each(systems)('%s (%s=%s)', (_system, variable, value) => {
  test('run masks the secret', async () => {
    expect(await planned({ [variable]: value })).toMatchObject({ mask: true });
  });

  test('prompts are off, unless people have the variable too', async () => {
    const isAsked = ofPeople.includes(variable);
    const terminals = ['stdin', 'stdout', 'stderr'] as const;
    const person = place({
      env: { [variable]: value },
      terminals,
      prompts: isAsked ? [{ secret: 'Secret:', answer: 'hunter2' }] : [],
    });
    const { stderr } = await person.run('push', '--dry-run', '--url', 'https://pwpush.test');
    expect(stderr.includes('no terminal to ask on')).toBe(!isAsked);
  });
});

test('run masks where builds set CI=false for other programs', async () => {
  expect(await planned({ CI: 'false', BUILDKITE: 'true' })).toMatchObject({ mask: true });
});

test.each(['', '0', 'false'])('a variable that is %j names no system', async (value) => {
  for (const [, variable] of systems)
    expect(await planned({ [variable]: value }), variable).toMatchObject({ mask: false });
});

test.each([
  [{}, true],
  [{ LC_ALL: '', LANG: '' }, true],
  [{ LANG: 'en_US.UTF-8' }, true],
  [{ LANG: 'C.utf8' }, true],
  [{ LC_ALL: 'C.UTF-8', LC_CTYPE: 'C', LANG: 'C' }, true],
  [{ LC_ALL: 'C', LANG: 'en_US.UTF-8' }, false],
  [{ LC_CTYPE: 'POSIX', LANG: 'en_US.UTF-8' }, false],
  [{ LANG: 'de_DE.ISO-8859-1' }, false],
  [{ LANG: 'de_DE' }, false],
])('whether the locale %j has UTF-8: %s', (env, expected) => {
  expect(isUtf8(env)).toBe(expected);
});
