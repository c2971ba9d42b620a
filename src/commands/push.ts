import { statSync } from 'node:fs';
import { refuseGenerated, refuseToPrint } from '../cli/agent';
import { needsInstance } from '../cli/check-options';
import {
  choice,
  count,
  either,
  flag,
  group,
  inputFiles,
  newFile,
  operand,
  optional,
  parsed,
  text,
} from '../cli/declare';
import {
  fileRows,
  hereRows,
  labelRows,
  lineRows,
  linkRows,
  newPassphraseRows,
  type Options,
  sourceRows,
} from '../cli/options';
import { passphraseSource, refusePrintedPassphrase } from '../cli/passphrase';
import { contentOf } from '../cli/source';
import { days, expiry, isVariableName } from '../cli/values';
import { notification } from '../client/notification';
import { kinds, locales } from '../contract/api';
import { definedFields } from '../contract/json';
import { DAY_SECONDS } from '../contract/lifetime';
import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import type { PartialSettings } from '../profile/settings';
import type { Target } from '../profile/target';
import type { SettingPlan } from '../run/set-first';
import type { SealPlan } from '../send/encryption';
import { secondsUntil } from '../send/expiry';
import help from './help/push.txt?raw';
import { command } from './planned';
import type { EphemeralTarget } from './push/choose-target';
import type { EachPlan } from './push/each';
import type { EphemeralPlan } from './push/from-here';
import type { PushPlan } from './push/run';

const languages = [locales.slice(0, 18), locales.slice(18)].map((line) => line.join(' '));

const rows = {
  text: operand('[text]', 'the secret; others can see it, so pipe it in')
    .readsStandardInput('the secret')
    .conflicts(['from', 'env', 'generate'])
    .conflicts(['file'], undefined, 'add a text to the files with --message TEXT'),
  ...group('Secret:', {
    ...sourceRows(),
    into: flag('--into', 'give the new secret to the command after --')
      .requires('generate')
      .conflicts(['dryRun', 'each'])
      .needsInstance(),
    as: text('--as <name>', 'variable for that command, instead of its stdin').requires('into'),
    kind: choice('--kind <kind>', 'text, file, url (redirects), qr (drawn on page)', kinds)
      .conflicts(['file'], (kind) => kind !== 'file')
      .requires('file', undefined, (kind) => kind === 'file'),
    ...labelRows(),
  }),
  ...group('Files:', fileRows()),
  ...group('Limits:', {
    days: parsed('-d, --days <n>', 'expire after N days', days).common().conflicts(['expire']),
    expire: parsed(
      '-e, --expire <time>',
      'expire after 45m, 6h, 3d, 2w, or on 2026-12-01',
      expiry,
    ).common(),
    views: count('-v, --views <n>', 'expire after N views').common(),
    deletable: either('--deletable', 'whether the recipient can delete the push'),
    click: either('--click', 'whether a click opens it; scanners do not click'),
    acceptLimits: flag('--accept-limits', 'keep the push even if looser limits were granted'),
  }),
  ...group('Protection:', {
    ...newPassphraseRows('push', 'text'),
    encrypt: optional(
      '--encrypt [mode]',
      'encrypt; the key goes into the link, or =words',
      encryptMode,
    )
      .common()
      .orNot('do not encrypt, whatever is the default')
      .conflicts(['to'], (mode) => mode !== true)
      .conflicts(['keyOut'], (mode) => mode === false),
    keyOut: newFile('--key-out <file>', 'write the words to a new file (0600)'),
    to: inputFiles(
      '--to <key>',
      'encrypt to a key (age1…, ssh-…), file of keys or -',
      'the public keys',
    ),
  }),
  ...group('Output:', {
    ...linkRows(),
    dryRun: flag('--dry-run', 'show what would be sent, secrets masked').needsInstance(),
  }),
  ...group('From this machine:', {
    here: flag('--here', 'serve from memory until viewed; 100 MiB a file')
      .common()
      .replacesInstance(),
    ...hereRows('0.0.0.0 for the LAN (default: 127.0.0.1)'),
  }),
  ...group('Many at once:', {
    each: flag('--each', 'push every line of stdin: secret or JSON object')
      .takesPiped('the secrets', ['text', 'from'])
      .conflicts(['env', 'generate', 'file', 'message', 'raw'])
      .conflicts(['passphraseOut', 'qr', 'copy', 'here'])
      .conflicts(['kind'], (_, kind) => kind === 'file')
      .conflicts(['text'], (_, text) => text !== '-'),
  }),
};

