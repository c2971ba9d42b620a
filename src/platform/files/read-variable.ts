/**
 * Reads a variable of ours without the end of a single line, as files are read: a Kubernetes Secret that `echo` made
 * has one. An empty variable is not set.
 */
export function readVariable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
  return env[name]?.replace(/^([^\n]*?)\r?\n$/, '$1') || undefined;
}
