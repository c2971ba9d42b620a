import { resolve } from 'node:path';
import { Command } from 'commander';
import { refuseToPrint } from '../../cli/agent';
import { filledText, flag, parsed, subcommand } from '../../cli/declare';
import { addOutputOptions, revealRows } from '../../cli/options';
import { ownerList } from '../../cli/terminal/listings';
import { table } from '../../cli/terminal/table';
import { port } from '../../cli/values';
import type { TransportError } from '../../client/transport/network-errors';
import { urlHost } from '../../contract/address';
import type { Context } from '../../platform/context';
import { CliError, failedError, usageError } from '../../platform/errors';
import { type ServiceModule, withService } from '../../profile/load-service';
import backupHelp from '../help/serve-backup.txt?raw';
import healthHelp from '../help/serve-health.txt?raw';
import rekeyHelp from '../help/serve-rekey.txt?raw';
import {
  dataPlace,
  dataRows,
  HOST,
  keyFile,
  PORT,
  type ServeRun,
  withServeOptions,
} from './serve-options';

const rows = dataRows();

const addRows = {
  ...rows,
  output: filledText('-o, --output <file>', 'write the token to a new file (0600)'),
  force: flag('--force', 'overwrite an existing file').requires('output'),
  ...revealRows(),
};

type DataRun = ServeRun<typeof rows>;

/** `serve token add|list|revoke`. */
export function tokenCommand(context: Context): Command {
  const token = addOutputOptions(
    new Command('token')
      .summary('add, list and revoke API tokens')
      .description('Manage the API tokens of the service on this machine.')
      .helpCommand(false),
  );
  const sub = (word: string, summary: string) => subcommand(token, word, summary);
  const adding = sub('add', 'create a token for a new or existing user; shown once');
  withServeOptions(adding.argument('<name>', 'the user'), context, addRows, addToken);
  const listing = sub('list', 'list the users and how many tokens they have');
  withServeOptions(listing, context, rows, listTokens);
  const revoking = sub('revoke', "revoke all of a user's tokens");
  withServeOptions(revoking.argument('<name>', 'the user'), context, rows, revokeTokens);
  return token;
}

function withOwners<T>({ context, options }: DataRun, work: (owners: Owners) => Promise<T>) {
  const { now, env, quietly } = context;
  return withService(async ({ openOwners }) => {
    const owners = await openOwners(dataPlace(context, options), { now, env, quietly });
    return work(owners).finally(() => owners.close());
  });
}

type Owners = Awaited<ReturnType<ServiceModule['openOwners']>>;

/** The file is reserved first: a token is known at its creation only. */
async function addToken(run: ServeRun<typeof addRows>, name: string): Promise<void> {
  const { context, say } = run;
  const { output = '-', force } = run.options;
  const { isStream, reserveFile } = await import('../../deliver/destination');
  if (isStream(output, context.uid)) await refuseToPrint(context, 'the token', 'use --output FILE');
  const file = output === '-' ? undefined : await reserveFile(output, force, context.uid);
  const token = await withOwners(run, (owners) => owners.add(name)).catch(async (error) => {
    await file?.discard();
    throw error;
  });
  if (!file) return say.print({ name, token }, () => `${token}\n`);
  await file.commit(`${token}\n`);
  await say.print({ name, saved_to: resolve(output) }, () => '');
  await say.note(`the token was saved to ${output}`);
}

async function listTokens(run: DataRun): Promise<void> {
  const rows = await withOwners(run, (owners) => owners.list());
  await run.say.print(rows, (look) => table(rows, ownerList, look));
}

async function revokeTokens(run: DataRun, name: string): Promise<void> {
  const revoked = await withOwners(run, (owners) => owners.revoke(name));
  if (revoked === 0)
    throw usageError(
      `no user "${name}" with a token`,
      'list users and tokens with pwpush serve token list',
    );
  await run.say.print({ name, revoked }, () => `${name}: ${revoked} revoked\n`);
}

export function rekeyCommand(context: Context): Command {
  const command = new Command('rekey')
    .summary('change the instance key, while no service runs')
    .description('Change the instance key: create a new one and reseal all pushes with it.')
    .addHelpText('after', `\n${rekeyHelp.trimEnd()}`);
  return withServeOptions(command, context, rows, rekey);
}

async function rekey({ context, options, say }: DataRun): Promise<void> {
  const settings = { ...dataPlace(context, options), ...keyFile(context) };
  const { resealed, keyFile: key_file } = await withService((service) =>
    service.rekey(settings, context),
  );
  await say.print(
    { resealed, key_file },
    () => `${resealed} ${resealed === 1 ? 'push' : 'pushes'} resealed\n`,
  );
  if (settings.database) {
    await say.note(`copy ${key_file} to services that have a key file of their own`);
  }
}

const backupRows = { ...rows, force: flag('--force', 'overwrite an existing file') };

export function backupCommand(context: Context): Command {
  const command = new Command('backup')
    .summary('copy the database of a running service')
    .description('Copy the whole database while services run.')
    .argument('<file>', 'where the copy goes, 0600')
    .addHelpText('after', `\n${backupHelp.trimEnd()}`);
  return withServeOptions(command, context, backupRows, backup);
}

async function backup(
  { context, options, say }: ServeRun<typeof backupRows>,
  file: string,
): Promise<void> {
  const place = dataPlace(context, options);
  const { bytes, key } = await withService(async (service) => ({
    bytes: await service.backup(place, { file, force: options.force }, context),
    key: service.keyFileOf({ ...place, ...keyFile(context) }),
  }));
  await say.print({ file, bytes, key_file: key }, () => `${file}\n`);
  await say.note(`the backup requires the instance key, which it does not contain: ${key}`);
}

/** The service waits two for its database. */
const HEALTH_TIMEOUT_SECONDS = 4;

const healthRows = {
  host: filledText('--host <address>', 'address it listens on').or(HOST),
  port: parsed('--port <n>', 'port it listens on', port).or(PORT),
  tlsCert: filledText('--tls-cert <path>', 'its certificate, if it serves https; not read'),
};

export function healthCommand(context: Context): Command {
  const command = new Command('health')
    .summary('check that the service on this machine is ready')
    .description('Check that the service on this machine and its database respond.')
    .addHelpText('after', `\n${healthHelp.trimEnd()}`);
  return withServeOptions(command, context, healthRows, health);
}

/** @throws CliError: unreachable, or failed if the service responds but is not ready */
async function health({ context, options, say }: ServeRun<typeof healthRows>): Promise<void> {
  const { host, port, tlsCert } = options;
  const url = `http${tlsCert ? 's' : ''}://${urlHost(host)}:${port}`;
  // Without the environment, whose proxy is for other machines.
  const connection = {
    timeout: HEALTH_TIMEOUT_SECONDS,
    insecure: true,
    env: {},
    signal: context.signal,
  };
  const client = await context.transport(connection);
  try {
    const { status } = await client.send({ method: 'GET', url: `${url}/up`, headers: {} });
    if (status !== 200) throw failedError(`${url} is not ready (${status})`, { status });
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { message, hint } = error as TransportError;
    throw new CliError('unreachable', message, { steps: hint, cause: error });
  } finally {
    await client.close();
  }
  await say.print({ url }, () => `${url}\n`);
}
