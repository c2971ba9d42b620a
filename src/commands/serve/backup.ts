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

interface BackupOptions extends GlobalOptions, DataOptions {
  readonly force?: boolean;
}

const HELP = `
The copy opens with the instance key alone, which is not in it: keep one copy of
the key elsewhere. A PostgreSQL is backed up with pg_dump.
With --json: {"file", "bytes", "key_file"}.

Example:
  $ pwpush serve backup /backup/pwpush-$(date +%F).db`;

/** `serve backup`. */
export function backupCommand(context: Context): Command {
  const command = new Command('backup')
    .summary('copy the database of a running service')
    .description('Copy the database, whole, while services run.')
    .argument('<file>', 'where the copy goes, 0600')
    .option(...DATA)
    .option(...DATABASE)
    .option('--force', 'overwrite an existing file')
    .addHelpText('after', HELP);
  return addOutputOptions(command).action(async (file: string) => {
    const { options, say } = await beginSubcommand<BackupOptions>(context, command);
    const place = dataPlace(context, options);
    const { bytes, key } = await withService(async (service) => ({
      bytes: await service.backup(place, { file, force: options.force ?? false }, context),
      key: service.keyFileOf({ ...place, ...keyFile(context) }),
    }));
    await say.print({ file, bytes, key_file: key }, () => `${file}\n`);
    await say.note(`it opens with the instance key alone, which is not in it: ${key}`);
  });
}
