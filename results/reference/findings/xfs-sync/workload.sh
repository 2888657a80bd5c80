#!/bin/sh
# xfs: lost-synced-data (documented)
# ==================================
# objects with lost-synced-data: 1, although fsck reported no errors; first: f: expected version 2 or
# newer in block 0, found version 1 of file 1 (16 blocks of 512 bytes)
#
# file system  XFS, defaults
# made by      mkfs.xfs -q -f -m uuid={uuid} {device}
# crash state  w24- of smaller-a76bc47ffd19f846-15.hcrec
# - Lost or torn writes minimised from 1 to 1 (minimal; states checked: 1).
# - Reproduced on a fresh guest, with the complete recovery in the guest.
# - Operations minimised from 13 to 8 (the time limit was reached; workloads recorded: 21).
# - Lost or torn writes minimised from 1 to 1 (the time limit was reached; states checked: 0).
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create f
#      1    create g
#      2    write f 0 8192 1 1
#      3 P  sync
#      4    write f 0 8192 1 2
#      5    write g 0 8192 2 3
#      6 P  fsync g
#      7 P* sync
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 24 of the recording, 603.521 ms after its start, 0.000 ms after the mark "persisted 7".
#   unflushed writes 1; lost or torn 1
#
#    request         LBA  sectors     submitted  acknowledged
#         10          80       16    595.942 ms    596.137 ms
#            file 1: version 2, blocks 0 to 15
#            submitted after the mark "persisted 6"
#
# Expected and found
# ------------------
#   f    lost-synced-data, tier documented (file 1)
#     expected  version 2 or newer in block 0
#     found     version 1 of file 1 (16 blocks of 512 bytes)
#
# Recovery
# --------
#   (27 lines before)
#   Phase 6 - check inode connectivity...
#           - traversing filesystem ...
#           - traversal finished ...
#           - moving disconnected inodes to lost+found ...
#   Phase 7 - verify link counts...
#   No modify flag set, skipping filesystem flush and exiting.
#   exit 0
#   guest: mount
#   XFS (vda): Mounting V5 Filesystem
#   XFS (vda): Ending clean mount
#   XFS (vda): Unmounting Filesystem
#   guest$ xfs_repair -n /dev/vda
#   No modify flag set, skipping phase 5
#   Phase 1 - find and verify superblock...
#   Phase 2 - using internal log
#           - zero log...
#           - scan filesystem freespace and inode maps...
#           - found root inode chunk
#   Phase 3 - for each AG...
#           - scan (but don't clear) agi unlinked lists...
#           - process known inodes and perform inode discovery...
#           - agno = 0
#           - agno = 1
#           - agno = 2
#           - agno = 3
#           - process newly discovered inodes...
#   Phase 4 - check for duplicate blocks...
#           - setting up duplicate extent list...
#           - check for inodes claiming duplicate blocks...
#           - agno = 0
#           - agno = 1
#           - agno = 2
#           - agno = 3
#   Phase 6 - check inode connectivity...
#           - traversing filesystem ...
#           - traversal finished ...
#           - moving disconnected inodes to lost+found ...
#   Phase 7 - verify link counts...
#   No modify flag set, skipping filesystem flush and exiting.
#   exit 0
#
# To reproduce
# ------------
#   headcrash replay xfs/stage/xfs-sync --state w36-
#   headcrash replay f.artefacts/run-1/xfs.stage.xfs-sync/smaller-a76bc47ffd19f846-15.hcrec --fs xfs --state w24-

