// Phrases that were habits of this project's words and must not come back, with what to write instead. Part of
// `npm run check`; add a line when a review finds another.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const phrases = [
  [/\bis none\b(?! of)/, 'say what is wrong: "x" is not a …'],
  [/\banew\b/, 'again'],
  [/\bwhoever\b/i, 'anyone who, the person who'],
  [/\bso (?:many|long|often)\b(?! as)/, 'name the number: at most N, every N seconds'],
  [/\bbehind --/, 'follows, after'],
  [/\blies? about\b/, 'is left'],
  [/\bmakes no sense\b/, 'is invalid, is unusable'],
  [/\bbears? with\b/, 'limits, tolerates'],
  [/\bgood for \d/, 'expires after'],
  [/\btold no\b|\bis told\b/, 'returned no, is informed'],
  [/\bthe recipient may delete\b/, 'the recipient can delete'],
  [/\bkept sealed\b/, 'encrypted'],
  [/\bwants a token\b/, 'requires a token'],
  [/\bbe an instance\b/, 'run a server'],
];

const root = fileURLToPath(new URL('..', import.meta.url));
const files = ['src', 'man', 'docs', '.']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: folder === 'src' }).map((name) =>
      join(folder, name),
    ),
  )
  .filter((path) => /\.(?:ts|md|\d)$/.test(path) && !path.startsWith('CHANGELOG'));

let found = 0;
for (const path of files) {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  for (const [at, line] of lines.entries()) {
    for (const [phrase, better] of phrases) {
      const match = phrase.exec(line);
      if (!match) continue;
      console.error(`${path}:${at + 1}: "${match[0]}"; better: ${better}`);
      found++;
    }
  }
}
if (found > 0) process.exitCode = 1;
