import { expect, test } from 'vitest';
import { type Contents, type PlaceKind, waysOf } from '../../src/deliver/ways';

// Where text and files go, by place and by what the push has: text/files, and what is said of it.

const CONTENTS = ['text', 'file', 'files', 'text-and-file', 'text-and-files'] as const;

const cell = (kind: PlaceKind, contents: Contents, json: boolean) => {
  const { text, files, but } = waysOf(kind, contents, json);
  return `${text}/${files}${but ? ` (${but})` : ''}`;
};
const line = (kind: PlaceKind, json: boolean) => CONTENTS.map((one) => cell(kind, one, json));
const ALONE = 'stdout/current (one-file-only)';
const TERMINAL = 'stdout/current (is-terminal)';
const NO_FOLDER = 'reserved/current (no-folder)';

test.each<[PlaceKind, string[]]>([
  ['stdout', ['stdout/nowhere', ...Array(4).fill('stdout/current')]],
  ['dash', ['stdout/nowhere', 'stdout/stdout', ALONE, 'beside/stdout', ALONE]],
  ['dash-terminal', ['stdout/nowhere', TERMINAL, ALONE, TERMINAL, ALONE]],
  ['clipboard', ['reserved/nowhere', ...Array(4).fill('reserved/current')]],
  ['job', ['reserved/nowhere', ...Array(2).fill('nowhere/current (not-set)'), ...Array(2).fill('reserved/current')]],
  ['new-path', ['reserved/nowhere', 'stdout/path', ...Array(3).fill('beside/folder')]],
  ['old-file', ['reserved/nowhere', 'stdout/path', ...Array(3).fill(NO_FOLDER)]],
  ['special-file', ['reserved/nowhere', ...Array(4).fill(NO_FOLDER)]],
  ['folder', ['reserved/nowhere', ...Array(4).fill('reserved/folder')]],
  ['file-folder', ['stdout/nowhere', ...Array(4).fill('stdout/folder')]],
])('a place takes what it can: %s', (kind, ways) => {
  expect(line(kind, false)).toEqual(ways);
});

test.each<[PlaceKind, string[]]>([
  ['stdout', ['stdout/nowhere', ...Array(4).fill('stdout/current')]],
  ['dash', ['stdout/nowhere', ...Array(4).fill('stdout/current')]],
  ['dash-terminal', ['stdout/nowhere', ...Array(4).fill('stdout/current')]],
  ['new-path', ['reserved/nowhere', 'stdout/path', ...Array(3).fill('stdout/folder')]],
  ['old-file', ['reserved/nowhere', 'stdout/path', ...Array(3).fill(NO_FOLDER)]],
  ['special-file', ['reserved/nowhere', ...Array(4).fill(NO_FOLDER)]],
  ['file-folder', ['stdout/nowhere', ...Array(4).fill('stdout/folder')]],
])('an object leaves standard output to itself: %s', (kind, ways) => {
  expect(line(kind, true)).toEqual(ways);
});
