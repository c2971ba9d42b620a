# Sets up the file system of a container and becomes its first process, with a read-only root and no privileges: the
# image, its working folder, its user, the mounts (each a folder, where, and `ro` or `rw`) up to `--`, and the command.
set -eu
image=$1 folder=$2 user=$3
shift 3
mount --bind "$image" "$image"
mount -t proc proc "$image/proc"
mount -t tmpfs -o mode=755 dev "$image/dev"
for device in null zero random urandom; do
  : >"$image/dev/$device"
  mount --bind "/dev/$device" "$image/dev/$device"
done
while [ "$1" != -- ]; do
  mount --bind "$1" "$image$2"
  mount -o "remount,bind,$3" "$image$2"
  shift 3
done
shift
mount -o remount,bind,ro "$image/dev"
mount -o remount,bind,ro "$image"
exec setpriv --no-new-privs unshare --root "$image" --wd "$folder" \
  --setgid "$user" --setuid "$user" -- "$@"
