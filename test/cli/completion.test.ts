import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { topics } from '../../src/cli/help/help-layout';
import { commands } from '../../src/commands/program';
import { type Place, place } from '../helpers/run';

// What the program offers to a shell. What shells make of it: completion.slow.test.ts.

const names = commands.flatMap(({ group, name }) => (group === '' ? [] : [name]));

function withConfig(text: string): Place {
  const here = place({ env: { PWPUSH_DEBUG: '1' } });
  mkdirSync(here.file('config'));
  writeFileSync(here.file('config/config.json'), text);
  return here;
}

test.each<[string, string]>([
  ['', `${names.join(' ')} help`],
  ['pr', 'preview profile'],
  ['push --ki', '--kind'],
  ['push --no-cl', '--no-click'],
  ['push --kind ', 'text file url qr'],
  // As bash splits it.
  ['push --kind = q', 'qr'],
  ['push --encrypt=w', '--encrypt=words'],
  ['push --locale p', 'pl pt-BR pt-PT'],
  // None that is named like a command of the shell.
  ['--profile ', 'work home'],
  ['--profile work list ', 'active expired requests receipts'],
  ['profile ', 'list show use set unset rename remove'],
  ['profile use h', 'home'],
  ['profile set h', 'home'],
  ['profile set home da', 'days'],
  ['profile set home encrypt ', 'link words off'],
  ['profile set home click ', 'true false'],
  ['profile unset w', 'work'],
  ['profile unset . vi', 'views'],
  ['profile rename w', 'work'],
  ['push -f one two --day', '--days'],
  ['push -qv 3 --day', '--days'],
  ['ls re', 'requests receipts'],
  // It needs a token.
  ['list --a', '--all --account'],
  ['help c', ['completion', ...topics.filter((one) => /^c/.test(one))].join(' ')],
  ['serve token ', 'add list replace revoke'],
  ['serve trust ', 'add list remove'],
])('pwpush %s: %s', async (line, offered) => {
  const chosen = ['$(touch pwned)', 'a b;c', ...'a* -x ~root =ls @a a,b %a \u2018a é'.split(' ')];
  const profiles = { work: {}, home: {}, ...Object.fromEntries(chosen.map((one) => [one, {}])) };
  const words = line.split(' ');
  const { stdout } = await withConfig(JSON.stringify({ profiles })).run('__complete', ...words);
  const [kind, ...all] = stdout.trimEnd().split('\n');
  const found = all.map((one) => one.split('\t')[0] ?? '');
  const typed = found.filter((one) => one.startsWith(words.at(-1) ?? ''));
  expect([kind, typed]).toEqual(['words', offered.split(' ')]);
});

test.each([
  // Nothing is known that fits there.
  ['push --days ', 'words\n'],
  ['generate ', 'words\n'],
  ['help -', 'words\n--json\n'],
  // Paths and programs are left to the shell.
  ['push --from ', 'files\n'],
  ['push --from=', 'files\n'],
  ['push --file a b', 'files\n'],
  ['profile set work ca-file ', 'files\n'],
  ['get -- ', 'files\n'],
  ['run x -- ', 'commands\n'],
  ['run x -- env ', 'files\n'],
])('pwpush %s is answered with %j', async (line, answer) => {
  const { stdout } = await place().run('__complete', ...line.split(' '));
  expect(stdout).toBe(answer);
});

test.each([
  ['', 'preview\tshow views and days left'],
  ['help ', 'preview\tshow views and days left'],
  ['help ', 'environment\ttopic'],
  ['profile set work ', 'days\tpushes expire after N days'],
])('each word of "pwpush %s" has a description', async (line, candidate) => {
  const { stdout } = await place().run('__complete', ...line.split(' '));
  const [, ...lines] = stdout.trimEnd().split('\n');
  expect(lines).toContain(candidate);
  expect(lines.filter((one) => !/^[\w-]+\t.+/.test(one))).toEqual([]);
});

