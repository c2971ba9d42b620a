import { safe } from './safe';
import type { Look, Style } from './style';
import { wrap } from './wrap';

/** A check that was made, as it is printed. */
export interface Shown {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  readonly hint?: string | undefined;
}

const styles: Readonly<Record<Shown['status'], Style>> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

const STATUS = 9;
const NAME = 12;

/** A check as lines for a terminal; in a pipe: status, name, message, hint. */
export function checkText({ status, name, message, hint }: Shown, look: Look): string {
  if (!look.tty) return `${[status, name, message, hint ?? ''].map(safe).join('\t')}\n`;
  const head = look.paint(styles[status], status.padEnd(STATUS)) + name.padEnd(NAME);
  const told = [message, ...(hint === undefined ? [] : [`hint: ${hint}`])];
  const indent = STATUS + NAME;
  const lines = told.flatMap((text) => wrap(safe(text), Math.max(look.columns - indent, 20)));
  return lines.map((line, at) => `${at === 0 ? head : ' '.repeat(indent)}${line}\n`).join('');
}
