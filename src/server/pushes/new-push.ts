import * as v from 'valibot';
import { isLinkKey } from '../../age/link-key';
import { sealedWith } from '../../age/sealed-with';
import { hasAtMost, type Kind, kinds, limits, pushFlags } from '../../contract/api';
import { DAY_SECONDS, durations, longestDuration, shortestLifetime } from '../../contract/lifetime';
import { payloadFault } from '../../contract/payload-fault';
import type { Field } from '../rules/once';
import { PASSPHRASE_CHARACTERS } from '../rules/passphrase-check';
import { invalid } from '../service-errors';
import type { Bound, Bounds } from '../service-settings';

/**
 * Validates the `push` object of a creation request with that number of files. Its `lifetime` is in seconds.
 * @throws ServiceRefusal with messages by field
 */
export function validatePush(
  input: Partial<Record<string, unknown>>,
  bounds: Bounds,
  fileCount = 0,
) {
  // For a push of kind file without files, the message names the files rather than the payload.
  const missing = input.kind === 'file' ? fileProblem('file', fileCount) : undefined;
  const output = valid(schemaOf(bounds, fileCount > 0), input, missing);
  const { files: _, notify_emails_to: __, expire_after_duration, expires_in, ...rest } = output;
  const lifetime = expires_in ?? durations[expire_after_duration ?? -1];
  const push = {
    ...rest,
    // Rounded up, for clients that read only days.
    ...(lifetime !== undefined && { expire_after_days: Math.ceil(lifetime / DAY_SECONDS) }),
    lifetime: lifetime ?? rest.expire_after_days * DAY_SECONDS,
  };
  const field = expires_in === undefined ? 'expire_after_duration' : 'expires_in';
  const problem =
    expiryProblem(input) ??
    shortProblem(field, push.lifetime, bounds) ??
    fileProblem(push.kind, fileCount) ??
    payloadProblem(push) ??
    proofProblem(push);
  if (problem) throw invalid(problem);
  return push;
}

/**
 * Returns the fields of the schema with their values as sent, to compare them with those of a repeated request.
 * Defaults and unknown fields are left out, as another version of the service may have others.
 */
export function sentOf(input: object, { entries }: { readonly entries: object }): Field[] {
  const sent = input as Readonly<Record<string, Field>>;
  return Object.keys(entries).flatMap((name) =>
    // The only objects are null, which means the same as no field, and the list `files`, which is empty.
    typeof sent[name] === 'object' || sent[name] === undefined ? [] : [name, sent[name]],
  );
}

/** A push may have only one of these fields. With two of them it is refused, as either could be meant. */
const expiryFields = ['expire_after_days', 'expire_after_duration', 'expires_in'] as const;

function expiryProblem(input: Partial<Record<string, unknown>>): Problem {
  const [, second] = expiryFields.filter((field) => (input[field] ?? undefined) !== undefined);
  return second && { [second]: [`Give one of ${expiryFields.join(', ')}.`] };
}

/** A lifetime below the shortest is refused rather than extended, as the sender would not notice the extension. */
export function shortProblem(
  field: string,
  seconds: number,
  { shortest = 0, days: { min } }: Bounds,
): Problem {
  if (seconds >= shortest) return undefined;
  return { [field]: [`${labelOf(field)} must be at least ${min} ${min === 1 ? 'day' : 'days'}.`] };
}

type Schema = ReturnType<typeof pushSchema>;
type ValidFields = Omit<v.InferOutput<Schema>, 'files'>;
const schemas = {
  withFiles: new WeakMap<Bounds, Schema>(),
  without: new WeakMap<Bounds, Schema>(),
};

/** The schemas are cached, as making one takes longer than validating with it. */
export function schemaOf(bounds: Bounds, withFiles: boolean): Schema {
  const cache = withFiles ? schemas.withFiles : schemas.without;
  const schema = cache.get(bounds) ?? pushSchema(bounds, withFiles);
  cache.set(bounds, schema);
  return schema;
}

/** JSON bodies cannot contain files (docs/wire.md, "Creation bodies"). */
const notInJson = (part: string) =>
  `Files are sent as multipart/form-data, each in a part named ${part}.`;
const PART = 'push[files][]';

/** The `push` object of a creation request; docs/openapi.json describes it. */
export function pushSchema(bounds: Bounds, withFiles: boolean) {
  const longest = bounds.days.max * DAY_SECONDS;
  return v.object({
    payload: v.pipe(
      secretText('Payload'),
      v.check((payload) => withFiles || payload.trim() !== '', 'Payload is required.'),
    ),
    kind: v.nullish(
      v.picklist(kinds, `Kind must be one of ${kinds.join(', ')}.`),
      withFiles ? 'file' : 'text',
    ),
    expire_after_days: count('Expire after days', bounds.days),
    expire_after_duration: optionalCount('Expire after duration', 0, longestDuration(longest)),
    expires_in: optionalCount('Expires in', shortestLifetime.pwpush, longest),
    expire_after_views: count('Expire after views', bounds.views),
    ...flags(pushFlags, true),
    key_proof: sixteenBytes('Key proof'),
    key_salt: sixteenBytes('Key salt'),
    ...commonFields(),
    files: noFiles(PART),
  });
}

