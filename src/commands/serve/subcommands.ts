import { resolve } from 'node:path';
import { refuseToPrint } from '../../cli/agent';
import {
  choice,
  filledText,
  flag,
  newFile,
  operand,
  parsed,
  storedFile,
  text,
} from '../../cli/declare';
import { tokenList } from '../../cli/terminal/listings';
import type { Entry } from '../../cli/terminal/output';
import { table } from '../../cli/terminal/table';
import { count, savedText } from '../../cli/terminal/wording';
import { newFileName, port, storedFileName, tokenLifetime } from '../../cli/values';
import { urlHost } from '../../contract/address';
import { scopes } from '../../contract/api';
import { HOST, PORT } from '../../contract/serve-settings';
import { isStream, reserveFile } from '../../deliver/destination';
import { CliError, failedError, phrase, usageError } from '../../platform/errors';
import backupHelp from '../help/serve-backup.txt?raw';
import copyHelp from '../help/serve-copy.txt?raw';
import healthHelp from '../help/serve-health.txt?raw';
import rekeyHelp from '../help/serve-rekey.txt?raw';
import restoreHelp from '../help/serve-restore.txt?raw';
import { type CommandObject, command } from '../planned';
import { countsText, type OperatorData, withData } from './open-pushes';
import {
  type DataOptions,
  type DataPlace,
  dataPlace,
  dataRows,
  onData,
  planWithData,
  settable,
  warnOfPassword,
} from './serve-options';

const rows = dataRows();

const newRows = {
  ...rows,
  output: newFile('-o, --output <file>', 'write the token to a new file (0600)'),
  force: flag('--force', 'overwrite an existing file').requires('output'),
};

const addRows = {
  name: operand('<name>', 'the user'),
  ...newRows,
  label: text('--label <text>', 'what the token is for, as the list shows it'),
  scope: choice('--scope <scope>', 'all (default), or push: reaches only what it created', scopes),
  expire: parsed('--expire <duration>', 'the token ends after it, such as 90d', tokenLifetime),
  create: flag('--create', 'create the database if it is missing'),
};

const revokeRows = {
  which: operand('<id>', 'of the token, or the user'),
  expirePushes: flag('--expire-pushes', "end the user's open pushes and requests, too"),
  ...rows,
};

export const token: CommandObject = {
  summary: 'add, list, replace and revoke API tokens',
  description: 'Manage the API tokens of the service on this machine.',
  rows: {},
  commands: {
    add: command({
      summary: 'create a token for a new or existing user; shown once',
      rows: addRows,
      plan: planWithData,
      run: addToken,
    }),
    list: command({
      summary: 'list the tokens, with their IDs, but not themselves',
      rows,
      plan: planWithData,
      run: listTokens,
    }),
    replace: command({
      summary: 'create a token in the place of another; shown once',
      rows: { id: operand('<id>', 'of the old one'), ...newRows },
      plan: planWithData,
      run: replaceToken,
    }),
    revoke: command({
      summary: 'revoke a token, or all of a user',
      rows: revokeRows,
      plan: planWithData,
      run: revokeTokens,
    }),
  },
};

function addToken(entry: Entry, plan: DataOptions<typeof addRows>): Promise<void> {
  return issue(entry, plan, async ({ owners, created }) => {
    const { name, label, scope, expire: lifetime } = plan;
    const issued = await owners.add(name, label, { scope, lifetime });
    if (created) await entry.say.note('a new database');
    const all = (await owners.list())
      .filter((token) => token.name === issued.name)
      .reduce((sum, { tokens }) => sum + tokens, 0);
    if (all > 1) await entry.say.note(`${issued.name} has ${all} tokens now`);
    return issued;
  });
}

async function replaceToken(
  entry: Entry,
  plan: DataOptions<typeof newRows> & { readonly id: string },
): Promise<void> {
  await issue(entry, plan, async ({ owners }) => {
    const issued = await owners.replace(plan.id);
    if (!issued) throw unknownToken(`no token with the ID "${plan.id}"`);
    return { ...issued, replaces: plan.id };
  });
  await entry.say.note('the old one works until this one is used, or for an hour');
}

/** Prints a new token, or writes it to a file. Reserves the file first, because a token cannot be shown again. */
async function issue(
  entry: Entry,
  plan: DataOptions<typeof newRows> & { readonly create?: boolean },
  create: (data: OperatorData) => ReturnType<OperatorData['owners']['add']>,
): Promise<void> {
  const { context, say } = entry;
  const { output = '-', force } = plan;
  if (isStream(output, context.uid)) await refuseToPrint(context, 'the token', 'output-unseen');
  const file = output === '-' ? undefined : await reserveFile(output, force, context.uid);
  const { token, ...shown } = await withData(entry, plan, create).catch(async (error) => {
    await file?.discard();
    throw error;
  });
  if (file) {
    await file.commit(`${token}\n`);
    await say.print({ ...shown, saved_to: resolve(output) }, () => '');
    await say.note(savedText(output, Buffer.byteLength(token) + 1));
  } else await say.print({ ...shown, token }, () => `${token}\n`);
  await say.remark(`its ID is ${shown.id}`);
}

