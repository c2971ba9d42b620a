import { size } from '../contract/byte-size';
import { DAY_SECONDS, durations, durationText } from '../contract/lifetime';
import { listed } from './grammar';

export type Clause = string | ((...of: readonly string[]) => string);

const detailed = (what: string, ...how: readonly string[]) =>
  how.length === 0 ? `${what}` : `${what}: ${how.join('; ')}`;

const proxyOf = (proxy?: string, variable?: string) => `the proxy ${proxy} (${variable})`;

/** Makes a row that adds to a clause what the instance said, if anything. */
const saying =
  (ours: string) =>
  (...said: readonly string[]) =>
    detailed(ours, ...said);

/** Each row says what is known of a failure or link. Other folders name rows, and `phrase.ts` makes sentences. */
export const facts = {
  detailed,
  together: (...parts) => parts.join('; '),

  'answer-key-elsewhere': (base) =>
    `the answer is encrypted, and its private key is for ${base}; nothing was taken`,
  'answer-key-missing':
    'the answer is encrypted, and its private key is not here; nothing was taken',
  'answered-already': 'the request was answered already; your answer was not sent',
  'audience-differs': (host, theirs, ours) =>
    `${host} takes identity tokens for ${theirs}, not for ${ours}; none was asked for`,
  'certificate-needed-here':
    'the instance, or a proxy in front of it, requires a client certificate',
  'closed-unanswered': 'the request was closed without an answer',
  failed: (status, ...said) => detailed(`the instance failed (${status})`, ...said),
  'files-need-token': 'attaching files requires a token on this instance',
  'identity-refused': saying('the instance refused the identity token'),
  'in-front': (host, status, ...said) =>
    detailed(`something in front of ${host} answered, not the instance (${status})`, ...said),
  'key-missing': 'the end of the link is missing, which is the key of the push',
  'key-refused': 'the instance refused the key',
  'key-words-needed': 'the push opens with key words',
  'leaves-origin': (host, origin) =>
    `${host} redirects to another origin, ${origin}; nothing was sent there`,
  'login-page': (status) => `the response is a login page, not one of the instance (${status})`,
  'login-redirect': (host, other) =>
    `an access proxy in front of ${host} redirects to its login page${other && ` on ${other}`}; nothing was sent there`,
  'no-api': saying('no API v2 at this address'),
  'no-exchange': (host) => `${host} takes no identity tokens`,
  'no-identity': (host, status) => `${host} gave the job no identity token (${status})`,
  'no-requests': 'this instance has no requests',
  'no-such': (what) => `no such ${what} on this instance`,
  'none-within': (what, time) => `no ${what} within ${time}`,
  'none-of-yours': 'no such request among yours',
  'opens-elsewhere': (base) => `the link opens at ${base} only, as the instance says`,
  'nothing-done': saying('the instance refused the request for now, and nothing was done'),
  'owners-log': 'only the owner can read the audit log',
  'owners-only': 'only the owner can do that',
  'passphrase-needed': (what) => `the ${what} requires a passphrase`,
  'passphrase-wrong': 'wrong passphrase',
  'push-not-expired': 'the instance responded that the push has not expired',
  'rate-limited': saying('rate limited by the instance'),
  redirects: (status) => `the instance redirects (${status}) instead of responding`,
  'redirects-too-often': 'the instance redirects too many times',
  refused: saying('the instance refused the request'),
  'request-closed': 'the request is closed',
  'request-not-closed': 'the instance responded that the request is not closed',
  'request-still-open': 'the instance responded that the request is still open',
  'response-too-long': 'the response is longer than 16 MiB',
  'sealed-to-key':
    'the push is encrypted to a public key, and no private key was given; nothing was taken',
  'sending-again': 'sending the request again, which counts once',
  'setup-redirect': 'the instance redirects to its sign-in or first-run page instead of responding',
  'token-needed': 'the instance requires a token',
  'token-pushes-only': 'this token can push only',
  'token-reaches-own': 'this token reaches only what it created',
  'token-refused': (from, ...said) =>
    detailed(`the instance refused the token${from && ` from ${from}`}`, ...said),
  'token-withheld': 'this requires a token, and --anonymous sends none',
  unexpected: (status, ...said) =>
    detailed(`the instance sent an unexpected response (${status})`, ...said),

  'body-empty': 'an empty body',
  'body-field': (name, text, typed?: string) => {
    const field = typed ?? FIELDS.get(name) ?? name.replaceAll('_', ' ');
    const range = rangeIn(text, (field === '--expire' && SECONDS[name]) || undefined);
    return `${field}${/^[^\p{Lu}]/u.test(text) ? '' : ':'} ${range ?? withSizes(text)}`;
  },
  'body-hidden': 'its response is not shown, as it repeats what was sent',
  'body-line': (type, line) => `${type || 'no content type'}, "${line}"`,
  'body-size': (type, bytes) => `${type || 'no content type'}, ${bytes} bytes`,
  'body-text': (text) => withSizes(text),

  'certificate-expired': 'its certificate has expired',
  'certificate-needed': 'it requires a client certificate',
  'certificate-of-another': 'its certificate is for another name',
  'certificate-of-unknown-ca': 'its certificate comes from an unknown CA',
  'certificate-refused': 'it refused the client certificate',
  'certificate-self-signed': 'its certificate is self-signed',
  'certificate-unverified': 'its certificate cannot be verified',
  'certificate-weak': 'its certificate, or one above it, is too weak (such as SHA-1)',
  'connection-closed': 'the connection was closed',
  'connection-failed': (code) => `the connection failed (${code || 'no code'})`,
  'connection-refused': 'the connection was refused',
  'connection-reset': 'the connection was reset',
  'connection-timeout': 'the connection timed out',
  'handshake-refused': 'it refused the TLS handshake',
  'headers-too-long': 'its headers are too long',
  'host-unknown': 'its host name does not resolve',
  'host-unresolved': 'its host name cannot be resolved at the moment',
  incomplete: (host, ...why) => detailed(`${host} sent no complete response`, ...why),
  'interim-only': 'it sends interim responses only',
  'edge-cannot-reach': (status) => `Cloudflare in front of it cannot reach it (${status})`,
  'network-login': 'this network requires a login first (511)',
  'network-unreachable': 'the network is unreachable',
  'no-http': 'it does not speak HTTP',
  'no-response': (host, seconds) => `${host} did not respond within ${seconds} s`,
  'no-route': 'no route to the host',
  'no-tls': 'it does not use TLS on this port',
  'proxy-needs-login': (...of) => `${proxyOf(...of)} requires a valid user name and password`,
  'proxy-refused': (...of) => `${proxyOf(...of)} refused to connect to it`,
  'proxy-timeout': (...of) => `${proxyOf(...of)} did not respond in time`,
  'proxy-unreachable': (proxy, variable, ...why) =>
    detailed(`${proxyOf(proxy, variable)} cannot be reached`, ...why),
  'response-cut': 'the response was cut short',
  stopped: 'the request was stopped',
  'takes-no-more': (host, seconds) => `${host} accepted no more data within ${seconds} s`,
  'tls-only': 'it uses TLS on this port',
  'tls-too-old': 'it does not offer TLS 1.2 or 1.3',
  'too-slow': (host) => `${host} sends its response too slowly`,
  unreachable: (host, ...why) => detailed(`${host} cannot be reached`, ...why),

  'cut-short': 'the download was cut short',
  'file-link-expired': 'it may have expired',
  'file-link-no-file': 'it is not a file',
  'file-link-of-scheme': (protocol) =>
    `its link uses ${protocol}, which is not for files; it was not followed`,
  'file-link-open': 'its link uses http: although the instance uses https; it was not followed',
  'file-link-redirects-down': (from, to) =>
    `its link redirects from ${from} to ${to}; it was not followed`,
  'file-link-redirects-nowhere': 'its link redirects to an invalid address',
  'file-link-redirects-too-often': 'its link redirects more than 10 times',
  'file-link-returned': (status) => `its link returned ${status}`,
  'longer-than-announced': 'the response is longer than announced',
  'no-file-link': 'the instance returned no valid link to it',
  'not-resumable': 'the download cannot be resumed',

  'link-built': 'the instance returned no link; this one is built from its address and the ID',
  'link-elsewhere': (origin, own, created) =>
    `the link is on ${origin}, not on ${own}${created && `, where the ${created} was created`}`,
  'link-repaired': (...had) => `the link was repaired; it had ${listed(had)}`,
  'links-repaired': (...had) => `links were repaired; they had ${listed(had)}`,
  'repaired-hash': '%23 for #',
  'repaired-outlook': 'Outlook Safe Links around it',
  'repaired-proofpoint': 'Proofpoint around it',
  'repaired-surroundings': 'text around it',
  'repaired-tail': 'text after its key',
  'repaired-wrapper': 'the address of a gateway around it',

  'answer-not-encrypted':
    'the answer is not encrypted: the instance could read it, or may have written it',
  'cannot-decrypt': (why) => `cannot decrypt it: ${why}`,
  'cannot-open': (noun, why) => `cannot open the ${noun}: ${why}`,
  'encrypted-damaged': (noun, why) => `the encrypted ${noun} is damaged: ${why}`,
  'encrypted-no-text': 'the encrypted data is not text',
  'encrypted-to-another': 'the link has a key, but the push is encrypted to another one',
  'encrypted-to-public-key': 'the push is encrypted to a public key',
  'files-differ': (missing, unknown) =>
    `the files differ from those that were sent: ${missing} missing, ${unknown} unknown`,
  'files-not-encrypted': (noun) => `the files of the ${noun} are not encrypted`,
  'key-fails': (complaint) => `the key does not open the push${complaint}`,
  'key-there': (path) => `there is a key "${path}" already`,
  'key-unreadable': (path, why) =>
    `cannot read the private key "${path}": ${why}; nothing was fetched`,
  'key-unusable': (path, why) => `${path}: ${why}; nothing was fetched`,
  'key-unwritable': (folder, why) => `cannot keep the private key in "${folder}" (${why})`,
  'link-without-key': 'the push is encrypted, and the link has no key',
  'may-be-replaced': 'it may have been replaced',
  'not-copied': (clipboard) => `${clipboard} did not accept the text`,
  'not-listed': 'the sender did not list it',
  'private-key-fails': 'the private key does not open the answer',
  'private-key-not-here': 'the answer is encrypted, and its private key is not here',
  'push-not-encrypted': (giver) =>
    `${giver}, but the push is not encrypted: it may have been replaced`,
  'same-address': (noun) => `files of the ${noun} have the same address`,
  'size-differs': 'its size differs from the file that was sent',
  'text-around': 'other text is around the encrypted one, and is left out',
  'text-with-nul': 'the text contains a NUL character, which outputs and variables cannot have',

  'kept-in-part': (...why) => detailed('NOT ALL IS SAVED', ...why),
  'kept-lost': (what, ...why) => detailed(`the ${what} is LOST`, ...why),
  'kept-printed': (what, where, ...why) => detailed(`the ${what} was printed to ${where}`, ...why),
  'kept-saved': (what, ...paths) =>
    `the ${what} ${what === 'secrets' ? 'were' : 'was'} saved to ${listed(paths)}`,
  'kept-there': (left, which) =>
    `${which && `${which}: `}the push can be retrieved again (${left})`,

  'key-damaged': (complaint) => `the key is damaged${complaint}`,
  'owners-answer': 'only the owner of the request can take its answer',
  'push-expired': 'the push has expired',
  'push-without-text': 'the instance returned a push without a text',
  'file-unwritable': (why) => `cannot write the file (${why})`,
  'too-little-space': (folder, needed, free) =>
    `not enough disk space: ${needed} needed in "${folder}", ${free} free`,
  'written-by-others': (written, received) =>
    `its file has ${written} bytes, and ${received} were received`,
  'link-is': (link) => `the link is ${link}`,
  'link-is-here': 'the link was printed here instead',
  'nothing-set-in-job': 'the push has no text, so nothing was set in the job',
  'output-in-part': (...why) =>
    detailed('only part of the file was written to standard output', ...why),
  'output-is-for-file': 'standard output is for the file',
  'output-is-terminal': (where) => `standard output is a terminal; the file was saved to ${where}`,
  'output-takes-one-file': (files, where) =>
    `standard output takes one file only; the ${files} files were saved to ${where}`,
  'text-not-printed': (why) => `the text is not printed: ${why}`,
  'text-saved-beside': (why, path) => `${why}: the text was saved to ${path}`,
  'place-unwritable': (where, code) => `cannot write ${where} (${code})`,
  'whole-file-saved': (path) => `the whole file was saved to ${path}`,

  'link-empty': 'the link is empty',
  'link-translated': 'the link leads to a translation site, which would fetch the push itself',
  'link-with-login': 'the link contains a user name or password',
  'no-email-address': (place) => `address ${place} after --notify is not an e-mail address`,
  'no-link': 'not a link or ID of a push',
  'several-links': 'several links in one text, which can have one',
  'no-proxy-address': (variable) => `${variable} is not the address of a proxy`,
  'proxy-login-long': (variable, bytes) =>
    `a user name or password in ${variable} is longer than ${bytes} bytes, which SOCKS allows`,
  'too-many-addresses': (most, number) =>
    `at most ${most} e-mail addresses are allowed, not ${number}`,

  'answer-there': 'the request has an answer now, probably yours',
  answered: 'the request was answered already',
  'answers-need-token':
    'the API of the instance requires a token, and takes no answers without one',
  'certificate-ended': (day) => `the client certificate expired on ${day}`,
  'clocks-differ': (seconds, way) => `this machine is ${seconds} s ${way} the instance`,
  'key-invalid': 'the instance names an invalid key',
  'last-expired': 'the last push has already expired',
  'link-invalid': 'the instance returned an invalid link',
  'no-answer-yet': 'the request has no answer yet',
  'no-token-returned': 'the instance returned no token',
  'no-token-to-push': 'none, and the instance requires one to push',
  'no-view': 'the push expired without a view',
  'nobody-answered': 'nobody answered in time',
  'not-ready': (url, status) => `${url} is not ready (${status})`,
  'number-unknown': (id) => `no push with the ID ${id}`,
  'output-too-long': 'the response of the instance is too long',
  'takes-no-files': 'the request accepts no files',

  'changed-while-sent': (file) => `${file} changed while it was being sent`,
  'config-unreadable': (path, why) => `cannot read the config file "${path}": ${why}`,
  'config-unwritable': (path, why) => `cannot write the config file "${path}": ${why}`,
  'disk-full': 'the disk is full',
  'folder-not-made': (path, code) => `cannot create the folder "${path}" (${code})`,
  'keyring-has-token': (profile, why) =>
    `the keyring may still have the token of profile "${profile}" (${why})`,
  'keyring-without-token': (profile, why) =>
    `the keyring returned no token for profile "${profile}" (${why || 'nothing usable'})`,
  'no-owners-or-modes': (folder, why) =>
    `a new file in "${folder}" ${why}, as its file system keeps no owners or modes`,
  'not-in-keyring': (why) => `the token cannot be kept in the keyring (${why})`,
  'not-removed': (path, why) => `cannot remove "${path}" (${why})`,
  'not-renamed': (path, code) => `cannot rename "${path}" (${code})`,
  'open-to-others': (path, mode) => `"${path}" is open to other users (mode ${mode})`,
  'read-in-part': (file, code) => `cannot read all of ${file} (${code})`,
  'resumed-elsewhere': (path) =>
    `another run is getting the rest of "${path}"; nothing was fetched`,
  'size-unknown': (file) => `the size of ${file} is unknown`,
  'stdin-not-copied': (folder, code) => `cannot copy standard input to "${folder}" (${code})`,
  'stdout-unwritable': (why) => `cannot write to standard output (${why})`,

  'command-ended': (status) => `the command ended with status ${status}`,
  'command-not-started': 'the command was not started',
  'command-succeeded': 'the command succeeded',
  hung_up: 'hung up',
  'internal-error': (name) => `internal error (${name}); this is a bug in pwpush`,
  interrupted: 'interrupted',
  'message-too-long': 'the client sent a message of more than 10 MiB',
  'gone-and-not-saved': (gone, files) => `${gone}, and ${files} not saved`,
  'not-saved': (files) => `${files} not saved`,
  'not-saved-either': (folder, why) => `it could not be saved to ${folder} either (${why})`,
  'not-started': (program, why) => `cannot start "${program}" (${why})`,
  'nothing-pushed': 'nothing was pushed',
  'nothing-saved': 'nothing was saved',
  'nothing-sent': 'nothing was sent',
  'nothing-started': 'nothing was started',
  'receipt-not-saved': (why) => `the receipt was not saved (${why})`,
  'request-incomplete': 'nothing was pushed, as the request was not completed',
  'secret-unsavable': 'the secret could not be saved if that failed',
  'still-waiting': 'still waiting',
  terminated: 'terminated',
  'text-unused': 'the text is not used',
  'too-long-for-variable': 'the secret is too long for a variable',
} as const satisfies Readonly<Record<string, Clause>>;

