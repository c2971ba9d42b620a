import type { Command } from '../cli/command';
import { inWords } from '../cli/in-words';
import type { GlobalOptions } from '../cli/options';
import { versionText } from '../cli/terminal/instance-info';
import type { Entry } from '../cli/terminal/output';
import { pairs } from '../cli/terminal/table';
import type { Context } from '../platform/context';
import { connect } from '../profile/connect';
import { sourcesOf } from '../profile/sources';
import { NoInstance, type Target, targetOrNone } from '../profile/target';
import { type Perform, planned } from './planned';

export { default as help } from './help/version.txt?raw';

export function define(command: Command, context: Context, perform?: Perform): void {
  command.description(
    'Show the version of pwpush, of the instance, and the features of the instance.',
  );
  const journey = async () => ({ run: version });
  const asked = (options: GlobalOptions, entry: Entry) => targetOrNone(sourcesOf(entry, options));
  planned(command, context, { rows: {}, asked, journey }, perform);
}

/** With `--json` the instance's object, with `pwpush` and `url` added. */
async function version(entry: Entry, target: Target | NoInstance): Promise<void> {
  const { context, say } = entry;
  const own: [string, string] = ['pwpush', context.version];
  if (target instanceof NoInstance) {
    await say.print({ pwpush: context.version }, (look) => pairs([own], look));
    return say.remark(await inWords(target));
  }
  const { api } = await connect(entry, { target });
  const found = await api.version();
  await say.print({ ...found, pwpush: context.version, url: target.base }, (look) =>
    versionText(context.version, target.base, found, look),
  );
}
