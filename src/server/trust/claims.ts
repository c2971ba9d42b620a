/** What an identity token must say of itself; a `*` at the end of `value` stands for the rest of a path component. */
export interface Claim {
  readonly name: string;
  readonly value: string;
}

/** Whether the claims of a verified identity token are all that a trust asks for. */
export function matches(
  trust: { readonly claims: readonly Claim[] },
  payload: Readonly<Record<string, unknown>>,
): boolean {
  return trust.claims.every(({ name, value }) => {
    const text = Object.hasOwn(payload, name) ? textOf(payload[name]) : undefined;
    return text !== undefined && covers(value, text);
  });
}

/** Returns what a claim is compared by: a string itself, the JSON text of a number or boolean; else undefined. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean'
    ? JSON.stringify(value)
    : undefined;
}

/** Whether all that `value` matches is matched by `pattern`, too. A text without `*` matches itself. */
function covers(pattern: string, value: string): boolean {
  if (!pattern.endsWith('*')) return pattern === value;
  const start = pattern.slice(0, -1);
  const rest = value.slice(start.length);
  return value.startsWith(start) && rest !== '' && !rest.includes('/');
}
