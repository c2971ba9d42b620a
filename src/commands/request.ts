import { Command } from 'commander';
import { withOptions } from '../cli/options';
import type { Context } from '../platform/context';
import { rows } from './request/request-flags';

export { default as help } from './help/request.txt?raw';

export function define(context: Context): Command {
  const command = new Command('request')
    .description('Ask someone for a secret: print a link that they answer.')
    .argument('[question]', 'what you ask for; the instance can read it')
    .combineFlagAndOptionalValue(false);
  return withOptions(command, context, rows, async (options, text?: string) => {
    if (options.here) {
      const { requestHere } = await import('./request/request-here');
      return requestHere(context, { ...options, text });
    }
    const { runRequest } = await import('./request/run-request');
    return runRequest(context, { ...options, text });
  });
}