title='XFS, defaults, crash state w36-: objects with lost-synced-data: 1, although fsck reported no errors; first: f: expected version 5 or newer in block 0, found version 3 of file 1 (16 blocks of 512 bytes)'
fstype='xfs'
mount_options=''
replay_by_mount='yes'
kernel_recovers=''
fsck_may_repair=''
replay_words='mount and unmount'
check_words='xfs_repair -n {device}'
replay() { true; }
replay_good='0'
check() { 'xfs_repair' '-n' ''"$1"''; }
check_good='0'
repair() { 'xfs_repair' ''"$1"''; }
repair_good='0'
size='335544320'
persisted='12'
one_left_out=''
torn=''
mkfs_words='mkfs.xfs -q -f -m uuid=2245bd5f-bb68-4f68-a2eb-92502318fa4e {device}'
mkfs() { 'mkfs.xfs' '-q' '-f' '-m' 'uuid=2245bd5f-bb68-4f68-a2eb-92502318fa4e' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_block 'f' 0 'version 5 or newer' 2342327677
}

operations() {
  :
  step 0 'create f' create 'f'
  step 1 'create g' create 'g'
  step 2 'write f 0 8192 1 1' write 'f' 0 8192 1
  step 3 'write g 0 8192 2 2' write 'g' 0 8192 2
  step 4 'sync' sync
  mark 4
  step 5 'write f 0 8192 1 3' write 'f' 0 8192 3
  step 6 'write g 0 8192 2 4' write 'g' 0 8192 4
  step 7 'fsync g' io -c fsync 'g'
  mark 7
  step 8 'sync' sync
  mark 8
  step 9 'write f 0 8192 1 5' write 'f' 0 8192 5
  step 10 'write g 0 8192 2 6' write 'g' 0 8192 6
  step 11 'fsync g' io -c fsync 'g'
  mark 11
  step 12 'sync' sync
  mark 12
}

# The common parts of all scripts: functions that examine a recovered disk. The variables and the functions replay, check and
# repair are defined above.

work='' loop='' mounted='' failures=0 by_hand=0
cleanup() {
  cd /
  [ -z "$mounted" ] || umount "$mounted" || umount -l "$mounted"
  [ -z "$loop" ] || losetup -d "$loop"
  [ -z "$work" ] || [ -n "$keep" ] || rm -rf "$work"
}
cannot() {
  echo "$0: cannot be tested: $*" >&2
  exit 125
}
need() { command -v "$1" > /dev/null || cannot "there is no $1 on this machine"; }

# failed WHAT EXPECTED FOUND
failed() {
  failures=$((failures + 1))
  echo "FAILED  $1"
  echo "        expected  $2"
  echo "        found     $3"
}
fine() { echo "as promised  $1: $2"; }

# one_of VALUE LIST...
one_of() {
  value=$1
  shift
  for each in "$@"; do [ "$value" != "$each" ] || return 0; done
  return 1
}

# Functions for the checks. Paths are relative to the mount point, which is the current folder.
there() { [ -e "./$1" ] || [ -L "./$1" ]; }
expect_name() {
  if there "$1"; then fine "$1" 'exists'; else failed "$1" 'the name to be there' 'no such name'; fi
}
expect_no_name() {
  if there "$1"; then failed "$1" 'no such name' "$(stat -c %F "./$1")"; else fine "$1" 'does not exist'; fi
}
expect_one_name() {
  if there "$1" && there "$2"; then failed "$1" 'one name' "also $2"; else fine "$1" "and $2 are not both there"; fi
}
expect_kind() {
  found=$(stat -c %F "./$1" 2>&1)
  case $found in
    "$2"*) fine "$1" "$found" ;;
    *) failed "$1" "$2" "$found" ;;
  esac
}
expect_size() {
  found=$(stat -c %s "./$1" 2> /dev/null || echo none)
  if [ "$found" != none ] && [ "$found" -ge "$2" ] && [ "$found" -le "$3" ]; then
    fine "$1" "$found bytes"
  else
    failed "$1" "$2 to $3 bytes" "$found"
  fi
}
expect_links() {
  found=$(stat -c %h "./$1" 2>&1)
  if [ "$found" = "$2" ]; then fine "$1" "$2 links"; else failed "$1" "$2 links" "$found"; fi
}
expect_target() {
  found=$(readlink "./$1" 2>&1)
  if [ "$found" = "$2" ]; then fine "$1" "a link to $2"; else failed "$1" "a link to $2" "$found"; fi
}
expect_readable() {
  if [ -d "./$1" ]; then found=$(ls "./$1" 2>&1 > /dev/null); else found=$(cat "./$1" 2>&1 > /dev/null); fi
  if there "$1" && [ -z "$found" ]; then fine "$1" 'can be read'; else failed "$1" 'readable content' "$found"; fi
}
# expect_block PATH BLOCK WORDS CKSUM...: the permitted cksums of that block of 512 bytes. Blocks identify themselves: bytes 8
# to 11 are the number of the file, 12 to 15 the version, 16 to 23 the block (little-endian).
expect_block() {
  path=$1 block=$2 words=$3
  shift 3
  if ! there "$path"; then
    failed "$path, block $block" "$words" 'no such name'
    return
  fi
  sum=$(dd if="./$path" bs=512 skip="$block" count=1 2> /dev/null | cksum | cut -d' ' -f1)
  if one_of "$sum" "$@"; then
    fine "$path, block $block" "$words"
  else
    failed "$path, block $block" "$words" "$(dd if="./$path" bs=512 skip="$block" count=1 2> /dev/null |
      od -An -v -tx1 -N24 | tr -s ' \n' ' ') ..."
  fi
}
# A finding that no standard tool can check, for manual inspection.
look_yourself() {
  by_hand=$((by_hand + 1))
  echo "check manually  $1"
  echo "        expected            $2"
  echo "        found by headcrash  $3"
}

