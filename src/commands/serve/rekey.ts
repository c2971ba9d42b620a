import { Command } from 'commander';
import type { Context } from '../../context';
import { withService } from '../../load-service';
import { addOutputOptions, type GlobalOptions } from '../../options';
import type { Invocation } from '../../terminal/output';
import {
  beginSubcommand,
  DATA,
  DATABASE,
  type DataOptions,
  dataPlace,
  keyFile,
} from './serve-options';

interface RekeyOptions extends GlobalOptions, DataOptions {
  readonly prepare?: boolean;
}

const HELP = `
Services go on meanwhile, and take up the new key by themselves. What was
interrupted goes on with the next run. Where services on other machines have a
copy of the key file: rekey --prepare, copy the file to each, rekey, copy again.
With --json: {"resealed", "key_file"}, or {"prepared", "key_file"}.`;

/** `serve rekey`. */
export function rekeyCommand(context: Context): Command {
  const command = new Command('rekey')
    .summary('change the instance key, while services run')
    .description('Change the instance key: make a new one, seal with it what the old one sealed.')
    .option(...DATA)
    .option(...DATABASE)
    .option('--prepare', 'only put the new key into the key file, which can then be copied')
    .addHelpText('after', HELP);
  return addOutputOptions(command).action(async () => {
    const run = await beginSubcommand<RekeyOptions>(context, command);
    await (run.options.prepare ? prepare : rekey)(run, run.options);
  });
}

async function rekey({ context, say }: Invocation, options: RekeyOptions): Promise<void> {
  const settings = { ...dataPlace(context, options), ...keyFile(context) };
  const done = await withService((service) => service.rekey(settings, context));
  const { resealed, keyFile: key_file } = done;
  await say.print(
    { resealed, key_file },
    () => `${resealed} ${resealed === 1 ? 'push' : 'pushes'} sealed again\n`,
  );
  if (settings.database) {
    await say.note(`services with a key file of their own need a copy of ${key_file}`);
  }
  if (!done.scrubbed) {
    const cause = 'another program reads the database';
    await say.warn(`${cause}: what the old key opens stays in its write-ahead log until then`);
  }
}

async function prepare({ context, say }: Invocation, options: RekeyOptions): Promise<void> {
  const settings = { ...dataPlace(context, options), ...keyFile(context) };
  const key_file = await withService((service) => service.prepareRekey(settings, context));
  await say.print({ prepared: true, key_file }, () => `${key_file}\n`);
  await say.note(
    'copy that file to where other services have theirs, then run it without --prepare',
  );
}
