// What programs put around a link or damage in it. Clients read links with these rules, and pages repair their address.

/** Opening marks of any language, plain or escaped, but not the bracket of an IPv6 host (`[::1]`). */
const before = () =>
  /^(?:(?!\[[\da-f.]*:[\da-f:.]*\])[\p{Ps}\p{Pi}\p{Pf}\p{Cf}\s<"'`*|~]|_(?=_*https?:)|&(?:lt|quot|#39);|%(?:0[9ad]|2[0278a]|3c|5b|60|7[bce]|c2%a0))+/iu;
/**
 * Matches one closing bracket, quote or mark of a format, or punctuation that ends a sentence, plain or escaped, at the
 * end of a text; `=` ends lines in quoted-printable (RFC 2045, 6.7), and `_` counts where no ID ends. It does not match
 * an ellipsis, which means that the link was cut.
 */
const after = () =>
  /(?:[\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Cf}\s>"'`*|~=,;:!?\u3001\u3002\uff0c\uff01\uff1b\uff1f]|(?<!\.)\.|(?<=\/r_*)_|&(?:gt|quot|#39);|%(?:0[9ad]|2[01279ac]|3[abdef]|5d|60|7[cde]|c2%a0|e2%80%(?:8[b-f]|9[89cd])|ef%bb%bf))$/iu;
/** In characters, with what `after` looks back at. */
const LONGEST_AFTER = '/r'.length + '%e2%80%8b'.length;
/** The values of parameters may end with these. */
const OF_QUERY = /^(?:[=|]|%3d|%7c)$/i;
/** Matches invisible characters with which programs break long words or change the direction of text. */
const UNSEEN = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function withoutBeginning(text: string): string {
  return text.replace(UNSEEN, '').replace(before(), '');
}

/** Removes one match of `after` at a time, since one expression for all would take quadratic time. */
export function withoutEnd(text: string): string {
  const endsInQuery = text.includes('?') && !text.includes('#');
  let end = text.length;
  for (;;) {
    const [sign = ''] = after().exec(text.slice(Math.max(0, end - LONGEST_AFTER), end)) ?? [];
    if (sign === '' || (endsInQuery && OF_QUERY.test(sign))) return text.slice(0, end);
    end -= sign.length;
  }
}

const PATH =
  /^(.*\/[pr]\/[\w-]+(?:\/r)?)(?:%(?:25)?23([\w-]{22}|(?:age|AGE)1[a-zA-Z0-9]{58})_*)?(?:[^\w/-].*)?$/;

/** Returns the path of a page without what was put behind it, and the key in it; undefined without a fault or link. */
export function repairedPath(
  path: string,
): readonly [path: string, key: string | undefined] | undefined {
  const [whole, repaired = '', key] = PATH.exec(withoutEnd(path)) ?? [];
  return whole === undefined || repaired === path ? undefined : [repaired, key];
}
