import type { Environment } from './context';

// Where pwpush runs. Prompts, masks, and what is escaped or printed follow from it; no other file reads these variables.

/** Whether a variable switches something on: it is set, and not empty, `0` or `false`. */
export function isOn(value = ''): boolean {
  return !['', '0', 'false'].includes(value.trim().toLowerCase());
}

export interface CiSystem {
  /** The system documents these variables, and sets one of them in each job. */
  readonly variables: readonly string[];
  /** If true, prompts stay: clients of the system read the variable too, so that people have it in their shells. */
  readonly prompts?: true;
  /** The system's own program, whose first line of output is an identity token (OpenID Connect) for an audience. */
  readonly identityProgram?: (audience: string) => readonly [string, ...string[]];
  /** Variables of the address, which gets the parameter `audience`, and of the bearer token that it requires. */
  readonly identityRequest?: { readonly url: string; readonly token: string };
  /** A command to the system, also on standard error, that masks a text in the log. */
  readonly maskLine?: (text: string) => string;
  /** The program that masks what is on its standard input. */
  readonly maskProgram?: readonly [string, ...string[]];
}

/** The runner undoes the escape (GitHub, "Workflow commands"). */
export const githubMask = (line: string) => `::add-mask::${line.replaceAll('%', '%25')}\n`;

/** CI systems, in which other people read the log of a job. Most of them set CI too, but not in each job. */
export const systems: Readonly<Record<string, CiSystem>> = {
  'any other': { variables: ['CI'] },
  AppVeyor: { variables: ['APPVEYOR'] },
  'AWS CodeBuild': { variables: ['CODEBUILD_BUILD_ID'] },
  'Azure Pipelines': { variables: ['TF_BUILD'] },
  // A deployment has no plan key.
  Bamboo: { variables: ['bamboo_planKey', 'bamboo_buildKey', 'bamboo_deploy_environment'] },
  'Bitbucket Pipelines': { variables: ['BITBUCKET_BUILD_NUMBER'] },
  Bitrise: { variables: ['BITRISE_IO'] },
  // Buildkite's plugin for containers passes on the second variable only.
  Buildkite: {
    variables: ['BUILDKITE', 'BUILDKITE_BUILD_ID'],
    identityProgram: (aud) => ['buildkite-agent', 'oidc', 'request-token', '--audience', aud],
    maskProgram: ['buildkite-agent', 'redactor', 'add'],
  },
  CircleCI: {
    variables: ['CIRCLECI'],
    identityProgram: (aud) => [
      'circleci',
      'run',
      'oidc',
      'get',
      '--claims',
      JSON.stringify({ aud }),
    ],
  },
  'Cirrus CI': { variables: ['CIRRUS_CI'] },
  Codefresh: { variables: ['CF_BUILD_ID'] },
  Drone: { variables: ['DRONE'] },
  'GitHub Actions': {
    variables: ['GITHUB_ACTIONS'],
    identityRequest: {
      url: 'ACTIONS_ID_TOKEN_REQUEST_URL',
      token: 'ACTIONS_ID_TOKEN_REQUEST_TOKEN',
    },
    maskLine: githubMask,
  },
  'GitLab CI': { variables: ['GITLAB_CI'] },
  GoCD: { variables: ['GO_PIPELINE_LABEL'] },
  'Google Cloud Build': { variables: ['BUILDER_OUTPUT'] },
  Harness: { variables: ['HARNESS_BUILD_ID'] },
  Jenkins: { variables: ['JENKINS_HOME'] },
  'Jenkins with an address': { variables: ['JENKINS_URL'], prompts: true },
  Prow: { variables: ['PROW_JOB_ID'] },
  Semaphore: { variables: ['SEMAPHORE'] },
  Taskcluster: { variables: ['TASKCLUSTER_ROOT_URL'], prompts: true },
  TeamCity: { variables: ['TEAMCITY_VERSION'] },
  'Travis CI': { variables: ['TRAVIS'] },
};

export const systemsOf = (env: Environment) =>
  Object.values(systems).filter(({ variables }) => variables.some((name) => isOn(env[name])));

/** Other people read the log of a CI job, and the CI system may search it for commands. */
export const isCi = (env: Environment): boolean => systemsOf(env).length > 0;

/** Coding agents set these variables for the programs that they run, whose output becomes part of a transcript. */
export const MARKERS = [
  'AI_AGENT',
  'AGENT',
  'CLAUDECODE',
  'CODEX_THREAD_ID',
  'CURSOR_AGENT',
  'GEMINI_CLI',
  'COPILOT_CLI',
  'OPENCODE',
  'QWEN_CODE',
  'CLINE_ACTIVE',
  'AUGMENT_AGENT',
] as const;

export function agentMarker(env: Environment): string | undefined {
  return MARKERS.find((name) => isOn(env[name]));
}

/** Nobody answers prompts: an agent would wait without end. */
export const isUnattended = (env: Environment): boolean =>
  systemsOf(env).some(({ prompts }) => !prompts) || agentMarker(env) !== undefined;

/** Whether the locale has UTF-8, by the first variable that is set (POSIX); without one, a terminal is expected to. */
export const isUtf8 = ({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean =>
  /^$|utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');

/** The terminal acts on no control sequences: it shows no colours, and no line is drawn again. */
export const isDumb = (env: Environment): boolean => env.TERM === 'dumb';
