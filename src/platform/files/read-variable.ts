/**
 * Reads a variable of ours without the end of a single line, as files are read: a Kubernetes Secret that `echo` made
 * has one. An empty variable is not set, and neither is one in which Kubernetes has the address of a service.
 */
export function readVariable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
  const value = env[name]?.replace(/^([^\n]*?)\r?\n$/, '$1') || undefined;
  if (value === undefined) return undefined;
  const [, service] = /^(.+)_PORT$/.exec(name) ?? [];
  const isLink = service && `${service}_SERVICE_HOST` in env && /^\w+:\/\//.test(value);
  return isLink ? undefined : value;
}
