import type { LookupFunction } from 'node:net';
import { isLocalhost } from '../../loopback';

/** Where a service of this machine may listen. */
export const LOCAL_ADDRESSES = ['127.0.0.1', '::1'] as const;

/** Milliseconds for the first of them: longer than this process may be busy when the answer comes. */
const PATIENCE = 2000;

interface Connecting {
  readonly lookup?: LookupFunction;
  readonly autoSelectFamily?: true;
  readonly autoSelectFamilyAttemptTimeout?: number;
}

/** Options of node:net for a host: `localhost` is never asked of DNS (RFC 6761, 6.3), and both its addresses are tried. */
export function connecting(hostname: string): Connecting {
  if (!isLocalhost(hostname)) return {};
  return { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: PATIENCE };
}

const lookup: LookupFunction = (_hostname, { all }, callback) => {
  if (!all) return callback(null, LOCAL_ADDRESSES[0], 4);
  const [four, six] = LOCAL_ADDRESSES;
  callback(null, [
    { address: four, family: 4 },
    { address: six, family: 6 },
  ]);
};
