import { wrap } from '../terminal/text-width';

/** Variable → what it does. */
const variables: Readonly<Record<string, string>> = {
  PWPUSH_URL: 'address of the instance, as --url',
  PWPUSH_TOKEN: 'API token; it belongs to PWPUSH_URL where that is set, else to the address in use',
  PWPUSH_TOKEN_FILE: 'file to read the token from, where PWPUSH_TOKEN is not set',
  PWPUSH_PROFILE: 'profile to use; PWPUSH_URL and PWPUSH_TOKEN outrank it',
  PWPUSH_PASSPHRASE: 'passphrase for get and run',
  PWPUSH_CA_FILE: 'PEM file of CA certificates to trust too, as --ca-file',
  PWPUSH_TIMEOUT: 'seconds to wait for an answer to begin, as --timeout',
  PWPUSH_NO_INPUT: 'never prompt, as --no-input',
  PWPUSH_DEBUG: 'log requests to stderr without secrets, as --debug',
  PWPUSH_CONFIG_DIR: 'folder of the profiles',
  PWPUSH_STATE_DIR: 'folder of rescue files',
  PWPUSH_INSTANCE_KEY_FILE: 'instance key of serve',
  'PWPUSH_SERVE_*': 'options of serve, such as PWPUSH_SERVE_PORT',
  HTTPS_PROXY: 'proxy for https addresses',
  HTTP_PROXY: 'proxy for http addresses',
  NO_PROXY: 'hosts reached without a proxy, as is this machine: names, suffixes, host:port, *',
  NODE_EXTRA_CA_CERTS: 'PEM file of CA certificates that Node.js trusts too',
  CI: 'never prompt',
  NO_COLOR: 'no colours',
  FORCE_COLOR: 'colours in a pipe too; 0 for none',
  XDG_CONFIG_HOME: 'in place of ~/.config',
  XDG_STATE_HOME: 'in place of ~/.local/state',
  XDG_DATA_HOME: 'in place of ~/.local/share',
  XDG_CACHE_HOME: 'in place of ~/.cache',
  NODE_DISABLE_COMPILE_CACHE: 'keep no compiled code in ~/.cache/pwpush',
};

const rows = Object.entries(variables).flatMap(([name, meaning]) =>
  wrap(meaning, 49).map((line, at) => `  ${(at === 0 ? name : '').padEnd(28)}${line}`),
);

/** `pwpush help environment`. */
export const text = `Environment

An option outranks a variable, a variable the profile in use, and that the
defaults of the instance. A profile named by --profile outranks PWPUSH_URL and
PWPUSH_TOKEN.

${rows.join('\n')}

Switches are on when set, and neither empty, 0 nor false. The names of the
proxy variables work in lower case too, and win.

A token is sent to its own address alone: not to that of --url, nor to that of
a link, nor along a redirect. pwpush doctor tells which address and token are
in use, and where they are from.
`;
