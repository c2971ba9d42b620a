import { isLoopback } from '../contract/address';
import { either, shellWord } from './grammar';

/** `command` is a whole line that can be copied to a shell. */
export interface Advice {
  readonly text: string;
  readonly command?: string | undefined;
}

/** The way without output comes first, because an agent would read what --reveal prints. */
const orReveal = (text: string) => `${text}; --reveal prints it all the same`;

const orNone = (otherwise?: string) =>
  otherwise === 'none' ? ['use --anonymous to send none'] : [];

/** Each row says what a user can do after a failure. Other folders name rows, and `phrase.ts` forms sentences. */
export const hints = {
  'address-from': (from) => `the address comes from ${from}`,
  'allow-time': 'allow more time with --timeout SECONDS',
  'ask-administrator': 'the token may not do that: ask the administrator of the instance',
  'ask-for-link':
    'use the whole link, with the part after #, or the key or words with --key-file FILE or PWPUSH_KEY; the key is saved nowhere: without it, the sender can only expire the push and push again',
  'ask-for-new-link': 'ask for a new link',
  'ask-for-passphrase': 'ask the sender of the link; only a few attempts per minute are allowed',
  'ask-for-words': 'ask the sender for them, and use --key-file FILE or PWPUSH_KEY',
  'ask-requester': 'ask the person who requested it',
  'check-address': 'check the address',
  'check-api': 'check the address and its path; API v2 requires Password Pusher 2.4 or later',
  'check-certificate': 'check that it has not expired, and that the server trusts its issuer',
  'check-features':
    'check with pwpush version whether the instance accepts files (features.pushes.file_attachments)',
  'check-host-name':
    'check the spelling; pwpush doctor shows where the address comes from, and what works',
  'check-instance':
    'check that this is the address of a Password Pusher instance, and for a proxy in between',
  'check-link': 'copy the whole link again; for an ID, pwpush version shows the instance',
  'check-owner': (what) =>
    `the token belongs to another user, or the ${what} was created without one`,
  'check-port': 'check the port, and whether the address begins with http',
  'check-proxy': (variable) => `check ${variable}, or exclude the instance with NO_PROXY`,
  'check-running': (host) =>
    isLoopback(host)
      ? 'check that the instance is running (pwpush serve), and the port'
      : 'check that the instance is running, and the port',
  'check-service-token':
    'Cloudflare Access refused the service token: check both headers, its expiry, and that a policy with the action Service Auth includes it',
  'check-taken': 'the answer may have been taken: the owner can check with pwpush audit',
  'check-viewed': 'a view may have been used: the owner can check with pwpush audit',
  'choose-audience':
    'check the address, to which its operator sets --public-url; if you know that they chose another audience, set PWPUSH_TOKEN_AUDIENCE',
  'close-again': 'it can still be answered or read; try again',
  'compare-claims':
    'its operator sees in the log of the instance why, and with pwpush serve trust list what it trusts',
  'compare-key': 'compare it with what the sender gave you',
  'compare-key-and-link': 'compare it, and the address of the link, with what the sender gave you',
  'complete-chain':
    'add to the CA file what is missing there: the CA, and intermediate certificates that the server does not send',
  'expire-again': 'the secret can still be read; try again, or expire it on its page',
  'finish-setup': 'open the instance in a browser and finish setting it up, or check the address',
  'give-identity-first':
    'use the private key: -i FILE, such as ~/.ssh/id_ed25519; --no-decrypt takes it as it is',
  'give-passphrase': 'use -p to type it, --passphrase-file PATH, or PWPUSH_PASSPHRASE',
  'heed-size': 'it is larger than the instance or a proxy in front of it allows',
  'heed-size-of-files': (largest, files) =>
    `${files === '1' ? `${largest} exceeds` : `the files, of which ${largest} is the largest, exceed`} a limit of the instance (pwpush serve: --max-file-size) or of a proxy in front of it`,
  'issue-for-audience': (audience) =>
    `have one issued for the audience ${audience}: in GitLab, id_tokens: { PWPUSH_ID_TOKEN: { aud: ${audience} } }; elsewhere name it with PWPUSH_ID_TOKEN_FILE or PWPUSH_ID_TOKEN`,
  'keep-one-variable': 'only one of them says what the token is: remove the others',
  'log-in': 'log in with pwpush login, or set PWPUSH_TOKEN',
  'log-in-as-owner': (otherwise) =>
    `log in as its owner with pwpush login; if it was created without a token, ${
      otherwise === 'expires' ? 'it can only expire by its limits' : 'nobody can'
    }`,
  'log-in-to-network': 'log in to the network on any page in a browser, and try again',
  'log-in-there': (base) => `if that is your instance, log in there: pwpush login ${base}`,
  'look-for-push':
    'a push may exist: look for it with pwpush list and expire it before you push again',
  'look-for-request':
    'a request may exist, but nobody has its link: look for it with pwpush list requests',
  'make-service-token':
    'create a service token of Cloudflare Access, put CF-Access-Client-Id and CF-Access-Client-Secret into a file that only you can read, and name it with pwpush profile set . headers-file PATH or PWPUSH_HEADERS_FILE',
  'nothing-taken': 'no answer was taken or sent: run the command again',
  'notify-words': 'every word after --notify is taken as an address, such as ann@example.com',
  'open-in-browser': 'or open the link in a browser',
  'open-there': (base, host) =>
    `use the link with that address if you trust the operator of ${host}, who gets its key then; if the instance has moved, its operator starts it with --public-url ${base}`,
  'pass-front':
    'send the headers that it requires (--headers-file), or ask its operator to let /api/v2 pass; see ACCESS PROXIES in pwpush(1)',
  'proxy-address': 'use an address such as http://proxy.example:3128 or socks5h://127.0.0.1:1080',
  'proxy-escapes':
    'in its user name and password, write \\ as %5C, / as %2F, ? as %3F, # as %23, % as %25',
  'push-may-exist':
    'a push may exist; without a token it cannot be looked up, and expires by its limits',
  'remove-anonymous': 'remove --anonymous',
  'remove-anonymous-of-owner': 'if it is yours, remove --anonymous',
  'remove-login': 'remove what is before the @',
  'renew-login': (otherwise) => either(['log in again with pwpush login', ...orNone(otherwise)]),
  'renew-token': (otherwise) =>
    either([
      'set a valid one there',
      'remove it there and log in with pwpush login',
      ...orNone(otherwise),
    ]),
  'replace-in-link': (base, old) =>
    `if that is your instance, put ${base} in place of ${old} in the link`,
  'request-without-instance':
    'use pwpush request --here, which needs no instance, or run your own with pwpush serve',
  'send-certificate':
    'send one that it trusts, with --cert and --cert-key; see ACCESS PROXIES in pwpush(1)',
  'send-certificate-if-needed':
    'if it requires a client certificate, send one with --cert and --cert-key',
  'send-headers':
    'send the headers that it requires (pwpush profile set . headers-file PATH, PWPUSH_HEADERS_FILE or --headers-file) or a client certificate (--cert, --cert-key); see ACCESS PROXIES in pwpush(1)',
  'set-forwarded-proto': 'a proxy in front of the instance must send it X-Forwarded-Proto',
  'trust-proxy': 'if the proxy uses a private CA, name its certificate with NODE_EXTRA_CA_CERTS',
  'trust-certificate': 'if the instance uses a private CA, name its certificate with --ca-file',
  'try-later': (seconds) => `try again ${seconds ? `in ${seconds} s` : 'later'}`,
  'try-tls': (place) => `if the instance uses TLS on this port, use https:${place}`,
  'update-server': 'ask its operator to update its TLS settings or its certificate',
  'use-tls': (place) => `use https:${place}`,
  'use-address': (base) =>
    `if that is your instance, use its address: --url ${base}, or pwpush profile set . url ${base}`,
  'use-other-token':
    'use a token of scope all, which its owner has or the operator of the instance makes',
  'use-one-link': 'leave only one of them; pwpush expire - and run - take one a line',
  'use-original-link': 'use the link as it was sent',
  'use-link': 'use the whole link, such as https://pwpush.example/p/abc123, or its ID',
  'was-answered': 'the answer may have arrived: ask the person who requested it',
  'was-closed': 'the request may have been closed: run the command again to be sure',
  'was-expired': 'the push may have expired: run the command again to be sure',
  'was-lost': 'the answer may be lost: ask the person who requested it',
  'accept-as-sent': 'ask the sender; --no-decrypt accepts it as it is',
  'accept-as-sent-next': 'to accept such an answer the next time, use --no-decrypt',
  'accept-limits': (kind) =>
    `use limits that the instance allows, or keep the ${kind} with --accept-limits`,
  'allow-variables': (names) => `if you trust the sender, next time use --allow ${names}`,
  'allow-variables-or-only': (names) =>
    `if you trust the sender, next time use --allow ${names}; or accept only the names you expect with --only NAME,…`,
  attach: 'attach it with --file',
  'choose-identity-file': 'choose a file for it with --identity-out FILE',
  'delete-saved': (...paths) => ({
    text: `delete the ${paths.length === 1 ? 'file' : 'files'} when done`,
    command: `rm ${paths.map(shellWord).join(' ')}`,
  }),
  'clipboard-programs': '--copy requires wl-copy, xclip, xsel, pbcopy or clip.exe, or a terminal',
  configure:
    'log in with pwpush login, set PWPUSH_URL or use --url; or run an instance here with pwpush serve',
  'do-without-files': 'put them into its folder, as 1.age and so on; --no-files does without them',
  'ask-about-files': 'the instance may have lost or replaced them; ask the sender',
  'ask-for-answer-again': 'it was changed, or encrypted to another key: ask for it again',
  'ask-for-undamaged': 'it was changed in transit: ask the sender for a new one',
  'use-newer': 'a newer version of pwpush may open it',
  'ask-for-new-push': 'ask the sender for a new one',
  'log-in-as-requester': 'log in as its owner with pwpush login',
  'get-again': 'another program wrote to it: get it again',
  'look-why-closed': (link) => ({
    text: 'it was read already, closed, or not answered in time; the audit log says which',
    command: `pwpush audit ${shellWord(link)}`,
  }),
  'push-own-again': 'it was yours: push the secret again',
  'wait-for-answer': 'wait for it with pwpush wait',
  'generate-quietly': orReveal('use pwpush push --generate --quiet'),
  'get-unseen': orReveal('use pwpush run, --output FILE or --copy'),
  'give-answer-key':
    'run it where the request was made, with the whole link, or use -i FILE; --no-decrypt takes it as it is',
  'give-moved-key': (base, path) =>
    `if that instance has moved, use the whole link with its profile there (--profile NAME, or pwpush login ${base}), or -i ${shellWord(path)}; --no-decrypt takes it as it is`,
  'give-identity': 'use the private key: --identity FILE, such as ~/.ssh/id_ed25519',
  'give-identity-elsewhere': 'run it where the request was made, or use --identity FILE',
  'give-passphrase-there':
    'use --passphrase-file PATH, or -p to type it or, without a terminal, to take PWPUSH_PASSPHRASE',
  'key-or-file':
    "a public key is one argument: --to age1… or --to 'ssh-ed25519 AAAA…'; all else is a file, such as ./age1…",
  'keep-token-elsewhere':
    'log in without --keyring to keep the token in a file that only you can read, or leave it in a password manager: pwpush profile set NAME token-command COMMAND',
  mask: orReveal('remove --no-mask'),
  'name-certificate': 'name it with --cert, PWPUSH_CERT_FILE or the setting cert',
  'name-certificate-key': 'name the file of the key with --cert-key',
  'name-message': 'every word after --file is taken as a path; add a text with --message TEXT',
  'not-by-terminal': orReveal(
    "the terminal's clipboard would get it through the output: use pwpush run or --output FILE",
  ),
  'open-saved': (path) => ({
    text: 'with the key, open what was saved',
    command: `pwpush get --from-file ${shellWord(path)}`,
  }),
  'output-unseen': orReveal('use --output FILE'),
  overwrite: 'overwrite it with --force',
  'pack-folder': 'pack it: tar cz FOLDER | pwpush push --file -=FOLDER.tar.gz',
  'pipe-content': 'pipe its content in: … | pwpush push --file -=NAME',
  'pipe-file': 'pipe it: cat FILE | pwpush push --file -',
  'permit-identity':
    'the workflow gives the job permission for one: permissions: { id-token: write }',
  'pipe-token': 'use --token-file - to read standard input',
  'quiet-for-json': orReveal('use --quiet in place of --json'),
  'quiet-too': orReveal('add --quiet'),
  'remove-account':
    'only the commercial edition has them; remove --account, or the setting of the profile',
  'remove-json': orReveal('remove --json'),
  'report-bug': 'run it again with --debug and report the output',
  'request-here-or-plain':
    'to ask without an instance, use pwpush request --here; to let the instance read the answer, use --no-encrypt',
  resume: (path) => `run pwpush get --resume ${shellWord(path)}`,
  'resume-soon': (path, key) => ({
    text: `get the rest within minutes${key && '; give its key when asked, or add the link'}`,
    command: `pwpush get --resume ${shellWord(path)}`,
  }),
  'run-unmasked': '--reveal runs the command all the same, and masks what can be masked',
  'save-by-shell': 'have the shell open it: --output - >FILE',
  'save-sealed': 'save it with --no-decrypt, then open it with age -d',
  'send-elsewhere': (origin) => `to send it, add --url ${origin} --anonymous`,
  'set-address': (name) =>
    `set one: pwpush login --profile ${name}, or pwpush profile set ${name} url URL`,
  'set-variable': 'next time use --as NAME',
  'set-variable-of-file': 'next time use --file NAME=FILE',
  'shorten-days': (duration) =>
    'use --days 1, and end it before: ' +
    `pwpush wait LINK --for ${duration} --then-expire || pwpush expire LINK`,
  'try-saved-key': (path) =>
    `its private key was saved to ${path}: try age -d -i ${shellWord(path)}`,
  'unlock-key': (path, format, platform) => {
    const inMemory = platform === 'linux';
    const copy = inMemory ? '/dev/shm/key' : 'key';
    const file = path === '-' ? 'FILE' : shellWord(path);
    return {
      text: `give -i a copy without one${inMemory ? ', in memory' : ''}, and remove that afterwards`,
      command:
        format === 'pkcs8'
          ? `(umask 077; openssl pkey -in ${file} -out ${copy})`
          : `install -m 600 ${file} ${copy} && ssh-keygen -p -N '' -f ${copy}`,
    };
  },
  'trust-issuer':
    'its operator adds what to trust with pwpush serve trust add; or use an API token',
  'unlock-keyring': (profile) =>
    `unlock the keyring, or log in again: pwpush login --keyring --profile ${profile}`,
  'use-https': (what, profile) => {
    const risk = `pwpush profile set ${profile || 'NAME'} insecure true`;
    const which = profile ? 'for this profile' : 'in a profile for that address';
    return what === 'token'
      ? `use https, use --anonymous to send no token, or accept the risk ${which}: ${risk}`
      : `use https, or accept the risk ${which}: ${risk}`;
  },
  'use-profile': (...profiles) =>
    profiles.length === 1
      ? `use the token of profile "${profiles}" for this instance: --profile ${profiles}`
      : `profiles ${profiles.join(', ')} have a token for this instance: choose one with --profile`,
  'use-stdin-or-file': 'next time use --stdin or --file',
  'write-key': orReveal('write its words to a file: --key-out FILE'),
  'write-passphrase': orReveal('write it to a file: --passphrase-out FILE'),

  'answer-in-browser': 'open the link in a browser and answer there',
  'ask-for-token': 'ask who runs the instance, or make one with pwpush serve token add',
  'ask-for-whole-link': 'ask for the whole link, with the part after #',
  'change-mode': (mode, path) => `run chmod ${mode} ${shellWord(path)}, as it contains tokens`,
  'check-config-file': 'check its owner and mode, or set PWPUSH_CONFIG_DIR to another folder',
  'choose-data-folder': 'choose a folder that you can write to with --data',
  'copy-token': 'copy the token again from the account page of the instance',
  'correct-clock': 'correct the clock that is wrong, for example with NTP',
  'know-of-key': (printed, ...why) =>
    `the private key ${printed ? `was printed to ${printed}` : 'is lost'}: ${why.join('; ')}`,
  'may-arrive': 'it may still arrive: check the link before you send the answer again',
  'name-another-push': 'name another push by its link',
  'push-copy': 'try again when nothing writes to it, or push a copy',
  renew: 'renew it',
  'request-here': 'to ask without an instance, use pwpush request --here',
  'send-text': 'send a text, or ask for a link that accepts files',
  'set-config-dir': 'set PWPUSH_CONFIG_DIR to a folder that you can write to',
  'set-state-dir': 'make the state folder writable, or set PWPUSH_STATE_DIR',
  'set-tmpdir': 'set TMPDIR to a folder with enough space',
  'unlock-and-remove': 'unlock the keyring and remove it there',
  'value-may-be-set': 'the command may have set the new value already',
  'wait-for-run': (claim, path) =>
    `wait until it ends; if there is no such run, rename "${claim}" to "${path}"`,
} as const satisfies Readonly<
  Record<string, string | ((...of: readonly string[]) => string | Advice)>
>;

export type HintName = keyof typeof hints;
