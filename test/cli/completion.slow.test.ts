import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { needsPrograms, only, onPath } from '../helpers/needs';
import { person, program, pwpush } from '../helpers/program';
import { onTerminal } from '../helpers/pty';

const somebody = person();
const bin = join(somebody.folder, 'bin');
const env = { ...somebody.env, PATH: `${bin}:${somebody.env.PATH}`, LC_ALL: 'C.UTF-8' };
const at = (name: string) => join(somebody.folder, name);

beforeAll(async () => {
  mkdirSync(bin);
  writeFileSync(join(bin, 'pwpush'), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`, {
    mode: 0o755,
  });
  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    const { stdout } = await pwpush(['completion', shell], { env });
    writeFileSync(at(shell), stdout);
  }
  mkdirSync(at('config'), { recursive: true });
  const profile = { url: 'https://pwpush.example' };
  const profiles = { work: profile, home: profile, '$(touch pwned)': profile, 'a b;c': profile };
  writeFileSync(join(at('config'), 'config.json'), JSON.stringify({ current: 'work', profiles }));
  writeFileSync(at('a report.pdf'), '');
});

/** What none of the shells may run while it completes. */
const hostile = [
  'pwpush get "$(touch pwned)"',
  'pwpush --profile "$(touch pwned)" list ',
  'pwpush push --from "$(touch pwned)"',
  'pwpush run link -- "$(touch pwned)"',
];

/** What the shells split and match in their own ways; completion.test.ts has all that is offered. */
const cases: readonly [string, string][] = [
  ['pr', 'preview profile'],
  ['push --kind ', 'text file url qr'],
  ['push --kind=q', '--kind=qr'],
  ['--profile ', 'work home'],
  ['profile use h', 'home'],
];

/** What others may have called theirs, and a program in the place of ours offers for `wN.`. */
const running = `$(X) \`X\` ;X |X &X >pwned <(X) =(X) (X) {,$(X)} "$(X)" '$(X)'`;
const special = `~ * ? [a] # !! ' " \\$(X) \\`;
const chosen = `${running} ${special}`.split(' ').map((word, at) => `w${at}.${word.replace('X', 'echo>pwned')}`);

/** The `PATH` of a program in the place of ours that offers them, and prints which one it was started with. */
function offering(): string {
  const described = chosen.map((word) => `${word}\t${word.replaceAll('w', '%{$(echo>pwned):')}`);
  const offers = ['words', 'order.z\tthe first', ...described, 'order.a\tthe last', ''];
  writeFileSync(at('offers'), offers.join('\n'));
  const stub = `#!/bin/sh\nif [ "$1" = __complete ]; then cat '${at('offers')}'; else printf 'got <%s>\\n' "$2"; fi\n`;
  mkdirSync(at('stub'), { recursive: true });
  writeFileSync(at('stub/pwpush'), stub, { mode: 0o755 });
  return `${at('stub')}:${somebody.env.PATH}`;
}

/** Completes each of these words at a terminal, and runs the line. */
async function completes(shell: string): Promise<void> {
  const terminal = onTerminal(`cd ${somebody.folder}; exec ${shell}`, {
    ...env,
    PATH: offering(),
    ZDOTDIR: at('zdot'),
    PS1: 'ready> ',
  });
  await terminal.shows('ready> ');
  for (const [at, word] of chosen.entries()) {
    terminal.type(`pwpush get w${at}.\t\r`);
    await terminal.shows(`got <${word}>`);
  }
  terminal.type('pwpush get order.\t\t');
  await terminal.shows('order.a');
  terminal.type('\u0015exit\r');
  await terminal.ended;
  expect(existsSync(at('pwned'))).toBe(false);
  const screen = terminal.screen();
  expect(screen.indexOf('order.z')).toBeLessThan(screen.indexOf('order.a'));
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
const ran = (shell: string, ...words: string[]) =>
  linesOf(execFileSync(shell, words, { env, cwd: somebody.folder, encoding: 'utf8' }));

describe('bash', needsPrograms('bash'), () => {
  test('takes what an instance or another user chose for one word', () => {
    writeFileSync(at('.bashrc'), `. ./bash; PS1='ready> '`);
    return completes('bash --noprofile -i');
  });

  const offers = (...words: string[]) => {
    const harness = `source "$0"; compopt() { :; }; COMP_WORDS=(pwpush "$@"); COMP_CWORD=$#; _pwpush; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return ran('bash', '--norc', '-c', harness, at('bash'), ...words);
  };

  test.each(cases)('%s', (line, offered) => {
    expect(offers(...line.split(' '))).toEqual(offered.split(' '));
    expect(existsSync(at('pwned'))).toBe(false);
  });

  test('options end with --, behind which run offers commands', () => {
    expect(offers('get', '--', '--')).toEqual([]);
    expect(offers('run', 'link', '--', 'pwpus')).toEqual(['pwpush']);
  });

  test('on a terminal', async () => {
    const terminal = onTerminal(`cd ${somebody.folder}; exec bash --norc --noprofile -i`, {
      ...env,
      PS1: '',
    });
    terminal.type(`PS1='re''ady> '; source ./bash\r`);
    await terminal.shows('ready> ');
    terminal.type('pwpush push --kin\t');
    await terminal.shows('pwpush push --kind ');
    terminal.type('u\t');
    await terminal.shows('--kind url ');
    terminal.type('--from a\t');
    await terminal.shows('--from a\\ report.pdf ');
    for (const line of hostile) terminal.type(`\u0015${line}\t`);
    terminal.type('\u0015exit\r');
    await terminal.ended;
    expect(existsSync(at('pwned'))).toBe(false);
  });
});

describe('fish (needs fish)', needsPrograms('fish'), () => {
  test('takes what an instance or another user chose for one word', () =>
    completes(`fish --no-config -C 'source fish; function fish_prompt; echo "ready> "; end' -i`));

  const described = (line: string) =>
    ran('fish', '--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', at('fish'), line);
  const offers = (line: string) => described(line).map((entry) => entry.split('\t')[0]);

  test.each(cases)('%s', (line, offered) => {
    expect(offers(`pwpush ${line}`)).toEqual(offered.split(' '));
  });

  test('paths where an option takes one, and nothing where nothing is known', () => {
    expect(offers('pwpush push --from a')).toEqual(['a report.pdf']);
    expect(offers('pwpush push --from=a')).toEqual(['--from=a report.pdf']);
    expect(offers('pwpush push --days ')).toEqual([]);
    expect(offers('pwpush run link -- pwpus')).toEqual(['pwpush']);
  });

  test('what commands are for', () => {
    expect(described('pwpush pre')).toEqual(['preview\tshow views and days left']);
  });

  test('nothing that was typed is run', () => {
    for (const line of hostile) offers(line);
    expect(existsSync(at('pwned'))).toBe(false);
  });
});

describe('zsh (needs zsh)', needsPrograms('zsh'), () => {
  test('takes what an instance or another user chose for one word', () => {
    mkdirSync(at('zdot'), { recursive: true });
    writeFileSync(at('zdot/.zshrc'), 'autoload -Uz compinit; compinit -D -u; source ./zsh');
    return completes('zsh -i');
  });

  test('on a terminal', async () => {
    mkdirSync(at('zdot'), { recursive: true });
    // Control-X shows the line as it is then; what zsh draws meanwhile is full of escapes. Unlike the usual
    // expand-or-complete, Control-T leaves alone what zsh itself would expand.
    const setup = `
      autoload -Uz compinit; compinit -D -u
      source ${at('zsh')}
      reveal() { zle -I; print -r -- "<$BUFFER>" }
      zle -N reveal; bindkey '^X' reveal
      bindkey '^T' complete-word
      PS1='ready> '
    `;
    writeFileSync(at('zdot/.zshrc'), setup);
    const terminal = onTerminal(`cd ${somebody.folder}; exec zsh -i`, {
      ...env,
      ZDOTDIR: at('zdot'),
    });
    await terminal.shows('ready> ');
    const lines: [string, string][] = [
      ['pwpush prev', 'pwpush preview '],
      ['pwpush push --kind u', 'pwpush push --kind url '],
      ['pwpush push --from a', 'pwpush push --from a\\ report.pdf '],
      ['pwpush profile use h', 'pwpush profile use home '],
      ['pwpush push --from=a', 'pwpush push --from=a\\ report.pdf '],
      ['pwpush run link -- pwpus', 'pwpush run link -- pwpush '],
    ];
    // Not Control-U: while a line is revealed the terminal itself would take it.
    const empty = '\u0001\u000b';
    for (const [typed, completed] of lines) {
      terminal.type(`${empty}${typed}\t\u0018`);
      await terminal.shows(`<${completed}>`);
    }
    terminal.type(`${empty}pwpush profile \t`);
    await terminal.shows('list the profiles');
    for (const line of hostile) terminal.type(`${empty}${line}\u0014`);
    terminal.type(`${empty}pwpush prev\t\u0018`);
    await terminal.shows('<pwpush preview >', 2);
    terminal.type(`${empty}exit\r`);
    await terminal.ended;
    expect(existsSync(at('pwned'))).toBe(false);
  });
});

describe('PowerShell (needs pwsh)', only('PowerShell', onPath('pwsh')), () => {
  test('takes what an instance or another user chose for one word', () => {
    const script = `
      Invoke-Expression (Get-Content -Raw powershell)
      foreach ($at in 0..${chosen.length - 1}) {
        $line = "pwpush get w$at."
        $found = [System.Management.Automation.CommandCompletion]::CompleteInput($line, $line.Length, $null)
        Invoke-Expression "pwpush get $($found.CompletionMatches[0].CompletionText)"
      }`;
    const options = { env: { ...env, PATH: offering() }, cwd: somebody.folder, encoding: 'utf8' } as const;
    const printed = execFileSync('pwsh', ['-NoProfile', '-NonInteractive', '-Command', script], options);
    expect(linesOf(printed)).toEqual(chosen.map((word) => `got <${word}>`));
    expect(existsSync(at('pwned'))).toBe(false);
  });
});
