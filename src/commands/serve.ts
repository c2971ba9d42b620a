import { Command } from 'commander';
import { addOutputOptions, type GlobalOptions, optionsOf, port, positive } from '../cli/options';
import { serviceIo } from '../cli/service-io';
import { type Invocation, invocation } from '../cli/terminal/output';
import type { Context } from '../platform/context';
import { CliError } from '../platform/errors';
import { aborted } from '../platform/files/abort';
import { withService } from '../platform/load-service';
import { makeFolder } from '../platform/private-folder';
import { profileStore } from '../profile/profile-store';
import type { Profile, StoredProfiles } from '../profile/settings';
import {
  DATA,
  DATABASE,
  DEFAULTS,
  dataPlace,
  days,
  keyFile,
  type LogFormat,
  logFormat,
  passwordWarning,
  rate,
  readVariables,
  refuseEmpty,
  size,
  unknownVariables,
} from './serve/serve-options';
import { backupCommand, healthCommand, rekeyCommand, tokenCommand } from './serve/subcommands';

interface ServeOptions extends GlobalOptions {
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
  readonly data?: string;
  readonly database?: string;
  readonly ephemeral: boolean;
  readonly firstToken?: boolean;
  readonly anonymousFiles?: boolean;
  readonly title?: string;
  readonly logo?: string;
  readonly contact?: string;
  readonly defaultDays?: number;
  readonly maxDays?: number;
  readonly defaultViews?: number;
  readonly maxViews?: number;
  readonly maxFileSize?: number;
  readonly maxBuffer?: number;
  readonly maxConnections?: number;
  readonly minRate?: number;
  readonly maxFailures?: number;
  readonly keepDays?: number;
  readonly maxData?: number;
  readonly reserve?: number;
  readonly rateLimit?: ReturnType<typeof rate>;
  readonly trustProxy: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly log?: LogFormat;
  readonly metricsHost?: string;
  readonly metricsPort?: number;
}

const EXAMPLES = `
Prints its address on stdout and logs requests on stderr. The first start
creates the user admin and prints an API token; on loopback it also saves that
token as profile "local", for pwpush push in another terminal. Every option can
be set by a variable: --max-days by PWPUSH_SERVE_MAX_DAYS, --no-anonymous by
PWPUSH_SERVE_ANONYMOUS=false.

Examples:
  $ pwpush serve
  $ pwpush serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem`;

const number = (option: string, text: string) => [`${option} <n>`, text, positive(option)] as const;
const bytes = (option: string, text: string, least?: number) =>
  [`${option} <size>`, text, size(option, least)] as const;

export function define(context: Context): Command {
  const command = new Command('serve')
    .description('Run a Password Pusher server on this machine, with an embedded database.')
    .optionsGroup('Network:')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <n>', 'port to listen on; 0 for any (default: 5100)', port('--port'))
    .option('--public-url <url>', 'address in links (default: as requested)')
    .optionsGroup('Data:')
    .option(...DATA)
    .option(...DATABASE)
    .option('--ephemeral', 'keep everything in memory, nothing on disk')
    .option(...bytes('--max-data', 'most data of --ephemeral (default: 1/4 of memory)', 1024 ** 2))
    .option('--first-token', 'print a token at the first start (default)')
    .option('--no-first-token', 'print none, where a log would keep it')
    .optionsGroup('Limits:')
    .option('--anonymous', 'allow pushes without a token (default)')
    .option('--no-anonymous', 'require a token, also to open a link; no pages')
    .option('--anonymous-files', 'allow files without a token, too')
    .option(...number('--default-days', 'days of a push by default (default: 7)'))
    .option(...number('--max-days', 'most days that a push can have (default: 90)'))
    .option(...number('--default-views', 'views of a push by default (default: 5)'))
    .option(...number('--max-views', 'most views that a push can have (default: 100)'))
    .option(...bytes('--max-file-size', 'largest file: 500M, 1GiB (default: 100MiB)'))
    .option(...bytes('--max-buffer', 'memory for requests and responses (default: 64MiB)'))
    .option(...number('--max-connections', 'open connections (default: 4096)'))
    .option(...bytes('--min-rate', 'slowest reader, per minute; 0: any (default: 50KB)', 0))
    .option(...number('--max-failures', 'failures in the log of a push (default: 1000)'))
    .option('--keep-days <n>', 'days to keep the log of expired pushes (default: 90)', days)
    .option(...bytes('--reserve', 'free disk space to leave (default: 32MiB)', 0))
    .option('--rate-limit <n/s>', 'requests per address, such as 600/m (default: 100/s)', rate)
    .optionsGroup('Pages:')
    .option('--title <text>', 'name on the pages (default: pwpush)')
    .option('--logo <file>', 'image for the pages: PNG, JPEG, WebP or SVG')
    .option('--contact <text>', 'contact on the pages: e-mail, URL or name')
    .optionsGroup('Proxy and TLS:')
    .option('--trust-proxy', 'trust X-Forwarded-* headers; only behind a proxy')
    .option('--tls-cert <path>', 'certificate chain (PEM)')
    .option('--tls-key <path>', 'private key of the certificate (PEM)')
    .optionsGroup('Log and metrics:')
    .option('--log <format>', 'format of the log: text or json (default: text)', logFormat)
    .option(
      '--metrics-port <n>',
      'serve Prometheus metrics on it (default: off)',
      port('--metrics-port'),
    )
    .option('--metrics-host <address>', 'address of that port (default: 127.0.0.1)')
    .helpCommand(false)
    .addHelpText('after', EXAMPLES);
  command.action(async () => {
    // Global options know --anonymous as something else.
    const anonymous = command.opts().anonymous !== false;
    const options: ServeOptions = { ...optionsOf(command, context.env, DEFAULTS), anonymous };
    const warnings = [
      passwordWarning(command) ?? [],
      unknownVariables(command, context.env),
    ].flat();
    await serve(invocation(context, options), options, warnings);
  });
  command.addCommand(tokenCommand(context));
  command.addCommand(rekeyCommand(context));
  command.addCommand(backupCommand(context));
  command.addCommand(healthCommand(context));
  refuseEmpty(command);
  readVariables(command, context.env);
  return addOutputOptions(command);
}

