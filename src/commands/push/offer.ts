import type { Context } from '../../context';
import { login } from '../../login';
import { NO_INSTANCE, type TargetRequest } from '../../profile/target';
import { terminal } from '../../terminal/output';
import type { PushOptions } from '../push';
import { instanceOnly } from './request';

/** With nothing configured: log in now, or, where no option needs an instance, serve this one push from this machine. */
export async function offer(
  context: Context,
  options: PushOptions,
  wishes: TargetRequest,
): Promise<'here' | undefined> {
  const say = terminal(context, options);
  await say.note(NO_INSTANCE);
  if (instanceOnly(options) === undefined && (await choose(context)) === 'here') return 'here';
  // Standard output is for the link alone.
  await login({ ...context, stdout: context.stderr }, options, wishes);
  return undefined;
}

async function choose(context: Context): Promise<'login' | 'here'> {
  const prompter = await context.prompter();
  return prompter.choose('How shall this push be handed over?', [
    { name: 'log in to an instance, and push there', short: 'by an instance', value: 'login' },
    {
      name: 'serve it from this machine until it was seen (--here)',
      short: 'by this machine',
      value: 'here',
    },
  ]);
}