async function listTokens(entry: Entry, plan: DataOptions<typeof rows>) {
  const rows = await withData(entry, plan, ({ owners }) => owners.list());
  await entry.say.print(rows, (look) => table(rows, tokenList, look));
}

/** The tokens go first, so that nothing is pushed with them in between. */
async function revokeTokens(entry: Entry, plan: DataOptions<typeof revokeRows>): Promise<void> {
  const { say } = entry;
  const { which, expirePushes } = plan;
  let isLast = false;
  const revoked = await withData(entry, plan, async ({ owners, operator }) => {
    const removed = await owners.revoke(which, expirePushes);
    const { name } = removed;
    if (removed.revoked === 0 && !expirePushes && removed.trusts.length === 0)
      throw unknownToken(`no token with the ID "${which}", and no user with one`);
    const expired = expirePushes ? await operator.expireOf(name) : undefined;
    isLast = removed.revoked > 0 && (await owners.list()).length === 0;
    return { ...removed, ...(expired && { expired }), open: await operator.countOpen(name) };
  });
  const { name, expired, open, trusts } = revoked;
  const ended = expired === undefined ? '' : `, ${countsText(expired)} expired`;
  await say.print(revoked, () => `${name}: ${count(revoked.revoked, 'token')} revoked${ended}\n`);
  if (isLast) await say.note('no token is left: make one with pwpush serve token add');
  if (trusts.length > 0) {
    await say.note(`${name} still gets tokens by ${trusts.join(', ')}`);
    await say.advise('pwpush serve trust remove NAME ends that');
  }
  if (open.pushes + open.requests === 0) return;
  await say.note(`still open: ${countsText(open)} of ${name}`);
  await say.advise(`pwpush serve expire --user ${name} ends them`);
}

const unknownToken = (message: string) =>
  usageError(message, 'take an ID from pwpush serve token list');

const rekeyRows = {
  ...rows,
  dropOld: flag('--drop-old', 'only remove keys that this data does not use'),
};

export const rekey = command({
  summary: 'change the instance key, while no service runs',
  description: 'Change the instance key: create a new one and reseal all pushes with it.',
  help: rekeyHelp,
  rows: rekeyRows,
  plan: planWithData,
  run: changeKey,
});

async function changeKey(
  entry: Entry,
  { dropOld, place }: DataOptions<typeof rekeyRows>,
): Promise<void> {
  const { context, say } = entry;
  const result = await onData(entry, place, async (service, data) => {
    const drop: Parameters<typeof service.rekey>[2] = async (keys) => {
      for (const { id, used_by } of keys)
        await say.warn(`removing the key ${id}, which may open ${used_by.join(', ') || 'no data'}`);
    };
    return { data, ...(await service.rekey(place, context, dropOld ? drop : undefined)) };
  });
  const { resealed, key_file, old_keys } = result;
  await say.print(result, () => (dropOld ? '' : `${count(resealed, 'push', 'pushes')} resealed\n`));
  for (const { id, used_by } of old_keys)
    await say.note(`the old key ${id} stays in ${key_file} for ${used_by.join(', ')}`);
  if (old_keys.length > 0) await say.remark('remove old keys with pwpush serve rekey --drop-old');
  if (place.database)
    await say.note(`copy ${key_file} to services that have a key file of their own`);
}

const backupRows = {
  file: operand('<file>', 'where the copy goes, 0600', (path) => newFileName(path, 'backup')).names(
    'path',
  ),
  ...rows,
  force: flag('--force', 'overwrite an existing file'),
};

export const backup = command({
  summary: 'copy the database of a running service',
  description: 'Copy the whole database while services run.',
  help: backupHelp,
  rows: backupRows,
  plan: planWithData,
  run: backUp,
});

async function backUp(
  entry: Entry,
  { place, file, force }: DataOptions<typeof backupRows>,
): Promise<void> {
  const { say } = entry;
  const { bytes, key } = await onData(entry, place, async (service) => ({
    bytes: await service.backup(place, { file, force }, entry.context),
    key: service.keyFileOf(place),
  }));
  await say.print({ file, bytes, key_file: key }, () => `${file}\n`);
  await say.note(savedText(file, bytes));
  await say.note(`the backup requires the instance key, which it does not contain: ${key}`);
}

const copyRows = {
  ...rows,
  to: filledText('--to <place>', 'folder, or postgres://… of an empty database'),
  reopen: flag('--reopen', 'take a move back, once nothing uses the copy').conflicts(['to']),
};

