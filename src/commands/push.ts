import { Command } from 'commander';
import { afterDashes } from '../cli/command-line';
import { withOptions } from '../cli/options';
import { locales } from '../contract/api';
import type { Context } from '../platform/context';
import text from './help/push.txt?raw';
import { type PushOptions, rows } from './push/push-flags';

const languages = [locales.slice(0, 16), locales.slice(16)].map((line) => line.join(' '));
export const help = text.replace('{locales}', languages.join('\n'));

export function define(context: Context): Command {
  const command = new Command('push')
    .description('Push a secret and print its link.')
    .argument('[text]', 'the secret; others can see it, so pipe it in')
    // -pc stays -p -c.
    .combineFlagAndOptionalValue(false)
    .allowExcessArguments();
  return withOptions(command, context, rows, async (given) => {
    const options = { ...given, ...operandsOf(command, given.into) };
    const { createSession } = await import('../profile/session');
    const session = createSession(context, options);
    if (options.each) {
      const { pushEach } = await import('./push/each');
      return pushEach(session, options);
    }
    const { pushOne } = await import('./push/one');
    return pushOne(session, options);
  });
}

/** The text, and with `--into` the command after `--`, where the text may be otherwise. */
function operandsOf(push: Command, into: boolean): Pick<PushOptions, 'text' | 'command'> {
  const command = into ? afterDashes(push) : [];
  const [text, ...more] = push.args.slice(0, push.args.length - command.length);
  if (more.length > 0) push.error('too many arguments', { code: 'commander.excessArguments' });
  return { text, command };
}
