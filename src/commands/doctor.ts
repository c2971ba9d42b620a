import { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { flag } from '../cli/declare';
import { failureFields } from '../cli/report-error';
import { abilities, endText, instanceText, SOON_DAYS } from '../cli/terminal/instance-info';
import type { Entry, Look } from '../cli/terminal/output';
import { forLog, safe } from '../cli/terminal/safe';
import { besideName } from '../cli/terminal/table';
import { ago, count } from '../cli/terminal/wording';
import { apiClient } from '../client/client';
import { proxyFor, systemCas } from '../client/transport/connect-options';
import { proxyName } from '../client/transport/network-errors';
import { header } from '../client/transport/response';
import { APPLICATION, toldEdition } from '../contract/api';
import type { InstanceVersion } from '../contract/decode';
import { DAY_MS } from '../contract/lifetime';
import { removeRescued, rescuedFiles } from '../keep/rescue';
import type { Context, HttpResponse, Transport } from '../platform/context';
import {
  asCliError,
  attempt,
  CliError,
  type ErrorCode,
  ExitWith,
  exitStatus,
  failedError,
  phrase,
  usageError,
} from '../platform/errors';
import { storedProfiles } from '../profile/config-file';
import { briefSettings, exposure, ignoredText } from '../profile/connect';
import { configName, folderOf } from '../profile/folders';
import { withService } from '../profile/load-service';
import { type InstanceOptions, sourcesOf } from '../profile/sources';
import { type Target, targetOf } from '../profile/target';
import { adviceFor } from '../words/phrase';
import help from './help/doctor.txt?raw';
import { command } from './planned';

const rows = {
  clean: flag('--clean', 'ask for each rescue file whether to remove it').conflicts(['json']),
};

export default command({
  description: 'Diagnose the configuration and the connection to the instance.',
  help,
  rows,
  plan: ({ clean, ...options }, { context }) => {
    if (clean && !context.canPrompt())
      throw usageError('--clean asks for each file, but there is no terminal to ask on');
    return { clean, options };
  },
  run: (entry, { clean, options }) => (clean ? cleanUp(entry) : doctor(entry, options)),
});

/** Asks for each rescue file whether to remove it; it stays by default. */
async function cleanUp({ context, say }: Entry): Promise<void> {
  const { confirm } = await context.prompter();
  const files = await rescues(context);
  for (const { path, text } of files) {
    if (!(await confirm(`Remove ${safe(text)}?`, false))) continue;
    removeRescued(path);
    await say.note(`removed ${path}`);
  }
  if (files.length === 0) await say.note(NO_RESCUES);
}

const NO_RESCUES = 'no rescue files';

async function rescues(context: Context) {
  const files = await rescuedFiles(context);
  const textOf = (what: string, saved: string) => `(${what}, ${ago(saved, context.now())})`;
  return files.map(({ path, what, saved }) => ({ path, text: `${path} ${textOf(what, saved)}` }));
}

/** Prints each check when it ends; `--json` prints all checks as one value. */
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

const styles = { ok: 'green', warning: 'yellow', failed: 'red', skipped: 'dim' } as const;

const STATUS = 9;
const NAME = 10;

function rowText({ status, name, message, hint }: Check, look: Look): string {
  if (!look.tty) return `${[status, name, message, hint ?? ''].map(safe).join('\t')}\n`;
  const head = look.paint(styles[status], status.padEnd(STATUS)) + name.padEnd(NAME);
  const texts = [message, ...(hint === undefined ? [] : [`hint: ${hint}`])].map(safe);
  return `${besideName(head, STATUS + NAME, texts, look.columns)}\n`;
}

interface Check {
  readonly name: CheckName;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  readonly hint?: string | undefined;
  readonly code?: ErrorCode;
}

/** The status is `ok` by default. */
type Finding = Omit<Check, 'name' | 'status'> & Partial<Pick<Check, 'status'>>;
type Findings = Finding | readonly Finding[] | undefined;

/**
 * Lists the checks in their order, with what each examines: this machine (`here`), the connection to the instance
 * (`way` and `perhaps`), or its response (`answer`). After a connection check fails, only `here` checks are
 * made, and `clock` after a response. A `perhaps` check may have nothing to examine. `others` names what is skipped.
 */
const checks = {
  config: 'here',
  address: 'way',
  access: 'perhaps',
  proxy: 'way',
  cas: 'perhaps',
  api: 'way',
  clock: 'answer',
  token: 'answer',
  features: 'answer',
  others: 'skipped',
  sqlite: 'here',
  rescue: 'here',
} as const;

type CheckName = keyof typeof checks;

async function* examine(entry: Entry, options: InstanceOptions): AsyncGenerator<Check, void> {
  const examination = new Examination(entry, options);
  const skipped: CheckName[] = [];
  let failed: CheckName | undefined;
  for (const name of Object.keys(checks) as CheckName[]) {
    const looksAt = checks[name];
    if (name === 'others') {
      const message = `${skipped.join(', ')}: not checked, as ${failed} failed`;
      if (failed) yield { name, status: 'skipped', message };
      continue;
    }
    if (failed && looksAt !== 'here' && !(name === 'clock' && examination.hasAnswer)) {
      if (looksAt !== 'perhaps') skipped.push(name);
      continue;
    }
    const finding = await attempt<Findings>(async () => examination[name]());
    if (!finding) continue;
    if (!(finding instanceof CliError)) {
      for (const row of [finding].flat()) yield { name, status: 'ok', ...row };
    } else {
      if (looksAt === 'way' || looksAt === 'perhaps') failed = name;
      const { code, message, hint } = failureFields(finding);
      yield { name, status: 'failed', message, hint, code };
    }
  }
}

/** The two clocks may differ by this: the header `Date` has whole seconds, and a response takes time. */
const SKEW_SECONDS = 60;

class Examination {
  private target!: Target;
  private instance!: InstanceVersion;
  /** Includes redirects. `time` is when the response arrived, by the clock of this machine. */
  private readonly responses: { readonly response: HttpResponse; readonly time: Date }[] = [];

  constructor(
    private readonly entry: Entry,
    private readonly options: InstanceOptions,
  ) {}

  get hasAnswer(): boolean {
    return this.responses.length > 0;
  }

  /** Fails if the config file cannot be read, or if other users can access it or its folder. */
  config(): Finding {
    const { context } = this.entry;
    const folder = folderOf('config', context);
    const path = join(folder, configName);
    const { profiles } = storedProfiles(context);
    if (!statSync(path, { throwIfNoEntry: false }))
      return { message: `none yet; it will be ${path}` };
    for (const [place, closed] of [[folder, '0700'] as const, [path, '0600'] as const]) {
      const mode = statSync(place).mode & 0o777;
      if (context.platform === 'win32' || (mode & 0o077) === 0) continue;
      throw failedError(phrase('open-to-others', place, mode.toString(8).padStart(4, '0')), {
        hints: phrase('change-mode', closed, place),
      });
    }
    return { message: `${path}, ${count(Object.keys(profiles).length, 'profile')}` };
  }

  address(): Finding {
    // This check names the origin of the address, so errors of later checks omit the hint with it.
    this.target = { ...targetOf(sourcesOf(this.entry, this.options)), addressHint: undefined };
    const { base, baseFrom, ignored } = this.target;
    const warnings = [ignored && ignoredText(ignored), exposure(this.target)].filter(Boolean);
    const message = [`${base}, from ${baseFrom}`, ...warnings].join('; ');
    return { message, ...(warnings.length > 0 && { status: 'warning' }) };
  }

  /**
   * Checks that the headers and the client certificate for a proxy in front of the instance are readable and valid.
   */
  async access(): Promise<Finding | undefined> {
    const { headers, certificate } = this.target;
    if (!headers && !certificate) return undefined;
    const names = Object.keys((await headers?.()) ?? {});
    const sent = names.length === 0 ? [] : [`headers ${names.join(', ')}`];
    const shown = await certificate?.();
    if (shown === undefined) return { message: sent.join() };
    const expires = new Date(new X509Certificate(shown.cert).validTo);
    const days = Math.floor((expires.getTime() - this.entry.context.now().getTime()) / DAY_MS);
    const until = expires.toISOString().slice(0, 10);
    if (days < 0) throw failedError(phrase('certificate-ended', until), { hints: phrase('renew') });
    const message = [...sent, `client certificate valid until ${until}`].join('; ');
    if (days >= SOON_DAYS) return { message };
    return { message, status: 'warning', hint: `renew it, ${count(days, 'day')} left` };
  }

  proxy(): Finding {
    const proxy = proxyFor(new URL(this.target.base), this.entry.context.env);
    return { message: proxy ? `${proxyName(proxy)} (${proxy.variable})` : 'none' };
  }

  async cas(): Promise<Finding | undefined> {
    if (!this.target.base.startsWith('https:')) return undefined;
    const { env } = this.entry.context;
    const system = await systemCas(env);
    const variable = env.SSL_CERT_FILE ? ' (SSL_CERT_FILE)' : '';
    const own = this.target.caFile ? [this.target.caFile] : [];
    const message = ['built-in', ...own, ...(system ? [system.path + variable] : [])].join(', ');
    if (system || !variable) return { message };
    const hint = 'SSL_CERT_FILE must be a PEM file of certificates';
    return { message, status: 'warning', hint };
  }

  /** Warns if the instance redirects, or does not support API v2. */
  async api(): Promise<Finding> {
    const { token } = this.target;
    // The first request has no token, so that it tests only the address; some instances require a token for it.
    const bare = await this.briefClient({ ...this.target, token: undefined });
    const version = await bare.version().catch(async (error) => {
      if (!(error instanceof CliError && error.code === 'unauthorized' && token)) throw error;
      return (await this.briefClient(this.target)).version();
    });
    this.instance = version;
    const message = instanceText(version);
    const moved = this.responses.find(({ response: { status } }) => status >= 300 && status < 400);
    if (moved) {
      const where = `${moved.response.status} to ${header(moved.response, 'location')}`;
      return {
        status: 'warning',
        message: `${message}; ${where}, so that each request is made twice`,
        hint: 'use the address it redirects to',
      };
    }
    if (version.api_version?.split('.')[0] === '2') return { message };
    return { message, status: 'warning', hint: 'pwpush requires API v2' };
  }

  private async briefClient(target: Target) {
    const { entry } = this;
    const settings = await briefSettings(entry, target);
    const send: Transport = async (request) => {
      const response = await settings.send(request);
      this.responses.push({ response, time: entry.context.now() });
      return response;
    };
    return apiClient({ ...settings, send });
  }

  clock(): Finding {
    const last = this.responses.at(-1);
    const sent = Date.parse((last && header(last.response, 'date')) ?? '');
    if (last === undefined || Number.isNaN(sent))
      return { status: 'skipped', message: 'the instance sent no date' };
    const ahead = Math.round((last.time.getTime() - sent) / 1000);
    if (Math.abs(ahead) <= SKEW_SECONDS) return { message: 'in sync' };
    const clocks = phrase('clocks-differ', Math.abs(ahead), ahead > 0 ? 'ahead of' : 'behind');
    throw failedError(clocks, { hints: phrase('correct-clock') });
  }

  async token(): Promise<Finding> {
    const { token, tokenHint, anonymous } = this.target;
    if (token !== undefined) {
      const client = await this.briefClient(this.target);
      const isOurs = toldEdition(this.instance) === APPLICATION;
      const held = isOurs ? (await client.version()).token : undefined;
      if (!held) await client.list('active', 1);
      const pushesOnly = held?.scope === 'push';
      const can = pushesOnly ? 'push, and reach only that' : 'list, audit and expire its pushes';
      const message = `from ${token.from}, accepted: it can ${can}`;
      const isRenewed = typeof (await token.read()) === 'object';
      const ends = isRenewed ? undefined : endText(held, this.entry.context.now());
      if (ends === undefined) return { message };
      return { status: 'warning', message: `${message}; it ${ends}`, hint: 'replace it' };
    }
    const hint = anonymous ? undefined : adviceFor(tokenHint ?? 'log in with pwpush login').text;
    if (this.instance.features?.anonymous_access === false)
      throw new CliError('unauthorized', phrase('no-token-to-push'), { hints: hint });
    const message = 'none: you cannot list, audit or expire what you push';
    return { status: 'skipped', message, hint };
  }

  features(): Finding {
    const message = abilities(this.instance);
    if (message !== undefined) return { message };
    return { status: 'skipped', message: 'the instance does not report its features' };
  }

  /** A missing SQLite is only a warning, because other commands than `serve` and `--here` do not need it. */
  async sqlite(): Promise<Finding> {
    const { quietly } = this.entry.context;
    try {
      await withService(({ sqliteDriver }) => sqliteDriver(quietly));
      return { message: 'found, for serve and --here' };
    } catch (error) {
      const { message, hint } = failureFields(asCliError(error));
      return { status: 'warning', message, hint };
    }
  }

  /** Warns of each file with a secret that could not be delivered, because the user should delete it. */
  async rescue(): Promise<Findings> {
    const files = await rescues(this.entry.context);
    if (files.length === 0) return { message: NO_RESCUES };
    const hint =
      'read it, with pwpush get --from-file FILE if it is encrypted, then run pwpush doctor --clean';
    const last = files.at(-1);
    return files.map((file) => ({
      status: 'warning',
      message: file.text,
      hint: file === last ? hint : undefined,
    }));
  }
}
