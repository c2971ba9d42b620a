import type { Advice, Step } from '../platform/errors';
import type { StepName } from '../platform/steps';
import { shellWord } from './values';

type Words = (...of: readonly string[]) => string | Advice;

/** In place of printing a secret that an agent would read. */
const orReveal = (text: string) => () => `${text}; --reveal prints it all the same`;

const steps: Readonly<Record<StepName, Words>> = {
  'accept-as-sent': () => 'ask the sender; --no-decrypt accepts it as it is',
  'accept-as-sent-next': () => 'to accept such an answer the next time, use --no-decrypt',
  'accept-limits': (kind) =>
    `use limits that the instance allows, or keep the ${kind} with --accept-limits`,
  'allow-variables': (names) => `if you trust the sender, next time use --allow ${names}`,
  'allow-variables-or-only': (names) =>
    `if you trust the sender, next time use --allow ${names}; or accept only the names you expect with --only NAME,…`,
  attach: () => 'attach it with --file',
  'choose-identity-file': () => 'choose a file for it with --identity-out FILE',
  'delete-saved': (...paths) => ({
    text: `delete the ${paths.length === 1 ? 'file' : 'files'} when done`,
    command: `rm ${paths.map(shellWord).join(' ')}`,
  }),
  'clipboard-programs': () =>
    '--copy requires wl-copy, xclip, xsel, pbcopy or clip.exe, or a terminal',
  configure: () =>
    'log in with pwpush login, set PWPUSH_URL or use --url; or run an instance here with pwpush serve',
  'do-without-files': () =>
    'put them into its folder, as 1.age and so on; --no-files does without them',
  'get-whole-link': () =>
    'use the complete link, with the part after #; or the words with --key-file FILE',
  'generate-quietly': orReveal('use pwpush push --generate --quiet'),
  'get-unseen': orReveal('use pwpush run, --output FILE or --copy'),
  'give-identity': () => 'use the private key: --identity FILE, such as ~/.ssh/id_ed25519',
  'give-identity-elsewhere': () => 'run it where the request was made, or use --identity FILE',
  'keep-token-elsewhere': () =>
    'log in without --keyring to keep the token in a file that only you can read, or leave it in a password manager: pwpush profile set token-command COMMAND',
  'name-certificate': () => 'name it with --cert, PWPUSH_CERT_FILE or the setting cert',
  'name-certificate-key': () => 'name the file of the key with --cert-key',
  'name-message': () =>
    'every word after --file is taken as a path; add a text with --message TEXT',
  'not-by-terminal': orReveal(
    "the terminal's clipboard would get it through the output: use pwpush run or --output FILE",
  ),
  'open-saved': (path = '') => ({
    text: 'with the key, open what was saved',
    command: `pwpush get --from-file ${shellWord(path)}`,
  }),
  'output-unseen': orReveal('use --output FILE'),
  overwrite: () => 'overwrite it with --force',
  'pack-folder': () => 'pack it: tar cz FOLDER | pwpush push --file - --filename FOLDER.tar.gz',
  'pipe-content': () => 'pipe its content in: … | pwpush push --file - --filename NAME',
  'pipe-file': () => 'pipe it: cat FILE | pwpush push --file -',
  'pipe-token': () => 'use --token-file - to read standard input',
  'quiet-for-json': orReveal('use --quiet in place of --json'),
  'quiet-too': orReveal('add --quiet'),
  'remove-account': () =>
    'only the commercial edition has them; remove --account, or the setting of the profile',
  'remove-json': orReveal('remove --json'),
  'report-bug': () => 'run it again with --debug and report the output',
  'request-here-or-plain': () =>
    'to ask without an instance, use pwpush request --here; to let the instance read the answer, use --no-encrypt',
  resume: (path = '') => `run pwpush get --resume ${shellWord(path)}`,
  'resume-soon': (path = '', key = '') => ({
    text: `get the rest within minutes${key && '; give its key when asked, or add the link'}`,
    command: `pwpush get --resume ${shellWord(path)}`,
  }),
  'save-sealed': () => 'save it with --no-decrypt, then open it with age -d',
  'send-elsewhere': (origin) => `to send it, add --url ${origin} --anonymous`,
  'set-address': (name) =>
    `set one: pwpush login --profile ${name}, or pwpush profile set url URL --profile ${name}`,
  'set-variable': () => 'next time use --as NAME',
  'set-variable-of-file': () => 'next time use --file NAME=FILE',
  'shorten-days': (duration) =>
    'use --days 1, and end it before: ' +
    `pwpush wait LINK --for ${duration} --then-expire || pwpush expire LINK`,
  'try-saved-key': (path = '') =>
    `its private key was saved to ${path}: try age -d -i ${shellWord(path)}`,
  'unlock-key': (path = '', format = '', platform = '') => {
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
  'unlock-keyring': (profile) =>
    `unlock the keyring, or log in again: pwpush login --keyring --profile ${profile}`,
  'use-https': (what, profile) => {
    const risk = `pwpush profile set insecure true${profile ? ` --profile ${profile}` : ''}`;
    const which = profile ? 'for this profile' : 'in a profile for that address';
    return what === 'token'
      ? `use https, use --anonymous to send no token, or accept the risk ${which}: ${risk}`
      : `use https, or accept the risk ${which}: ${risk}`;
  },
  'use-profile': (first, ...others) =>
    others.length === 0
      ? `use the token of profile "${first}" for this instance: --profile ${first}`
      : `profiles ${[first, ...others].join(', ')} have a token for this instance: choose one with --profile`,
  'use-stdin-or-file': () => 'next time use --stdin or --file',
  'write-key': orReveal('write its words to a file: --key-out FILE'),
  'write-passphrase': orReveal('write it to a file: --passphrase-out FILE'),
};

/** @param step of an error */
export function adviceFor(step: Step): Advice {
  if (typeof step === 'string') return { text: step };
  if ('text' in step) return step;
  const words = steps[step.name](...step.of.map(String));
  return typeof words === 'string' ? { text: words } : words;
}
