import { type Clause, type FactName, facts } from './facts';
import { type Advice, type HintName, hints } from './hints';

/** Names a row of a table of words, and the values that its words mention: texts, numbers and facts. */
export interface Phrase<Name extends string = string> {
  readonly name: Name;
  readonly of: readonly (Fact | number)[];
}

/** A text is the whole clause, without a final period. */
export type Fact = string | Phrase<FactName>;

/** A text is the whole clause, without a final period; an `Advice` also has a command to copy. */
export type Hint = string | Phrase<HintName> | Advice;

export type Named<Name extends FactName | HintName> = (typeof facts & typeof hints)[Name] extends (
  ...of: infer Values extends readonly unknown[]
) => unknown
  ? { readonly [At in keyof Values]: Fact | number }
  : readonly [];

export function clause(fact: Fact | number): string {
  if (typeof fact !== 'object') return String(fact);
  const words: Clause = facts[fact.name];
  return typeof words === 'string' ? words : words(...fact.of.map(clause));
}

export function adviceFor(hint: Hint): Advice {
  if (typeof hint === 'string') return { text: hint };
  if ('text' in hint) return hint;
  const words: Advice | string | ((...of: readonly string[]) => Advice | string) = hints[hint.name];
  const advice = typeof words === 'function' ? words(...hint.of.map(clause)) : words;
  return typeof advice === 'string' ? { text: advice } : advice;
}
