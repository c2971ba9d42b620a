// Draws docs/pictures/size.svg of SIZES.md beside this file, which has a table for each database. The bench calls it
// (service.mjs --keep); by itself: node test/bench/plot-sizes.mjs
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const PANEL = 380;
const HEIGHT = 330;
/** Of what is plotted, within its panel. */
const [LEFT, RIGHT, TOP, BOTTOM] = [42, 226, 64, 276];
const LINE = 17;
/** Ratios at the bottom and at the top; what is beyond is drawn at the edge. */
const [LEAST, MOST] = [0.5, 1.5];
/** What is as fast as with a thousand. */
const [SLOWER, FASTER] = [1 / 1.1, 1.1];

/** The databases with their tables: numbers of pushes, and lines of ratios, which are in brackets. */
function panelsOf(sizes) {
  return sizes
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [head, , ...rows] = part
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .map((line) => line.split('|').slice(1, -1))
        .map((cells) => cells.map((one) => one.trim()));
      const counts = head.slice(1).map((one) => Number(one.replaceAll(',', '')));
      const lines = rows.map(([name, ...cells]) => ({
        name: name.replace(', MiB', ''),
        points: cells.map((one) => Number(/\((.+)\)/.exec(one)?.[1])),
      }));
      // What a thousand do not have cannot be compared with it.
      return { title: part.split('\n')[0], counts, lines: lines.filter(({ points }) => points[0]) };
    });
}

const height = (ratio) => {
  const within = Math.min(MOST, Math.max(LEAST, ratio));
  return BOTTOM - ((within - LEAST) / (MOST - LEAST)) * (BOTTOM - TOP);
};

function panel({ title, counts, lines }, left) {
  const [from, to] = [LEFT + left, RIGHT + left];
  const most = Math.log(counts.at(-1) / counts[0]);
  const across = (count) => from + (Math.log(count / counts[0]) / most) * (to - from);
  const drawn = [
    `<text class="title" x="${from}" y="48">${title}</text>`,
    `<rect x="${from}" y="${height(FASTER).toFixed(1)}" width="${to - from}" height="${(height(SLOWER) - height(FASTER)).toFixed(1)}"/>`,
  ];
  for (const ratio of [0.5, 0.75, 1, 1.25, 1.5]) {
    const y = height(ratio).toFixed(1);
    drawn.push(
      `<path class="grid" d="M${from} ${y}H${to}"/>`,
      `<text x="${from - 6}" y="${Number(y) + 4}" text-anchor="end">${ratio}</text>`,
    );
  }
  for (const count of counts) {
    const x = across(count).toFixed(1);
    const name = count < 1e6 ? `${count / 1000}k` : `${count / 1e6}M`;
    drawn.push(
      `<path class="grid" d="M${x} ${BOTTOM}v4"/>`,
      `<text x="${x}" y="${BOTTOM + 18}" text-anchor="middle">${name}</text>`,
    );
  }
  // Names are beside the ends of their lines, one below the other.
  const ends = lines.map(({ points }, at) => ({ at, y: height(points.at(-1)) }));
  ends.sort((a, b) => a.y - b.y);
  let free = Math.min(ends[0].y, BOTTOM - LINE * (ends.length - 1));
  for (const { at, y } of ends) {
    const { name, points } = lines[at];
    const label = Math.max(free, Math.min(y, BOTTOM - LINE * (ends.length - 1)));
    free = label + LINE;
    const path = points.map((one, i) => `${across(counts[i]).toFixed(1)} ${height(one).toFixed(1)}`);
    const end = `${to + 2} ${y.toFixed(1)}L${to + 16} ${label.toFixed(1)}`;
    drawn.push(
      `<g class="c${at}"><path d="M${path.join('L')}"/><path class="thin" d="M${end}"/>`,
      `<text x="${to + 20}" y="${(label + 4).toFixed(1)}">${name} ${points.at(-1).toFixed(2)}</text></g>`,
    );
  }
  return drawn.join('\n');
}

const colours = (list) => list.map((one, at) => `.c${at} { stroke: ${one}; fill: ${one} }`).join(' ');

/** The picture of a SIZES.md. */
export function plotSizes(sizes) {
  const panels = panelsOf(sizes);
  const width = PANEL * Math.max(panels.length, 1);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}">
<title>pwpush serve with many pushes beside a thousand</title>
<style>
svg { background: #fff; font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
rect { fill: #eaeef2 }
path { fill: none; stroke-width: 2 }
.grid { stroke: #d0d7de; stroke-width: 1 }
.thin { stroke-width: 1 }
g text { stroke: none }
${colours(['#57606a', '#0969da', '#0a7a8c', '#bc4c00', '#1a7f37', '#8250df', '#9a6700', '#cf222e'])}
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117; fill: #e6edf3 }
  rect { fill: #21262d }
  .grid { stroke: #3d444d }
  ${colours(['#9198a1', '#4493f8', '#39c5cf', '#f0883e', '#3fb950', '#ab7df8', '#d29922', '#ff7b72'])}
}
</style>
<text class="title" x="16" y="24">How many a second, and memory, to those with a thousand pushes</text>
${panels.map((one, at) => panel(one, at * PANEL)).join('\n')}
<text x="16" y="${HEIGHT - 14}">The number of pushes. In the band: at most a tenth more or less.</text>
</svg>
`;
}

const file = (path) => new URL(path, import.meta.url);

function draw() {
  const sizes = readFileSync(file('SIZES.md'), 'utf8');
  writeFileSync(file('../../docs/pictures/size.svg'), plotSizes(sizes));
}

/** Puts a table in the place of the one that SIZES.md has of that database, and draws it again. */
export function keepSizes(database, table) {
  const path = file('SIZES.md');
  const [, ...parts] = existsSync(path) ? readFileSync(path, 'utf8').split(/^## /m) : [];
  const others = parts.filter((one) => !one.startsWith(`${database}\n`));
  const measuredOn = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${new Date().toISOString().slice(0, 10)}`;
  const all = [...others.map((one) => one.trim()), `${database}\n\n${measuredOn}:\n\n${table}`];
  const head = `# Many pushes

What a service does a second over four connections, by how many pushes it has, and in brackets the ratio to the fewest,
by \`node test/bench/service.mjs --pushes 1000000 --keep [--postgres]\`. A tenth of the pushes are active, of one owner, a
thousand at least; half were due when the service started, 5,000 at least; the others had expired.`;
  const text = [
    head,
    ...all
      .sort()
      .reverse()
      .map((one) => `## ${one}`),
  ].join('\n\n');
  writeFileSync(path, `${text}\n`);
  draw();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) draw();
