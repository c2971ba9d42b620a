import { usageError } from '../errors';

/** A secret to be made up: of what, and how many of them. */
export interface Generated {
  readonly of: 'signs' | 'alnum' | 'hex' | 'digits' | 'words';
  readonly count: number;
}

/** How many there may be. The least of them take a while to guess; a PIN is as short as it is wanted. */
const bounds = {
  signs: [8, 1024],
  alnum: [8, 1024],
  hex: [16, 1024],
  digits: [4, 1024],
  words: [4, 64],
} as const;

const USUAL: Generated = { of: 'signs', count: 24 };

/**
 * Reads what `--generate` was given: nothing, a length, or a kind and a number such as `words:5`.
 * @throws CliError (usage) for what is neither
 */
export function readGenerated(text: string | true): Generated {
  if (text === true) return USUAL;
  const [, kind = 'signs', digits = ''] = /^(?:([a-z]+):)?([1-9]\d{0,3})$/.exec(text) ?? [];
  const count = Number(digits);
  if (count === 0 || !isKind(kind) || text.startsWith('signs'))
    // Not quoted: it may be a secret that somebody meant to push.
    throw usageError(
      '--generate takes a length from 8 to 1024, or such as words:5',
      'there are alnum:24, hex:32, digits:6 and words:5; a secret of your own is piped in or typed at the prompt',
    );
  const [least, most] = bounds[kind];
  if (count >= least && count <= most) return { of: kind, count };
  throw usageError(
    kind === 'signs'
      ? `--generate takes a length from ${least} to ${most}, not ${count}`
      : `--generate takes ${kind}:${least} to ${kind}:${most}, not ${kind}:${count}`,
  );
}

function isKind(text: string): text is Generated['of'] {
  return Object.hasOwn(bounds, text);
}
