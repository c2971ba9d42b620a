import type { Environment } from '../context';

/** Bytes of a text that terminals are known to take; what is longer some of them drop without a word. */
export const MOST_BYTES = 74_994;
/** Characters of a string that GNU Screen hands on at once (screen(1), "STRING ESCAPES"). */
const SCREEN_AT_ONCE = 512;

/** What has a terminal put a text on its clipboard (ctlseqs, OSC 52), also from within tmux or screen. */
export function osc52(text: string, env: Environment): string {
  const sequence = `\u001b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\u0007`;
  // tmux takes the bare one with set-clipboard on, and hands on the other with allow-passthrough on.
  if (env.TMUX)
    return `${sequence}\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\`;
  if (!env.STY) return sequence;
  const pieces = sequence.match(new RegExp(`[^]{1,${SCREEN_AT_ONCE}}`, 'g')) ?? [];
  return pieces.map((piece) => `\u001bP${piece}\u001b\\`).join('');
}