type PushOptions = Options<typeof rows>;

export default command({
  description: 'Push a secret and print its link.',
  help: help.replace('{locales}', languages.join('\n')),
  takesCommand: 'into',
  rows,
  plan: async (options, entry) => {
    const { context, command } = entry;
    const plan = (target: Target | EphemeralTarget) =>
      planOf(options, command.rest, context, target);
    // Printing the help does not need this module.
    const { chooseTarget, ephemeralTarget, targetInUse } = await import('./push/choose-target');
    if (options.here) return plan(ephemeralTarget(context));
    const target = targetInUse(entry, options);
    if (!(target instanceof Error))
      return options.each ? eachPlanOf(options, context, target) : plan(target);
    if (options.each) throw target;
    // An error of the options is reported before the user is asked for an instance.
    await plan({ defaults: {} });
    const { stdin, stderr } = context;
    const isWatched = stdin.isTTY && stderr.isTTY && context.canPrompt();
    if (!isWatched || options.json || options.dryRun) throw target;
    return plan(await chooseTarget(entry, options, !needsInstance(lineRows(rows), options)));
  },
  run: async (entry, plan) => {
    if ('lines' in plan) return (await import('./push/each')).run(entry, plan);
    const { place } = plan;
    if (place.kind === 'ephemeral')
      return (await import('./push/from-here')).run(entry, { ...plan, place });
    return (await import('./push/run')).run(entry, { ...plan, place });
  },
});

/**
 * @param words the command that sets the secret
 * @throws CliError (usage)
 */
async function planOf(
  options: PushOptions,
  words: readonly string[],
  context: Context,
  target: Target | EphemeralTarget,
): Promise<PushPlan | EphemeralPlan> {
  const content = contentOf(options, context);
  const setting = options.into ? await settingOf(options, words) : undefined;
  const { details, ...plan } = await termsOf(options, context, target);
  await refusePrinted(options, plan.seal.encryption, context);
  const typed = options.text === '-' ? undefined : options.text;
  const push = {
    ...plan,
    content: {
      ...content,
      details,
      isExposed: typed !== undefined || options.message !== undefined,
      isFileName: isFileName(typed),
      isForCommand: setting !== undefined,
    },
  };
  const { host, port = 0, dryRun } = options;
  return target.base === undefined
    ? { ...push, place: { kind: 'ephemeral', host, port } }
    : { ...push, place: { kind: 'instance', target, setting, dryRun } };
}

async function eachPlanOf(
  options: PushOptions,
  context: Context,
  target: Target,
): Promise<EachPlan> {
  const { from = '-', dryRun } = options;
  if (from === '-' && context.stdin.isTTY)
    throw usageError(
      '--each reads lines, but nothing is piped in',
      'pipe them in, or use --from FILE',
    );
  return { ...(await termsOf(options, context, target)), lines: from, target, dryRun };
}

async function termsOf(options: PushOptions, context: Context, target: Target | EphemeralTarget) {
  const { base, passphraseFor, defaults } = target;
  const { name, note, notify, locale } = options;
  const source = passphraseSource(options, context);
  const details = { ...definedFields({ name, note }), ...(notify && notification(notify, locale)) };
  const encryption = await sealOf(options, target, context);
  return {
    details,
    limits: limitsOf(options, defaults, context),
    seal: {
      passphrase: { ...source, owner: passphraseFor },
      offersPassphrase: defaults['ask-passphrase'] === true,
      encryption,
    },
    result: {
      locale,
      generated: options.generate !== undefined && !options.into,
      copy: options.copy,
      qr: options.qr,
      receipt: base !== undefined && defaults.receipts !== false,
    },
  };
}

function isFileName(text = ''): boolean {
  try {
    return /^\S+$/.test(text) && statSync(text).isFile();
  } catch {
    return false;
  }
}

