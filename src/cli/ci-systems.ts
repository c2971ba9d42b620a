import type { Environment } from '../platform/context';
import { isOn } from './values';

/** Variables that CI systems document, one of which is set in each job; most systems set CI too, but not in each job. */
export const systems: Readonly<Record<string, readonly string[]>> = {
  'any other': ['CI'],
  AppVeyor: ['APPVEYOR'],
  'AWS CodeBuild': ['CODEBUILD_BUILD_ID'],
  'Azure Pipelines': ['TF_BUILD'],
  // A deployment has no plan.
  Bamboo: ['bamboo_planKey', 'bamboo_buildKey', 'bamboo_deploy_environment'],
  'Bitbucket Pipelines': ['BITBUCKET_BUILD_NUMBER'],
  Bitrise: ['BITRISE_IO'],
  // Its plugin for containers passes on the second variable only.
  Buildkite: ['BUILDKITE', 'BUILDKITE_BUILD_ID'],
  CircleCI: ['CIRCLECI'],
  'Cirrus CI': ['CIRRUS_CI'],
  Codefresh: ['CF_BUILD_ID'],
  Drone: ['DRONE'],
  'GitHub Actions': ['GITHUB_ACTIONS'],
  'GitLab CI': ['GITLAB_CI'],
  GoCD: ['GO_PIPELINE_LABEL'],
  'Google Cloud Build': ['BUILDER_OUTPUT'],
  Harness: ['HARNESS_BUILD_ID'],
  Jenkins: ['JENKINS_HOME', 'JENKINS_URL'],
  Prow: ['PROW_JOB_ID'],
  Semaphore: ['SEMAPHORE'],
  Taskcluster: ['TASKCLUSTER_ROOT_URL'],
  TeamCity: ['TEAMCITY_VERSION'],
  'Travis CI': ['TRAVIS'],
};

/** Clients of these systems read the variables too, so that people have them in their shells: prompts stay. */
const ofPeople = ['JENKINS_URL', 'TASKCLUSTER_ROOT_URL'];

const variables = Object.values(systems).flat();

/** Whether a CI job runs us, whose log others read, and which its system may search for commands. */
export const isCi = (env: Environment): boolean => variables.some((name) => isOn(env[name]));

/** Whether that is a job in which nobody can answer a prompt. */
export const isUnattended = (env: Environment): boolean =>
  variables.some((name) => isOn(env[name]) && !ofPeople.includes(name));
