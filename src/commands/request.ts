import { filledText, flag, group, newFile, operand, parsed, switchOff } from '../cli/declare';
import {
  attachments,
  hereRows,
  labelRows,
  linkRows,
  newPassphraseRows,
  type Options,
} from '../cli/options';
import { passphraseSource, refusePrintedPassphrase } from '../cli/passphrase';
import { checkPaths, chooseSource } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import { expiry, filled, waitingTime } from '../cli/values';
import { notification } from '../client/notification';
import { definedFields } from '../contract/json';
import type { PlacePlan } from '../deliver/place';
import { phrase, usageError } from '../platform/errors';
import { closing, isDate, reportExpiry } from '../send/expiry';
import help from './help/request.txt?raw';
import { command } from './planned';
import type { RequestPlan } from './request/run';

const rows = {
  text: operand('[question]', 'what you ask for; the instance can read it')
    .readsStandardInput('the question')
    .takesPiped('the question', ['here']),
  ...group('Request:', {
    expire: parsed(
      '--expire <time>',
      'close after 15m to 3mo: 6h, 1w, or on 2026-12-01',
      expiry,
    ).common(),
    ...labelRows(),
    file: attachments('files to go with the question, up to 10', 'a file').needsInstance(),
    allowFiles: flag('--allow-files', 'allow files in the answer').common(),
    acceptLimits: flag(
      '--accept-limits',
      'keep the request even if looser limits were granted',
    ).needsInstance(),
  }),
  ...group('Protection:', {
    ...newPassphraseRows('page', 'question'),
    identityOut: newFile(
      '--identity-out <file>',
      'write the private key to a new file (0600)',
    ).needsInstance(),
    encrypt: switchOff('--no-encrypt', 'let the instance read the answer')
      .common()
      .conflicts(['identityOut'])
      .needsInstance(),
  }),
  ...group('Output:', {
    ...linkRows(),
    wait: flag('--wait', 'wait until it is answered (0) or closed (6)').common().needsInstance(),
    for: parsed(
      '--for <time>',
      'wait at most this long (12): seconds, 45m, 6h',
      waitingTime,
    ).requires('wait'),
  }),
  ...group('From this machine:', {
    here: flag('--here', 'serve the question from memory until it is answered')
      .common()
      .replacesInstance()
      .conflicts(['passphraseOut']),
    output: filledText('-o, --output <path>', 'write the answer to a new file or a folder')
      .names('path')
      .requires('here'),
    force: flag('--force', 'overwrite existing files').requires('here'),
    ...hereRows('address to listen on (default: 0.0.0.0)'),
  }),
};

type RequestOptions = Options<typeof rows>;

export default command({
  description: 'Ask someone for a secret: print a link that they answer.',
  help,
  rows,
  plan: planOf,
  run: async (entry, plan) => (await import('./request/run')).run(entry, plan),
});

async function planOf(options: RequestOptions, entry: Entry): Promise<RequestPlan> {
  const { context } = entry;
  const { text, encrypt, expire, notify, locale, name, note, file: files, copy, qr } = options;
  const source = passphraseSource(options, context);
  const notified = notify ? notification(notify, locale) : {};
  if (notify && encrypt)
    throw usageError(
      '--notify requires --no-encrypt: the instance would e-mail the link without its key',
      'send the link yourself, or let the instance read the answer',
    );
  await refusePrintedPassphrase(options, context);
  const question = options.here
    ? { name: 'text' as const, value: filled(text ?? 'Please enter the secret.', 'the question') }
    : chooseSource({ text }, context, 'ask');
  if (files) checkPaths(files, context.stdin.isTTY);
  const place = options.here ? ephemeralPlace(options) : await instanceOf(entry, options);
  const owner = place.kind === 'instance' ? place.target.passphraseFor : undefined;
  const closes = expire && closing(expire, context);
  if (options.here) await reportExpiry(expire, 'closes', entry.say);
  return {
    content: { question, files, details: { ...definedFields({ name, note }), ...notified } },
    limits: {
      closes,
      byDate: isDate(expire),
      takesFiles: options.allowFiles,
      accept: options.acceptLimits,
    },
    seal: {
      passphrase: { ...source, owner },
      encryption: encrypt ? { identityFile: options.identityOut } : undefined,
    },
    place,
    result: { locale, copy, qr },
  };
}

function ephemeralPlace({ host = '0.0.0.0', port = 0, output, force }: RequestOptions) {
  const place: PlacePlan =
    output === undefined
      ? { to: 'stream', force }
      : output === '-'
        ? { to: 'dash', force }
        : { to: 'path', path: output, force };
  return { kind: 'ephemeral', host, port, output: place } as const;
}

/** @throws CliError (usage) if no instance is configured */
async function instanceOf(entry: Entry, options: RequestOptions) {
  const { sourcesOf } = await import('../profile/sources');
  const { NoInstance, targetOrNone } = await import('../profile/target');
  const target = targetOrNone(sourcesOf(entry, options));
  if (target instanceof NoInstance) throw target.advising(phrase('request-here'));
  const wait = options.wait ? { most: options.for } : undefined;
  return { kind: 'instance', target, wait } as const;
}