type RunningService = Awaited<ReturnType<typeof start>>;

/** Listens until SIGINT, SIGTERM, or the terminal hangs up; then lets running requests finish. */
async function serve(
  run: Invocation,
  options: ServeOptions,
  warnings: readonly string[],
): Promise<void> {
  const { context, say } = run;
  const jsonLog = options.log === 'json';
  if (!jsonLog) for (const warning of warnings) await say.warn(warning);
  context.interrupts.enter({ mode: 'own' });
  const { signal: stop } = context;
  const service = await start(run, options);
  // In JSON they are lines of the log, which begins with the service.
  if (jsonLog) for (const warning of warnings) service.warn(warning);
  // Before the address is printed: a script that reads it may send the signal.
  const hangup = hungUp(context, service.reload);
  const { url, firstToken } = service;
  let next: string | undefined;
  if (firstToken !== undefined) {
    // Even with --quiet: it cannot be shown again.
    if (!options.json) await say.announce(`token of admin, shown only now: ${firstToken}`);
    // --ephemeral writes nothing to disk, and the token of its database would be useless after it.
    if (!options.ephemeral && service.loopback) next = await keepProfile(run, service, jsonLog);
  }
  await say.print(
    firstToken === undefined ? { url } : { url, token: firstToken },
    () => `${url}\n`,
  );
  if (next !== undefined && !jsonLog) await say.remark(`in another terminal: ${next}`);
  await Promise.race([aborted(stop), hangup]);
  await service.close();
}

function start(run: Invocation, options: ServeOptions) {
  const { context } = run;
  const place = dataPlace(context, options);
  if (!options.ephemeral)
    makeFolder(place.data, 'choose a folder that you can write to with --data');
  const log = (line: string, level?: string) => {
    if (options.quiet && level === 'info') return;
    context.stderr.write(`${line}\n`).catch(() => {});
  };
  return withService(({ startService }) =>
    startService(
      { ...options, ...place, ...keyFile(context) },
      { ...serviceIo(run, log), supervision: context },
    ),
  );
}

/**
 * Keeps the service as a profile, so that `pwpush push` works in the next terminal. Returns the command to type there,
 * or undefined if the profile could not be saved.
 */
async function keepProfile(
  { context, say }: Invocation,
  { localUrl: url, firstToken: token, warn }: RunningService,
  jsonLog: boolean,
): Promise<string | undefined> {
  try {
    const store = await profileStore(context);
    let name = '';
    const { current } = await store.update((stored) => {
      const kept = keepLocal(stored, token === undefined ? { url } : { url, token });
      name = kept.name;
      return kept.stored;
    });
    const use = current === name ? '' : `; use it with --profile ${name}`;
    if (!jsonLog) await say.note(`saved as profile "${name}"${use}`);
    return `pwpush push${current === name ? '' : ` --profile ${name}`}`;
  } catch (error) {
    const why = error instanceof CliError ? error.message : (error as NodeJS.ErrnoException).code;
    warn(`the token was not saved as a profile: ${why}`);
    return undefined;
  }
}

/** Resolves when the terminal that started us is gone. Without a terminal, SIGHUP reloads the service. */
function hungUp(context: Context, reload: () => Promise<void>): Promise<void> {
  const { stdin, stdout, stderr } = context;
  const ours = stdin.isTTY || stdout.isTTY || stderr.isTTY;
  return new Promise((resolve) => {
    const hangup = () => (ours ? resolve() : void reload());
    context.interrupts.enter({ mode: 'own', hangup });
  });
}

/**
 * Adds the first token of a service on this machine as profile `local`, or `local-2` and so on if that exists: a token
 * is shown only once and must not be overwritten.
 */
export function keepLocal(
  stored: StoredProfiles,
  profile: Profile,
): { readonly name: string; readonly stored: StoredProfiles } {
  const name = freeName(stored);
  const profiles = { ...stored.profiles, [name]: profile };
  return { name, stored: { current: stored.current ?? name, profiles } };
}

function freeName(stored: StoredProfiles): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? 'local' : `local-${number}`;
    if (!Object.hasOwn(stored.profiles, name)) return name;
  }
}
