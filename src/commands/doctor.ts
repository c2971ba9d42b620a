import type { Entry, Look, Style } from '../cli/terminal/output';
import { forLog, safe } from '../cli/terminal/safe';
import { besideName } from '../cli/terminal/table';
import { ExitWith, exitStatus } from '../platform/errors';
import type { InstanceOptions } from '../profile/sources';
import { type Check, examine } from './doctor/checks';
import help from './help/doctor.txt?raw';
import { command } from './planned';

export default command({
  description: 'Diagnose the configuration and the connection to the instance.',
  help,
  rows: {},
  plan: (options) => options,
  run: doctor,
});

/** Prints each check as it is made; with `--json` all of them, as one value. */
async function doctor(entry: Entry, options: InstanceOptions): Promise<void> {
  const { context, say } = entry;
  const { json, quiet } = say.manner;
  const { stdout, env } = context;
  const look = await say.look();
  const rows: Check[] = [];
  for await (const row of examine(entry, options)) {
    rows.push(row);
    if (json || (quiet && (row.status === 'ok' || row.status === 'skipped'))) continue;
    await stdout.write(forLog(rowText(row, look), env));
  }
  const failed = rows.find(({ status }) => status === 'failed');
  if (json) await say.print({ ok: !failed, checks: rows }, () => '');
  if (failed) throw new ExitWith(exitStatus[failed.code ?? 'failed']);
}

const styles: Readonly<Record<Check['status'], Style>> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

/** Widths of columns. */
const STATUS = 9;
const NAME = 10;

/** A check as lines for a terminal; in a pipe: status, name, message, hint. */
function rowText({ status, name, message, hint }: Check, look: Look): string {
  if (!look.tty) return `${[status, name, message, hint ?? ''].map(safe).join('\t')}\n`;
  const head = look.paint(styles[status], status.padEnd(STATUS)) + name.padEnd(NAME);
  const texts = [message, ...(hint === undefined ? [] : [`hint: ${hint}`])].map(safe);
  return `${besideName(head, STATUS + NAME, texts, look.columns)}\n`;
}
