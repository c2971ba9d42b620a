import { Command } from 'commander';
import type { Context } from '../context';
import { type ErrorCode, ExitWith, exitStatus } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf } from '../options';
import { checkText } from '../terminal/doctor-report';
import { terminal } from '../terminal/output';
import { forLog } from '../terminal/safe';
import { lookOf } from '../terminal/style';

const EXAMPLES = `
Looks at the config file, address, proxy, DNS, connection, TLS, redirects, API,
clock, token, features and rescue files, and says what to do where something is
wrong. It creates nothing and takes no view. The exit code is 0 if nothing
failed, else that of the first failure.

Examples:
  $ pwpush doctor
  $ pwpush doctor --url https://pwpush.example --anonymous
  $ pwpush doctor --json | jq -r '.checks[] | select(.status != "ok") | .name'`;

export function doctorCommand(context: Context): Command {
  const command = new Command('doctor')
    .description('Check everything between here and the instance, and say what to do.')
    .addHelpText('after', EXAMPLES)
    .action(() => doctor(context, optionsOf(command, context.env, {})));
  return addGlobalOptions(command);
}

/** Prints each check as it is made; with `--json` all of them, as one value. */
export async function doctor(context: Context, options: GlobalOptions): Promise<void> {
  const { checks, examine } = await import('./doctor/checks');
  const { stdout, env } = context;
  const look = await lookOf(stdout, env, context.now(), options.color);
  const made: object[] = [];
  let failure: ErrorCode | undefined;
  for await (const check of examine(checks, context, options)) {
    failure ??= check.code;
    if (options.json) made.push(check);
    else if (!options.quiet || check.status === 'failed' || check.status === 'warning')
      await stdout.write(forLog(checkText(check, look), env));
  }
  if (options.json)
    await terminal(context, options).print({ ok: failure === undefined, checks: made }, () => '');
  if (failure !== undefined) throw new ExitWith(exitStatus[failure]);
}
