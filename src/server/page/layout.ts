import { createHash } from 'node:crypto';
import { answer } from '../http/responses';
import { mark, markAddress } from './icons';
import { Markup, markup } from './markup';
import { fewWordsStyle } from './message-style';
import { script } from './script';
import { secretStyle } from './secret-style';
import { pageStyle } from './style';

/** The width of a page, and what it is made for: a few sentences, or a secret. */
type Shape = 'narrow' | 'broad';

/** What stands in the head of every page of a shape, and the policy for just that; put together once. */
const frames: Record<Shape, { head: Markup; policy: string }> = {
  narrow: framed(pageStyle + fewWordsStyle, ''),
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
<link rel="icon" href="${markAddress}">
<style>${new Markup(style)}</style>${script !== '' && markup`<script>${new Markup(script)}</script>`}`;
  return { head, policy };
}

const top = markup`<header><span class="brand">${mark}pwpush</span></header>`;
const bottom = markup`<footer><p>Secrets are kept sealed, and deleted when their link ends.</p></footer>`;

export interface PageOptions {
  readonly status?: number | undefined;
  readonly headers?: Record<string, string>;
  readonly shape?: Shape;
}

/** A whole page as a response; nothing secret may stand in its title. */
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
