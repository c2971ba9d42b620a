import { createHash } from 'node:crypto';
import { answer } from '../answer';
import { Markup, markup } from './markup';

const style = `:root{color-scheme:light dark}
body{font:1.1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:0 auto;padding:1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid;padding:.75rem}
a{overflow-wrap:anywhere}
button,input{font:inherit;padding:.4rem .8rem}
label{display:block}`;

const styleHash = createHash('sha256').update(style).digest('base64');

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A whole page as a response. */
export function page(
  title: string,
  content: Markup,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  const { html } = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;
  return answer(html, 'text/html; charset=utf-8', status, {
    'content-security-policy': policy,
    ...headers,
  });
}