export type FactName = keyof typeof facts;

const withSizes = (text: string) =>
  text.replace(/\b(\d{4,15}) bytes\b/, (_, number) => size(Number(number)));

/** Returns the range of a text as `must be from 1 to 90 on this instance`; `seconds` makes a time of a count. */
function rangeIn(text: string, seconds?: (count: number) => number): string | undefined {
  const [, ...ends] = /^must be an integer from (\d{1,15}) to (\d{1,15})$/.exec(text) ?? [];
  const [least, most] = ends.map((end) => (seconds ? durationText(seconds(Number(end))) : end));
  if (most === undefined) return undefined;
  // A least value of 1 is left out, because --expire also takes less than a day.
  const range = seconds && ends[0] === '1' ? `at most ${most}` : `from ${least} to ${most}`;
  return `must be ${least === most ? most : range} on this instance`;
}

const ofIndex = (index: number) => durations[index] ?? 0;

const SECONDS: Readonly<Record<string, (count: number) => number>> = {
  expire_after_days: (count) => count * DAY_SECONDS,
  expires_in: (count) => count,
  expire_after_duration: ofIndex,
  close_after: (count) => count,
  close_after_duration: ofIndex,
};

const FIELDS = new Map(
  Object.entries({
    payload: 'the text',
    request: 'the question',
    response: 'the answer',
    passphrase: 'the passphrase',
    files: 'the files',
    kind: '--kind',
    name: '--name',
    note: '--note',
    expire_after_days: '--days',
    expire_after_views: '--views',
    expire_after_duration: '--expire',
    expires_in: '--expire',
    close_after: '--expire',
    close_after_duration: '--expire',
    deletable_by_viewer: '--deletable',
    retrieval_step: '--click',
    notify_emails_to: '--notify',
    notify_emails_to_locale: '--locale',
  }),
);
