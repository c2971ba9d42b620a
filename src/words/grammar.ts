/** Returns `a`, `a and b` or `a, b and c`. */
export function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

/** Returns a text like `a, b, or c`. */
export function either(ways: readonly string[]): string {
  return ways.length < 2 ? ways.join() : `${ways.slice(0, -1).join(', ')}, or ${ways.at(-1)}`;
}

/** Quotes a word for a shell, so that a command line can be copied. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
