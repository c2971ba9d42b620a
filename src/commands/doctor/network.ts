import { explain } from '../../client/transport/network-errors';
import { proxyFor } from '../../client/transport/proxy';
import { trustOf } from '../../client/transport/tls-options';
import { TransportError } from '../../client/transport/transport';
import { CliError } from '../../errors';
import { travelsOpen } from '../../profile/target';
import { BRIEF, certificatesOf, targetOf, timeoutOf, wishesOf } from '../../session';
import { count } from '../../terminal/time';
import { type Check, known } from './check';

const DAY = 24 * 60 * 60 * 1000;
/** Days before its end by which a certificate should have been renewed. */
const SOON = 14;

export const address: Check = {
  name: 'address',
  needs: [],
  examine: async (facts, context, options) => {
    const target = await targetOf(context, wishesOf(context, options));
    facts.target = target;
    const message = `${target.base}, from ${target.baseFrom}`;
    if (target.ignored === undefined) return { message };
    return { status: 'warning', message: `${message}; ${target.ignored}` };
  },
};

export const proxy: Check = {
  name: 'proxy',
  needs: ['address'],
  examine: async (facts, context, options) => {
    const target = known(facts.target);
    const { env, signal } = context;
    const url = new URL(target.base);
    const found = proxyFor(url, env);
    const trust = await trustOf({ env, ca: certificatesOf(target), insecure: target.insecure });
    const timeout = Math.min(timeoutOf(context, options), BRIEF) * 1000;
    facts.way = { url, proxy: found, trust, timeout, signal };
    return { message: found === undefined ? 'none' : `${found.protocol}//${found.host}` };
  },
};

export const dns: Check = {
  name: 'dns',
  needs: ['proxy'],
  examine: async (facts) => {
    const way = known(facts.way);
    const { addressesOf } = await import('../../client/transport/probe');
    const { hostname } = way.proxy ?? way.url;
    const found = await addressesOf(way).catch((error) => unreachable(error, way));
    if (found === undefined) return { message: `${hostname} is an address, not a name` };
    return { message: `${way.proxy ? 'the proxy ' : ''}${hostname} is ${found.join(', ')}` };
  },
};

export const connection: Check = {
  name: 'connection',
  needs: ['dns'],
  examine: async (facts) => {
    const way = known(facts.way);
    const { reach } = await import('../../client/transport/probe');
    facts.socket = await reach(way).catch((error) => unreachable(error, way));
    const { remoteAddress = way.url.hostname, remotePort } = facts.socket;
    if (way.url.protocol === 'http:') facts.socket.destroy();
    const through = way.proxy === undefined ? '' : ` to ${way.url.host}, through the proxy`;
    return { message: `open${through || ` to ${remoteAddress} port ${remotePort}`}` };
  },
};

export const tls: Check = {
  name: 'tls',
  needs: ['connection'],
  examine: async (facts, context) => {
    const way = known(facts.way);
    if (way.url.protocol === 'http:') return withoutTls(way.url, known(facts.target).base);
    const { handshake } = await import('../../client/transport/probe');
    const shown = await handshake(way, known(facts.socket)).catch((error) =>
      unreachable(error, way),
    );
    const { insecure } = known(facts.target);
    const until = shown.until?.toISOString().slice(0, 10);
    if (shown.trouble !== undefined) {
      const { message, hint } = explain({ code: shown.trouble }, way.url, false, 0);
      const about = aboutTrouble(shown.trouble, shown.names, until);
      if (!insecure) throw new CliError('unreachable', message + about, { hint });
      return { status: 'warning', message: `${message}${about}; accepted all the same (insecure)` };
    }
    const days = Math.floor(((shown.until?.getTime() ?? 0) - context.now().getTime()) / DAY);
    const message = `${shown.protocol}, certificate by ${shown.issuer}, good until ${until}`;
    if (insecure) return { status: 'warning', message: `${message}; any would do (insecure)` };
    if (days >= SOON) return { message };
    return { status: 'warning', message, hint: `${count(days, 'day')} left: have it renewed` };
  },
};

function withoutTls(url: URL, base: string) {
  if (!travelsOpen(base)) return { message: 'none, and none needed: nothing leaves this machine' };
  return {
    status: 'warning',
    message: `none: whoever is between here and ${url.host} can read what is sent`,
    hint: 'use https',
  } as const;
}

function aboutTrouble(code: string, names: string, until: string | undefined): string {
  if (code === 'CERT_HAS_EXPIRED') return ` (on ${until})`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return ` (${names})`;
  return '';
}

function unreachable(error: unknown, { url, proxy }: { url: URL; proxy: URL | undefined }): never {
  const trouble =
    error instanceof TransportError ? error : explain(error, nearest(error, url, proxy), false, 0);
  throw new CliError('unreachable', trouble.message, { hint: trouble.hint, cause: error });
}

/** Whom a failure is about: the proxy's own refusals name the instance that was not reached. */
function nearest(error: unknown, url: URL, proxy: URL | undefined): URL {
  const { code } = error as NodeJS.ErrnoException;
  return proxy === undefined || code?.startsWith('PROXY_') ? url : proxy;
}
