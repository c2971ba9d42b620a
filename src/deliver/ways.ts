import type { Push } from '../contract/decode';

/** What a place is, as far as it decides where text and files go. */
export type PlaceKind =
  /** Standard output takes the text alone, as text or as a QR code. */
  | 'stdout'
  /** Standard output takes one file, too; not if it is a terminal. */
  | 'dash'
  | 'dash-terminal'
  /** The clipboard, which takes the text alone. */
  | 'clipboard'
  /** A step or variable of a CI job, which takes the text alone. */
  | 'job'
  /** A path where nothing is. */
  | 'new-path'
  /** A file that is to be replaced. */
  | 'old-file'
  /** A pipe or the like. */
  | 'special-file'
  /** A folder for the text, too. */
  | 'folder'
  /** A folder for files alone: an object goes to standard output. */
  | 'file-folder';

/** What a push has that is wanted; `none` if that are files alone and none is. */
export type Contents = 'none' | 'text' | 'file' | 'files' | 'text-and-file' | 'text-and-files';

/** Where text and files of a push go. */
export interface Ways {
  /** Where the text goes, or the object; `beside` is a file among the others. */
  readonly text: 'nowhere' | 'stdout' | 'reserved' | 'beside';
  /** Where the files go; `path` is the place of the one file, `here` the current folder. */
  readonly files: 'nowhere' | 'stdout' | 'here' | 'folder' | 'path';
  /** In what the place is not used as somebody may expect. */
  readonly but?: 'no-folder' | 'not-set' | 'one-file-only' | 'is-terminal';
}

/** The same way for all contents with files. */
function row(
  text: Ways['text'],
  files: Ways['files'],
  but?: Ways['but'],
): Readonly<Record<Contents, Ways>> {
  const ways: Ways = but ? { text, files, but } : { text, files };
  return {
    none: { text: 'nowhere', files: 'nowhere' },
    text: { text: text === 'beside' ? 'reserved' : text, files: 'nowhere' },
    file: ways,
    files: ways,
    'text-and-file': ways,
    'text-and-files': ways,
  };
}

const toStdout = (but: Ways['but']) => row('stdout', 'here', but);
const onlyFile: Ways = { text: 'stdout', files: 'path' };
const notSet = { but: 'not-set' } as const;

const table: Readonly<Record<PlaceKind, Readonly<Record<Contents, Ways>>>> = {
  stdout: row('stdout', 'here'),
  dash: {
    ...toStdout('one-file-only'),
    file: { text: 'stdout', files: 'stdout' },
    'text-and-file': { text: 'beside', files: 'stdout' },
  },
  'dash-terminal': {
    ...toStdout('one-file-only'),
    file: { text: 'stdout', files: 'here', but: 'is-terminal' },
    'text-and-file': { text: 'stdout', files: 'here', but: 'is-terminal' },
  },
  clipboard: row('reserved', 'here'),
  job: {
    ...row('reserved', 'here'),
    none: { text: 'nowhere', files: 'nowhere', ...notSet },
    file: { text: 'nowhere', files: 'here', ...notSet },
    files: { text: 'nowhere', files: 'here', ...notSet },
  },
  'new-path': { ...row('beside', 'folder'), file: onlyFile },
  'old-file': { ...row('reserved', 'here', 'no-folder'), file: onlyFile },
  'special-file': row('reserved', 'here', 'no-folder'),
  folder: row('reserved', 'folder'),
  'file-folder': row('stdout', 'folder'),
};

/**
 * Where text and files go that come to a place, which is decided before they are fetched.
 * @param json an object goes in place of the text, which leaves standard output to it
 */
export function waysOf(kind: PlaceKind, contents: Contents, json: boolean): Ways {
  const ways = table[kind][contents];
  if (!json) return ways;
  return {
    text: ways.text === 'reserved' ? 'reserved' : 'stdout',
    files: ways.files === 'stdout' ? 'here' : ways.files,
    ...(ways.but === 'no-folder' && { but: ways.but }),
  };
}

/** @param files whether they are wanted */
export function contentsOf(push: Push, files: boolean, json: boolean): Contents {
  const number = push.files?.length ?? 0;
  const hasText = Boolean(push.payload);
  if (number === 0 || (!files && (hasText || json))) return 'text';
  if (!files) return 'none';
  const some = number === 1 ? 'file' : 'files';
  return hasText ? `text-and-${some}` : some;
}
