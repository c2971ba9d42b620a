/**
 * Returns the path of a link without text after it that was taken for a part of it: slashes, punctuation, spaces (also
 * of zero width), or the `>` of an e-mail. Returns undefined for any other path, and if the text has `%23`: a key may
 * follow, which only the scripts of the page handle.
 * @param path decoded as Hono's `getPath` does
 */
export function cleanPath(path: string): string | undefined {
  const [, clean, tail = ''] = /^(\/[pr]\/[\w-]+(?:\/r)?)(\/+|\/*[^\w/-].*)$/s.exec(path) ?? [];
  return /^\.json\b|%(?:25)*23/.test(tail) ? undefined : clean;
}
