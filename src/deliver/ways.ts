import type { Push } from '../contract/decode';

/**
 * The kind of a place decides where text and files go: an `old-file` is replaced, a `special-file` is a pipe or the
 * like, and a `file-folder` takes no text.
 */
export type PlaceKind =
  | 'stdout'
  | 'dash'
  | 'dash-terminal'
  | 'clipboard'
  | 'job'
  | 'new-path'
  | 'old-file'
  | 'special-file'
  | 'folder'
  | 'file-folder';

export type Contents = 'none' | 'text' | 'file' | 'files' | 'text-and-file' | 'text-and-files';

export interface Ways {
  /** `beside` is a file in the folder of the other files. */
  readonly text: 'nowhere' | 'stdout' | 'reserved' | 'beside';
  /** `path` is the place of the one file, `current` the current folder. */
  readonly files: 'nowhere' | 'stdout' | 'current' | 'folder' | 'path';
  /** Says how the place is not used as a user may expect. */
  readonly but?: 'no-folder' | 'not-set' | 'one-file-only' | 'is-terminal' | undefined;
}

type Row = Readonly<Record<Contents, Ways>>;

const way = (text: Ways['text'], files: Ways['files'], but?: Ways['but']): Ways => ({
  text,
  files,
  but,
});

/** Makes a row in which all contents with files go the same way. */
function row(...[text, files, but]: Parameters<typeof way>): Row {
  const ways = way(text, files, but);
  return {
    none: way('nowhere', 'nowhere'),
    text: way(text === 'beside' ? 'reserved' : text, 'nowhere'),
    file: ways,
    files: ways,
    'text-and-file': ways,
    'text-and-files': ways,
  };
}

const asOutput = row('stdout', 'current', 'one-file-only');
const terminal = way('stdout', 'current', 'is-terminal');
const unset = way('nowhere', 'current', 'not-set');
const atPath = way('stdout', 'path');

const table: Readonly<Record<PlaceKind, Row>> = {
  stdout: row('stdout', 'current'),
  dash: { ...asOutput, file: way('stdout', 'stdout'), 'text-and-file': way('beside', 'stdout') },
  'dash-terminal': { ...asOutput, file: terminal, 'text-and-file': terminal },
  clipboard: row('reserved', 'current'),
  job: {
    ...row('reserved', 'current'),
    none: way('nowhere', 'nowhere', 'not-set'),
    file: unset,
    files: unset,
  },
  'new-path': { ...row('beside', 'folder'), file: atPath },
  'old-file': { ...row('reserved', 'current', 'no-folder'), file: atPath },
  'special-file': row('reserved', 'current', 'no-folder'),
  folder: row('reserved', 'folder'),
  'file-folder': row('stdout', 'folder'),
};

/** @param json a JSON object replaces the text, and standard output is for the object alone */
export function waysOf(kind: PlaceKind, contents: Contents, json: boolean): Ways {
  const { text, files, but } = table[kind][contents];
  if (!json) return { text, files, but };
  const others = files === 'stdout' ? 'current' : files;
  return way(text === 'reserved' ? text : 'stdout', others, but === 'no-folder' ? but : undefined);
}

export function contentsOf(
  { files = [], payload }: Push,
  withFiles: boolean,
  json: boolean,
): Contents {
  const hasText = Boolean(payload);
  if (files === null || files.length === 0 || (!withFiles && (hasText || json))) return 'text';
  if (!withFiles) return 'none';
  const some = files.length === 1 ? 'file' : 'files';
  return hasText ? `text-and-${some}` : some;
}