export function commonFields() {
  return {
    passphrase: v.pipe(
      text('Passphrase', PASSPHRASE_CHARACTERS),
      v.check(
        (passphrase) => passphrase === '' || passphrase.trim() !== '',
        'Passphrase must not be blank.',
      ),
    ),
    // The text columns of SQLite and PostgreSQL cannot contain NUL.
    name: v.pipe(
      text('Name', limits.nameCharacters),
      v.check((name) => !name.includes('\0'), 'Name must not contain a NUL character.'),
    ),
    note: text('Note', limits.noteCharacters),
    // If the field were ignored, the sender would believe that the link was sent by e-mail.
    notify_emails_to: v.nullish(v.literal('', 'This instance sends no e-mail.')),
  };
}

export function secretText(label: string) {
  const most = limits.textBytes;
  const fits = (text: string) => text.length <= most && Buffer.byteLength(text) <= most;
  return limitedText(label, fits, `too large (maximum is ${most} bytes)`);
}

function sixteenBytes(label: string) {
  const message = `${label} must be 16 bytes in base64url without padding.`;
  return v.nullish(v.pipe(v.string(message), v.check(isLinkKey, message)), null);
}

/** JSON cannot contain files, so only an empty list is valid. */
export function noFiles(part: string) {
  const isEmpty = (files: unknown) => Array.isArray(files) && files.length === 0;
  return v.nullish(v.custom(isEmpty, notInJson(part)));
}

function text(label: string, characters: number) {
  const fits = (value: string) => hasAtMost(value, characters);
  return limitedText(label, fits, `too long (maximum is ${characters} characters)`);
}

/** The size is checked before everything else that reads the text whole. */
function limitedText(label: string, fits: (text: string) => boolean, problem: string) {
  return v.nullish(
    v.pipe(
      v.string(`${label} must be a string.`),
      v.check(fits, `${label} is ${problem}.`),
      // A lone surrogate has no UTF-8 encoding and would be returned as another character.
      v.check((text) => !/\p{Surrogate}/u.test(text), `${label} is not valid Unicode text.`),
    ),
    '',
  );
}

export function optionalCount(label: string, min: number, max: number) {
  return count(label, { min, max, default: undefined });
}

function count<D extends number | undefined>(
  label: string,
  { min, max, default: fallback }: Omit<Bound, 'default'> & { readonly default: D },
) {
  const message = `${label} must be an integer from ${min} to ${max}.`;
  const decimal = v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number));
  return v.nullish(
    v.pipe(
      v.union([v.number(), decimal], message),
      v.integer(message),
      v.minValue(min, message),
      v.maxValue(max, message),
    ),
    fallback,
  );
}

/** Boolean fields, also as text (`true` or `1`), which forms send. */
export function flags<Name extends string>(names: readonly Name[], fallback: boolean) {
  const entries = names.map((name) => [name, flag(name, fallback)] as const);
  return Object.fromEntries(entries) as Record<Name, ReturnType<typeof flag>>;
}

function labelOf(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;
}

function flag(name: string, fallback: boolean) {
  const label = labelOf(name);
  const word = v.pipe(
    v.picklist(['true', 'false', '1', '0']),
    v.transform((value) => value === 'true' || value === '1'),
  );
  return v.nullish(v.union([v.boolean(), word], `${label} must be true or false.`), fallback);
}

type Problem = Record<string, string[]> | undefined;

/** @throws ServiceRefusal with `problem` if it is given, otherwise with the messages of the schema */
export function valid<S extends v.GenericSchema>(
  schema: S,
  input: object,
  problem?: Problem,
): v.InferOutput<S> {
  const result = v.safeParse(schema, input, { abortPipeEarly: true });
  if (result.success) return result.output;
  throw invalid(problem ?? { ...(v.flatten(result.issues).nested as Record<string, string[]>) });
}

function fileProblem(kind: Kind, fileCount: number): Problem {
  if ((kind === 'file') === fileCount > 0) return undefined;
  return fileCount > 0
    ? { kind: ['Kind must be file when there are files.'] }
    : { files: [`Files are required. ${notInJson(PART)}`] };
}

/** Nobody but its readers can check a payload that is encrypted. */
function payloadProblem({ kind, payload }: ValidFields): Problem {
  const fault = sealedWith(payload) === undefined ? payloadFault(kind, payload) : undefined;
  return fault === undefined ? undefined : { payload: [`Payload ${fault}.`] };
}

/** A key proof is refused if the payload has no key, as no reader could make the proof. */
function proofProblem({ payload, key_proof, key_salt }: ValidFields): Problem {
  if (key_proof === null)
    return key_salt === null ? undefined : { key_salt: ['Key salt requires a key proof.'] };
  const opened = sealedWith(payload);
  if (opened === 'link' || opened === 'words') return undefined;
  return { key_proof: ['Key proof requires a payload that is encrypted with a key or words.'] };
}
