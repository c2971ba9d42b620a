import { wordList } from '../age/words';
import { usageError } from '../platform/errors';

export interface GeneratedSecret {
  readonly of: keyof typeof kinds;
  readonly count: number;
}

/** 0, O, o, 1, l and I are left out, as they are easily confused. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/**
 * The least and greatest count of each kind, and its alphabet. The least takes a while to guess, except for a PIN.
 * `signs` survive shells, forms and being read aloud: no quotes, and no = as in NAME=value.
 */
const kinds = {
  signs: [8, 1024, `${LETTERS}-_.+@%`],
  alnum: [8, 1024, LETTERS],
  hex: [16, 1024, '0123456789abcdef'],
  digits: [4, 1024, '0123456789'],
  words: [4, 64],
} as const;

const FORMS = 'use alnum:24, hex:32, digits:6 or words:5';

/**
 * Parses the value of `--generate`: `true` without one, a length, or a kind and a number such as `words:5`.
 * @param name what messages call the value
 * @throws CliError (usage)
 */
export function parseGenerate(
  text: string | true,
  name: '--generate' | 'the length' = '--generate',
): GeneratedSecret {
  if (text === true) return { of: 'signs', count: 24 };
  const [, kind = 'signs', digits = ''] = /^(?:([a-z]+):)?([1-9]\d{0,3})$/.exec(text) ?? [];
  const count = Number(digits);
  if (count === 0 || !isKind(kind) || text.startsWith('signs'))
    // The value is not quoted: it may be a secret that was meant to be pushed.
    throw usageError(
      `${name} must be from 8 to 1024, or a kind and number such as words:5`,
      name === 'the length'
        ? FORMS
        : `${FORMS}; pipe in a secret of your own, or type it at the prompt`,
    );
  const [least, most] = kinds[kind];
  if (count >= least && count <= most) return { of: kind, count };
  throw usageError(
    kind === 'signs'
      ? `${name} must be from ${least} to ${most}, not ${count}`
      : `${name} must be from ${kind}:${least} to ${kind}:${most}, not ${kind}:${count}`,
  );
}

function isKind(text: string): text is GeneratedSecret['of'] {
  return Object.hasOwn(kinds, text);
}

type Draw = (below: number) => number;

/** Draws without bias: a little under 6 bits for each of `signs`, 12.9 for a word. */
export async function generate({ of, count }: GeneratedSecret, draw?: Draw): Promise<string> {
  const [, , alphabet] = kinds[of];
  if (alphabet === undefined) return generateWords(count, draw);
  const random = draw ?? (await randomDraw());
  return Array.from({ length: count }, () => alphabet[random(alphabet.length)]).join('');
}

/** Draws words without a hyphen of their own, and a digit behind them, without which `isNearKey` may refuse them. */
export async function generateWords(count: number, draw?: Draw): Promise<string> {
  const random = draw ?? (await randomDraw());
  const words = (await wordList()).filter((word) => !word.includes('-'));
  const drawn = Array.from({ length: count }, () => words[random(words.length)]);
  return `${drawn.join('-')}${2 + random(8)}`;
}

/** node:crypto takes 2 ms to load, and most pushes do without. */
async function randomDraw(): Promise<Draw> {
  return (await import('node:crypto')).randomInt;
}
