// Draws docs/pictures/performance.svg of RESULTS.md and PEERS.md beside this file, the last whole runs of the bench. The
// bench calls it after such a run; by itself: node test/bench/plot.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const WIDTH = 760;
const LABELS = 290;
const LONGEST = WIDTH - LABELS - 90;
const ROW = 22;
const HEAD = 48;
const FILES = '## Encrypting a file';

/** The rows of the first table after a line, each with a cell for each column. */
function tableAfter(text, line) {
  const [, after] = text.split(line);
  const [table] = /(^\|.*\n?)+/m.exec(after ?? '') ?? [];
  if (!table) throw new Error(`no table after "${line}"`);
  const [, , ...rows] = table.trim().split('\n');
  return rows.map((row) => row.split('|').slice(1, -1)).map((row) => row.map((one) => one.trim()));
}

/** A group of bars: a title, and the rows that have a figure in a column. */
const group = (title, rows, column, nameOf = ([name]) => name.replaceAll('`', '')) => ({
  title,
  bars: rows
    .map((row) => ({ name: nameOf(row), text: row[column], figure: row[column].replace(',', '') }))
    .filter(({ figure }) => Number(figure) > 0),
});

/** The picture, of the texts of both files. */
export function plot(results, peers) {
  // A run may have been without the executable.
  const [part = '## Node'] = results.match(/^### The executable/m) ?? [];
  const starts = tableAfter(results, part);
  const beside = tableAfter(peers, '# Beside other programs');
  // A run may have been without age.
  const files = peers.includes(FILES) ? tableAfter(peers, FILES) : [];
  const andKept = ([name, , , , , , kept]) => `${name} (${kept})`;
  return svgOf([
    group('One run of the program, in milliseconds: shorter is better', starts, 1),
    group('A push, in milliseconds', beside, 1),
    group('A secret from sender to recipient, in milliseconds', beside, 2),
    group('One-time secrets created a second: longer is better', beside, 3, andKept),
    group('One-time secrets taken a second', beside, 4, andKept),
    group('A large file, encrypted and decrypted, in seconds: shorter is better', files, 1),
  ]);
}

function svgOf(groups) {
  const drawn = [];
  let y = 0;
  for (const { title, bars } of groups) {
    if (bars.length === 0) continue;
    drawn.push(`<text class="title" x="16" y="${y + 32}">${title}</text>`);
    y += HEAD;
    const most = Math.max(...bars.map(({ figure }) => Number(figure)));
    for (const { name, text, figure } of bars) {
      const length = ((Number(figure) / most) * LONGEST).toFixed(1);
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
<title>pwpush beside other programs</title>
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

const here = (path) => new URL(path, import.meta.url);

/** Draws it again. */
export function draw() {
  const [results, peers] = ['RESULTS.md', 'PEERS.md'].map((name) => readFileSync(here(name), 'utf8'));
  writeFileSync(here('../../docs/pictures/performance.svg'), plot(results, peers));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) draw();
