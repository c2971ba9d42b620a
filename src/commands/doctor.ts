import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../cli/command';
import type { GlobalOptions } from '../cli/options';
import { failureFields } from '../cli/report-error';
import type { Entry, Look, Style } from '../cli/terminal/output';
import { forLog, safe } from '../cli/terminal/safe';
import { besideName } from '../cli/terminal/table';
import { count } from '../cli/terminal/wording';
import { rescuedFiles } from '../keep/rescue';
import type { Context } from '../platform/context';
import {
  attempt,
  CliError,
  type ErrorCode,
  ExitWith,
  exitStatus,
  failedError,
  phrase,
} from '../platform/errors';
import { storedProfiles } from '../profile/config-file';
import { configName, folderOf } from '../profile/folders';
import { withService } from '../profile/load-service';
import { type InstanceOptions, sourcesOf } from '../profile/sources';
import * as checks from './doctor/checks';
import { type Perform, planned } from './planned';

export { default as help } from './help/doctor.txt?raw';

export function define(command: Command, context: Context, perform?: Perform): void {
  command.description('Diagnose the configuration and the connection to the instance.');
  const journey = async () => ({ run: doctor });
  const asked = (options: GlobalOptions) => options;
  planned(command, context, { rows: {}, asked, journey }, perform);
}

/** Prints each check as it is made; with `--json` all of them, as one value. */
async function doctor(entry: Entry, options: InstanceOptions): Promise<void> {
  const { context, say } = entry;
  const { json, quiet } = say.manner;
  const { stdout, env } = context;
  const look = await say.look();
  const rows: CheckRow[] = [];
  for await (const row of allChecks(entry, options)) {
    rows.push(row);
    if (json || (quiet && (row.status === 'ok' || row.status === 'skipped'))) continue;
    await stdout.write(forLog(rowText(row, look), env));
  }
  const failed = rows.find(({ status }) => status === 'failed');
  if (json) await say.print({ ok: !failed, checks: rows }, () => '');
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
const NAME = 10;

/** A check as lines for a terminal; in a pipe: status, name, message, hint. */
function rowText({ status, name, message, hint }: CheckRow, look: Look): string {
  if (!look.tty) return `${[status, name, message, hint ?? ''].map(safe).join('\t')}\n`;
  const head = look.paint(styles[status], status.padEnd(STATUS)) + name.padEnd(NAME);
  const texts = [message, ...(hint === undefined ? [] : [`hint: ${hint}`])].map(safe);
  return `${besideName(head, STATUS + NAME, texts, look.columns)}\n`;
}

interface CheckRow {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  readonly hint?: string | undefined;
  readonly code?: ErrorCode;
}

/** All checks, in an order in which the first failure explains the later ones. */
async function* allChecks(entry: Entry, options: InstanceOptions): AsyncGenerator<CheckRow, void> {
  const { context } = entry;
  yield* check('config', {}, () => checkConfig(context));
  const address = yield* check('address', {}, () => checks.checkAddress(sourcesOf(entry, options)));
  const special = 'target' in address && (address.target.headers ?? address.target.certificate);
  const access = special
    ? yield* check('access', address, (found) => checks.checkAccess(found, context))
    : address;
  const proxy = yield* check('proxy', access, (found) => checks.checkProxy(found, context));
  const https = 'target' in proxy && proxy.target.base.startsWith('https:');
  const trusting = https
    ? yield* check('cas', proxy, (found) => checks.checkCas(found, context))
    : proxy;
  const asked = 'failed' in trusting ? trusting : await checks.askVersion(trusting.target, entry);
  const api = yield* check('api', asked, checks.checkApi);
  const answered = 'failed' in asked || asked.responses.length > 0 ? asked : api;
  yield* check('clock', answered, checks.checkClock);
  yield* check('token', api, (found) => checks.checkToken(found, entry));
  yield* check('features', api, checks.checkFeatures);
  if ('failed' in api)
    yield {
      name: 'others',
      status: 'skipped',
      message: `${api.skipped.join(', ')}: not checked, as ${api.failed} failed`,
    };
  yield* check('sqlite', {}, () => checkSqlite(context));
  yield* check('rescue', {}, () => checkRescue(context));
}

/** The name of the check that failed, and of those that were skipped because of it. */
interface Failed {
  readonly failed: string;
  readonly skipped: string[];
}

/** Yields the row of one check and returns what it found; only notes its name where what it needs has failed. */
async function* check<Needed extends object, Found extends checks.Finding>(
  name: string,
  needed: Needed | Failed,
  work: (needed: Needed) => Found | Promise<Found>,
): AsyncGenerator<CheckRow, Found | Failed> {
  if ('failed' in needed) {
    needed.skipped.push(name);
    return needed;
  }
  let found: Found;
  try {
    found = await work(needed);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { code, message, hint } = failureFields(error);
    yield { name, status: 'failed', message, hint, code };
    return { failed: name, skipped: [] };
  }
  const { status = 'ok', message, hint } = found;
  yield { name, status, message, hint };
  return found;
}

/** The config file can be read, by its owner only. */
function checkConfig(context: Context): checks.Finding {
  const folder = folderOf('config', context);
  const path = join(folder, configName);
  const { profiles } = storedProfiles(context);
  if (modeOf(path) === undefined) return { message: `none yet; it will be ${path}` };
  if (context.platform !== 'win32') {
    refuseOpen(folder, 0o700);
    refuseOpen(path, 0o600);
  }
  return { message: `${path}, ${count(Object.keys(profiles).length, 'profile')}` };
}

function modeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && found.mode & 0o777;
}

/** @throws CliError (failed) when group or others have any permission */
function refuseOpen(path: string, wanted: number): void {
  const mode = modeOf(path) ?? wanted;
  if ((mode & 0o077) === 0) return;
  const octal = (bits: number) => bits.toString(8).padStart(4, '0');
  throw failedError(phrase('open-to-others', path, octal(mode)), {
    steps: phrase('change-mode', octal(wanted), path),
  });
}

/** There is a SQLite; instances of others are used without. */
async function checkSqlite({ quietly }: Context): Promise<checks.Finding> {
  const found = await attempt(() => withService(({ sqliteDriver }) => sqliteDriver(quietly)));
  if (!(found instanceof CliError)) return { message: 'found, for serve and --here' };
  const { message, hint } = failureFields(found);
  return { status: 'warning', message, hint };
}

/** No secret is left in a file it was saved to because it could not be delivered. */
async function checkRescue(context: Context): Promise<checks.Finding> {
  const found = await rescuedFiles(context);
  if (found.length === 0) return { message: 'no rescue files' };
  const paths = found.map(({ path, what }) => `${path} (${what})`);
  return {
    status: 'warning',
    message: `${count(found.length, 'rescue file')}, oldest first: ${paths.join(', ')}`,
    hint: 'read them, with pwpush get --from-file FILE if they are encrypted, then delete them',
  };
}
