import { Command } from 'commander';
import type { Context } from '../context';
import { ExitWith, exitStatus } from '../errors';
import { addGlobalOptions, optionsOf } from '../options';
import { createSession, type Session } from '../session';
import { forLog, safe } from '../terminal/safe';
import { type Look, lookOf, type Style } from '../terminal/style';
import { wrap } from '../terminal/text-width';
import type { CheckRow } from './doctor/checks';

const EXAMPLES = `
Checks config file, address, proxy, DNS, connection, TLS, redirects, API, clock,
token, features and rescue files, and says what to do about a failure. Creates
nothing and uses no view. Exits with 0, or with the code of the first failure.

Examples:
  $ pwpush doctor
  $ pwpush doctor --url https://pwpush.example --anonymous
  $ pwpush doctor --json | jq -r '.checks[] | select(.status != "ok") | .name'`;

export function doctorCommand(context: Context): Command {
  const command = new Command('doctor')
    .description('Diagnose the configuration and the connection to the instance.')
    .addHelpText('after', EXAMPLES)
    .action(() => doctor(createSession(context, optionsOf(command, context.env, {}))));
  return addGlobalOptions(command);
}

/** Prints each check as it is made; with `--json` all of them, as one value. */
async function doctor(session: Session): Promise<void> {
  const { allChecks } = await import('./doctor/checks');
  const { context, options, say } = session;
  const { stdout, env } = context;
  const look = await lookOf(stdout, env, context.now(), options.color);
  const rows: CheckRow[] = [];
  for await (const row of allChecks(session)) {
    rows.push(row);
    if (options.json || (options.quiet && (row.status === 'ok' || row.status === 'skipped')))
      continue;
    await stdout.write(forLog(rowText(row, look), env));
  }
  const failed = rows.find(({ status }) => status === 'failed');
  if (options.json) await say.print({ ok: !failed, checks: rows }, () => '');
  if (failed) throw new ExitWith(exitStatus[failed.code ?? 'failed']);
}

const styles: Readonly<Record<CheckRow['status'], Style>> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

/** Widths of columns. */
const STATUS = 9;
const NAME = 12;

/** A check as lines for a terminal; in a pipe: status, name, message, hint. */
function rowText({ status, name, message, hint }: CheckRow, look: Look): string {
  if (!look.tty) return `${[status, name, message, hint ?? ''].map(safe).join('\t')}\n`;
  const head = look.paint(styles[status], status.padEnd(STATUS)) + name.padEnd(NAME);
  const texts = [message, ...(hint === undefined ? [] : [`hint: ${hint}`])];
  const indent = STATUS + NAME;
  const lines = texts.flatMap((text) => wrap(safe(text), Math.max(look.columns - indent, 20)));
  return lines.map((line, at) => `${at === 0 ? head : ' '.repeat(indent)}${line}\n`).join('');
}
