import { versionText } from '../cli/terminal/instance-info';
import type { Entry } from '../cli/terminal/output';
import { pairs } from '../cli/terminal/table';
import { toldEdition } from '../contract/api';
import { connect } from '../profile/connect';
import { sourcesOf } from '../profile/sources';
import { NoInstance, type Target, targetOrNone } from '../profile/target';
import help from './help/version.txt?raw';
import { command } from './planned';

export default command({
  description: 'Show the version of pwpush, of the instance, and the features of the instance.',
  help,
  rows: {},
  plan: (options, entry) => targetOrNone(sourcesOf(entry, options)),
  run: version,
});

/** `--json` prints the instance's object, with `pwpush` and `url` added, and with our word for its edition. */
async function version(entry: Entry, target: Target | NoInstance): Promise<void> {
  const { context, say } = entry;
  const own: [string, string] = ['pwpush', context.version];
  if (target instanceof NoInstance) {
    await say.print({ pwpush: context.version }, (look) => pairs([own], look));
    return say.remark(target);
  }
  const { api } = await connect(entry, { target });
  const instance = await api.version();
  const edition = toldEdition(instance);
  const all = { ...instance, edition, pwpush: context.version, url: target.base };
  await say.print(all, (look) => versionText(context.version, target.base, instance, look));
}
