import * as v from 'valibot';
import { type Kind, kinds, limits } from '../../contract';
import { invalid } from '../refusal';
import type { Bound, Bounds } from '../service-settings';

/** A creation request that passed, defaults filled in. */
export interface Creation {
  readonly payload: string;
  readonly kind: Kind;
  readonly expire_after_days: number;
  readonly expire_after_views: number;
  readonly deletable_by_viewer: boolean;
  readonly retrieval_step: boolean;
  readonly passphrase: string;
  readonly name: string;
  readonly note: string;
}

/** Of a passphrase. */
export const PASSPHRASE_CHARACTERS = 1024;

/** Checks the `push` of a creation request that brings so many files; throws a `Refusal` with messages by field. */
export function readCreation(input: object, bounds: Bounds, fileCount = 0): Creation {
  const result = v.safeParse(schemaOf(bounds, fileCount > 0), input, { abortPipeEarly: true });
  if (!result.success) {
    // What it lacks is files, not a payload.
    const problem =
      'kind' in input && input.kind === 'file' ? fileProblem('file', fileCount) : undefined;
    if (problem) throw invalid(problem);
    throw invalid({ ...(v.flatten(result.issues).nested as Record<string, string[]>) });
  }
  const { files: _, notify_emails_to: __, ...creation } = result.output;
  const problem = fileProblem(creation.kind, fileCount) ?? payloadProblem(creation);
  if (problem) throw invalid(problem);
  return creation;
}

type Schema = ReturnType<typeof creationSchema>;
const schemas = {
  withFiles: new WeakMap<Bounds, Schema>(),
  without: new WeakMap<Bounds, Schema>(),
};

/** Made once: making it takes longer than checking with it. */
function schemaOf(bounds: Bounds, withFiles: boolean): Schema {
  const made = withFiles ? schemas.withFiles : schemas.without;
  const schema = made.get(bounds) ?? creationSchema(bounds, withFiles);
  made.set(bounds, schema);
  return schema;
}

// JSON has no encoding of files (docs/wire.md, "Endpoints").
const notInJson = 'Files are sent as multipart/form-data, each in a part named push[files][].';

function creationSchema(bounds: Bounds, withFiles: boolean) {
  return v.object({
    payload: v.nullish(
      v.pipe(
        v.string('Payload must be a string.'),
        v.check((payload) => withFiles || payload.trim() !== '', 'Payload is required.'),
        v.check(isUnicode, 'Payload is not valid Unicode text.'),
      ),
      '',
    ),
    kind: v.nullish(
      v.picklist(kinds, `Kind must be one of ${kinds.join(', ')}.`),
      withFiles ? 'file' : 'text',
    ),
    expire_after_days: count('Expire after days', bounds.days),
    expire_after_views: count('Expire after views', bounds.views),
    deletable_by_viewer: flag('Deletable by viewer'),
    retrieval_step: flag('Retrieval step'),
    passphrase: v.pipe(
      text('Passphrase', PASSPHRASE_CHARACTERS),
      v.check(
        (passphrase) => passphrase === '' || passphrase.trim() !== '',
        'Passphrase must not be blank.',
      ),
    ),
    // Neither database keeps a NUL in a text column.
    name: v.pipe(
      text('Name', limits.nameCharacters),
      v.check((name) => !name.includes('\0'), 'Name must not hold a NUL character.'),
    ),
    note: text('Note', limits.noteCharacters),
    files: v.nullish(v.custom((files) => Array.isArray(files) && files.length === 0, notInJson)),
    // Never ignored: the sender would believe that the link was e-mailed.
    notify_emails_to: v.nullish(v.literal('', 'This instance sends no e-mail.')),
  });
}

function text(label: string, characters: number) {
  return v.nullish(
    v.pipe(
      v.string(`${label} must be a string.`),
      v.check(
        (value) => hasAtMost(value, characters),
        `${label} is too long (maximum is ${characters} characters).`,
      ),
      v.check(isUnicode, `${label} is not valid Unicode text.`),
    ),
    '',
  );
}

function count(label: string, { min, max, default: fallback }: Bound) {
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

function flag(label: string) {
  const word = v.pipe(
    v.picklist(['true', 'false', '1', '0']),
    v.transform((value) => value === 'true' || value === '1'),
  );
  return v.nullish(v.union([v.boolean(), word], `${label} must be true or false.`), true);
}

/** Whether a text has at most so many characters. A long one is not taken apart: that takes a hundred times its size. */
export function hasAtMost(text: string, characters: number): boolean {
  // A character is one or two UTF-16 code units.
  return text.length <= 2 * characters && [...text].length <= characters;
}

/** A lone surrogate has no UTF-8: it would come back as another character. */
function isUnicode(value: string): boolean {
  return !/\p{Surrogate}/u.test(value);
}

type Problem = Record<string, string[]> | undefined;

function fileProblem(kind: Kind, fileCount: number): Problem {
  if ((kind === 'file') === fileCount > 0) return undefined;
  return fileCount > 0
    ? { kind: ['Kind must be file when there are files.'] }
    : { files: [`Files are required. ${notInJson}`] };
}

function payloadProblem({ kind, payload }: Creation): Problem {
  if (kind === 'url' && !isWebAddress(payload)) {
    return { payload: ['Payload must be one http or https address.'] };
  }
  if (kind === 'qr' && !hasAtMost(payload, limits.qrCharacters)) {
    return { payload: [`Payload is too long (maximum is ${limits.qrCharacters} characters).`] };
  }
  return tooLarge(payload);
}

function tooLarge(payload: string): Problem {
  if (Buffer.byteLength(payload) <= limits.textBytes) return undefined;
  return { payload: [`Payload is too large (maximum is ${limits.textBytes} bytes).`] };
}

/** Whether the text is one http or https address, with nothing around or inside that a browser would drop. */
export function isWebAddress(payload: string): boolean {
  // \p{C}: also what has no width, or turns the rest around, so that it reads as another address.
  if (/[\s\p{C}]/u.test(payload)) return false;
  return /^https?:\/\//i.test(payload) && URL.canParse(payload);
}
