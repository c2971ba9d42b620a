import { Command } from 'commander';
import type { Context } from '../context';
import { CliError } from '../errors';
import { withService } from '../load-service';
import { addOutputOptions, type GlobalOptions, optionsOf, port, positive } from '../options';
import { aborted } from '../system/abort';
import { makeFolder } from '../system/private-folder';
import { type Invocation, invocation } from '../terminal/output';
import { backupCommand } from './serve/backup';
import { keepLocal } from './serve/local-profile';
import { rekeyCommand } from './serve/rekey';
import {
  DATA,
  DATABASE,
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
} from './serve/serve-options';
import { tokenCommand } from './serve/token';

interface ServeOptions extends GlobalOptions {
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
  readonly data?: string;
  readonly database?: string;
  readonly ephemeral: boolean;
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
  readonly reserve?: number;
  readonly rateLimit?: ReturnType<typeof rate>;
  readonly trustProxy: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly log?: LogFormat;
  readonly metricsHost?: string;
  readonly metricsPort?: number;
}

const DEFAULTS = { host: '127.0.0.1', port: 5100, ephemeral: false, trustProxy: false };

const EXAMPLES = `
The base address is the one line on stdout (with --json {"url", "token"});
requests are logged to stderr. The first start makes the user admin, prints its
token once and, on loopback, keeps it as profile local.
Each option has a variable: --max-days is PWPUSH_SERVE_MAX_DAYS, and
PWPUSH_SERVE_ANONYMOUS=false is --no-anonymous. The option outranks it.

Examples:
  $ pwpush serve
  $ pwpush serve --ephemeral --port 0 --json
  $ pwpush serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
  $ pwpush serve token add alice
  $ pwpush serve backup /backup/pwpush.db`;

export function serveCommand(context: Context): Command {
  const command = new Command('serve')
    .description(
      'Be an instance: the same API and pages, on this machine, on an embedded database.',
    )
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <n>', 'port to listen on; 0 takes a free one (default: 5100)', port('--port'))
    .option(
      '--public-url <url>',
      'address that links name, where it is not the one requests come to',
    )
    .option(...DATA)
    .option(...DATABASE)
    .option('--ephemeral', 'keep everything in memory; nothing touches a disk')
    .option('--anonymous', 'let everybody push (default)')
    .option('--no-anonymous', 'require a token for everything but version')
    .option('--anonymous-files', 'let everybody push files too, not only texts')
    .option('--title <text>', 'name on the pages (default: pwpush)')
    .option('--logo <file>', 'image for the pages: PNG, JPEG, WebP or SVG')
    .option('--contact <text>', 'contact on the pages: e-mail, URL or name')
    .option(
      '--default-days <n>',
      'days of a push that asks for none (default: 7)',
      positive('--default-days'),
    )
    .option('--max-days <n>', 'most days a push may ask for (default: 90)', positive('--max-days'))
    .option(
      '--default-views <n>',
      'views of a push that asks for none (default: 5)',
      positive('--default-views'),
    )
    .option(
      '--max-views <n>',
      'most views a push may ask for (default: 100)',
      positive('--max-views'),
    )
    .option(
      '--max-file-size <size>',
      'most a file may have: 500M, 1GiB … (default: 100MiB)',
      size('--max-file-size'),
    )
    .option(
      '--max-buffer <size>',
      'memory for bodies being received and answers not yet sent (default: 64MiB)',
      size('--max-buffer'),
    )
    .option(
      '--max-connections <n>',
      'connections open at once (default: 4096)',
      positive('--max-connections'),
    )
    .option(
      '--min-rate <size>',
      'bytes of an answer to be read in a minute; 0 for any (default: 50KB)',
      size('--min-rate', 0),
    )
    .option(
      '--max-failures <n>',
      'failures listed one by one in the log of a push (default: 1000)',
      positive('--max-failures'),
    )
    .option('--keep-days <n>', 'days that ended pushes and their log are kept (default: 90)', days)
    .option(
      '--reserve <size>',
      'disk space below which no pushes are taken (default: 32MiB)',
      size('--reserve', 0),
    )
    .option(
      '--rate-limit <n/s>',
      'requests an address may make: 50/s, 600/m, off (default: 100/s, this machine any)',
      rate,
    )
    .option(
      '--trust-proxy',
      'believe X-Forwarded-For, -Proto and -Host; only behind a proxy that sets them',
    )
    .option('--tls-cert <path>', 'certificate chain, PEM')
    .option('--tls-key <path>', 'its private key, PEM')
    .option(
      '--log <format>',
      'how the log on stderr is written: text or json (default: text)',
      logFormat,
    )
    .option(
      '--metrics-port <n>',
      'serve metrics for Prometheus on this port (default: none)',
      port('--metrics-port'),
    )
    .option('--metrics-host <address>', 'address of that port (default: 127.0.0.1)')
    .helpCommand(false)
    .addHelpText('after', EXAMPLES);
  command.action(async () => {
    // Global options know --anonymous as something else.
    const anonymous = command.opts().anonymous !== false;
    const options: ServeOptions = { ...optionsOf(command, context.env, DEFAULTS), anonymous };
    await serve(invocation(context, options), options, passwordWarning(command));
  });
  command.addCommand(tokenCommand(context));
  command.addCommand(rekeyCommand(context));
  command.addCommand(backupCommand(context));
  refuseEmpty(command);
  readVariables(command, context.env);
  return addOutputOptions(command);
}

