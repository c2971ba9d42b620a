import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { GlobalOptions } from '../../cli/options';
import type { Entry } from '../../cli/terminal/output';
import type { Context } from '../../platform/context';
import { usageError } from '../../platform/errors';
import { aborted, raceWithLimit } from '../../platform/files/abort';
import { whyUnreadable } from '../../platform/files/file-error';
import { GRACE } from '../../platform/interrupts';
import { listed } from '../../words/grammar';
import { type Allowed, McpSession } from './mcp-session';
import { serveProtocol } from './protocol';

/** What the tools may do, and the options about the instance that the runs of them have. */
export interface McpPlan {
  readonly root: string | undefined;
  readonly allowed: Omit<Allowed, 'root'>;
  readonly options: GlobalOptions;
}

/** Serves the tools until the client closes standard input, or a signal ends it; then ends what still runs. */
export async function run(entry: Entry, plan: McpPlan): Promise<void> {
  const { context, say } = entry;
  const { allowed, options } = plan;
  const root = await rootFolder(context, plan.root);
  context.interrupts.enter({ mode: 'own' });
  if (context.stdin.isTTY)
    await say.note('waiting for a client on standard input; see man pwpush-mcp (Ctrl-C ends it)');
  const loose = allowed.run.filter(hasWayOut);
  if (loose.length > 0)
    await say.warn(
      `--allow-run: ${listed(loose)} can start other programs, or print a secret in any form`,
      'allow a script of your own that takes no arguments',
    );
  const ending = new AbortController();
  void aborted(context.signal).then(() => ending.abort());
  const session = new McpSession(entry, options, { ...allowed, root }, ending.signal);
  try {
    await serveProtocol(session);
  } finally {
    ending.abort();
    // A program that does not end is left behind.
    await raceWithLimit(session.idle(), { milliseconds: 2 * GRACE.run }, () => {});
  }
}

/**
 * The folder of all files. Clients start servers in any folder, some in that of the whole system.
 * @throws CliError (usage) if it is no folder, or if it is too large a one and was not named
 */
async function rootFolder({ home }: Context, named: string | undefined): Promise<string> {
  const folder = named ?? '.';
  const found = await realpath(folder).catch((error) => {
    throw usageError(`--root must be a folder; cannot read "${folder}" (${whyUnreadable(error)})`);
  });
  if (!(await stat(found)).isDirectory()) throw usageError(`--root: "${folder}" is not a folder`);
  const isHome = found === (await realpath(home ?? '').catch(() => undefined));
  if (named === undefined && (isHome || dirname(found) === found))
    throw usageError(
      `the current folder is ${isHome ? 'your home' : 'the whole system'}, with files that no tool should reach`,
      'name a folder: pwpush mcp --root FOLDER',
    );
  return found;
}

// Programs that start others, or say what they are given in any form: anyone who chooses their arguments gets the secret in the
// environment, masked or not. No list of them is whole (https://gtfobins.github.io): it warns, and refuses nothing.

const known = [
  'ash bash busybox cmd csh dash elvish fish ksh mksh nu powershell pwsh rbash sh tcsh toybox xonsh zsh',
  'awk bc bun cscript dc deno ed elixir erl expect gawk ghci groovy guile irb java jq jshell jrunscript julia jython kotlin',
  'lua luajit m4 mawk nawk node nodejs osascript perl php pypy python r rscript ruby scala sed sqlite swift tclsh ts-node',
  'tsx wish wscript',
  'at batch bwrap chroot chrt choom crontab cpulimit doas entr env firejail flock gdb ionice ld.so lldb ltrace nice nohup',
  'nsenter parallel pkexec proot rlwrap run-parts script screen setarch setsid ssh-agent start-stop-daemon stdbuf strace su',
  'sudo systemd-run taskset time timeout tmux unshare unbuffer valgrind watch xargs zellij',
  'ansible ansible-playbook apt apt-get aws bazel brew bundle bunx cargo cmake composer conda corepack dnf docker dotnet dpkg',
  'gcc g++ clang gem gh git go gradle hg just kubectl helm make gmake meson mvn ninja nix npm npx nerdctl pip pipx pnpm pnpx',
  'podman poetry rake rpm rustup snap svn task terraform tofu uv uvx vagrant yarn yum',
  'clickhouse-client duckdb mariadb mongo mongosh mysql psql redis-cli sqlplus usql',
  'curl dig ftp lftp mail mailx mosh nc ncat netcat nmap openssl rclone restic rsync scp sftp socat ssh tcpdump telnet wget',
  'bsdtar cpio find fd gpg rg tar zip 7z',
  'editor ee emacs emacsclient ex gvim helix hx info joe less man mcedit micro more most nano nvim pg pico vi view vim vimdiff',
  'base32 base64 basenc cat cut dd echo head hexdump nl od paste printenv printf rev sort tac tail tee tr xxd',
];

const names = new Set(known.flatMap((line) => line.split(' ')));

/** Whether a program is known for that, by its name without folders, version and `.exe`: also of `python3.12`. */
function hasWayOut(program: string): boolean {
  const base = (program.split(/[/\\]/).at(-1) ?? '')
    .toLowerCase()
    .replace(/\.(?:bat|cmd|com|exe)$/, '');
  return names.has(base) || names.has(base.replace(/-?\d[\d.]*$/, ''));
}
