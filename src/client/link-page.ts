import { hasFeature } from '../contract/api';
import { type Push, retrievedSchema, versionSchema } from '../contract/decode';
import { type CliError, phrase } from '../platform/errors';
import { pageCall, pushCalls } from './calls';
import type { Ask, CallDetails } from './send-call';

/**
 * Retrieves a push at the page of its link, which opens it without a token also where the API requires one. An instance says
 * so if its page returns JSON; the pages of others are for browsers.
 * @param refused of the API; it used no view
 * @throws CliError as a retrieval by the API does; `refused` if the instance has no such page
 */
export async function retrieveAtPage(
  ask: Ask,
  refused: CliError,
  sent: CallDetails,
  passphrase: string | undefined,
): Promise<Push> {
  const version = await ask(pushCalls.version, versionSchema).catch(() => undefined);
  if (version?.features?.anonymous_access !== false) throw refused;
  if (!hasFeature(version.features.pushes, 'json_pages'))
    throw refused.advising(phrase('open-in-browser'));
  if (passphrase === undefined) return ask(pageCall, retrievedSchema, sent);
  const body = new URLSearchParams({ passphrase });
  return ask(pageCall, retrievedSchema, { ...sent, body, secrets: [passphrase] });
}
