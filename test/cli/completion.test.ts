import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Command } from '../../src/cli/command';
import { topics } from '../../src/cli/help/help-layout';
import { complete } from '../../src/commands/completion/complete';
import { commands } from '../../src/commands/program';
import type { Context } from '../../src/platform/context';
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
  ['push --kind ', 'text file url qr'],
  ['push --kind=q', '--kind=qr'],
  ['push --encrypt=w', '--encrypt=words'],
  ['push --locale p', 'pl pt-BR pt-PT'],
  // None that is named like a command of the shell.
  ['--profile ', 'work home'],
  ['--profile work list ', 'active expired requests'],
  ['profile ', 'list show use set remove'],
  ['profile use h', 'home'],
  ['profile set da', 'days'],
  ['push -f one two --day', '--days'],
  ['push -v 3 --day', '--days'],
  ['push -qv 3 --day', '--days'],
  ['ls --loc', '--local'],
  ['help c', ['completion', ...topics.filter((one) => /^c/.test(one))].join(' ')],
  ['completion ', 'bash zsh fish powershell'],
  ['serve token ', 'add list revoke'],
])('pwpush %s: %s', async (line, offered) => {
  const profiles = { work: {}, home: {}, '$(touch pwned)': {}, 'a b;c': {} };
  const words = line.split(' ');
  const { stdout } = await withConfig(JSON.stringify({ profiles })).run('__complete', ...words);
  const [kind, ...all] = stdout.trimEnd().split('\n');
  const found = all.map((one) => one.split('\t')[0] ?? '');
  // Shells do that.
  const typed = found.filter((one) => one.startsWith(words.at(-1) ?? ''));
  expect([kind, typed]).toEqual(['words', offered.split(' ')]);
});

describe('of other commands', () => {
  /** The answer of a program with a command that is not ours. */
  function answer(...line: string[]) {
    const program = new Command('pwpush').helpCommand(false).option('--loud', 'say more');
    program.command('help [word]', { hidden: true }).option('--json', 'print JSON');
    const brew = program.command('brew').summary("make it's").description('Make it.');
    brew
      .option('--strength <how>', 'how strong')
      .addOption(brew.createOption('--cup <kind>', 'what for').choices(['mug', 'glass']))
      .option('--from <path...>', 'what it is made of');
    const known = { topics: ['tea'], load: async () => {} };
    return complete(program, line, known, {} as Context);
  }

  test('a new one, its options and their values are there by themselves', async () => {
    expect(await answer('')).toBe("words\nbrew\tmake it's\nhelp\thelp on a command or a topic\n");
    expect(await answer('help', '')).toBe('words\nbrew\ntea\n');
    expect(await answer('brew', '-')).toBe(
      'words\n--strength\thow strong\n--cup\twhat for\n--from\twhat it is made of\n' +
        '-h\tdisplay help for command\n--help\tdisplay help for command\n',
    );
    expect(await answer('brew', '--cup', '')).toBe('words\nmug\nglass\n');
    expect(await answer('brew', '--cup=')).toBe('words\n--cup=mug\n--cup=glass\n');
  });

  test.each([
    ['brew --strength ', 'words\n'],
    ['brew ', 'words\n'],
    ['brew --loud=', 'words\n'],
    ['help -', 'words\n--json\n'],
    ['help brew -', 'words\n'],
    ['brew --from ', 'files\n'],
    ['brew --from=', 'files\n'],
    ['brew --from a b', 'files\n'],
    ['brew -- ', 'files\n'],
  ])('what is not known is left to nobody, paths to the shell: %s', async (line, answered) => {
    expect(await answer(...line.split(' '))).toBe(answered);
  });
});

test.each(commands.map(({ name }) => name))('of %s is one candidate a line', async (name) => {
  const { code, stdout, stderr } = await place().run('__complete', name, '-');
  const [kind, ...lines] = stdout.split('\n');
  const told = { code, stderr, kind, last: lines.pop() };
  expect(told).toEqual({ code: 0, stderr: '', kind: 'words', last: '' });
  for (const line of lines) expect(line).toMatch(/^--?[\w-]+\t[^\t\\]+$/);
});

test('a failure says nothing', async () => {
  const ended = await withConfig('{').run('__complete', '--profile', '');
  expect(ended).toEqual({ code: 1, stdout: '', stderr: '' });
});

test('it is in no help, and suggested for nothing', async () => {
  const help = await place().run('--help');
  const typo = await place().run('__complet');
  expect(`${help.stdout}${typo.stderr}`).not.toContain('__complete');
});
