import { Command } from 'commander';
import { versionText } from '../cli/terminal/instance-info';
import { pairs } from '../cli/terminal/table';
import type { Context } from '../platform/context';
import type { Instance } from '../profile/connect';
import { type Session, withSession } from '../profile/session';
import { NoInstance } from '../profile/target';

export { default as help } from './help/version.txt?raw';

export function define(context: Context): Command {
  const command = new Command('version').description(
    'Show the version of pwpush, of the instance, and the features of the instance.',
  );
  return withSession(command, context, {}, version);
}

/** With `--json` the instance's object, with `pwpush` and `url` added. */
async function version({ context, say, connect }: Session): Promise<void> {
  let instance: Instance;
  try {
    instance = await connect();
  } catch (error) {
    if (!(error instanceof NoInstance)) throw error;
    await say.print({ pwpush: context.version }, (look) =>
      pairs([['pwpush', context.version]], look),
    );
    return say.remark(error.message);
  }
  const { api, target } = instance;
  const found = await api.version();
  await say.print({ ...found, pwpush: context.version, url: target.base }, (look) =>
    versionText(context.version, target.base, found, look),
  );
}