tree_sum() { find . -xdev ! -name lost+found -exec stat -c '%n %F %s %h' {} + | sort | cksum; }

recover() {
  if [ -n "$replay_by_mount" ]; then
    [ -n "$loop" ] || return 0
    mount_it
    cd /
    umount "$mounted" || cannot 'unmount failed'
    mounted=''
  else
    replay "$1"
    code=$?
    [ $code -ne 127 ] || cannot 'the recovery command is missing'
    one_of $code $replay_good || failed 'recovery' "exit code $replay_good" "exit code $code"
  fi
}
check_and_repair() {
  check "$1"
  code=$?
  [ $code -ne 127 ] || cannot 'the check command is missing'
  if one_of $code $check_good; then return; fi
  [ -n "$fsck_may_repair" ] || failed 'check after recovery' "exit code $check_good" "exit code $code"
  repair "$1"
  code=$?
  one_of $code $repair_good || failed 'repair' "exit code $repair_good" "exit code $code"
}
mount_it() {
  mkdir -p "$work/mnt"
  if ! timeout 300 mount -t "$fstype" ${mount_options:+-o "$mount_options"} "$loop" "$work/mnt"; then
    grep -qw "$fstype" /proc/filesystems || cannot "this kernel has no $fstype"
    failed 'mount' 'the recovered image can be mounted' 'it cannot'
    finish
  fi
  mounted=$work/mnt
  cd "$mounted" || cannot 'the mount point cannot be entered'
}

finish() {
  if [ $failures -gt 0 ]; then
    echo "$failures broken: the failure is reproduced"
    exit 1
  fi
  if [ $by_hand -gt 0 ] || [ "${1:-}" = in_part ]; then
    echo 'all tested promises are kept; some could not be tested'
    exit 125
  fi
  echo 'all promises are kept'
  exit 0
}

# The following part is the same for every failure.

