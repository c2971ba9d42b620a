import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Look } from '../../../src/cli/terminal/output';
import { type Listing, table, tables } from '../../../src/cli/terminal/table';
import { width } from '../../../src/cli/terminal/text-width';

interface Row {
  readonly name: string;
  readonly views: number;
}

const listing: Listing<Row> = {
  columns: [
    { title: 'NAME', shown: ({ name }) => name, elastic: 12 },
    { title: 'VIEWS', shown: ({ views }) => `${views}/5`, right: true },
  ],
  fields: ({ name, views }) => [name, String(views), '5'],
};

const look = (tty: boolean, width = 80): Look => ({
  tty,
  columns: width,
  rows: 24,
  now: new Date(0),
  paint: (_style, text) => text,
  utf8: true,
});

test('a table in a pipe is one line a row, a cell between tabs, in full and without titles', () => {
  const rows = [
    { name: 'a'.repeat(200), views: 1 },
    { name: 'tab\there\nand\u001b', views: 2 },
  ];
  expect(table(rows, listing, look(false, 20))).toBe(`${'a'.repeat(200)}\t1\t5\ntab\\there\\nand\\x1b\t2\t5\n`);
});

describe('a table on a terminal', () => {
  test('leaves out optional columns before it cuts a cell to less than its column asks for', () => {
    const wide: Listing<Row> = {
      ...listing,
      columns: [...listing.columns, { title: 'WHEN', shown: () => 'just now' }],
      optional: ['WHEN', 'VIEWS'],
    };
    const rows = [{ name: 'a production database', views: 1 }];
    const title = (room: number) => table(rows, wide, look(true, room)).split('\n')[0]?.trim();
    expect([80, 29, 28, 19, 18].map(title)).toEqual([
      'NAME                   VIEWS  WHEN',
      'NAME          VIEWS  WHEN',
      'NAME                   VIEWS',
      'NAME          VIEWS',
      'NAME',
    ]);
    const unnamed = table([{ name: '', views: 1 }], wide, look(true, 20));
    expect(unnamed).toBe('VIEWS  WHEN\n  1/5  just now\n');
    const page = tables(wide, look(true, 28));
    page(rows);
    expect(page([{ name: 'db', views: 2 }])).toBe('db                       2/5\n');
  });

  test('is wider than one that has no room for eight columns of a text', () => {
    const [, line = ''] = table([{ name: 'production', views: 1 }], listing, look(true, 12)).split('\n');
    expect(line).toBe('product…    1/5');
  });

  test('goes on page by page, without titles, and no column gets narrower', () => {
    const page = tables(listing, look(true));
    const shown = ['production', 'db', 'the other one'].map((name) => page([{ name, views: 1 }]));
    expect(shown).toEqual([
      'NAME        VIEWS\n' + 'production    1/5\n',
      'db            1/5\n',
      'the other one    1/5\n',
    ]);
  });

  test('is no wider than the terminal where elastic columns can give', () => {
    const names = fc.array(fc.string({ unit: 'grapheme', maxLength: 120 }), { minLength: 1 });
    fc.assert(
      fc.property(names, fc.integer({ min: 20, max: 100 }), (some, room) => {
        const rows = some.map((name) => ({ name, views: 1 }));
        const lines = table(rows, listing, look(true, room)).split('\n').slice(0, -1);
        expect(lines).toHaveLength(some.length + 1);
        for (const line of lines) expect(width(line)).toBeLessThanOrEqual(room);
      }),
    );
  });
});

test('cells are aligned under their titles, and a colour takes no room and stands on the words alone', () => {
  const style = ({ views }: Row) => (views === 1 ? 'yellow' : undefined);
  const columns = listing.columns.map((column) => ({ ...column, style }));
  const rows = [
    { name: 'wifi', views: 1 },
    { name: '日本', views: 3 },
  ];
  const painted = { ...look(true), paint: (style: string, text: string) => `<${style}:${text}>` };
  expect(table(rows, { ...listing, columns }, painted)).toBe(
    '<bold:NAME  VIEWS>\n<yellow:wifi>    <yellow:1/5>\n日本    3/5\n',
  );
});
