/** Characters in a row that, found in an answer, show that it repeats a secret. */
const RUN = 8;
/** Shorter ones are not looked for: they stand in every text. */
const SHORTEST = 4;

/**
 * Whether a text of an instance repeats something secret of the request: a run of eight of its characters,
 * or all of a shorter one standing alone, as it was sent or as pages and logs encode it.
 */
export function repeats(text: string, secrets: readonly string[]): boolean {
  const known = secrets.filter((secret) => secret.length >= SHORTEST);
  return (
    known.length > 0 &&
    readings(text).some((reading) => known.some((secret) => holds(reading, secret)))
  );
}

function holds(text: string, secret: string): boolean {
  if (secret.length < RUN) return standsAlone(text, secret);
  const runs = new Set<string>();
  for (let at = 0; at + RUN <= text.length; at++) runs.add(text.slice(at, at + RUN));
  for (let at = 0; at + RUN <= secret.length; at++) {
    if (runs.has(secret.slice(at, at + RUN))) return true;
  }
  return false;
}

/** A short secret inside a longer word is chance: hiding every "pass" would hide what is said of passphrases. */
function standsAlone(text: string, secret: string): boolean {
  const letter = /[\p{L}\p{N}]/u;
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1)) {
    const around = [text[at - 1] ?? '', text[at + secret.length] ?? ''];
    if (!around.some((character) => letter.test(character))) return true;
  }
  return false;
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** The text as it is, and as it was before URL, HTML or JSON encoding. */
function readings(text: string): string[] {
  const url = text.replaceAll('+', ' ').replace(/(?:%[0-9a-f]{2})+/gi, decoded);
  const html = text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,4}));/gi,
    (whole, ten, hex, name) => {
      if (name !== undefined) return entities[name.toLowerCase()] ?? whole;
      return character(Number.parseInt(ten ?? hex, ten === undefined ? 16 : 10));
    },
  );
  const json = text
    .replace(/\\u([0-9a-f]{4})/gi, (_whole, hex) => character(Number.parseInt(hex, 16)))
    .replace(/\\([nrt"\\/])/g, (_whole, one) => ({ n: '\n', r: '\r', t: '\t' })[one as 'n'] ?? one);
  return [text, url, html, json];
}

function decoded(run: string): string {
  try {
    return decodeURIComponent(run);
  } catch {
    return run;
  }
}

const character = (code: number) => (code <= 0x10ffff ? String.fromCodePoint(code) : '');