usage() {
  cat <<END
usage: $0 --yes [--sync | --flush] [--mount-options OPTIONS] [--used] [--no-fua] [--slow MS[:SECTORS]] [--all] [--keep]

$title

This script needs only a Linux kernel with dm-log-writes, root, dmsetup, losetup, perl, xfs_io, mkfs and fsck. It
  1. makes a new $fstype${mount_options:+, mounted with $mount_options,} on a loop device under dm-log-writes,
  2. runs the operations, and puts a mark into the log after each operation that makes something persistent,
  3. examines the disk after a panic and after a power cut, when operation $persisted has returned:
     after a panic, everything that the device has completed; after a power cut, only data that was flushed or written through
     (FUA), according to the log. If both are correct, it also cuts the power after each later request, until the next mark,
  4. recovers each state, compares it with the promises of $fstype, and prints "lost" or "kept".

A kernel that mounts a disk after a power cut may crash or hang. Run this script on a machine that you can lose, best a virtual one.
Nothing is done without --yes.

  --sync                   control: sync before the mark of operation $persisted
  --flush                  control: fsync of the block device before the mark, which flushes the drive's cache
  --mount-options OPTIONS  control: other options than "$mount_options"
  --used                   fill the disk with bytes of an earlier user before mkfs, so that stale blocks are visible
  --no-fua                 use a drive with a cache but without FUA, like many: a second loop device above dm-log-writes
  --slow MS[:SECTORS]      delay each write, or only writes to the first SECTORS sectors, by MS milliseconds (dm-delay). Writes
                           for which a kernel does not wait then complete after the flush
  --all                    examine every state, even after one has lost something
  --keep                   keep the disks and the log

Exit code, suitable for git bisect run: 0 kept, 1 lost, 125 could not be tested.
END
}

# Functions for the operations. Each fails if the kernel does.
quiet() {
  said=$("$@" 2>&1)
  code=$?
  [ $code -eq 0 ] && [ -z "$said" ] || { echo "$* (exit code $code): $said" >&2 && return 1; }
}
io() { quiet xfs_io "$@"; }
create() { (set -C && : > "$1"); }
# write PATH OFFSET LENGTH BYTE, in one system call.
write() { io -c "pwrite -q -b $3 -S $4 $2 $3" "$1"; }
write_sync() { io -s -c "pwrite -q -b $3 -S $4 $2 $3" "$1"; }
write_dsync() { io -c "pwrite -q -V 1 -D -b $3 -S $4 $2 $3" "$1"; }
write_direct_dsync() { io -d -c "pwrite -q -V 1 -D -b $3 -S $4 $2 $3" "$1"; }
write_direct() { io -d -c "pwrite -q -b $3 -S $4 $2 $3" "$1"; }
write_mapped() { io -c "mmap 0 $(($2 + $3))" -c "mwrite -S $4 $2 $3" -c "msync -s $2 $3" "$1"; }
append() { io -a -c "pwrite -q -b $3 -S $4 $2 $3" "$1"; }
# rename_flags FROM TO FLAGS: renameat2(2), which mv does not offer: 0, 1 no replace, 2 exchange, 4 whiteout.
rename_flags() {
  case $(uname -m) in
    x86_64) call=316 ;;
    i?86) call=353 ;;
    arm*) call=382 ;;
    *) call=276 ;;
  esac
  perl -e 'syscall($ARGV[0] + 0, -100, $ARGV[1], -100, $ARGV[2], $ARGV[3] + 0) == 0 or die "renameat2: $!\n"' $call "$1" "$2" "$3"
}

# step NUMBER WORDS COMMAND...
step() {
  number=$1 words=$2
  echo "$number  $words"
  shift 2
  "$@" || cannot "operation $number, $words, failed"
}
control=''
mark() {
  [ "$1" != "$persisted" ] || [ -z "$control" ] || echo "   $control"
  if [ "$1" = "$persisted" ]; then
    case $control in
      sync) sync ;;
      flush) sync "$dm" ;;
    esac || cannot "$control failed"
  fi
  dmsetup message "$dm_name" 0 mark "operation-$1" || cannot 'dm-log-writes takes no mark'
  [ "$1" != "$persisted" ] || panic_now
}
# Copies all writes that the device has completed.
panic_now() {
  dmsetup suspend --nolockfs "$dm_name" && cp --sparse=always "$work/disk.raw" "$work/panic.raw" &&
    dmsetup resume "$dm_name" || cannot 'the disk could not be copied'
}

