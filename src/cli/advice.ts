import type { Advice, Step } from '../platform/errors';
import type { StepName } from '../platform/steps';
import { shellWord } from './terminal/wording';

type Words = (...of: readonly string[]) => string | Advice;

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
  'do-without-files': () =>
    'put them into its folder, as 1.age and so on; --no-files does without them',
  'get-whole-link': () =>
    'use the complete link, with the part after #; or the words with --key-file FILE',
  'give-identity': () => 'use the private key: --identity FILE, such as ~/.ssh/id_ed25519',
  'give-identity-elsewhere': () => 'run it where the request was made, or use --identity FILE',
  'open-saved': (path = '') => ({
    text: 'with the key, open what was saved',
    command: `pwpush get --from-file ${shellWord(path)}`,
  }),
  overwrite: () => 'overwrite it with --force',
  'pack-folder': () => 'pack it: tar cz FOLDER | pwpush push --file - --filename FOLDER.tar.gz',
  'pipe-content': () => 'pipe its content in: … | pwpush push --file - --filename NAME',
  'pipe-file': () => 'pipe it: cat FILE | pwpush push --file -',
  'report-bug': () => 'run it again with --debug and report the output',
  'request-here-or-plain': () =>
    'to ask without an instance, use pwpush request --here; to let the instance read the answer, use --no-encrypt',
  resume: (path = '') => `run pwpush get --resume ${shellWord(path)}`,
  'resume-soon': (path = '', key = '') => ({
    text: `get the rest within minutes${key && '; give its key when asked, or add the link'}`,
    command: `pwpush get --resume ${shellWord(path)}`,
  }),
  'save-sealed': () => 'save it with --no-decrypt, then open it with age -d',
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
  'use-stdin-or-file': () => 'next time use --stdin or --file',
};

/** @param step of an error */
export function adviceFor(step: Step): Advice {
  if (typeof step === 'string') return { text: step };
  if ('text' in step) return step;
  const words = steps[step.name](...step.of.map(String));
  return typeof words === 'string' ? { text: words } : words;
}
