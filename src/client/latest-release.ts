import type { Environment, Transport } from '../context';
import { CliError, failedError, usageError } from '../errors';
import { parseJson } from '../json';
import { isLoopback, parseWebUrl } from '../loopback';
import { latestUrl } from '../package-version';
import { AnswerTooLong, type ApiResponse, call } from './transport/call';
import { TransportError } from './transport/network-errors';

/**
 * The address that announces the newest release.
 * @throws CliError (usage) for a build that knows no address, or for plain http: anyone on the way could answer
 */
export function releaseAddress(env: Environment): URL {
  const text = env.PWPUSH_LATEST_URL || latestUrl;
  if (!text)
    throw usageError(
      'this build does not know where releases are announced',
      'set PWPUSH_LATEST_URL; pwpush version --help shows how',
    );
  const url = parseWebUrl(text);
  const sealed = url?.protocol === 'https:' || (url && isLoopback(url.hostname));
  if (url && sealed && !url.username && !url.password) return url;
  throw usageError('PWPUSH_LATEST_URL must be an https address without user name and password');
}

/**
 * The version of the newest release. Sends nothing that identifies the user, the machine or an instance.
 * @throws CliError if there is no response, or it is not that of a release
 */
export async function latestRelease(
  url: URL,
  { send, now }: { readonly send: Transport; readonly now: () => Date },
): Promise<string> {
  const { host } = url;
  const headers = { accept: 'application/json', 'user-agent': 'pwpush' };
  const sleep = async () => {
    throw new CliError('rate_limited', `rate limited by ${host}`, { hint: 'try again later' });
  };
  const rules = { repeatable: true, waitOn429: false, now, sleep, waiting: () => {} };
  const answer = await call(send, { method: 'GET', url: url.href, headers }, rules).catch(
    (error: unknown) => {
      throw failure(error, host);
    },
  );
  const { status } = answer;
  if (status === 404)
    throw new CliError('not_found', `${host} has no release of pwpush`, { status });
  const version = status === 200 ? versionOf(answer) : undefined;
  if (version !== undefined) return version;
  throw failedError(`${host} sent an unexpected response (${status})`, { status, hint: PROXY });
}

const PROXY = 'check for a proxy in between';

function failure(error: unknown, host: string): unknown {
  if (error instanceof TransportError)
    return new CliError(error.sent ? 'unknown' : 'unreachable', error.message, { cause: error });
  if (error instanceof CliError && error.code === 'failed') {
    const message = `${host} redirects instead of responding`;
    return error.with({ message, hint: PROXY });
  }
  return error instanceof AnswerTooLong ? failedError(`${host}: ${error.message}`) : error;
}

/** The version in the manifest of a package; undefined unless it is that of a release. */
function versionOf({ body }: ApiResponse): string | undefined {
  try {
    const { version } = parseJson(body) as { readonly version?: unknown };
    return typeof version === 'string' && RELEASE.test(version) ? version : undefined;
  } catch {
    return undefined;
  }
}

const RELEASE = /^(?:0|[1-9]\d{0,5})(?:\.(?:0|[1-9]\d{0,5})){2}$/;

/** Whether a release is newer than a version, which may be a pre-release (Semantic Versioning 2.0.0, 11). */
export function isNewer(release: string, version: string): boolean {
  const [numbers = '', ...preRelease] = version.replace(/\+.*/, '').split('-');
  const own = numbers.split('.').map(Number);
  const apart = release.split('.').map((number, at) => Number(number) - (own[at] ?? 0));
  const first = apart.find((difference) => difference !== 0);
  return first === undefined ? preRelease.length > 0 : first > 0;
}
