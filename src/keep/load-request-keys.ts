/** The module takes 9 ms to load, as it parses private keys. */
export const requestKeys = () => import('./request-keys');
