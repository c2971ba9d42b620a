/**
 * The path of a link that the text around it was taken for a part of: a slash, bracket, comma or period, a space, one without
 * width, or a `>` of mail. Undefined for any other: also if it may have a key (`%23`), which scripts alone handle.
 * @param path decoded as Hono's `getPath` does
 */
export function cleanPath(path: string): string | undefined {
  const [, clean, tail = ''] = /^(\/[pr]\/[\w-]+(?:\/r)?)(\/+|\/*[^\w/-].*)$/s.exec(path) ?? [];
  return /^\.json\b|%(?:25)*23/.test(tail) ? undefined : clean;
}
