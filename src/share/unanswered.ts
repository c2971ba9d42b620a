import { isArmored } from '../age/armored';
import { count } from '../cli/terminal/wording';
import { apiClient, secretsIn } from '../client/client';
import { quotable } from '../client/error-body';
import { isPushLink, withKey } from '../client/link';
import { listing } from '../client/pages';
import type { ApiSettings } from '../client/send-call';
import { header } from '../client/transport/response';
import { webAddress } from '../contract/address';
import type { NewPush, Push } from '../contract/api';
import type { Transport } from '../platform/context';
import { CliError } from '../platform/errors';
import { briefSettings } from '../profile/connect';
import type { Session } from '../profile/session';
import { differences } from './judge';

/**
 * Extends the error of a creation that got no response by what the user's active pushes say about it. Takes at most
 * 10 s, and never creates another push.
 * @param started when the creation was sent
 * @param of.account the id of the account that the push was created in
 * @param of.key of the link, if it has one
 */
export async function unanswered(
  session: Session,
  request: NewPush,
  started: Date,
  failure: CliError,
  { account, key }: { readonly account: number | undefined; readonly key: string | undefined },
): Promise<CliError> {
  const { context, say } = session;
  const target = await session.target();
  if (failure.code !== 'unknown') return failure;
  if (target.token === undefined || context.signal.aborted) return failure;
  await say.remark('no response; checking your active pushes');
  try {
    const settings = await briefSettings(session, target);
    const recent = await findCreated(settings, request, started, account);
    const encrypted = isArmored(request.payload ?? '');
    return describeFound(failure, target.base, recent, { key, encrypted });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const why = quotable(error.message, secretsIn(request));
    const message = `${failure.message}; your pushes could not be checked (${why})`;
    return failure.with({ message });
  }
}

interface Opening {
  readonly encrypted: boolean;
  /** Of the link, if that has one. */
  readonly key: string | undefined;
}

function describeFound(
  failure: CliError,
  base: string,
  { similar, others }: Awaited<ReturnType<typeof findCreated>>,
  { key, encrypted }: Opening,
): CliError {
  // One of several has the key, and it is not known which.
  const own = { encrypted, key: similar.length === 1 ? key : undefined };
  const found = similar.map((push) => listed(push, base, own));
  const [first] = found;
  const extended = (more: string, hint: string) =>
    failure.with({ message: `${failure.message}; ${more}`, hint, remains: { found } });
  if (first === undefined) return extended(noneFound(others), LOOK_AGAIN);
  if (found.length === 1)
    return extended(
      `a matching push was created meanwhile: ${first.html_url}`,
      `if it is yours, use its link; if in doubt, run pwpush expire ${first.url_token} and push again`,
    );
  const links = found.map((push) => push.html_url).join(' ');
  const ending = key === undefined ? '' : `; the link of yours ends with #${key}`;
  return extended(
    `${found.length} matching pushes were created meanwhile: ${links}${ending}`,
    'see pwpush list; expire those that you do not use, and push again',
  );
}

const LOOK_AGAIN = 'it may still arrive: check pwpush list before you push again';

function noneFound(others: number): string {
  const none = 'no active push matches it';
  return others === 0
    ? none
    : `${none}, but ${count(others, 'other')} created meanwhile: the instance may have changed a limit`;
}

/** As listed, with a link to click and without the passphrase, which the reference returns. */
function listed(
  { passphrase: _secret, ...push }: Push,
  base: string,
  { key, encrypted }: Opening,
): Push {
  const named = webAddress(push.html_url) ?? '';
  const usable = encrypted ? isPushLink(named) : named !== '';
  const link = usable ? named : `${base}/p/${push.url_token}`;
  return { ...push, html_url: withKey(link, key) };
}

/** Between the `Date` of a response and the times of the pushes in it. */
const TOLERANCE_MS = 10_000;
/** Between the instance's clock and ours, for responses without a `Date`. */
const SKEW_MS = 5 * 60_000;

/**
 * Searches a user's active pushes for one that was created since `started`, after a creation without a response.
 * Compares spans of time, as the instance's clock may differ from ours. Reads all pages, as instances differ in the
 * order of their listings.
 * @throws CliError when a page cannot be read and none of those before has a similar push
 */
async function findCreated(settings: ApiSettings, asked: NewPush, started: Date, account?: number) {
  let serverTime = Number.NaN;
  const send: Transport = async (request) => {
    const response = await settings.send(request);
    serverTime = Date.parse(header(response, 'date') ?? '');
    return response;
  };
  const api = apiClient({ ...settings, send });
  const since = () => {
    const now = settings.now().getTime();
    const span = now - started.getTime();
    return Number.isNaN(serverTime) ? now - span - SKEW_MS : serverTime - span - TOLERANCE_MS;
  };
  const similar: Push[] = [];
  let others = 0;
  try {
    for await (const page of listing((at) => api.list('active', at, account))) {
      const recent = page.filter((push) => Date.parse(push.created_at ?? '') >= since());
      for (const push of recent) {
        if (isSimilar(asked, push)) similar.push(push);
        else others += 1;
      }
    }
  } catch (error) {
    if (similar.length === 0) throw error;
  }
  return { similar, others };
}

/** Fields that the listing leaves out are not compared. */
function isSimilar(asked: NewPush, push: Push): boolean {
  const sameName = typeof push.name !== 'string' || push.name === (asked.name ?? '');
  return sameName && differences(asked, push).length === 0;
}
