import { type Clause, type FactName, facts } from './facts';
import { type Advice, type StepName, steps } from './steps';

/** A row of a table of words, with what its words name: texts, numbers and facts. */
export interface Phrase<Name extends string = string> {
  readonly name: Name;
  readonly of: readonly (Fact | number)[];
}

/** What is known of a failure: the name of a clause, or the clause of a usage error, without a final period. */
export type Fact = string | Phrase<FactName>;

/** What the user can do: the name of a clause, or a clause without a final period, or one with a command to copy. */
export type Step = string | Phrase<StepName> | Advice;

/** The values that the words of a row name. */
export type Named<Name extends FactName | StepName> = (typeof facts & typeof steps)[Name] extends (
  ...of: infer Values extends readonly unknown[]
) => unknown
  ? { readonly [At in keyof Values]: Fact | number }
  : readonly [];

/** A fact, or a value of one, in words. */
export function clause(fact: Fact | number): string {
  if (typeof fact !== 'object') return String(fact);
  const words: Clause = facts[fact.name];
  return typeof words === 'string' ? words : words(...fact.of.map(clause));
}

/** What a step says, and the command that does it. */
export function adviceFor(step: Step): Advice {
  if (typeof step === 'string') return { text: step };
  if ('text' in step) return step;
  const words: Advice | string | ((...of: readonly string[]) => Advice | string) = steps[step.name];
  const advice = typeof words === 'function' ? words(...step.of.map(clause)) : words;
  return typeof advice === 'string' ? { text: advice } : advice;
}