export const copy = command({
  summary: 'move the data to PostgreSQL, or to a folder',
  description: 'Copy the data to PostgreSQL or a folder, and refuse to serve the old data then.',
  help: copyHelp,
  rows: copyRows,
  plan: async ({ to, ...options }, invocation) => {
    const plan = await planWithData(options, invocation);
    if (options.reopen) return plan;
    if (to === undefined) throw usageError('--to is missing', 'name a folder, or postgres://…');
    const { database: _, ...place } = plan.place;
    const target = /^postgres(?:ql)?:/.test(to)
      ? { ...place, database: to }
      : dataPlace(invocation.context, { data: to, database: '' }, true);
    return { ...plan, target };
  },
  run: copyData,
});

async function copyData(
  entry: Entry,
  { place, target }: DataOptions<object> & { readonly target?: DataPlace },
): Promise<void> {
  const { context, say } = entry;
  const result = await onData(
    entry,
    place,
    async ({ copyData, reopenData }) =>
      target ? copyData(place, target, context) : reopenData(place, context),
    place.database === undefined ? place : target,
  );
  if ('reopened' in result) {
    await say.print(result, () => '');
    await say.note(`services can use it again; never start one on ${result.moved_to}, too`);
    return;
  }
  const { from, to, tables, key_file, key_copied } = result;
  const total = tables.reduce((sum, { rows }) => sum + rows, 0);
  await say.print(result, () => `${count(total, 'row')} copied to ${to}\n`);
  await say.note(`the instance key ${key_copied ? 'was copied to' : 'stays in'} ${key_file}`);
  await say.note(`services refuse ${from} now; delete it when all works, as it has secrets, too`);
}

const restoreRows = {
  file: operand('<file>', 'a copy made by serve backup', storedFileName).names('path'),
  ...rows,
};

export const restore = command({
  summary: 'put a backup in the place of the database',
  description: 'Put a backup in the place of the database, while no service runs.',
  help: restoreHelp,
  rows: restoreRows,
  plan: planWithData,
  run: putBack,
});

async function putBack(
  entry: Entry,
  { place, file }: DataOptions<typeof restoreRows>,
): Promise<void> {
  const { say } = entry;
  const restored = await onData(entry, place, (service) =>
    service.restore(place, file, entry.context),
  );
  const { database, kept, revoked, unchecked, trusts } = restored;
  await say.print(restored, () => `${database}\n`);
  if (kept !== null) await say.note(`the old database is kept: ${kept}`);
  await say.note('what was viewed or expired since the backup is open again');
  if (revoked.length > 0) {
    const stay = revoked.length === 1 ? 'stays' : 'stay';
    await say.note(`${count(revoked.length, 'token')} revoked since ${stay} revoked`);
  }
  const { removed, unchecked: unknown } = trusts;
  if (removed.length > 0)
    await say.note(`trusts removed since stay removed: ${removed.join(', ')}`);
  if (unknown.length > 0)
    await say.note(
      `in force, even if removed since: trusts ${unknown.join(', ')}; see pwpush serve trust list`,
    );
  if (unchecked.length === 0) return;
  const users = [...new Set(unchecked.map(({ name }) => name))].join(', ');
  const tokens = `${count(unchecked.length, 'token')} of ${users}`;
  await say.note(`valid, even if revoked since: ${tokens}; see pwpush serve token list`);
}

/** The service waits less for its database before it responds (`health` in server/ops/metrics.ts). */
const HEALTH_TIMEOUT_SECONDS = 4;

export const health = command({
  summary: 'check that the service on this machine is ready',
  description: 'Check that the service on this machine and its database respond.',
  help: healthHelp,
  rows: settable({
    host: filledText('--host <address>', 'address it listens on').or(HOST),
    port: parsed('--port <n>', 'port it listens on', port).or(PORT),
    tlsCert: storedFile('--tls-cert <path>', 'its certificate, if it serves https; not read'),
  }),
  plan: async ({ host, port, tlsCert }, invocation) => {
    await warnOfPassword(invocation);
    return `http${tlsCert ? 's' : ''}://${urlHost(host)}:${port}`;
  },
  run: checkHealth,
});

/** @throws CliError (unreachable), or (failed) if the service responds but is not ready */
async function checkHealth({ context, say }: Entry, url: string): Promise<void> {
  // The service is on this machine, so the proxies that the environment names are not used.
  const connection = {
    timeout: HEALTH_TIMEOUT_SECONDS,
    instance: { origin: new URL(url).origin, insecure: true },
    env: {},
    signal: context.signal,
  };
  const client = await context.transport(connection);
  try {
    const { status } = await client.send({ method: 'GET', url: `${url}/up`, headers: {} });
    if (status !== 200) throw failedError(phrase('not-ready', url, status), { status });
  } catch (error) {
    // A request that was sent but got no response also means that the service is unreachable.
    const isLost = error instanceof CliError && error.status === undefined;
    throw isLost ? error.with({ code: 'unreachable' }) : error;
  } finally {
    await client.close();
  }
  await say.print({ url }, () => `${url}\n`);
}