# The needed part of replay-log of fstests (Documentation/admin-guide/device-mapper/log-writes.rst).
#  LOG              prints the entries: number, flags (1 flush, 2 FUA, 4 discard, 8 mark, 16 metadata), sector, sectors, text
#  LOG DISK N [M [S]]  writes entries 0 to N-1 to the disk, except number M, and at most S sectors of the last: its first ones,
#                      or its last ones if S is negative
replay_log() {
  perl -e '
    my ($log, $disk, $end, $without, $most) = @ARGV;
    $without = -1 unless length($without // "");
    open(my $in, "<:raw", $log) or die "$log: $!\n";
    sysread($in, my $super, 64) == 64 or die "$log: too short\n";
    my ($magic, $version, $entries, $unit) = unpack("Q<Q<Q<L<", $super);
    $magic == 0x6a736677736872 && $version == 1 or die "$log: no log of dm-log-writes\n";
    my $out;
    if (defined $disk) { open($out, "+<:raw", $disk) or die "$disk: $!\n"; }
    my $at = $unit;
    for (my $n = 0; $n < $entries && !(defined $end && $n >= $end); ++$n) {
      sysseek($in, $at, 0);
      sysread($in, my $head, $unit) == $unit or die "$log: ends in entry $n\n";
      my ($sector, $sectors, $flags, $length) = unpack("Q<4", $head);
      my $bytes = $flags & 4 ? 0 : $sectors * $unit;
      if (!$out) {
        print join(" ", $n, $flags, $sector, $sectors, $flags & 8 ? substr($head, 32, $length) : ()), "\n";
      } elsif ($n != $without && !($flags & 8) && $sectors) {
        my ($left, $skip) = ($sectors * $unit, 0);
        if (length($most // "") && $n == $end - 1 && abs($most) < $sectors) {
          $skip = $left + $most * $unit if $most < 0;
          $left = abs($most) * $unit;
        }
        sysseek($in, $at + $unit + $skip, 0);
        sysseek($out, $sector * $unit + $skip, 0);
        while ($left > 0) {
          my $piece = $left < 1048576 ? $left : 1048576;
          my $data = "\0" x $piece;
          unless ($flags & 4) { sysread($in, $data, $piece) == $piece or die "$log: ends in entry $n\n"; }
          syswrite($out, $data) == $piece or die "$disk: $!\n";
          $left -= $piece;
        }
      }
      $at += $unit + $bytes;
    }' "$@"
}
# Prints the number of the entry with that mark.
entry_of() { awk -v text="operation-$1" '$2 == 8 && $5 == text { print $1; exit }' "$work/entries"; }

# Prints the log around the mark in readable form.
print_log() {
  echo "== the log of dm-log-writes, until the mark of operation $persisted and shortly after"
  awk -v at="$at_mark" -v most=60 '
    $1 >= at - most && $1 <= at + 12 {
      what = $2 >= 16 ? "metadata " : ""
      kind = $2 % 16
      if (kind == 8) { print $1 "  ---- mark " $5; next }
      if (int(kind / 4) % 2) what = what "discard "
      else if ($4 > 0) what = what "write "
      if (kind % 2) what = what "FLUSH "
      if (int(kind / 2) % 2) what = what "FUA "
      print $1 "  " what ($4 > 0 ? "sector " $3 ", " $4 " sectors" : "")
    }' "$work/entries"
}

# look_at IMAGE, in a subshell: examines the image. The exit code has the meaning of the script's.
look_at() { (
  loop='' mounted='' failures=0
  trap 'end_look $?' EXIT
  loop=$(losetup -f --show "$1") || { loop='' && cannot 'no loop device'; }
  [ -n "$replay_by_mount$kernel_recovers" ] || { quietly recover "$loop" && quietly check_and_repair "$loop"; }
  mount_it
  checks
  cd /
  umount "$mounted" || cannot 'unmount failed'
  mounted=''
  [ -z "$replay_by_mount$kernel_recovers" ] || quietly check_and_repair "$loop"
  finish
); }
end_look() {
  cd /
  [ "$1" -ne 125 ] || [ ! -f "$work/said.txt" ] || cat "$work/said.txt"
  [ -z "$mounted" ] || umount "$mounted" || umount -l "$mounted"
  [ -z "$loop" ] || losetup -d "$loop"
  exit "$1"
}
# Shows the output of a program only if it finds something.
quietly() {
  before=$failures
  "$@" > "$work/said.txt" 2>&1
  [ "$failures" = "$before" ] || cat "$work/said.txt"
}

lost='' kept='' untested=''
# state WORDS IMAGE
state() {
  echo "== $1"
  look_at "$2"
  case $? in
    0) kept="$kept$1; " ;;
    1) lost="$lost$1; " ;;
    *) untested="$untested$1; " ;;
  esac
}
wanted() { [ -z "$lost" ] || [ -n "$all" ]; }
# cut_power WORDS ENTRIES [WITHOUT [SECTORS]]
cut_power() {
  cp --sparse=always "$work/formatted.raw" "$work/cut.raw" || cannot 'the disk could not be copied'
  words=$1
  shift
  replay_log "$work/log.raw" "$work/cut.raw" "$@" || cannot 'the log could not be replayed'
  state "$words" "$work/cut.raw"
}

