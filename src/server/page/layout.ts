import { createHash } from 'node:crypto';
import { responseOf } from '../http/responses';
import { viewsRemaining } from '../rules/access';
import type { Site } from '../site-identity';
import type { PushRow } from '../store/push-rows';
import script from './browser/every-page.ts?script';
import type { Words } from './language';
import { Markup, markup } from './markup';
import style from './page.css?raw';

export interface View {
  readonly words: Words;
  readonly site: Site;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** SVG paths, which CSS strokes in a square of 24 units. */
const drawings = {
  alert: 'M12 9v4.5m0 3v.01M12 3.5 22 20.5H2z',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  clock: 'M12 7.5V12l3 2m6-2a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z',
  copy: 'M9 9h11v11H9zM5.5 15H4V4h11v1.5',
  download: 'M12 4v11m-4.5-4.5L12 15l4.5-4.5M4.5 20h15',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12ZM15 12a3 3 0 1 1-6 0 3 3 0 0 1 6 0Z',
  file: 'M14 3H6v18h12V7zm0 0v4h4',
  hide: 'M4 4l16 16M9.9 5.7C14.8 4.6 19 7.7 21.5 12c-.7 1.3-1.6 2.4-2.6 3.4M6.5 7.4C4.8 8.6 3.4 10.2 2.5 12c3 5.4 8.3 7.9 13 5.6',
  link: 'M10 14a4.2 4.2 0 0 0 6 0l3.5-3.5a4.2 4.2 0 0 0-6-6L12.2 5.8M14 10a4.2 4.2 0 0 0-6 0l-3.5 3.5a4.2 4.2 0 0 0 6 6l1.3-1.3',
  lock: 'M5 11h14v10H5zM8 11V7.5a4 4 0 0 1 8 0V11m-4 4v2',
  none: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM8 12h8',
  open: 'M14 4h6v6m0-6-9 9m7 1.5V20H4V6h5.5',
  send: 'M21 3 3 10.5l7 3.5 3.5 7L21 3 10 14',
  trash: 'M4.5 7h15M9.5 7V4h5v3M6.5 7l1 13h9l1-13M10.5 11v5.5m3-5.5v5.5',
  unlocked: 'M5 11h14v10H5zM8 11V7.5a4 4 0 0 1 7.7-1.5M12 15v2',
} as const;

export type IconName = keyof typeof drawings;

/** A decorative icon, hidden from screen readers. */
export function icon(name: IconName, classes = 'icon'): Markup {
  return new Markup(
    `<svg class="${classes}" viewBox="0 0 24 24" aria-hidden="true"><path d="${drawings[name]}"/></svg>`,
  );
}

export function heading(name: IconName, title: Markup | string, alarm = false): Markup {
  return markup`<div class="top"><div class="${alarm ? 'badge alarm' : 'badge'}">${icon(name)}</div>
<h1>${title}</h1></div>`;
}

/** Shows the views and the time left; `cost` says what uses a view. */
export function remaining(view: View, push: PushRow, cost = ''): Markup {
  return facts(
    fact('eye', view.words.count('viewsLeft', viewsRemaining(push)), cost),
    timeLeft(view, push),
  );
}

export function timeLeft({ words, now }: View, { expires_at }: PushRow): Markup {
  const when = words.fill('expires', { when: words.when(expires_at - now) });
  return fact('clock', when, words.date(expires_at));
}

export function facts(...items: Markup[]): Markup {
  return markup`<ul class="facts">
${items}</ul>`;
}

export function fact(
  name: 'eye' | 'clock' | 'check',
  main: Markup | string,
  more: Markup | string,
): Markup {
  return markup`<li>${icon(name)}<div><b>${main}</b> <span>${more}</span></div></li>
`;
}

const NAME = 'pwpush';

const KEYHOLE =
  'M6 0h12a6 6 0 0 1 6 6v12a6 6 0 0 1-6 6H6a6 6 0 0 1-6-6V6a6 6 0 0 1 6-6Zm6 5.5a3.7 3.7 0 0 0-1.9 6.9L9 18.5h6l-1.1-6.1A3.7 3.7 0 0 0 12 5.5Z';

const keyhole = new Markup(
  `<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path fill-rule="evenodd" d="${KEYHOLE}"/></svg>`,
);
const favicon = `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><path fill='%2316806c' fill-rule='evenodd' d='${KEYHOLE}'/></svg>`;

/** Pages inline this script or style, and their Content-Security-Policy allows it by its hash. */
export class PagePart {
  readonly element: Markup;
  readonly hash: string;

