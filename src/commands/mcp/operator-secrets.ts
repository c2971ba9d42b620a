import { automatonOf } from '../../open/run/automaton';
import { streamMask } from '../../open/run/mask';
import { formsOf } from '../../open/run/secret-forms';
import type { Desk } from './desk';
import type { Ran } from './started-run';

/** Variables of ours that hold a secret. */
const OURS = ['PWPUSH_TOKEN', 'PWPUSH_PASSPHRASE', 'PWPUSH_KEY'];

/** Masks secrets of the operator in what a program printed: it may read them from the process that started it (proc(5)). */
export function withoutOperators(ran: Ran, { context, env }: Pick<Desk, 'context' | 'env'>): Ran {
  const secrets = [...env, ...OURS].map((name) => ({ name, text: context.env[name] ?? '' }));
  const automaton = automatonOf(formsOf(secrets).patterns);
  const masked = (text: string) => {
    const mask = streamMask(automaton);
    return Buffer.concat([mask.push(Buffer.from(text)), mask.release()]).toString('utf8');
  };
  return { ...ran, stdout: masked(ran.stdout), stderr: masked(ran.stderr) };
}
