import { parseUrl } from '../../loopback';
import { QUIET_ZONE, qrModules } from '../../qr-matrix';
import { LINK_TIME, viewsRemaining } from '../rules/access';
import { isWebAddress } from '../rules/new-push';
import type { PushRow } from '../store/push-rows';
import { clockTime, duration, fact, facts, icon, Markup, markup, page, remaining } from './layout';

export interface Download {
  readonly name: string;
  readonly size: number;
  readonly url: string;
}

export interface ShownSecret {
  readonly push: PushRow;
  readonly payload: string;
  readonly files: readonly Download[];
}

/** The secret, the views and time left, and a button to delete it where viewers may. */
export function secretPage(secret: ShownSecret, expirable: boolean, now: number): Response {
  const { push, files } = secret;
  const count = files.length;
  const last = viewsRemaining(push) === 0;
  const over = fact('check', 'That was the last view.', count > 0 ? FILES_GO : TEXT_GOES);
  return page(
    'The secret',
    markup`<div class="body">
<h1>${heading(count)}</h1>
<p class="quiet">${advice(count, last)}</p>
${content(secret, now)}</div>
<div class="foot">
${last ? facts(over) : remaining(push, now, 'Loading this page again takes one.')}
${!last && expirable && deletion}
</div>`,
    { shape: 'broad' },
  );
}

function heading(files: number): string {
  if (files === 0) return 'The secret';
  return files === 1 ? 'A file was shared with you' : 'Files were shared with you';
}

function advice(files: number, last: boolean): string {
  if (files > 0) return `Save ${files === 1 ? 'it' : 'them'} before you leave this page.`;
  if (last) return 'Keep it in a safe place before you leave this page.';
  return 'Close this page when you are done. Anyone who sees it sees the secret.';
}

const TEXT_GOES =
  'The secret is deleted. This page is the only copy, and it cannot be loaded again.';
const FILES_GO = 'This page cannot be loaded again. What it offers is deleted when the time is up.';

const deletion = markup`<details class="delete"><summary>Delete the secret now</summary>
<form method="post">
<p>Nobody will be able to open the link any more. This cannot be undone.</p>
<button name="do" value="expire">Delete it for everyone</button>
</form>
</details>`;

function content({ push, payload, files }: ShownSecret, now: number): Markup {
  if (push.kind === 'file') {
    const message = payload.trim() !== '' && textView(payload, 'Message');
    return markup`${message}${downloadList(files, push, now)}`;
  }
  if (push.kind === 'qr') return qrView(payload);
  if (push.kind === 'url' && isWebAddress(payload)) return linkView(payload);
  return textView(payload);
}

/** The files with a download button each, and until when the buttons work. */
function downloadList(files: readonly Download[], push: PushRow, now: number): Markup {
  const time = Math.min(LINK_TIME, push.expires_at - now);
  return markup`<ul class="files">
${files.map(item)}</ul>
<p>The download buttons work for ${duration(time)}, until ${clockTime(now + time)}. A download that has begun goes on.</p>
`;
}

