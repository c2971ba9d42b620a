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
export function hasWayOut(program: string): boolean {
  const base = (program.split(/[/\\]/).at(-1) ?? '')
    .toLowerCase()
    .replace(/\.(?:bat|cmd|com|exe)$/, '');
  return names.has(base) || names.has(base.replace(/-?\d[\d.]*$/, ''));
}
