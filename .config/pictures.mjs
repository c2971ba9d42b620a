// Makes the pictures of the README from the real program: a terminal session as SVG; the recipient's page, and a terminal
// beside the phone that answers it, as PNG.
// `--check` makes nothing: it ends with 1 if the words of the pictures are no longer those of the program.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spawn as spawnOnTerminal } from '@lydell/node-pty';
import headless from '@xterm/headless';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const launcher = join(root, 'bin/pwpush.js');
const folder = join(root, 'docs/pictures');
const check = process.argv.includes('--check');
const home = mkdtempSync(join(tmpdir(), 'pwpush-'));
const env = {
  PATH: process.env.PATH,
  HOME: home,
  NO_PROXY: '*',
  TERM: 'xterm-256color',
  FORCE_COLOR: '1',
  PWPUSH_CONFIG_DIR: join(home, 'config'),
  PWPUSH_STATE_DIR: join(home, 'state'),
};

const COLUMNS = 88;
const ROWS = 24;
const SHOWN_AS = 'https://pwpush.example';
const TOKEN = 'rrugdi7z7o_6eckc1gu';
const KEY = '#k7HqR0ejfsmuh_wGloOYTg';
/** A recipient: someone without a token. */
const elsewhere = {
  ...env,
  PWPUSH_CONFIG_DIR: join(home, 'none'),
  PWPUSH_STATE_DIR: join(home, 'none'),
};

/** Starts `pwpush serve` in a temporary folder, and resolves with its address once it listens. */
async function serve() {
  const words = ['serve', '--port', '0', '--data', join(home, 'data'), '--quiet'];
  const child = spawn(process.execPath, [launcher, ...words], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const url of createInterface({ input: child.stdout })) return { child, url };
  throw new Error('the service did not start');
}

const promptOf = (line, who = '') => `\x1b[32m${who}$\x1b[0m \x1b[1m${line}\x1b[0m\r\n`;

