import { inWords } from '../cli/in-words';
import { versionText } from '../cli/terminal/instance-info';
import { pairs } from '../cli/terminal/table';
import type { Instance } from '../profile/connect';
import type { Session } from '../profile/session';
import help from './help/version.txt?raw';
import { command } from './planned';

export default command({
  description: 'Show the version of pwpush, of the instance, and the features of the instance.',
  help,
  rows: {},
  plan: () => undefined,
  run: version,
});

/** With `--json` the instance's object, with `pwpush` and `url` added. */
async function version({ context, say, connect, isUnconfigured }: Session): Promise<void> {
  let instance: Instance;
  try {
    instance = await connect();
  } catch (error) {
    if (!isUnconfigured(error)) throw error;
    await say.print({ pwpush: context.version }, (look) =>
      pairs([['pwpush', context.version]], look),
    );
    return say.remark(await inWords(error));
  }
  const { api, target } = instance;
  const found = await api.version();
  await say.print({ ...found, pwpush: context.version, url: target.base }, (look) =>
    versionText(context.version, target.base, found, look),
  );
}
