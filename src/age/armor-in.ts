// Stands apart from the format, which only encrypted texts need.
const BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';
const END = '-----END AGE ENCRYPTED FILE-----';

/** What mail programs and chats put between or before the characters of quoted armor. */
const QUOTES = /[\s>|`]+/g;

/**
 * Finds armor within a text, such as a mail that quotes it, or has it in one line.
 * @returns the armor in lines of its own, and whether the text has anything else; undefined without the first mark
 */
export function armorIn(text: string): { armor: string; isAlone: boolean } | undefined {
  const from = text.indexOf(BEGIN);
  if (from < 0) return undefined;
  const end = text.indexOf(END, from);
  const to = end < 0 ? text.length : end;
  const body = unquoted(text.slice(from + BEGIN.length, to));
  const others = text.slice(0, from) + text.slice(to + END.length);
  return {
    armor: `${BEGIN}\n${body.replace(/.{1,64}/g, '$&\n')}${text.slice(to, to + END.length)}\n`,
    isAlone: unquoted(others) === '',
  };
}

const SLICE = 65_536;

/** In slices, since one replacement of millions takes 200 MiB. */
function unquoted(text: string): string {
  let kept = '';
  for (let at = 0; at < text.length; at += SLICE)
    kept += text.slice(at, at + SLICE).replace(QUOTES, '');
  return kept;
}
