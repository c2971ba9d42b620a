import { usageError } from '../../errors';
import { isLoopback, parseWebUrl } from '../../loopback';

type ProxyVariables = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL: `HTTPS_PROXY` or `HTTP_PROXY` by its scheme, unless `NO_PROXY` (host names, suffixes,
 * `host:port`, `*`) contains its host. Lower-case names take precedence, as in curl. Never one for loopback addresses:
 * requests to them may be plain http and must not leave the machine.
 * @throws CliError (usage) when the variable is not an http or https address
 */
export function proxyFor(url: URL, env: ProxyVariables): URL | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = env[name.toLowerCase()] || env[name];
  if (!value || bypassed(url, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined;
  return parseProxy(name, value);
}

function parseProxy(name: string, value: string): URL {
  const proxy = parseWebUrl(value.includes('://') ? value : `http://${value}`);
  if (proxy) return proxy;
  // Without the value, which may contain a password.
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
