export const commonHeaders = {
  // `no-transform` (RFC 9111, 5.2.2.6): some proxies rewrite e-mail addresses in pages, and so would change a secret.
  'cache-control': 'no-store, no-transform',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
};
