import type { LookupFunction } from 'node:net';
import { isLocalhost } from '../../loopback';

/** The addresses of `localhost`. */
export const LOCAL_ADDRESSES = ['127.0.0.1', '::1'] as const;

/** Milliseconds before the second address is tried: more than this process may be busy when the first one answers. */
const FIRST_ADDRESS_TIMEOUT = 2000;

interface LookupOptions {
  readonly lookup?: LookupFunction;
  readonly autoSelectFamily?: true;
  readonly autoSelectFamilyAttemptTimeout?: number;
}

/** Options of node:net by which `localhost` is not resolved by DNS (RFC 6761, 6.3), and both its addresses are tried. */
export function lookupOptions(hostname: string): LookupOptions {
  if (!isLocalhost(hostname)) return {};
  return { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: FIRST_ADDRESS_TIMEOUT };
}

const lookup: LookupFunction = (_hostname, { all }, callback) => {
  if (!all) return callback(null, LOCAL_ADDRESSES[0], 4);
  const [four, six] = LOCAL_ADDRESSES;
  callback(null, [
    { address: four, family: 4 },
    { address: six, family: 6 },
  ]);
};
