#!/bin/sh
# ext4 with fast commits: when the power goes between the two blocks of a transaction's first fast commit, no mount is possible.
# Nothing of headcrash is needed: mkfs.ext4, e2fsck, xfs_io, losetup, perl, in a guest by
#
#   scripts/run-in-guest --tool mkfs.ext4 --tool e2fsck power-cut.sh --yes [--4k] [--used] [--before | --after | --torn]
#
# The disk is copied before and after an fsync. They differ in the blocks of the fast commit, and what a power cut between the
# writes leaves is the copy from before with all of these blocks but the last. That image is mounted, repaired by e2fsck if the
# mount is refused, and looked at. Exit code 1: the mount is refused, or a file that was synced long before is gone; 0: neither;
# 2: it cannot be told.
#
#   --4k       with blocks of 4 KiB, which 12 new files need two of, in place of 1 KiB, which 3 do
#   --used     a fast commit of an earlier transaction stands in these blocks
#   --before   a control: the cut comes before the first block
#   --after    a control: the cut comes after the last block
#   --torn     2 new files, which fit into one block, of which only the first half is written: the same, by a torn write
set -u
cannot() { echo "cannot: $*" >&2; exit 2; }
yes='' used='' variant='' size=1024 new='1 2 3'
for word; do
  case $word in
    --yes) yes=yes ;;
    --used) used=yes ;;
    --4k) size=4096 new='1 2 3 4 5 6 7 8 9 10 11 12' ;;
    --before | --after | --torn) variant=$word ;;
    *) cannot "unknown option $word" ;;
  esac
done
[ "$variant" != --torn ] || { [ $size = 1024 ] && new='1 2' || cannot '--torn is for blocks of 1 KiB'; }
[ -n "$yes" ] || cannot "it mounts a file system of its own on a loop device: say --yes"
[ "$(id -u)" = 0 ] || cannot 'it needs root'
place=$(mktemp -d)
image=$place/image before=$place/before after=$place/after mnt=$place/mnt disk=''
trap 'cd /; umount "$mnt" 2> /dev/null; [ -z "$disk" ] || losetup -d "$disk"; rm -rf "$place"' EXIT
mkdir "$mnt"
dd if=/dev/zero of="$image" bs=1M count=0 seek=320 2> /dev/null
uuid=2245bd5f-bb68-4f68-a2eb-92502318fa4e
words="-q -F -O fast_commit -U $uuid -E hash_seed=$uuid,lazy_itable_init=0,lazy_journal_init=0 -b $size"
echo "== Linux $(uname -r), $(uname -v)"
echo "== mkfs: mkfs.ext4 $words"
mkfs.ext4 $words "$image" || cannot 'mkfs failed'
attach() { disk=$(losetup -f) && losetup "$disk" "$1" || cannot 'no loop device'; }
attach "$image"
# Copying takes longer than the 5 s after which the journal commits by itself.
mount -t ext4 -o commit=600 "$disk" "$mnt" || cannot 'it cannot be mounted'
cd "$mnt" || cannot 'no mount'
: > e && sync || cannot 'an operation failed'
if [ -n "$used" ]; then
  for each in $new; do : > "old$each" || cannot 'an operation failed'; done
  xfs_io -c fsync "old$each" && sync || cannot 'an operation failed'
fi
# No fast commit can hold the attribute, so that this is a full commit, in the journal only.
: > f && setfattr -n user.a -v 1 f && xfs_io -c fsync f || cannot 'an operation failed'
for each in $new; do : > "new$each" || cannot 'an operation failed'; done
cp --sparse=always "$image" "$before" || cannot 'no copy'
xfs_io -c fsync "new$each" || cannot 'fsync failed'
cp --sparse=always "$image" "$after" || cannot 'no copy'
echo "== f was synced, then new$each, which was created last of $each"
head -n 4 /proc/fs/ext4/*/fc_info
cd / && umount "$mnt" && losetup -d "$disk" || cannot 'unmount failed'
disk=''
# replace_blocks: makes $before the disk after the cut, and says which blocks the fsync wrote and which of them are there.
replace_blocks() {
  perl -e '
    my ($before, $after, $size, $variant) = @ARGV;
    open(my $old, "+<:raw", $before) or die "$before: $!\n";
    open(my $new, "<:raw", $after) or die "$after: $!\n";
    my (@blocks, @data);
    for (my $n = 0; sysread($new, my $b, $size) == $size; ++$n) {
      sysread($old, my $a, $size) == $size or die "$before: too short\n";
      next if $a eq $b;
      push @blocks, $n;
      push @data, $b;
    }
    my $wanted = $variant eq "--torn" ? 1 : 2;
    @blocks == $wanted or die "the fsync has written " . @blocks . " blocks, not $wanted\n";
    printf "the fsync wrote blocks: %s\n", join(" ", @blocks);
    my $keep = $variant eq "--before" ? 0 : $variant eq "--after" ? 2 : 1;
    for my $n (0 .. $keep - 1) {
      my $bytes = $variant eq "--torn" ? $size / 2 : $size;
      sysseek($old, $blocks[$n] * $size, 0);
      syswrite($old, $data[$n], $bytes) == $bytes or die "$before: $!\n";
      print "on the disk: $bytes bytes of block $blocks[$n]\n";
    }' "$before" "$after" "$size" "$variant" || cannot 'the fsync wrote something else'
}
replace_blocks
there() {
  for each in f new1; do
    if [ -e "$mnt/$each" ]; then echo "$each is there"; else echo "$each is not there"; fi
  done
  [ -e "$mnt/f" ] || found=lost
}
attach "$before"
found=kept
dmesg -c > /dev/null
echo '== mount after the power cut'
if mount -t ext4 "$disk" "$mnt"; then
  there
  umount "$mnt"
  e2fsck -fn "$disk" || found=damaged
else
  found=refused
  dmesg | sed 's/^<[0-9]*>//; s/^\[[^]]*\] //' | grep -e JBD2 -e EXT4
  echo '== e2fsck -fy'
  e2fsck -fy "$disk"
  echo "exit code $?"
  echo '== mount after e2fsck'
  if mount -t ext4 "$disk" "$mnt"; then there; umount "$mnt"; fi
  [ $found = refused ] || found="refused, and f, which was synced before, is lost"
fi
echo '== result'
echo "$found"
[ "$found" = kept ]
