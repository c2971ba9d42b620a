import { usageError } from '../../errors';
import { isLoopback } from '../../loopback';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy the environment names for a URL: `HTTPS_PROXY` or `HTTP_PROXY` by its scheme, unless
 * `NO_PROXY` (host names, suffixes, `host:port`, `*`) takes it out. Lower-case names win, as in curl.
 * Never one for this machine: what is sent to it may be sent in the clear, and must not leave it.
 * @throws CliError (usage) when the variable is no http or https address.
 */
export function proxyFor(url: URL, env: Environment): URL | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = env[name.toLowerCase()] || env[name];
  if (!value || bypassed(url, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined;
  return parseProxy(name, value);
}

function parseProxy(name: string, value: string): URL {
  try {
    const proxy = new URL(value.includes('://') ? value : `http://${value}`);
    if (proxy.protocol === 'http:' || proxy.protocol === 'https:') return proxy;
  } catch {
    // Reported below, without the value: proxies carry passwords.
  }
  throw usageError(
    `${name} is not the address of an http or https proxy`,
    'it looks like http://proxy.example:3128',
  );
}

function bypassed(url: URL, list: string): boolean {
  const host = url.hostname.toLowerCase().replace(/^\[|\]$/g, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => matches(entry.toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const withPort = /^(.*[^:]):(\d+)$/.exec(entry);
  if (withPort && !entry.startsWith('[') && (withPort[1] ?? '').includes(':'))
    return entry === host;
  const name = (withPort?.[1] ?? entry).replace(/^\*?\./, '').replace(/^\[|\]$/g, '');
  if (withPort && withPort[2] !== port) return false;
  return host === name || host.endsWith(`.${name}`);
}
