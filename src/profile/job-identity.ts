import type { Entry } from '../cli/terminal/output';
import type { ApiSettings } from '../client/api-settings';
import { objectIn } from '../client/error-body';
import { isLoss } from '../client/meaning';
import { retried } from '../client/retry';
import { readWhole } from '../client/transport/response';
import { parseWebUrl } from '../contract/address';
import { isObject, jsonIn } from '../contract/json';
import { attempt, CliError, phrase, usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import { readText } from '../platform/private-folder';
import { systemsOf } from '../platform/surroundings';
import { parseToken } from './api-token';
import { travelsOpen } from './base-address';
import { runTokenCommand } from './credentials';

/** `pwpush serve` takes no longer ones. */
const MAX_BYTES = 16 * 1024;

/**
 * Returns an identity token (OpenID Connect) of the job or workload for an audience, read or asked for each time.
 * @throws CliError (usage) if the job has none, or it is for another audience; (unreachable) if the CI system is away
 */
export async function identityFor(
  entry: Entry,
  audience: string,
  settings: ApiSettings,
): Promise<string> {
  const { from, text } = await read(entry, audience, settings);
  const token = parseToken(text, from);
  const [, payload = '', signature, ...more] = token.split('.');
  const claims = jsonIn(Buffer.from(payload, 'base64url').toString());
  const isWhole = signature !== undefined && more.length === 0 && token.length <= MAX_BYTES;
  if (!isWhole || !isObject(claims))
    throw usageError(
      `the token from ${from} is not an identity token, a JSON Web Token; it was not sent`,
    );
  if ([claims.aud].flat().includes(audience)) return token;
  throw usageError(
    `the identity token from ${from} is not for the audience ${audience}; it was not sent`,
    phrase('issue-for-audience', audience),
  );
}

/** Returns the text, and what to call its origin in messages. */
async function read(entry: Entry, audience: string, settings: ApiSettings) {
  const { env } = entry.context;
  const file = readVariable(env, 'PWPUSH_ID_TOKEN_FILE');
  const text = readVariable(env, 'PWPUSH_ID_TOKEN');
  if (file !== undefined)
    return { from: `the file "${file}"`, text: await readText(file, 'identity token') };
  if (text !== undefined) return { from: 'PWPUSH_ID_TOKEN', text };
  const [system] = systemsOf(env).filter((row) => row.identityProgram ?? row.identityRequest);
  const { identityProgram: program, identityRequest: request } = system ?? {};
  if (program !== undefined) {
    const words = program(audience);
    const from = words.slice(0, 3).join(' ');
    return { from, text: await runTokenCommand(entry, words, from, false) };
  }
  const address = request && readVariable(env, request.url);
  if (request && address !== undefined) {
    const url = parseWebUrl(address);
    if (url === undefined || travelsOpen(url.origin))
      throw usageError(`${request.url} is not an https address`);
    url.searchParams.append('audience', audience);
    const bearer = parseToken(readVariable(env, request.token) ?? '', request.token);
    return { from: request.url, text: await ask(entry, url, bearer, settings) };
  }
  const hint = request ? phrase('permit-identity') : phrase('issue-for-audience', audience);
  throw usageError('this job has no identity token', hint);
}

/** Seconds before further tries: the CI system does not keep jobs waiting, but many ask at once. */
const PAUSES = [1, 2];

/** Asks the CI system itself, and follows no redirect, as the request has a secret. */
async function ask(
  { context }: Entry,
  { href, host }: URL,
  bearer: string,
  { userAgent, now, timeout = 30 }: ApiSettings,
): Promise<string> {
  const { env, signal, sleep } = context;
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    authorization: `Bearer ${bearer}`,
    'user-agent': userAgent,
  };
  const http = await context.transport({ timeout, env, signal });
  const once = () =>
    attempt(async () =>
      readWhole(await http.send({ method: 'GET', url: href, headers }), href, { now, timeout }),
    );
  try {
    const answer = await retried(await once(), once, {
      pauses: PAUSES,
      wait: (last) => (isLoss(last) || ('body' in last && last.status >= 500) ? 0 : undefined),
      pause: async (seconds) => {
        await sleep(seconds * 1000);
        return true;
      },
    });
    if (answer instanceof CliError) throw answer;
    const { value } = answer.status === 200 ? objectIn(answer) : {};
    if (typeof value === 'string') return value;
    const code = answer.status >= 500 ? 'unreachable' : 'failed';
    throw new CliError(code, phrase('no-identity', host, answer.status));
  } finally {
    await http.close();
  }
}