function item({ name, size, url }: Download): Markup {
  return markup`<li>${icon('file')}<div><bdi class="name" translate="no">${name}</bdi><span class="size">${sizeOf(size)}</span></div>
<a class="button" href="${url}" download="${name}" rel="noreferrer" aria-label="Download ${name}">${icon('download')}Download</a></li>
`;
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1.5 MiB (1,600,000 bytes)`. */
function sizeOf(size: number): string {
  const exact = `${String(size).replace(/\B(?=(\d{3})+$)/g, ',')} ${size === 1 ? 'byte' : 'bytes'}`;
  if (size < 1024) return exact;
  const power = Math.min(4, Math.floor(Math.log2(size) / 10));
  return `${Number((size / 1024 ** power).toFixed(1))} ${units[power]} (${exact})`;
}

/**
 * A secret with its buttons and its veil, all of which need the script. The element of class `value` in it is what is
 * copied. `translate="no"` keeps browsers from sending the secret to a translation service.
 */
function frame(title: string, noun: string, content: Markup, copy = 'Copy'): Markup {
  return markup`<div class="secret">
<div class="bar"><h2>${title}</h2>
<button type="button" data-do="hide">${icon('hide')}Hide</button>
<button type="button" class="primary" data-do="copy">${icon('copy')}${icon('check', 'icon done')}${copy}</button></div>
<div class="box"><div class="content" translate="no">${content}</div>
<button type="button" class="veil" data-do="show"><span>${icon('eye')}Show the ${noun}</span></button></div>
<p class="status" role="status"></p>
</div>
`;
}

function note(words: Markup | string): Markup {
  return markup`<p class="note">${icon('alert')}<span>${words}</span></p>
`;
}

/** Texts up to this length are shown large: passwords that somebody types elsewhere. */
const SHORT = 40;

export function textView(payload: string, title = 'Text'): Markup {
  const noun = title.toLowerCase();
  const nulls = payload.includes('\0');
  return markup`${frame(title, noun, preformatted(payload, `The ${noun}`))}${nulls && note(NULLS)}`;
}

function preformatted(payload: string, label: string): Markup {
  const short = payload.length <= SHORT && !payload.includes('\n');
  // The line feed after the tag is dropped by HTML parsers, instead of one that begins the payload.
  return markup`<pre class="${short ? 'value short' : 'value'}" tabindex="0" role="group" aria-label="${label}" dir="auto">
${payload}</pre>`;
}

const NULLS = markup`The text holds null characters, which a page cannot carry. They are shown and copied as ␀; <code>pwpush get</code> fetches the exact text.`;

/**
 * A link, shown in full and left to right, with the host that it leads to. It opens in a new tab, as coming back to
 * this page would take a view.
 */
export function linkView(payload: string): Markup {
  const url = new URL(payload);
  return markup`${frame('Link', 'link', linkText(payload, url))}
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

/** The link with its host in bold, where that part is certain. */
function linkText(payload: string, url: URL): Markup {
  const [before, host, after] = parts(payload);
  const certain = host !== '' && hostnameOf(host) === url.hostname;
  const text = certain ? markup`${before}<strong>${host}</strong>${after}` : markup`${payload}`;
  return markup`<p class="address" tabindex="0" role="group" aria-label="The link"><bdo class="value" dir="ltr">${text}</bdo></p>`;
}

/** The parts before the host, the host, and after it (URL Standard, 4.4, "authority state"). */
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

/** The checkerboard (ISO/IEC 18004, 7.8.2). */
const MASK = 0;
/** Modules per side from which a symbol is drawn larger. */
const DENSE = 60;

/** A QR code and its text; the text only when it is too long for a code. */
export function qrView(payload: string): Markup {
  // One mask: comparing all eight takes most of the time, on the thread that serves all requests.
  const modules = qrModules(payload, MASK);
  if (!modules) return markup`${textView(payload)}${note(TOO_LONG)}`;
  const dense = modules.length >= DENSE;
  return frame(
    'QR code',
    'QR code',
    markup`<div class="${dense ? 'code dense' : 'code'}" tabindex="-1">${drawing(modules)}</div>
<details class="plain"><summary>The text of the code</summary>
${preformatted(payload, 'The text of the code')}
</details>`,
    'Copy text',
  );
}

const TOO_LONG = 'This text was meant to be a QR code, but is too long for one.';

/** Dark on white in any colour scheme: some readers do not recognize inverted codes. */
function drawing(modules: boolean[][]): Markup {
  const size = modules.length + 2 * QUIET_ZONE;
  const path = modules.map((row, index) => rowPath(row, index + QUIET_ZONE)).join('');
  return new Markup(
    `<svg role="img" aria-label="QR code" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>`,
  );
}

function rowPath(row: boolean[], y: number): string {
  let runs = '';
  for (let x = 0; x < row.length; ) {
    let run = 1;
    while (x + run < row.length && row[x + run] === row[x]) run++;
    if (row[x]) runs += `M${x + QUIET_ZONE} ${y}h${run}v1h-${run}z`;
    x += run;
  }
  return runs;
}