  constructor(
    readonly tag: 'script' | 'style',
    text: string,
  ) {
    this.element = new Markup(`<${tag}>${text}</${tag}>`);
    this.hash = `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  }
}

const common = [new PagePart('style', style), new PagePart('script', script)];

function policyOf(parts: readonly PagePart[], fetches: boolean): string {
  const hashes = (tag: PagePart['tag']) =>
    parts.flatMap((part) => (part.tag === tag ? part.hash : [])).join(' ');
  return [
    "default-src 'none'",
    `style-src ${hashes('style')}`,
    `script-src ${hashes('script')}`,
    ...(fetches ? ["connect-src 'self'"] : []),
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

export interface PageOptions {
  readonly status?: number | undefined;
  readonly headers?: Record<string, string>;
  /** Previews of a link show it below the title. */
  readonly description?: string;
  /** Scripts and styles besides those of all pages. */
  readonly parts?: readonly PagePart[];
  /** True if the service stores nothing of what the page shows. The footer then promises no deletion. */
  readonly unstored?: boolean;
  /** Whether a script of the page sends HTTP requests to this service, which the policy then allows. */
  readonly fetches?: boolean;
}

/** Returns a complete page. The title must not contain anything secret. */
export function page(view: View, title: string, main: Markup, options: PageOptions = {}): Response {
  const { words, site } = view;
  const { status = 200, headers, description = words.text('previewText') } = options;
  const parts = [...common, ...(options.parts ?? [])];
  const { pieces } = markup`<!doctype html>
<html lang="${words.locale}" dir="${words.direction}">
<head>
<meta charset="utf-8">
<title>${title} · ${site.title ?? NAME}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="format-detection" content="telephone=no, date=no, email=no, address=no">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:site_name" content="${site.title ?? NAME}">
<link rel="icon" href="${favicon}">
${parts.map(({ element }) => element)}
</head>
<body>
<header>${brand(site)}</header>
<main>
${main}
</main>
<footer>${footer(view, options.unstored)}</footer>
</body>
</html>
`;
  return responseOf(pieces, 'text/html; charset=utf-8', status, {
    'content-security-policy': policyOf(parts, options.fetches ?? false),
    vary: 'accept-language',
    ...headers,
  });
}

function brand({ title, logo }: Site): Markup {
  if (logo === undefined)
    return markup`<span class="brand">${keyhole}<bdi>${title ?? NAME}</bdi></span>`;
  const image = markup`<img class="logo" src="${logo}" alt="${title === undefined ? NAME : ''}">`;
  return markup`<span class="brand">${image}${title !== undefined && markup`<bdi>${title}</bdi>`}</span>`;
}

function footer({ words, site: { contact } }: View, unstored = false): Markup {
  return markup`${!unstored && markup`<p>${words.text('footer')}</p>`}${
    contact !== undefined &&
    markup`<p>${words.fill('contact', { contact: contactLink(contact) })}</p>`
  }`;
}

function contactLink({ text, href }: NonNullable<Site['contact']>): Markup {
  if (href === undefined) return markup`<bdi>${text}</bdi>`;
  return markup`<a href="${href}" target="_blank" rel="noreferrer noopener"><bdi>${text}</bdi></a>`;
}
