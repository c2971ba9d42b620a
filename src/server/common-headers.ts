export const commonHeaders = {
  // Proxies rewrite pages where they may, such as their e-mail addresses, and a secret with them (RFC 9111, 5.2.2.6).
  'cache-control': 'no-store, no-transform',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
};
