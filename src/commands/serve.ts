import { Command } from 'commander';
import type { Context } from '../context';
import { CliError, usageError } from '../errors';
import { addOutputOptions, type GlobalOptions, optionsOf, positive } from '../options';
import { makeFolder } from '../profile/folder';
import { keepLocal } from '../profile/local';
import { dataFolder } from '../profile/place';
import { terminal } from '../terminal/output';
import { DATA, serviceFailure } from './serve/data';
import { tokenCommand } from './serve/token';
import { readVariables } from './serve/variables';

interface ServeOptions extends GlobalOptions {
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
  readonly data?: string;
  readonly ephemeral: boolean;
  readonly defaultDays?: number;
  readonly maxDays?: number;
  readonly defaultViews?: number;
  readonly maxViews?: number;
  readonly maxFileSize?: number;
  readonly trustProxy: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
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
  $ pwpush serve token add alice`;

export function serveCommand(context: Context): Command {
  const command = new Command('serve')
    .description(
      'Be an instance: the same API and pages, on this machine, on an embedded database.',
    )
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <n>', 'port to listen on; 0 takes a free one (default: 5100)', port)
    .option(
      '--public-url <url>',
      'address that links name, where it is not the one requests come to',
    )
    .option(...DATA)
    .option('--ephemeral', 'keep everything in memory; nothing touches a disk')
    .option('--anonymous', 'let everybody push (default)')
    .option('--no-anonymous', 'require a token for everything but version')
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
    .option('--max-file-size <size>', 'most a file may have: 500M, 1GiB … (default: 100MiB)', size)
    .option(
      '--trust-proxy',
      'believe X-Forwarded-For, -Proto and -Host; only behind a proxy that sets them',
    )
    .option('--tls-cert <path>', 'certificate chain, PEM')
    .option('--tls-key <path>', 'its private key, PEM')
    .helpCommand(false)
    .addHelpText('after', EXAMPLES);
  command.action(() =>
    serve(context, command.opts().anonymous !== false, optionsOf(command, context.env, DEFAULTS)),
  );
  command.addCommand(tokenCommand(context));
  readVariables(command, context.env);
  return addOutputOptions(command);
}

function port(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  throw usageError(`--port takes a number from 0 to 65535, not "${value}"`);
}

/** Bytes; K, M, G, T and KiB … count in 1024s, KB … in 1000s. */
function size(value: string): number {
  const [, digits = '', unit = '', suffix = ''] =
    /^(\d{1,13}(?:\.\d{1,3})?)([kmgt]?)(i?b)?$/i.exec(value.trim()) ?? [];
  const base = suffix.toLowerCase() === 'b' ? 1000 : 1024;
  const bytes = Number(digits) * base ** ' kmgt'.indexOf(unit.toLowerCase() || ' ');
  if (digits !== '' && bytes >= 1 && bytes <= 1024 ** 4) return Math.floor(bytes);
  throw usageError(`--max-file-size takes a size such as 500M or 1GiB, not "${value}"`);
}

/** Listens until SIGINT or SIGTERM, then lets running requests finish. */
async function serve(context: Context, anonymous: boolean, options: ServeOptions): Promise<void> {
  const stop = context.takeSignals();
  const say = terminal(context, options);
  const service = await starting(context, options, anonymous);
  if (service.firstToken !== undefined) {
    // Even with --quiet: nobody can ask for it again.
    if (!options.json) await say.tell(`token of admin, shown only now: ${service.firstToken}`);
    await keepProfile(context, options, service.localUrl, service.firstToken);
  }
  const { url, firstToken } = service;
  await say.print(
    firstToken === undefined ? { url } : { url, token: firstToken },
    () => `${url}\n`,
  );
  await aborted(stop);
  await say.note('stopping');
  await service.close();
}

async function starting(context: Context, options: ServeOptions, anonymous: boolean) {
  const { startService, ServiceError } = await context.service();
  const say = terminal(context, options);
  const data = options.data ?? dataFolder(context);
  if (!options.ephemeral) makeFolder(data, 'name a folder of yours with --data');
  try {
    return await startService(
      { ...options, anonymous, data, ...keyFile(context) },
      {
        // The request log; with `--quiet` errors only.
        log: (line) => void (options.quiet || context.stderr.write(`${line}\n`).catch(() => {})),
        warn: (line) => void say.warn(line),
        now: context.now,
        version: context.version,
        quietly: context.quietly,
      },
    );
  } catch (error) {
    throw error instanceof ServiceError ? serviceFailure(error) : error;
  }
}

const keyFile = ({ env }: Context) =>
  env.PWPUSH_INSTANCE_KEY_FILE ? { instanceKeyFile: env.PWPUSH_INSTANCE_KEY_FILE } : {};

/** So that `pwpush push` works in the next terminal. */
async function keepProfile(
  context: Context,
  options: ServeOptions,
  url: string,
  token: string,
): Promise<void> {
  const say = terminal(context, options);
  // With --ephemeral nothing touches a disk, and a token of it would outlive what it opens.
  if (options.ephemeral || !/^(localhost|127\..*|::1)$/.test(options.host)) return;
  const profile = { url, token };
  try {
    const store = await context.profiles();
    let name = '';
    const { current } = await store.update((stored) => {
      const kept = keepLocal(stored, profile);
      name = kept.name;
      return kept.stored;
    });
    await say.note(
      `kept as profile "${name}"${current === name ? '' : `; use it with --profile ${name}`}`,
    );
  } catch (error) {
    await say.warn(
      `the token was not kept as a profile: ${error instanceof CliError ? error.message : (error as NodeJS.ErrnoException).code}`,
    );
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
