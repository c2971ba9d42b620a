/** Whether a CI job runs us, whose log may be read for commands: as most runners say it, GitHub's, Azure's, TeamCity's. */
export function isCi(env: Readonly<Record<string, string | undefined>>): boolean {
  return ['CI', 'GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION'].some((name) => isOn(env[name]));
}

/** Whether a variable switches something on: set, and neither empty, `0` nor `false`. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value.toLowerCase() !== 'false';
}
