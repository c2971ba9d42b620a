import { Command } from 'commander';
import type { Context } from '../../context';
import { withService } from '../../load-service';
import { addOutputOptions, type GlobalOptions } from '../../options';
import {
  beginSubcommand,
  DATA,
  DATABASE,
  type DataOptions,
  dataPlace,
  keyFile,
} from './serve-options';

type RekeyOptions = GlobalOptions & DataOptions;

const HELP = `
Services keep running and take up the new key by themselves. If the command is
interrupted, run it again. Services with a copy of the key file, on other
machines, answer 503 until the new file is copied to them.
With --json: {"resealed", "key_file"}.`;

/** `serve rekey`. */
export function rekeyCommand(context: Context): Command {
  const command = new Command('rekey')
    .summary('change the instance key, while services run')
    .description('Change the instance key: create a new one and reseal all pushes with it.')
    .option(...DATA)
    .option(...DATABASE)
    .addHelpText('after', HELP);
  return addOutputOptions(command).action(async () => {
    const { options, say } = await beginSubcommand<RekeyOptions>(context, command);
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
  });
}
