import { createHash } from 'node:crypto';
import { EscapedText, escapesOf, LARGE, type Pieces } from '../http/escaped-text';
import { answer } from '../http/responses';
import { viewsRemaining } from '../rules/access';
import type { Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { messageStyle, pageStyle, script, secretStyle } from './assets';

/*
 * Our own template, not hono/html: that returns one string, while a large secret is escaped here as it is sent (up to
 * six times its size would be in memory otherwise); it leaves `\r` and NUL as they are, and accepts any value.
 */

/** HTML. Large texts in it are escaped as they are sent. */
export class Markup {
  readonly pieces: Pieces;

  constructor(html: string | Pieces) {
    this.pieces = typeof html === 'string' ? [html] : html;
  }
}

type Content = Markup | string | number | false | readonly Markup[];

/** A template of HTML. Escapes what is inserted, unless it is markup; `false` inserts nothing. */
export function markup(strings: TemplateStringsArray, ...contents: Content[]): Markup {
  const pieces: (string | EscapedText)[] = [];
  let text = '';
  for (const [at, string] of strings.entries()) {
    text += string;
    for (const piece of at < contents.length ? piecesOf(contents[at] as Content) : []) {
      if (typeof piece === 'string') text += piece;
      else {
        pieces.push(text, piece);
        text = '';
      }
    }
  }
  return new Markup([...pieces, text]);
}

function piecesOf(content: Content): Pieces {
  if (content === false) return [];
  if (content instanceof Markup) return content.pieces;
  if (typeof content === 'object') return content.flatMap(({ pieces }) => pieces);
  const text = String(content);
  return [text.length < LARGE ? escaped(text) : new EscapedText(text, htmlEscapes)];
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // HTML parsers turn a literal CR into a line feed.
  '\r': '&#13;',
  // HTML cannot contain NUL.
  '\0': '␀',
};
const htmlEscapes = escapesOf(entities);

function escaped(text: string): string {
  return text.replace(/[&<>"'\r\0]/g, (character) => entities[character] as string);
}

/** SVG paths, stroked in a square of 24. */
const drawings = {
  alert: 'M12 9v4.5m0 3v.01M12 3.5 22 20.5H2z',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  clock: 'M12 7.5V12l3 2m6-2a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z',
  copy: 'M9 9h11v11H9zM5.5 15H4V4h11v1.5',
  download: 'M12 4v11m-4.5-4.5L12 15l4.5-4.5M4.5 20h15',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12ZM15 12a3 3 0 1 1-6 0 3 3 0 0 1 6 0Z',
  file: 'M14 3H6v18h12V7zm0 0v4h4',
  hide: 'M4 4l16 16M9.9 5.7C14.8 4.6 19 7.7 21.5 12c-.7 1.3-1.6 2.4-2.6 3.4M6.5 7.4C4.8 8.6 3.4 10.2 2.5 12c3 5.4 8.3 7.9 13 5.6',
  lock: 'M5 11h14v10H5zM8 11V7.5a4 4 0 0 1 8 0V11m-4 4v2',
  none: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM8 12h8',
  open: 'M14 4h6v6m0-6-9 9m7 1.5V20H4V6h5.5',
} as const;

/** A decorative icon, hidden from screen readers. */
export function icon(name: keyof typeof drawings, classes = 'icon'): Markup {
  return new Markup(
    `<svg class="${classes}" viewBox="0 0 24 24" aria-hidden="true"><path d="${drawings[name]}"/></svg>`,
  );
}

const KEYHOLE =
  'M6 0h12a6 6 0 0 1 6 6v12a6 6 0 0 1-6 6H6a6 6 0 0 1-6-6V6a6 6 0 0 1 6-6Zm6 5.5a3.7 3.7 0 0 0-1.9 6.9L9 18.5h6l-1.1-6.1A3.7 3.7 0 0 0 12 5.5Z';

const logo = new Markup(
  `<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path fill-rule="evenodd" d="${KEYHOLE}"/></svg>`,
);
const favicon = `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><path fill='%2316806c' fill-rule='evenodd' d='${KEYHOLE}'/></svg>`;

/** Messages are narrow, secrets are broad. */
type Shape = 'narrow' | 'broad';

/** The head of the pages of each shape, and the Content-Security-Policy that allows its style and script only. */
const frames: Record<Shape, { head: Markup; policy: string }> = {
  narrow: framed(pageStyle + messageStyle, ''),
  broad: framed(pageStyle + secretStyle, script),
};

function framed(readable: string, script: string): { head: Markup; policy: string } {
  const style = readable.replace(/\n\s*/g, '');
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    ...(script === '' ? [] : [`script-src ${hashOf(script)}`]),
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const head = markup`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${favicon}">
<style>${new Markup(style)}</style>${script !== '' && markup`<script>${new Markup(script)}</script>`}`;
  return { head, policy };
}

const top = markup`<header><span class="brand">${logo}pwpush</span></header>`;
const bottom = markup`<footer><p>Secrets are encrypted and deleted when the link expires.</p></footer>`;

export interface PageOptions {
  readonly status?: number | undefined;
  readonly headers?: Record<string, string>;
  readonly shape?: Shape;
}

/** A complete page as a response. The title must not contain anything secret. */
export function page(title: string, main: Markup, options: PageOptions = {}): Response {
  const { status = 200, headers, shape = 'narrow' } = options;
  const { head, policy } = frames[shape];
  const { pieces } = markup`<!doctype html>
<html lang="en">
<head>
<title>${title} · pwpush</title>
${head}
</head>
<body class="${shape}">
${top}
<main>
${main}
</main>
${bottom}
</body>
</html>
`;
  return answer(pieces, 'text/html; charset=utf-8', status, {
    'content-security-policy': policy,
    ...headers,
  });
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const months =
  'January February March April May June July August September October November December';

/** A duration, rounded, in words: `7 days`, `3 hours`, `one minute`. */
export function duration(milliseconds: number): string {
  if (milliseconds < MINUTE) return amount(Math.max(1, Math.ceil(milliseconds / 1000)), 'second');
  if (milliseconds < 1.5 * HOUR) return amount(Math.round(milliseconds / MINUTE), 'minute');
  if (milliseconds < 1.5 * DAY) return amount(Math.round(milliseconds / HOUR), 'hour');
  return amount(Math.round(milliseconds / DAY), 'day');
}

export function amount(number: number, noun: string): string {
  return number === 1 ? `one ${noun}` : `${number} ${noun}s`;
}

/** A date and time, `27 August 2026, 11:06 UTC`. */
export function dateTime(time: number): Markup {
  const date = new Date(time);
  const iso = date.toISOString();
  const month = months.split(' ')[date.getUTCMonth()];
  const day = `${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`;
  return markup`<time datetime="${iso}">${day}, ${iso.slice(11, 16)} UTC</time>`;
}

/** A time of the same day, `11:06:45 UTC`. */
export function clockTime(time: number): Markup {
  const iso = new Date(time).toISOString();
  return markup`<time datetime="${iso}">${iso.slice(11, 19)} UTC</time>`;
}

/** The views and the time left; `cost` says what takes a view. */
export function remaining(push: PushRow, now: number, cost: string): Markup {
  const left = push.expires_at - now;
  const words = amount(viewsRemaining(push), 'view');
  return facts(
    fact('eye', `${capital(words)} left.`, cost),
    fact('clock', `${capital(duration(left))} left,`, markup`until ${dateTime(push.expires_at)}.`),
  );
}

export function facts(...items: Markup[]): Markup {
  return markup`<ul class="facts">
${items}</ul>`;
}

export function fact(name: 'eye' | 'clock' | 'check', words: string, more: Markup | string) {
  return markup`<li>${icon(name)}<div><b>${words}</b> <span>${more}</span></div></li>
`;
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function retryText({ retryAfter }: Refusal, now: number): Markup | string {
  if (retryAfter === undefined) return '';
  const wait = retryAfter * 1000;
  return markup`Try again in ${duration(wait)}, at ${clockTime(now + wait)}.`;
}
