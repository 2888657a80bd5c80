#!/bin/sh
# ext4 with fast commits: fsync of a new file, while another directory is new as well, leaves wrong counts of links and
# directories after the kernel's replay. Nothing of headcrash is needed: mkfs.ext4, e2fsck, xfs_io, losetup, in a guest by
#
#   scripts/run-in-guest --tool mkfs.ext4 --tool e2fsck shutdown.sh --yes [--sync | --no-directory]
#
# The file system is shut down as a panic would leave it (xfs_io's shutdown without a flush of the log), mounted again, which
# replays, and checked by e2fsck. Exit code 1: e2fsck finds damage; 0: it does not; 2: it cannot be told.
#
#   --sync           a control: sync after the fsync, so that a full commit has it all
#   --no-directory   a control: the same without the second directory
set -u
cannot() { echo "cannot: $*" >&2; exit 2; }
yes='' variant=''
for word; do
  case $word in
    --yes) yes=yes ;;
    --sync | --no-directory) variant=$word ;;
    *) cannot "unknown option $word" ;;
  esac
done
[ -n "$yes" ] || cannot "it mounts a file system of its own on a loop device: say --yes"
[ "$(id -u)" = 0 ] || cannot 'it needs root'
place=$(mktemp -d)
image=$place/image mnt=$place/mnt disk=''
trap 'cd /; umount "$mnt" 2> /dev/null; [ -z "$disk" ] || losetup -d "$disk"; rm -rf "$place"' EXIT
mkdir "$mnt"
dd if=/dev/zero of="$image" bs=1M count=0 seek=320 2> /dev/null
uuid=2245bd5f-bb68-4f68-a2eb-92502318fa4e
words="-q -F -O fast_commit -U $uuid -E hash_seed=$uuid,lazy_itable_init=0,lazy_journal_init=0"
echo "== Linux $(uname -r), $(uname -v)"
echo "== mkfs: mkfs.ext4 $words"
mkfs.ext4 $words "$image" || cannot 'mkfs failed'
disk=$(losetup -f) && losetup "$disk" "$image" || cannot 'no loop device'
mount -t ext4 "$disk" "$mnt" || cannot 'it cannot be mounted'
cd "$mnt" || cannot 'no mount'
counts() {
  for each in . A B A/bar; do
    [ ! -e "$each" ] || echo "$1 $each: $(stat -c '%h links' "$each")"
  done
}
mkdir A && sync && : > A/bar || cannot 'an operation failed'
[ "$variant" = --no-directory ] || mkdir B || cannot 'mkdir failed'
xfs_io -c fsync A/bar || cannot 'fsync failed'
[ "$variant" != --sync ] || sync
counts before
cat /proc/fs/ext4/*/fc_info 2> /dev/null | head -n 4
cd / && xfs_io -x -c shutdown "$mnt" && umount "$mnt" || cannot 'no shutdown'
mount -t ext4 "$disk" "$mnt" || cannot 'it cannot be mounted again'
cd "$mnt" && counts after
cd / && umount "$mnt"
echo '== e2fsck -fn'
found=0
e2fsck -fn "$disk" || found=$?
echo '== result'
case $found in
  0) echo sound; exit 0 ;;
  4) echo damaged; exit 1 ;;
  *) cannot "e2fsck ended with $found" ;;
esac
