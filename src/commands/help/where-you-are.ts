import { inWords } from '../../cli/in-words';
import type { GlobalOptions } from '../../cli/options';
import { type Entry, entryOf } from '../../cli/terminal/output';
import { safe } from '../../cli/terminal/safe';
import type { Context } from '../../platform/context';
import { CliError, tried } from '../../platform/errors';
import { sourcesOf } from '../../profile/sources';
import { NoInstance, targetOf } from '../../profile/target';

type Rows = readonly (readonly [name: string, meaning: string])[];

const LOG_IN = ['pwpush login URL', 'log in to an instance'] as const;

/**
 * Returns what `pwpush` alone prints: the profile, its address, whether there is a token, and the next commands.
 * @param purpose describes the program, for a user who has not configured an instance
 */
export async function whereYouAre(
  options: GlobalOptions,
  context: Context,
  purpose: string,
): Promise<string> {
  const { facts, next } = await situation(entryOf(context, options), options, purpose);
  return [
    typeof facts === 'string' ? facts : lines(facts),
    lines(next),
    'pwpush help lists all commands.\n',
  ].join('\n\n');
}

async function situation(
  entry: Entry,
  options: GlobalOptions,
  purpose: string,
): Promise<{ readonly facts: string | Rows; readonly next: Rows }> {
  const target = tried(() => targetOf(sourcesOf(entry, options)));
  if (target instanceof NoInstance)
    return {
      facts: `${purpose}\n\nNo instance is configured.`,
      next: [
        LOG_IN,
        ['pwpush push --here', 'push a secret from this machine alone'],
        ['pwpush serve', 'run your own instance'],
      ],
    };
  if (target instanceof CliError)
    return {
      facts: safe(await inWords(target)),
      next: [
        ['pwpush doctor', 'find out what is wrong'],
        ['pwpush profile list', 'list saved instances'],
        LOG_IN,
      ],
    };
  const { base, baseFrom = '', token, profile = 'none' } = target;
  const ofProfile = `profile "${profile}"`;
  const from = (source: string) => (source === '' || source === ofProfile ? '' : ` (${source})`);
  return {
    facts: [
      ['profile', profile],
      ['address', `${safe(base)}${from(baseFrom)}`],
      ['token', token ? `yes${from(token.from)}` : 'none'],
    ],
    next: [
      ['pwpush push', 'push a secret and print its link'],
      token ? ['pwpush request', 'ask someone for a secret'] : ['pwpush get LINK', 'get a secret'],
      token ? ['pwpush list', 'list your pushes'] : LOG_IN,
    ],
  };
}

const lines = (rows: Rows) => rows.map((row) => `  ${row.join('\t')}`).join('\n');
