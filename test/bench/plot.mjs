// Draws the pictures of docs/performance.md, of the documents beside this file. The bench calls it when it has written one;
// by itself: node test/bench/plot.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const WIDTH = 760;
const LABELS = 290;
const LONGEST = WIDTH - LABELS - 90;
const ROW = 22;
const HEAD = 48;

/** The rows of the first table after what matches, each with a cell for each column; none where nothing does. */
function tableAfter(text, pattern) {
  const at = text.search(pattern);
  const [table] = at < 0 ? [] : (/(^\|.*\n?)+/m.exec(text.slice(at)) ?? []);
  const rows = table?.trim().split('\n').slice(2) ?? [];
  return rows.map((row) => row.split('|').slice(1, -1)).map((row) => row.map((one) => one.trim()));
}

/** A group of bars: a title, and the rows that have a figure in a column. */
const group = (title, rows, column, nameOf = ([name]) => name.replaceAll('`', '')) => ({
  title,
  bars: rows
    .map((row) => ({ name: nameOf(row), text: row[column], figure: Number(row[column].replace(',', '')) }))
    .filter(({ figure }) => figure > 0),
});

/** How long runs take, and what services do, beside other programs. */
export function plot(results, peers) {
  // A run may have been without the executable, or without age.
  const starts = tableAfter(results, /^### The executable/m.test(results) ? /^### The executable/m : /^## Node/m);
  const beside = tableAfter(peers, /^# /m);
  const files = tableAfter(peers, /^## Encrypting a file/m);
  const andKept = ([name, , , , , , kept]) => `${name} (${kept})`;
  return svgOf('pwpush beside other programs', [
    group('One run of the program, in milliseconds: shorter is better', starts, 1),
    group('A push, in milliseconds', beside, 1),
    group('A secret from sender to recipient, in milliseconds', beside, 2),
    group('One-time secrets created a second: longer is better', beside, 3, andKept),
    group('One-time secrets taken a second', beside, 4, andKept),
    group('A large file, encrypted and decrypted, in seconds: shorter is better', files, 1),
  ]);
}

/** What services do with the most pushes, and their memory, to those with a thousand, which SIZES.md has in brackets. */
export function plotSizes(sizes) {
  const ofStore = (store) => {
    const rows = tableAfter(sizes, new RegExp(`^## ${store}`, 'm'));
    const ratios = rows.map((row) => [row[0].replace(', MiB', ''), /\((.+)\)/.exec(row.at(-1))?.[1] ?? '']);
    return group(`On ${store}, with the most pushes to a thousand`, ratios, 1);
  };
  return svgOf('pwpush serve with many pushes beside a thousand', [ofStore('SQLite'), ofStore('PostgreSQL')]);
}

function svgOf(name, groups) {
  const drawn = [];
  let y = 0;
  for (const { title, bars } of groups.filter(({ bars }) => bars.length > 0)) {
    drawn.push(`<text class="title" x="16" y="${y + 32}">${title}</text>`);
    y += HEAD;
    const most = Math.max(...bars.map(({ figure }) => figure));
    for (const { name, text, figure } of bars) {
      const length = ((figure / most) * LONGEST).toFixed(1);
      const ours = /^(pwpush|executable|the executable)\b/.test(name);
      drawn.push(
        `<text x="${LABELS}" y="${y + 12}" text-anchor="end">${name}</text>`,
        `<rect${ours ? ' class="ours"' : ''} x="${LABELS + 10}" y="${y}" width="${length}" height="16" rx="2"/>`,
        `<text x="${LABELS + 16 + Number(length)}" y="${y + 12}">${text}</text>`,
      );
      y += ROW;
    }
  }
  const height = y + 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}">
<title>${name}</title>
<style>
svg { background: #fff; font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
rect { fill: #afb8c1 }
.ours { fill: #0969da }
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117; fill: #e6edf3 }
  rect { fill: #59636e }
  .ours { fill: #4493f8 }
}
</style>
${drawn.join('\n')}
</svg>
`;
}

/** Draws them again. */
export function draw() {
  const file = (path) => fileURLToPath(new URL(path, import.meta.url));
  const [results, peers, sizes] = ['RESULTS', 'PEERS', 'SIZES'].map((name) => readFileSync(file(`${name}.md`), 'utf8'));
  writeFileSync(file('../../docs/pictures/performance.svg'), plot(results, peers));
  writeFileSync(file('../../docs/pictures/size.svg'), plotSizes(sizes));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) draw();
