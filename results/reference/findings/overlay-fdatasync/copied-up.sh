#!/bin/sh
# overlayfs: fdatasync of a file that was copied up does not make the copy's name persistent.
#
# Written by hand. A copy of the disk's image is what a power cut leaves if no write is lost, so the loss needs neither a volatile
# cache nor a reordered write.

title='overlayfs on ext4: after a crash, a file shows the data from before an overwrite that fdatasync had made persistent'

usage() {
  cat <<END
usage: $0 --yes [--call CALL] [--options OPTIONS] [--keep]

$title

This script needs only a Linux kernel with overlayfs, ext4 and loop devices, root, mkfs.ext4 and xfs_io. It
  1. makes ext4 in a file, with the directories lower, upper and work, writes 64 KiB of the letter A to lower/f, and calls sync,
  2. mounts overlayfs, and overwrites the first 4 KiB of f with the letter B, which copies f up,
  3. calls fdatasync on f, and copies the image of the disk when the call has returned,
  4. mounts the copy, which replays the journal, mounts overlayfs on it, and prints "lost" if f begins with A, or "kept".

Nothing is done without --yes.

  --call CALL  the call of step 3: fdatasync (default), fsync or sync
  --options OPTIONS  further mount options of overlayfs, such as fsync=strict
  --keep       keep the images

Exit code, suitable for git bisect run: 0 kept, 1 lost, 125 could not be tested.
END
}

cannot() {
  echo "$0: cannot be tested: $*" >&2
  exit 125
}

work='' mounted=''
mount_on() { # FOLDER OPTION...
  folder=$1
  shift
  mount "$@" "$folder" || cannot "mount $*"
  mounted="$folder $mounted"
}
unmount_all() {
  for each in $mounted; do umount "$each"; done
  mounted=''
}
cleanup() {
  unmount_all
  cd /
  [ -z "$work" ] || [ -n "$keep" ] || rm -rf "$work"
}

yes='' keep='' call=fdatasync options=''
while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=1 ;;
    --keep) keep=1 ;;
    --call)
      case ${2:-} in fdatasync | fsync | sync) call=$2 ;; *) cannot '--call needs fdatasync, fsync or sync' ;; esac
      shift
      ;;
    --options)
      options=,${2:-}
      shift
      ;;
    *)
      usage
      exit 125
      ;;
  esac
  shift
done
if [ -z "$yes" ]; then
  usage
  exit 125
fi
[ "$(id -u)" = 0 ] || cannot 'this needs root'
for program in mkfs.ext4 xfs_io mount od; do
  command -v "$program" > /dev/null || cannot "there is no $program on this machine"
done
trap cleanup EXIT
trap 'exit 125' INT TERM HUP
work=$(mktemp -d) || cannot 'no temporary folder'
[ -z "$keep" ] || echo "the images stay in $work"
cd "$work" || exit 125

# mount_overlay IMAGE: mounts the image on disk, and overlayfs on merged. The journal is not committed by its timer, which otherwise
# expires every 5 s, so that the result does not depend on the machine's speed.
mount_overlay() {
  mount_on disk -t ext4 -o loop,commit=60 "$1"
  mount_on merged -t overlay -o lowerdir=disk/lower,upperdir=disk/upper,workdir=disk/work"$options" overlay
}

echo "== Linux $(uname -r), $(uname -v)"
mkdir disk merged
truncate -s 64M image && mkfs.ext4 -q -F image || cannot 'mkfs.ext4 failed'
mount_on disk -t ext4 -o loop image
mkdir disk/lower disk/upper disk/work
xfs_io -f -c 'pwrite -q -S 0x41 0 65536' disk/lower/f || cannot 'f was not written'
sync
unmount_all
mount_overlay image
case $call in
  sync) xfs_io -c 'pwrite -q -S 0x42 0 4096' merged/f && sync ;;
  *) xfs_io -c 'pwrite -q -S 0x42 0 4096' -c "$call" merged/f ;;
esac || cannot "the overwrite or $call failed"
cp image crashed || cannot 'the image was not copied'
echo "== the image was copied when $call had returned"
unmount_all
mount_overlay crashed
ls disk/upper | sed 's/^/upper: /'
case $(od -An -c -N1 merged/f | tr -d ' ') in
  A) echo 'lost: f has the data from before the overwrite'; exit 1 ;;
  B) echo 'kept'; exit 0 ;;
  *) cannot "f has other data: $(od -An -c -N4 merged/f)" ;;
esac