type RunningService = Awaited<ReturnType<typeof start>>;

/** Listens until SIGINT, SIGTERM, or the terminal hangs up; then lets running requests finish. */
async function serve(
  run: Invocation,
  options: ServeOptions,
  warning: string | undefined,
): Promise<void> {
  const { context, say } = run;
  const jsonLog = options.log === 'json';
  if (warning && !jsonLog) await say.warn(warning);
  const stop = context.takeSignals();
  const service = await start(run, options);
  // In JSON it is a line of the log, which begins with the service.
  if (warning && jsonLog) service.warn(warning);
  // Before the address is printed: a script that reads it may send the signal.
  const hangup = hungUp(context, service.reload);
  const { url, firstToken } = service;
  if (firstToken !== undefined) {
    // Even with --quiet: it cannot be shown again.
    if (!options.json) await say.announce(`token of admin, shown only now: ${firstToken}`);
    // --ephemeral writes nothing to disk, and the token of its database would be useless after it.
    if (!options.ephemeral && service.loopback) await keepProfile(run, service, jsonLog);
  }
  await say.print(
    firstToken === undefined ? { url } : { url, token: firstToken },
    () => `${url}\n`,
  );
  await Promise.race([aborted(stop), hangup]);
  await service.close();
}

function start({ context, say }: Invocation, options: ServeOptions) {
  const place = dataPlace(context, options);
  if (!options.ephemeral) makeFolder(place.data, 'name a folder of yours with --data');
  return withService(({ startService }) =>
    startService(
      { ...options, ...place, ...keyFile(context) },
      {
        log: (line, level) => {
          if (options.quiet && level === 'info') return;
          context.stderr.write(`${line}\n`).catch(() => {});
        },
        warn: (line) => void say.warn(line),
        now: context.now,
        env: context.env,
        version: context.version,
        quietly: context.quietly,
        supervision: context,
        usage: context.usage,
      },
    ),
  );
}

/** Keeps the service as a profile, so that `pwpush push` works in the next terminal. */
async function keepProfile(
  { context, say }: Invocation,
  { localUrl: url, firstToken: token, warn }: RunningService,
  jsonLog: boolean,
): Promise<void> {
  try {
    const store = await context.profiles();
    let name = '';
    const { current } = await store.update((stored) => {
      const kept = keepLocal(stored, token === undefined ? { url } : { url, token });
      name = kept.name;
      return kept.stored;
    });
    const use = current === name ? '' : `; use it with --profile ${name}`;
    if (!jsonLog) await say.note(`kept as profile "${name}"${use}`);
  } catch (error) {
    const why = error instanceof CliError ? error.message : (error as NodeJS.ErrnoException).code;
    warn(`the token was not kept as a profile: ${why}`);
  }
}

/** Resolves when the terminal that started us is gone. Without a terminal, SIGHUP reloads the service. */
function hungUp(context: Context, reload: () => Promise<void>): Promise<void> {
  const { stdin, stdout, stderr } = context;
  const ours = stdin.isTTY || stdout.isTTY || stderr.isTTY;
  return new Promise((resolve) => {
    context.onHangup(() => (ours ? resolve() : void reload()));
  });
}