/**
 * Returns how options, or else the defaults, encrypt the push; undefined if they do not.
 * @throws CliError (usage) for options that contradict the encryption, and for a public key that cannot be used
 */
async function sealOf(
  options: PushOptions,
  { defaults, profile }: Pick<Target, 'defaults' | 'profile'>,
  { env }: Context,
): Promise<SealPlan | undefined> {
  const { encrypt = defaults.encrypt, to, keyOut } = options;
  const typed = encrypt === true ? 'link' : encrypt === 'off' ? undefined : encrypt || undefined;
  const mode = to ? 'keys' : typed;
  if (keyOut !== undefined && mode !== 'words')
    throw usageError('--key-out requires --encrypt=words');
  if (mode === undefined) return undefined;
  const setting = readVariable(env, 'PWPUSH_ENCRYPT')
    ? `PWPUSH_ENCRYPT=${mode}`
    : `encrypt = ${mode} of profile "${profile}"`;
  const option = mode === 'link' ? '--encrypt' : `--encrypt=${mode}`;
  const named = options.encrypt === undefined ? setting : option;
  if (mode === 'words' && options.each)
    throw usageError(`--each cannot be combined with ${named}`, 'use --encrypt, or --to KEY');
  if (mode === 'link' && options.notify)
    throw usageError(
      `--notify cannot be combined with ${named}: the instance would e-mail the link without its key`,
      'send the link yourself, or use --encrypt=words, --to KEY or --no-encrypt',
    );
  if (mode === 'keys') return { mode, to: to ?? [], keys: [] };
  return mode === 'words' ? { mode, wordsFile: keyOut } : { mode };
}

function limitsOf(
  { days, expire, ...options }: PushOptions,
  defaults: PartialSettings,
  context: Context,
): PushPlan['limits'] {
  if (expire) secondsUntil(expire, context, '--expire: ');
  const wholeDays = days ?? defaults.days;
  return {
    expiry: expire ?? (wholeDays === undefined ? undefined : { after: wholeDays * DAY_SECONDS }),
    expiryOption: expire && '--expire',
    fields: definedFields({
      kind: options.kind,
      expire_after_views: options.views ?? defaults.views,
      deletable_by_viewer: options.deletable ?? defaults.deletable,
      retrieval_step: options.click ?? defaults.click,
    }),
    accept: options.acceptLimits,
  };
}

/** Refuses to generate a secret that would be printed where an agent reads it. */
async function refusePrinted(
  { json, quiet, dryRun, ...options }: PushOptions,
  seal: SealPlan | undefined,
  context: Context,
): Promise<void> {
  if (options.generate !== undefined && !options.into && !(json && dryRun))
    await refuseGenerated(context, { json, quiet });
  if (dryRun) return;
  await refusePrintedPassphrase({ ...options, json }, context);
  if (seal?.mode === 'words' && seal.wordsFile === undefined)
    await refuseToPrint(context, 'the key', 'write-key');
}

/**
 * Plans the command that sets the secret before it is pushed.
 * @throws CliError (usage) without a command, and for an invalid or unsafe variable
 */
async function settingOf(
  { as: variable, passphraseOut, keyOut }: PushOptions,
  [program, ...words]: readonly string[],
): Promise<SettingPlan> {
  const { isUnsafe } = await import('../run/unsafe-variables');
  if (program === undefined)
    throw usageError(
      'no command to run',
      'put it after --, for example: pwpush push --generate --into -- ./set-password.sh',
    );
  if (variable !== undefined && !isVariableName(variable))
    throw usageError(`"${variable}" is not a valid variable name`);
  if (variable !== undefined && isUnsafe(variable))
    throw usageError(`${variable} would change what is loaded and run`);
  const files = [passphraseOut ?? '-', keyOut ?? '-'].filter((path) => path !== '-');
  return { words: [program, ...words], variable, files };
}

/** Refuses any other value: the secret may have been meant, as in `--encrypt hunter2`. */
function encryptMode(value: string): 'link' | 'words' {
  if (value === 'link' || value === 'words') return value;
  throw usageError(
    '--encrypt is followed by link, by words or by nothing',
    'alone it puts the key into the link; a text comes before it, or after --',
  );
}
