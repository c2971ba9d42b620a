import type { Entry } from '../cli/terminal/output';
import type { ApiSettings, RenewableToken } from '../client/api-settings';
import { apiClient } from '../client/client';
import { quotable } from '../client/error-body';
import { isLoss } from '../client/meaning';
import { isLoopback } from '../contract/address';
import { hasFeature } from '../contract/api';
import type { InstanceVersion } from '../contract/decode';
import { attempt, CliError, phrase, usageError } from '../platform/errors';
import { runHelper } from '../platform/helper-program';
import { agentMarker, systemsOf } from '../platform/surroundings';
import { travelsOpen } from './base-address';
import { identityFor } from './job-identity';

interface Issued {
  readonly token: string;
  /** In milliseconds since 1970, a little before the instance ends it. */
  readonly until: number;
}

/** A call that begins now takes a moment to arrive. */
const MARGIN_SECONDS = 10;

/** Exchanges an identity token for a token of the instance when a call first needs one, and again when it has ended. */
export function jobToken(entry: Entry): RenewableToken {
  let latest: Promise<Issued | CliError> | undefined;
  return {
    // Each call waits for the one before, so that of several one exchanges, and a refusal is that of all.
    current: async (settings, refused) => {
      const before = latest;
      latest = attempt(async () => {
        const last = await before;
        const isFinal =
          last instanceof CliError
            ? ['unauthorized', 'usage'].includes(last.code)
            : last?.token !== refused && settings.now().getTime() < (last?.until ?? 0);
        return last && isFinal ? last : exchange(entry, settings);
      });
      const issued = await latest;
      if (issued instanceof CliError) throw issued;
      return issued.token;
    },
  };
}

/** Sends nothing about the job before the instance has said that it takes identity tokens, and for which audience. */
async function exchange(entry: Entry, settings: ApiSettings): Promise<Issued> {
  const { base, insecure, audience = base, now } = settings;
  const { host, hostname } = new URL(base);
  // Not even where the user accepts the risk for a token of their own: this one says who the job is.
  if (travelsOpen(base))
    throw usageError(`refusing to send an identity token over plain http to ${host}`, 'use https');
  if (insecure && !isLoopback(hostname))
    throw usageError(
      `refusing to send an identity token to ${host}, whose certificate is not verified`,
      phrase('trust-certificate'),
    );
  const api = apiClient({ ...settings, token: undefined });
  try {
    checkAccepted(await api.version(), host, audience);
    const identity = await identityFor(entry, audience, settings);
    await mask(entry, identity);
    const began = now().getTime();
    const { access_token: token, expires_in: seconds } = await api.exchange(identity);
    await mask(entry, token);
    const used = Math.max(seconds - MARGIN_SECONDS, seconds / 2);
    return { token, until: began + used * 1000 };
  } catch (error) {
    // An exchange has no effect that must not happen twice.
    const isLost = isLoss(error) || (error instanceof CliError && error.code === 'unknown');
    throw isLost ? error.with({ code: 'unreachable' }) : error;
  }
}

/** @throws CliError (unauthorized) if the instance exchanges nothing, (usage) if it wants another audience */
function checkAccepted(version: InstanceVersion, host: string, audience: string): void {
  const features = version.features ?? {};
  if (!hasFeature(features, 'token_exchange'))
    throw new CliError('unauthorized', phrase('no-exchange', host), {
      hints: phrase('trust-issuer'),
    });
  const { audience: theirs } = features.token_exchange as { readonly audience?: unknown };
  if (typeof theirs !== 'string' || theirs === audience) return;
  // A token for another service would be a login there: an instance does not choose the audience.
  const [shown = ''] = quotable([theirs], []);
  throw usageError(phrase('audience-differs', host, shown, audience), phrase('choose-audience'));
}

/** Has the CI system mask a text in the log, before anything can print it. */
async function mask({ context }: Entry, text: string): Promise<void> {
  for (const { maskLine, maskProgram: words } of systemsOf(context.env)) {
    // A coding agent reads standard error itself, and its transcript would have the text.
    if (maskLine && !agentMarker(context.env)) await context.stderr.write(maskLine(text));
    // An older agent has no such command, and the log only what others print of the token.
    if (words) await runHelper(context, { words, input: text });
  }
}