work='' mounted='' dm_name='' slow_name='' disk_loop='' log_loop='' top_loop=''
cleanup_all() {
  cd /
  for number in 3 4 5 6 7 8 9; do eval "exec $number>&-"; done
  [ -z "$mounted" ] || umount "$mounted" || umount -l "$mounted"
  [ -z "$top_loop" ] || losetup -d "$top_loop"
  [ -z "$dm_name" ] || dmsetup remove --retry "$dm_name"
  [ -z "$slow_name" ] || dmsetup remove --retry "$slow_name"
  [ -z "$disk_loop" ] || losetup -d "$disk_loop"
  [ -z "$log_loop" ] || losetup -d "$log_loop"
  [ -z "$work" ] || [ -n "$keep" ] || rm -rf "$work"
}

yes='' keep='' all='' used='' slow='' no_fua=''
while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=1 ;;
    --keep) keep=1 ;;
    --all) all=1 ;;
    --sync) control=sync ;;
    --flush) control=flush ;;
    --used) used=1 ;;
    --no-fua) no_fua=1 ;;
    --slow)
      case ${2:-} in [1-9] | [1-9]*[0-9:]) ;; *) cannot '--slow needs milliseconds' ;; esac
      slow=$2
      shift
      ;;
    --mount-options)
      [ $# -gt 1 ] || cannot '--mount-options needs options'
      mount_options=$2
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
for program in dmsetup losetup perl xfs_io awk; do need $program; done
trap cleanup_all EXIT
trap 'exit 125' INT TERM HUP
work=$(mktemp -d) || cannot 'no temporary folder'
[ -z "$keep" ] || echo "disks and log stay in $work"

echo "== $(uname -sr), $(uname -v)"
truncate -s "$size" "$work/disk.raw" && truncate -s 4G "$work/log.raw" || cannot 'no room for the disks'
[ -z "$used" ] || tr '\0' '\245' < /dev/zero | dd bs=1M count=$((size / 1048576)) iflag=fullblock conv=notrunc \
  of="$work/disk.raw" 2> /dev/null || cannot 'no room for the disks'
disk_loop=$(losetup -f --show "$work/disk.raw") || { disk_loop='' && cannot 'no loop device'; }
log_loop=$(losetup -f --show "$work/log.raw") || { log_loop='' && cannot 'no loop device'; }
# mkfs would discard an earlier user's data.
[ -z "$used" ] || echo 0 > "/sys/block/${disk_loop#/dev/}/queue/discard_max_bytes" || cannot 'the disk discards'
echo "== mkfs: $mkfs_words"
mkfs "$disk_loop" > "$work/mkfs.txt" 2>&1 || cannot "mkfs failed: $(cat "$work/mkfs.txt")"
sync "$disk_loop"
cp --sparse=always "$work/disk.raw" "$work/formatted.raw" || cannot 'the disk could not be copied'

below=$disk_loop
if [ -n "$slow" ]; then
  sectors=$((size / 512)) slow_sectors=$((size / 512))
  case $slow in *:*) slow_sectors=${slow#*:} ;; esac
  [ "$slow_sectors" -le "$sectors" ] || cannot '--slow exceeds the disk'
  {
    echo "0 $slow_sectors delay $disk_loop 0 0 $disk_loop 0 ${slow%%:*}"
    [ "$slow_sectors" = "$sectors" ] || echo "$slow_sectors $((sectors - slow_sectors)) linear $disk_loop $slow_sectors"
  } | dmsetup create "hc-slow-$$" || cannot 'no dm-delay in this kernel'
  slow_name=hc-slow-$$ below=/dev/mapper/hc-slow-$$
fi
dmsetup create "hc-$$" --table "0 $((size / 512)) log-writes $below $log_loop" ||
  cannot 'no dm-log-writes in this kernel'
dm_name=hc-$$ dm=/dev/mapper/hc-$$ mounts=/dev/mapper/hc-$$
if [ -n "$no_fua" ]; then
  top_loop=$(losetup -f --show --direct-io=on "$dm") || { top_loop='' && cannot 'no loop device'; }
  mounts=$top_loop
  echo "== on a drive with FUA $(cat "/sys/block/${mounts#/dev/}/queue/fua")"
fi
mark mkfs
mkdir "$work/mnt"
echo "== mount -t $fstype${mount_options:+ -o $mount_options}"
mount -t "$fstype" ${mount_options:+-o "$mount_options"} "$mounts" "$work/mnt" || cannot "mount as $fstype failed"
mounted=$work/mnt
cd "$mounted" || cannot 'the mount point cannot be entered'
echo "== operations"
mark start
operations
mark end
cd /
umount "$mounted" || cannot 'unmount failed'
mounted=''
[ -z "$top_loop" ] || losetup -d "$top_loop" || cannot 'the loop device cannot be removed'
top_loop=''
dmsetup remove --retry "$dm_name" || cannot 'dm-log-writes cannot be removed'
dm_name=''
replay_log "$work/log.raw" > "$work/entries" || cannot 'the log could not be read'
at_mark=$(entry_of "$persisted")
[ -n "$at_mark" ] || cannot "the log has no mark of operation $persisted"
print_log

[ -f "$work/panic.raw" ] || cannot 'there is no copy of the disk'
when="operation $persisted has returned"
case $persisted in
  mkfs) when='mkfs has returned' ;;
  start) when='the mount has returned' ;;
