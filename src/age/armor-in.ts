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
  const whole = text.slice(from, to + END.length);
  const others = text.slice(0, from) + text.slice(to + END.length);
  return {
    armor: whole.length > LONGEST ? whole : reflowed(whole),
    isAlone: unquoted(others) === '',
  };
}

/** Characters of armor, several times those of the longest text; armor of a file that is longer has lines of its own. */
const LONGEST = 4 * 1024 * 1024;

function reflowed(armor: string): string {
  const end = armor.endsWith(END) ? armor.length - END.length : armor.length;
  const body = unquoted(armor.slice(BEGIN.length, end));
  return `${BEGIN}\n${body.replace(/.{1,64}/g, '$&\n')}${armor.slice(end)}\n`;
}

const SLICE = 65_536;

/** In slices, since one replacement of millions takes 200 MiB. */
function unquoted(text: string): string {
  let kept = '';
  for (let at = 0; at < text.length; at += SLICE)
    kept += text.slice(at, at + SLICE).replace(QUOTES, '');
  return kept;
}
