import { type Clause, type FactName, facts } from './facts';
import { type Advice, type StepName, steps } from './steps';

/** Names a row of a table of words, and the values that its words mention: texts, numbers and facts. */
export interface Phrase<Name extends string = string> {
  readonly name: Name;
  readonly of: readonly (Fact | number)[];
}

/** A text is the whole clause, without a final period. */
export type Fact = string | Phrase<FactName>;

/** A text is the whole clause, without a final period; an `Advice` also has a command to copy. */
export type Step = string | Phrase<StepName> | Advice;

export type Named<Name extends FactName | StepName> = (typeof facts & typeof steps)[Name] extends (
  ...of: infer Values extends readonly unknown[]
) => unknown
  ? { readonly [At in keyof Values]: Fact | number }
  : readonly [];

export function clause(fact: Fact | number): string {
  if (typeof fact !== 'object') return String(fact);
  const words: Clause = facts[fact.name];
  return typeof words === 'string' ? words : words(...fact.of.map(clause));
}

export function adviceFor(step: Step): Advice {
  if (typeof step === 'string') return { text: step };
  if ('text' in step) return step;
  const words: Advice | string | ((...of: readonly string[]) => Advice | string) = steps[step.name];
  const advice = typeof words === 'function' ? words(...step.of.map(clause)) : words;
  return typeof advice === 'string' ? { text: advice } : advice;
}
