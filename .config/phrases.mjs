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
  [/\bwants (?:a|its)\b/, 'requires a'],
  [/\bbe an instance\b/, 'run a server'],
  [/\bgoes with (?:neither )?(?:--|`--|\$)/, '--x requires --y, cannot be combined with'],
  [/\bdoes not go with\b|\bexclude each other\b/, 'cannot be combined with'],
  [
    /\bleave (?:all but )?one out\b|\bleave --[\w-]+ out\b|\bleave out --/,
    'use only one of them, remove --x',
  ],
  [
    / takes (?:true or|an? (?:whole )?(?:number|size|length)\b|seconds,|at (?:most|least) \d)/,
    '--x must be …',
  ],
  [/\banother time\b/, 'next time'],
  [/\bControl-[A-Z]\b/, 'Ctrl-C'],
  [/'[^'`]*\b(?:takes?|took|taken|taking) (?:a|its|the|another) view\b/, 'uses a view'],
  [/\bwas left as it is\b/, '"x" already exists'],
  [/\bnobody to ask\b/, 'no terminal to ask on'],
  [/\bholds nothing\b|\bholds? no [A-Za-z]/, 'is empty, contains no'],
  [/['`\w}] cannot be (?:read|written)(?: \(|: )/, 'cannot read "x": …, cannot write "x" (…)'],
  [/'there is (?:no (?!recipient)|nothing\b)/, 'no such …, no …'],
  [/\bpush (?:was )?made without\b/, 'created without'],
  [/\bnobody has looked\b/, 'no view, without a view'],
  [/\bwhat came from\b/, 'the token from x, the text from x'],
  [/\bgave no\b/, 'returned no, sent no'],
  [/\bby its own limits\b/, 'expires by its limits'],
  [/\bfolder of yours\b/, 'a folder that you can write to'],
  [/\bpoint [A-Z_]+ at\b/, 'set X to'],
  [/\bnames? no file\b|\bnamed were\b/, 'must be a file; one source only, not from a and b'],
  [/\bthe instance (?:asks|tells) to\b/, 'the instance returned 429'],
  [/\bkept as profile\b/, 'saved as profile'],
];

const root = fileURLToPath(new URL('..', import.meta.url));
const files = ['src', 'man', 'docs', 'action', 'deploy', 'skills', '.']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: folder !== '.' }).map((name) =>
      join(folder, name),
    ),
  )
  .filter(
    (path) =>
      /\.(?:cjs|css|md|py|ts|yaml|yml|\d|json)$|help\/.*\.txt$/.test(path) &&
      !path.startsWith('CHANGELOG'),
  );

let found = 0;
for (const path of files) {
  // The name of a test, in the row of a promise, is said as the test says it.
  const said = readFileSync(join(root, path), 'utf8').replace(
    /(?<=\| `test\/[\w./-]+`), .+? \|/g,
    ' |',
  );
  const lines = said.split('\n');
  for (const [at, line] of lines.entries()) {
    // A phrase can go on in the next line, after the sign of a comment.
    const text = `${line} ${lines[at + 1]?.replace(/^\s*(?:\/\/ |\* |# )?/, '') ?? ''}`;
    for (const [phrase, better] of phrases) {
      const match = phrase.exec(text);
      if (!match || match.index > line.length) continue;
      console.error(`${path}:${at + 1}: "${match[0]}"; better: ${better}`);
      found++;
    }
  }
}
if (found > 0) process.exitCode = 1;