test.each(commands.map(({ name }) => name))('of %s is one candidate a line', async (name) => {
  const { code, stdout, stderr } = await place().run('__complete', name, '-');
  const [kind, ...lines] = stdout.split('\n');
  const told = { code, stderr, kind, last: lines.pop() };
  expect(told).toEqual({ code: 0, stderr: '', kind: 'words', last: '' });
  for (const line of lines) expect(line).toMatch(/^--?[\w-]+\t[^\t\\]+$/);
});

test('where a link is wanted, last and the ten newest pushes, on one line each', async () => {
  const here = place({ env: { PWPUSH_URL: 'https://pw.test' } });
  mkdirSync(here.file('state'), { mode: 0o700 });
  const receipt = (at: number) => ({
    base: 'https://pw.test',
    url_token: `token${at}`,
    html_url: `https://pw.test/p/${at}`,
    name: `$(touch pwned)\n'"\t\u001b[31m${at}`,
    expires_at: '2100-01-01T00:00:00Z',
    created_at: `2026-08-${10 + at}T00:00:00Z`,
  });
  const receipts = Array.from({ length: 12 }, (_, at) => JSON.stringify(receipt(at)));
  writeFileSync(here.file('state/receipts.jsonl'), receipts.join('\n'), { mode: 0o600 });
  const { stdout } = await here.run('__complete', 'get', '');
  const [kind, last, ...pushes] = stdout.trimEnd().split('\n');
  expect([kind, last]).toEqual(['words', 'last\tthe push created last']);
  expect(pushes.map((line) => line.split('\t')[0])).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((at) => `token${at}`));
  expect(pushes.at(-1)).toBe(`token2\t$(touch pwned)\\n'"\\t\\x1b[31m2, 8 days ago`);
  for (const line of ['list ', 'respond ', 'push --name ', 'wait x ', 'profile use ']) {
    const other = await here.run('__complete', ...line.split(' '));
    expect(other.stdout).not.toContain('token');
  }
});

test('a failure says nothing, and it is in no help and suggested for nothing', async () => {
  const ended = await withConfig('{').run('__complete', '--profile', '');
  expect(ended).toEqual({ code: 1, stdout: '', stderr: '' });
  const help = await place().run('--help');
  const typo = await place().run('__complet');
  expect(`${help.stdout}${typo.stderr}`).not.toContain('__complete');
});

test('the script for PowerShell quotes what is more than a word, and passes on no quotes', async () => {
  const { code, stdout } = await withConfig('{}').run('completion', 'powershell');
  expect([code, stdout.split('{').length]).toEqual([0, stdout.split('}').length]);
  expect(stdout).toContain('Register-ArgumentCompleter -Native -CommandName pwpush -ScriptBlock {');
  expect(stdout).toContain('pwpush __complete @words');
  expect(stdout).toContain(`$inserted = "'" + [System.Management.Automation.Language.CodeGeneration]::Escape`);
  const [, bare = ''] = /\$word -cnotmatch '(.*)'/.exec(stdout) ?? [];
  const [, lost = ''] = /\$_ -replace '(.*?)', '_'/.exec(stdout) ?? [];
  // What PowerShell, and cmd.exe where pwpush is a script of npm, give a meaning; curly quotes are quotes there.
  const special = Array.from(` \t\`$(){};&|<>"'@#,*?[]~%!^\u2018\u2019\u201a\u201b\u201c\u201d\u201e`);
  expect(special.filter((sign) => new RegExp(bare).test(`w${sign}`))).toEqual([]);
  expect(special.filter((sign) => !new RegExp(lost).test(`w${sign}`))).toEqual(['@', ',']);
  const words = ['preview', '--kind=q', 'pw.example.com-8443', 'a_b', 'https://pw.test/p/abc'];
  expect(words.filter((word) => new RegExp(lost).test(word))).toEqual([]);
});