esac
state "panic when $when" "$work/panic.raw"
cut_power "power cut when $when" "$at_mark"
next=$(awk -v at="$at_mark" '$1 > at && $2 == 8 { print $1; exit }' "$work/entries")
each=$((at_mark + 1)) epoch=$((at_mark + 1))
while wanted && [ $each -lt "${next:-0}" ]; do
  for sectors in $torn; do
    case $sectors in
      1) piece='one sector' ;;
      -1) piece='the last sector' ;;
      *) piece="the first $sectors sectors" ;;
    esac
    ! wanted || cut_power "power cut after entry $((each - 1)) and $piece of entry $each" $((each + 1)) '' "$sectors"
  done
  ! wanted || cut_power "power cut after entry $each" $((each + 1))
  if [ -n "$one_left_out" ]; then
    without=$epoch
    while wanted && [ $without -lt $each ]; do
      cut_power "power cut after entry $each, without entry $without" $((each + 1)) $without
      without=$((without + 1))
    done
    case $(awk -v n=$each '$1 == n { print $2 % 2 }' "$work/entries") in 1) epoch=$((each + 1)) ;; esac
  fi
  each=$((each + 1))
done

echo "== result"
[ -z "$kept" ] || echo "kept by: ${kept%; }"
[ -z "$untested" ] || echo "not tested: ${untested%; }"
if [ -n "$lost" ]; then
  echo "lost by: ${lost%; }"
  echo lost
  exit 1
fi
[ -z "$untested" ] || exit 125
echo kept
exit 0
