import type { Context } from '../../context';
import { CliError, type ErrorCode } from '../../errors';
import type { GlobalOptions } from '../../options';
import type { Shown } from '../../terminal/doctor-report';
import type { Check, Facts } from './check';
import { config, rescue } from './home';
import { api, clock, features, redirect, token } from './instance';
import { address, connection, dns, proxy, tls } from './network';

/** In an order in which the first that fails explains those behind it. */
export const checks: readonly Check[] = [
  config,
  address,
  proxy,
  dns,
  connection,
  tls,
  redirect,
  api,
  clock,
  token,
  features,
  rescue,
];

/** Goes through the checks in order; what needs a failed one is skipped and names it. */
export async function* examine(
  checks: readonly Check[],
  context: Context,
  options: GlobalOptions,
): AsyncIterable<Shown & { readonly code?: ErrorCode }> {
  const facts: Facts = {};
  /** Check → the one that failed for it. */
  const broken = new Map<string, string>();
  for (const { name, needs, examine } of checks) {
    const cause = needs.map((one) => broken.get(one)).find((one) => one !== undefined);
    if (cause !== undefined) {
      broken.set(name, cause);
      yield { name, status: 'skipped', message: `not looked at, because of ${cause}` };
      continue;
    }
    try {
      yield { name, status: 'ok', ...(await examine(facts, context, options)) };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      broken.set(name, name);
      const { code, message, hint } = error;
      yield { name, status: 'failed', message, hint, code };
    }
  }
}
