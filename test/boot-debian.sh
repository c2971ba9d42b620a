# Boots the Debian in namespaces of its own, over which changes are lost. Not by chroot(8), in which the user namespace of
# the unit could not be made.
set -e
mkdir "$2/cgroup"
mount -t cgroup2 cgroup2 "$2/cgroup"
own="$2/cgroup/pwpush-test-$$"
mkdir "$own"
sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$own" \
  unshare --mount --pid --cgroup --ipc --uts --net --fork --kill-child --propagation private sh -ec '
  mount -t tmpfs tmpfs /mnt
  mkdir /mnt/changes /mnt/work /mnt/root
  mount -t overlay -o "lowerdir=$1,upperdir=/mnt/changes,workdir=/mnt/work" overlay /mnt/root
  cd /mnt/root
  mount --bind "$2" media
  mount -t proc proc proc
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs run
  mount -t tmpfs -o mode=755 tmpfs dev
  for device in null zero full random urandom tty; do
    : >dev/$device
    mount --bind /dev/$device dev/$device
  done
  mkdir dev/pts dev/shm
  mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  ip link set lo up
  pivot_root . mnt
  umount -l /mnt
  mount --make-rshared /
  exec env -i PATH=/usr/sbin:/usr/bin container=test /lib/systemd/systemd
' sh "$1" "$2" || :
find "$own" -depth -type d -exec rmdir {} ';'
umount "$2/cgroup"
