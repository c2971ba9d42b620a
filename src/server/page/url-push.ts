import { parseUrl } from '../../loopback';
import { frame, note } from './frame';
import { icon } from './icons';
import { type Markup, markup } from './markup';

/**
 * A link, shown in full and in the order of its characters, with the host it really leads to. The secret stays open
 * behind the new tab, as coming back would take a view.
 */
export function linkView(payload: string): Markup {
  const url = new URL(payload);
  return markup`${frame('Link', 'link', address(payload, url))}
<p class="leads">It leads to <strong translate="no">${url.host}</strong></p>
${notes(url).map(note)}
<p class="go"><a class="button" href="${payload}" target="_blank" rel="noreferrer noopener">${icon('open')}Open in a new tab</a></p>
`;
}

function notes(url: URL): (Markup | string)[] {
  return [
    ...(url.username + url.password === '' ? [] : [USER]),
    ...(/(^|\.)xn--/.test(url.hostname) ? [LETTERS] : []),
    ...(url.protocol === 'http:' ? [PLAIN] : []),
  ];
}

const USER =
  'What stands before the @ is sign-in data. It says nothing about where the link leads.';
const PLAIN = 'The connection to it is not encrypted: others may read along.';
const LETTERS = markup`The name of the site is written in letters beyond a to z, some of which look alike. A name that begins with <code>xn--</code> is how computers write it.`;

/** The host stands out, where it is told for certain which part that is. */
function address(payload: string, url: URL): Markup {
  const [before, host, after] = parts(payload);
  const certain = host !== '' && hostnameOf(host) === url.hostname;
  const text = certain ? markup`${before}<strong>${host}</strong>${after}` : markup`${payload}`;
  return markup`<p class="address" tabindex="0" role="group" aria-label="The link"><bdo class="value" dir="ltr">${text}</bdo></p>`;
}

/** What stands before the host, the host, and what stands after it (URL Standard, 4.4, "authority state"). */
function parts(payload: string): [string, string, string] {
  const [, scheme = '', authority = '', path = ''] =
    /^(https?:[/\\]*)([^/\\?#]*)(.*)$/is.exec(payload) ?? [];
  const at = authority.lastIndexOf('@') + 1;
  const host = /^(?:\[[^\]]*\]|[^:]*)/.exec(authority.slice(at))?.[0] ?? '';
  return [scheme + authority.slice(0, at), host, authority.slice(at + host.length) + path];
}

function hostnameOf(host: string): string | undefined {
  return parseUrl(`http://${host}/`)?.hostname;
}
