#!/bin/sh
# Installs pwpush @VERSION@ into ~/.local, or the folder that --prefix names; nothing needs root. Running it again
# upgrades, --uninstall removes what it installed. The archive is compared with the checksum below before anything is
# written.
set -eu

# Nothing runs before the last line is read: piped into a shell, the script may be cut.
{
  version='@VERSION@'
  base="${PWPUSH_INSTALL_URL:-@URL@}"
  sums='@SUMS@'

  unset prefix
  uninstall=

  say() { printf '%s\n' "$*"; }
  fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
  }

  while [ $# -gt 0 ]; do
    case "$1" in
      --prefix)
        [ $# -ge 2 ] || fail '--prefix requires a folder'
        prefix="$2"
        shift
        ;;
      --prefix=*) prefix="${1#--prefix=}" ;;
      --uninstall) uninstall=1 ;;
      -h | --help)
        say 'usage: install.sh [--prefix DIR] [--uninstall]'
        exit 0
        ;;
      *) fail "unknown option \"$1\"; see install.sh --help" ;;
    esac
    shift
  done
  if [ -z "${prefix+set}" ]; then
    [ -n "${HOME:-}" ] || fail 'HOME is not set: name a folder with --prefix'
    prefix="$HOME/.local"
  fi
  [ -n "$prefix" ] || fail '--prefix requires a folder'
  case "$prefix" in
    /*) ;;
    *) prefix="$PWD/$prefix" ;;
  esac

  bash_completion="$prefix/share/bash-completion/completions/pwpush"
  zsh_completion="$prefix/share/zsh/site-functions/_pwpush"
  fish_completion="$prefix/share/fish/vendor_completions.d/pwpush.fish"

  if [ -n "$uninstall" ]; then
    [ -e "$prefix/bin/pwpush" ] || fail "pwpush is not installed in $prefix"
    rm -f "$prefix/bin/pwpush" "$bash_completion" "$zsh_completion" "$fish_completion"
    rm -f "$prefix"/share/man/man1/pwpush.1 "$prefix"/share/man/man1/pwpush-*.1 "$prefix"/share/man/man7/pwpush-*.7
    say "removed pwpush from $prefix; profiles and saved secrets stay, see pwpush-doctor(1) for their folders"
    exit 0
  fi

  # uname -m is x86_64 in a translated shell on an Apple processor.
  system=$(uname -s)
  machine=$(uname -m)
  case "$system" in
    Linux) platform=linux ;;
    Darwin)
      platform=macos
      [ "$(sysctl -n hw.optional.arm64 2>/dev/null || :)" != 1 ] || machine=arm64
      ;;
    *) fail "there is no binary for $system; with Node.js use: npm install --global pwpush" ;;
  esac
  case "$machine" in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "there is no binary for $machine; with Node.js use: npm install --global pwpush" ;;
  esac
  # A glibc system can have musl as a package, and Alpine the loader of glibc: ldd is that of the system.
  if [ "$platform" = linux ] && ls /lib/ld-musl-* >/dev/null 2>&1; then
    if ! command -v ldd >/dev/null || ldd --version 2>&1 | grep -q musl; then
      platform=linux-musl
    fi
  fi

  name="pwpush-$version-$platform-$machine.tar.gz"
  expected=$(printf '%s\n' "$sums" | while read -r sum file; do [ "$file" = "$name" ] && printf '%s' "$sum" || :; done)
  [ -n "$expected" ] || fail "there is no binary for $platform-$machine; with Node.js use: npm install --global pwpush"

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM

  say "downloading $base/$name"
  if command -v curl >/dev/null; then
    case "$base" in https:*) proto='=https' ;; *) proto='=http,https' ;; esac
    curl -fsSL --proto "$proto" --retry 2 -o "$work/archive" "$base/$name" || fail 'the download failed; nothing was installed'
  elif command -v wget >/dev/null; then
    wget -q -O "$work/archive" "$base/$name" || fail 'the download failed; nothing was installed'
  else
    fail 'curl or wget is required'
  fi

  if command -v sha256sum >/dev/null; then
    actual=$(sha256sum <"$work/archive")
  elif command -v shasum >/dev/null; then
    actual=$(shasum -a 256 <"$work/archive")
  elif command -v openssl >/dev/null; then
    actual=$(openssl dgst -sha256 -r <"$work/archive")
  else
    fail 'sha256sum, shasum or openssl is required to verify the download'
  fi
  actual=${actual%% *}
  [ "$actual" = "$expected" ] || fail "the checksum is $actual instead of $expected; nothing was installed"

  # Unpacked where the program will be, and moved when all is there: a running pwpush is not cut off, and a full disk
  # changes nothing. The folder is this user's alone, so that nobody else can put a link into it. Moving follows none.
  mkdir -p "$prefix/bin" || fail "cannot create $prefix/bin; nothing was installed"
  files=$(mktemp -d "$prefix/bin/.pwpush-XXXXXX") || fail "cannot write to $prefix/bin; nothing was installed"
  trap 'rm -rf "$work" "$files"' EXIT
  tar -xzf "$work/archive" -C "$files" --strip-components=1 || fail 'the archive cannot be unpacked; nothing was installed'

  # Calls a function with each file: its name in the archive, its path and its mode.
  for_each() {
    "$1" pwpush "$prefix/bin/pwpush" 755
    for page in "$files"/man/*; do
      page=${page##*/}
      "$1" "man/$page" "$prefix/share/man/man${page##*.}/$page" 644
    done
    "$1" completions/pwpush.bash "$bash_completion" 644
    "$1" completions/pwpush.zsh "$zsh_completion" 644
    "$1" completions/pwpush.fish "$fish_completion" 644
  }
  prepare() {
    folder=$(dirname "$2")
    mkdir -p "$folder" || fail "cannot create $folder; nothing was installed"
    [ -w "$folder" ] || fail "cannot write $2; nothing was installed"
    [ ! -d "$2" ] || fail "$2 is a folder; nothing was installed"
    chmod "$3" "$files/$1"
  }
  move() { mv -f "$files/$1" "$2"; }

  for_each prepare
  # Not in the temporary folder, from which programs may not be allowed to run.
  if ! said=$("$files/pwpush" --version 2>&1 </dev/null); then
    [ "$platform" != linux-musl ] || said="$said
it requires the library libstdc++: apk add libstdc++"
    fail "the program does not start; nothing was installed
$said"
  fi
  for_each move

  say "installed pwpush $version as $prefix/bin/pwpush, with manual pages and completions for bash, zsh and fish"
  case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) say "add it to your PATH, for example: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
  case "${SHELL:-}" in
    */zsh) say "if zsh does not complete it, add to ~/.zshrc before compinit: fpath+=\"$prefix/share/zsh/site-functions\"" ;;
  esac
}