/** A text with the address, token and key of the pictures in place of those of this run. */
function asShown(text, link, url) {
  const [, token = TOKEN, , key = KEY] = /\/p\/([\w-]+)(\/r)?(#.+)?$/.exec(link) ?? [];
  return text
    .replaceAll(url, SHOWN_AS)
    .replaceAll(new URL(url).host, new URL(SHOWN_AS).host)
    .replaceAll(token, TOKEN)
    .replaceAll(key, KEY)
    .replaceAll(/pwp_[\w-]{43}/g, 'pwp_fR2yXv0nLq8sJc4tWb7mKd1hGz6aPe3uYi9oNw5rTkM')
    .replaceAll(/(its ID is )\w{8}/g, '$13f9a01c2')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-11-28T09:00:00.000Z')
    .replaceAll('127.0.0.1', '192.0.2.7')
    .replaceAll(`${home}/`, '/home/');
}

/** Types command lines at a terminal, answers prompts, and returns the screen with its colours. */
async function session(lines, url, before = '') {
  const rows = before ? 2 * ROWS : ROWS;
  const terminal = new headless.Terminal({ cols: COLUMNS, rows, allowProposedApi: true });
  const write = (text) => new Promise((resolve) => terminal.write(text, resolve));
  let link = '';
  await write(asShown(before, link, url));
  for (const { shown, words, answers = [], as = env, who } of lines) {
    await write(promptOf(asShown(shown(link), link, url), who));
    const pty = spawnOnTerminal(process.execPath, [launcher, ...words(link)], {
      cols: COLUMNS,
      rows: ROWS,
      env: as,
    });
    let output = '';
    const ended = new Promise((resolve) => pty.onExit(resolve));
    pty.onData((data) => {
      output += data;
      if (answers.length > 0 && output.includes(answers[0].to)) pty.write(answers.shift().type);
    });
    await ended;
    link = new RegExp(`${url}/p/[\\w-]+(/r)?(#[\\w-]+)?`).exec(output)?.[0] ?? link;
    await write(asShown(output, link, url));
    await write('\r\n');
  }
  return terminal.buffer.active;
}

const themes = {
  light: { back: '#ffffff', bar: '#eaeef2', text: '#1f2328', rim: '#d0d7de' },
  dark: { back: '#0d1117', bar: '#161b22', text: '#e6edf3', rim: '#30363d' },
};
/** The colours 0 to 15 that programs use, in each theme. */
const colours = {
  light: '#24292f #cf222e #116329 #7d4e00 #0969da #8250df #1b7c83 #6e7781',
  dark: '#6e7681 #ff7b72 #3fb950 #d29922 #58a6ff #bc8cff #39c5cf #b1bac4',
};

const escaped = (text) =>
  text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

/** Runs of equal style on each line of the screen; a QR code is what has a background. */
function runsOf(buffer, columns = COLUMNS) {
  const lines = [];
  for (let y = 0; y < buffer.length; y++) {
    const line = buffer.getLine(y);
    const runs = [];
    for (let x = 0; x < columns; x++) {
      const cell = line.getCell(x);
      if (cell.getWidth() === 0) continue;
      const style = [
        cell.isFgPalette() ? cell.getFgColor() % 8 : -1,
        cell.isBold() > 0,
        cell.isDim() > 0,
        cell.isBgPalette() > 0,
      ].join();
      const text = cell.getChars() || ' ';
      if (runs.at(-1)?.style === style) runs.at(-1).text += text;
      else runs.push({ at: x, style, text });
    }
    lines.push(runs.filter(({ text, style }) => text.trim() !== '' || isCode({ style })));
  }
  while (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

const isCode = ({ style }) => style.endsWith('true');

/** The columns of a table, as browsers make one blank of several. */
const inColumns = (run) =>
  isCode(run)
    ? [run]
    : [...run.text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: text, index }) => ({
        ...run,
        at: run.at + index,
        text,
      }));

const CELL = 8.4;
const LINE = 20;

/** The screen as SVG; text stays text, so that the file is small and can be read and searched. */
function svgOf(lines, theme, columns = COLUMNS) {
  const { back, bar, text, rim } = themes[theme];
  const palette = colours[theme].split(' ');
  const width = columns * CELL + 40;
  // The modules of a QR code, two to a line, are squares.
  const lineHeight = lines.flat().some(isCode) ? 2 * CELL : LINE;
  const height = lines.length * lineHeight + 66;
  const rows = lines.map((runs, y) =>
    runs.flatMap(inColumns).map(({ at, style, text: words }) => {
      if (isCode({ style })) return modules(words, 20 + at * CELL, 58 + (y - 0.75) * lineHeight);
      const [colour, bold, dim] = style.split(',');
      const attributes = [
        `x="${(20 + at * CELL).toFixed(1)}" y="${58 + y * lineHeight}"`,
        `textLength="${(words.length * CELL).toFixed(1)}"`,
        colour !== '-1' && `fill="${palette[colour]}"`,
        bold === 'true' && 'font-weight="bold"',
        dim === 'true' && 'opacity=".65"',
      ];
      return `<text ${attributes.filter(Boolean).join(' ')}>${escaped(words)}</text>\n`;
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>pwpush in a terminal</title>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="9" fill="${back}" stroke="${rim}"/>
<path d="M1 34V10a9 9 0 0 1 9-9h${width - 20}a9 9 0 0 1 9 9v24z" fill="${bar}"/>
<g fill="${rim}"><circle cx="20" cy="17" r="5.5"/><circle cx="38" cy="17" r="5.5"/><circle cx="56" cy="17" r="5.5"/></g>
<g fill="${text}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">
${rows.flat().join('')}</g>
</svg>
`;
}

/** A line of a QR code, dark on light in both themes. */
function modules(line, x, y) {
  const halves = [...line].flatMap((sign, column) => [
    '▀█'.includes(sign) && [column, 0],
    '▄█'.includes(sign) && [column, 1],
  ]);
  const path = halves
    .filter(Boolean)
    .map(([column, row]) => `M${x + column * CELL} ${y + row * CELL}h${CELL}v${CELL}h-${CELL}z`);
  return `<g shape-rendering="crispEdges"><path fill="#fff" d="M${x} ${y}h${line.length * CELL}v${2 * CELL}H${x}z"/><path fill="#000" d="${path.join('')}"/></g>\n`;
}

/** Screenshots of a page in both themes, once it was filled in, and the page's words. */
async function photograph(browser, url, viewport = { width: 640, height: 560 }, fill = () => {}) {
  const taken = {};
  for (const colorScheme of ['dark', 'light']) {
    const page = await browser.newPage({
      colorScheme,
      viewport,
      locale: 'en',
      deviceScaleFactor: 1,
    });
    await page.goto(url);
    await fill(page);
    taken[colorScheme] = await page.screenshot();
    taken.page = page;
    taken.words = await page.evaluate(() => {
      for (const time of document.querySelectorAll('time')) time.remove();
      return document.querySelector('main').textContent;
    });
    // Also in what is not on the picture.
    taken.words = taken.words.replaceAll(url.split('#')[0], SHOWN_AS);
    taken.style = await page.evaluate(() => document.querySelector('style').textContent);
  }
  return taken;
}

/** `request --here` answered on a phone: the terminal beside the page, in both themes, and the words of both. */
async function askHere(browser) {
  const [columns, rows] = [64, 48];
  const words = ['request', '--here', 'The password of db1?'];
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
  const pty = spawnOnTerminal(process.execPath, [launcher, ...words], { cols: columns, rows, env });
  let output = promptOf(`pwpush request --here "${words[2]}"`);
  const ended = new Promise((resolve) => pty.onExit(resolve));
  const link = await new Promise((resolve) =>
    pty.onData((data) => {
      output += data;
      const [, found] = /(http:\S+#\S+)\r\n/.exec(output) ?? [];
      if (found) resolve(found);
    }),
  );
  const phone = await photograph(browser, link, { width: 320, height: 620 }, (page) =>
    page.locator('textarea').fill('correct horse battery staple'),
  );
  await phone.page.getByRole('button', { name: /send/i }).click();
  await ended;
  await new Promise((resolve) => terminal.write(output, resolve));
  const lines = runsOf(terminal.buffer.active, columns);
  // Without the QR code, the link, and the address of this machine.
  const shown = output.slice(0, output.indexOf(link)).replace(/^.*[▀▄█].*$/gm, '');
  const taken = { words: shown + phone.words, style: phone.style };
  for (const theme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width: 1000, height: 800 } });
    const picture = `data:image/png;base64,${phone[theme].toString('base64')}`;
    await page.setContent(
      `<main style="display:inline-flex;gap:24px;align-items:center">${svgOf(lines, theme, columns)}
       <img src="${picture}" style="border:1px solid ${themes[theme].rim};border-radius:24px"></main>`,
    );
    taken[theme] = await page.locator('main').screenshot({ omitBackground: true });
  }
  return taken;
}

/** A person of the team's picture, with folders of their own. */
const personOf = (name) => ({
  ...env,
  PWPUSH_CONFIG_DIR: join(home, name, 'config'),
  PWPUSH_STATE_DIR: join(home, name, 'state'),
});

/** An operator starts a service and adds a user, who pushes a secret and sees who opened it. */
async function team() {
  const [ops, alice, bob] = ['ops', 'alice', 'bob'].map(personOf);
  const data = ['--data', join(home, 'team')];
  const words = ['serve', '--no-anonymous', '--port', '0', ...data];
  const pty = spawnOnTerminal(process.execPath, [launcher, ...words], {
    cols: COLUMNS,
    rows: ROWS,
    env: ops,
  });
  const ended = new Promise((resolve) => pty.onExit(resolve));
  let begun = '';
  const url = await new Promise((resolve) =>
    pty.onData((text) => {
      begun += text;
      const [, address] = /^(http:\S+)\r\n.*pwpush push\r\n/ms.exec(begun) ?? [];
      if (address) resolve(address);
    }),
  );
  // The log goes on below what is shown.
  const started = begun.replace(/(?<=pwpush push\r\n).*/s, '');
  const token = JSON.parse(
    execFileSync(
      process.execPath,
      [launcher, 'serve', 'token', 'add', 'alice', '--json', ...data],
      {
        env: ops,
      },
    ),
  ).token;
  try {
    return runsOf(
      await session(
        [
          {
            who: 'alice ',
            shown: () => `pwpush login ${url}`,
            words: () => ['login', url],
            answers: [{ to: 'API token', type: `${token}\r` }],
            as: alice,
          },
          {
            who: 'alice ',
            shown: () => 'pwpush push --name db1 --views 1',
            words: () => ['push', '--name', 'db1', '--views', '1'],
            answers: [
              { to: 'Secret', type: 'correct horse battery staple\r' },
              { to: 'Passphrase', type: '\r' },
            ],
            as: alice,
          },
          {
            who: 'bob ',
            shown: (link) => `pwpush get ${link}`,
            words: (link) => ['get', link],
            as: bob,
          },
          {
            who: 'alice ',
            shown: () => 'pwpush audit last',
            words: () => ['audit', 'last'],
            as: alice,
          },
        ],
        url,
        promptOf('pwpush serve --no-anonymous', 'ops ') +
          started +
          promptOf('pwpush serve token add alice', 'ops ') +
          `${token}\r\n`,
      ),
    );
  } finally {
    pty.kill();
    await ended;
  }
}

const hashOf = (text) => createHash('sha256').update(text).digest('hex');

const { child, url } = await serve();
const browser = await chromium.launch({
  executablePath: process.env.PWPUSH_TEST_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const options = ['--views', '1', '--days', '1'];
  const screen = await session(
    [
      {
        who: 'alice ',
        shown: () => 'pwpush push --views 1 --days 1',
        words: () => ['push', ...options],
        answers: [
          { to: 'Secret', type: 'correct horse battery staple\r' },
          { to: 'Passphrase', type: '\r' },
        ],
      },
      {
        who: 'bob ',
        shown: (link) => `pwpush get ${link}`,
        words: (link) => ['get', link],
        as: elsewhere,
      },
      {
        who: 'bob ',
        shown: (link) => `pwpush get ${link}`,
        words: (link) => ['get', link],
        as: elsewhere,
      },
    ],
    url,
  );
  const lines = runsOf(screen);
  const link = execFileSync(process.execPath, [launcher, 'push', '--views', '3', '--days', '2'], {
    env,
    input: 'correct horse battery staple',
    encoding: 'utf8',
  });
  const page = await photograph(browser, link.trim());
  const here = await askHere(browser);
  const day = await team();
  const made = {
    'terminal-light.svg': svgOf(lines, 'light'),
    'terminal-dark.svg': svgOf(lines, 'dark'),
    'team-light.svg': svgOf(day, 'light'),
    'team-dark.svg': svgOf(day, 'dark'),
    // A browser's pixels differ from release to release: the words and the style of the page stand for them.
    'page.sha256': `${hashOf(page.words + page.style)}\n`,
    'here.sha256': `${hashOf(here.words + here.style)}\n`,
  };
  if (check) {
    const stale = Object.entries(made).filter(
      ([name, text]) => readFileSync(join(folder, name), 'utf8') !== text,
    );
    if (stale.length > 0) {
      console.error(`stale: ${stale.map(([name]) => name).join(', ')}; run: npm run pictures`);
      process.exitCode = 1;
    }
  } else {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(made)) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, 'page-light.png'), page.light);
    writeFileSync(join(folder, 'page-dark.png'), page.dark);
    writeFileSync(join(folder, 'here-light.png'), here.light);
    writeFileSync(join(folder, 'here-dark.png'), here.dark);
  }
} finally {
  await browser.close();
  // It writes into the folder until it has ended.
  const ended = once(child, 'exit');
  child.kill();
  await ended;
  rmSync(home, { recursive: true, force: true });
}
