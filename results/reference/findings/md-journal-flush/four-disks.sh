#!/bin/sh
# md RAID-5 with a journal in write-back mode: the journal forgets data before the disks have flushed it.
#
# Written by hand. Each of the four disks is a loop device under dm-log-writes, which logs a write when a flush of this disk covers it.
# md is on top; the fourth disk is the journal.

title='md RAID-5 with a journal in write-back mode: an overwrite that fdatasync has synced is lost'

usage() {
  cat <<END
usage: $0 --yes [--write-through | --flush] [--keep]

$title

This script needs only a Linux kernel with md RAID-5 and dm-log-writes, root, mdadm, dmsetup, losetup, perl, xfs_io and mkfs.ext4. It
  1. makes ext4 with blocks of 1 KiB on a RAID-5 of three loop devices with a journal on a fourth, writes a file and syncs it,
  2. sets the journal to write-back mode, overwrites 1 KiB of the file, calls fdatasync, overwrites 1 KiB at another place, calls
     fdatasync again, and puts a mark into the log of each disk,
  3. examines the array after a panic and after a power cut at the mark: after a panic, each disk has everything that it has
     completed; after a power cut, only data that was flushed or written through (FUA), according to its log,
  4. assembles the array, mounts ext4, compares the file, and prints "lost" or "kept".

A kernel that assembles an array after a power cut may crash or hang. Run this script on a machine that you can lose, best a
virtual one. Nothing is done without --yes.

  --write-through  control: the journal stays in write-through mode
  --flush          control: flush the three disks after each call of fdatasync
  --keep           keep the disks and the logs

Exit code, suitable for git bisect run: 0 kept, 1 lost, 125 could not be tested.
END
}

cannot() {
  echo "$0: cannot be tested: $*" >&2
  exit 125
}

array=/dev/md127 mib=48 disks='0 1 2 3'
work='' mounted='' assembled=''
cleanup() {
  cd /
  [ -z "$mounted" ] || umount "$mounted" || umount -l "$mounted"
  [ -z "$assembled" ] || mdadm --stop --quiet "$array"
  for disk in $disks; do
    [ ! -e "/dev/mapper/hc-log$disk" ] || dmsetup remove --retry "hc-log$disk"
  done
  [ -z "$work" ] || losetup -a | sed -n "s|^\([^:]*\):.*$work/.*|\1|p" | while read -r loop; do losetup -d "$loop"; done
  [ -z "$work" ] || [ -n "$keep" ] || rm -rf "$work"
}

yes='' keep='' mode=write-back flush=''
while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=1 ;;
    --keep) keep=1 ;;
    --write-through) mode=write-through ;;
    --flush) flush=1 ;;
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
for program in mdadm dmsetup losetup perl xfs_io mkfs.ext4 awk; do
  command -v "$program" > /dev/null || cannot "there is no $program on this machine"
done
trap cleanup EXIT
trap 'exit 125' INT TERM HUP
work=$(mktemp -d) || cannot 'no temporary folder'
[ -z "$keep" ] || echo "disks and logs stay in $work"

# The needed part of replay-log of fstests (Documentation/admin-guide/device-mapper/log-writes.rst).
#   LOG         prints the entries: number, flags (1 flush, 2 FUA, 4 discard, 8 mark, 16 metadata), sector, sectors, text
#   LOG DISK N  writes entries 0 to N-1 to the disk
replay_log() {
  perl -e '
    my ($log, $disk, $end) = @ARGV;
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
      } elsif (!($flags & 8) && $sectors) {
        my $data = "\0" x ($sectors * $unit);
        sysseek($in, $at + $unit, 0);
        $flags & 4 or sysread($in, $data, length $data) == length $data or die "$log: ends in entry $n\n";
        sysseek($out, $sector * $unit, 0);
        syswrite($out, $data) == length $data or die "$disk: $!\n";
      }
      $at += $unit + $bytes;
    }' "$@"
}
print_log() {   # DISK
  echo "== the log of disk $1, until the mark and shortly after"
  awk -v at="$(mark_of "$1")" '
    $1 >= at - 8 && $1 <= at + 12 {
      what = $2 >= 16 ? "metadata " : ""
      kind = $2 % 16
      if (kind == 8) { print $1 "  ---- mark " $5; next }
      if (int(kind / 4) % 2) what = what "discard "
      else if ($4 > 0) what = what "write "
      if (kind % 2) what = what "FLUSH "
      if (int(kind / 2) % 2) what = what "FUA "
      print $1 "  " what ($4 > 0 ? "sector " $3 ", " $4 " sectors" : "")
    }' "$work/entries$1"
}
mark_of() { awk '$2 == 8 && $5 == "fdatasync-returned" { print $1; exit }' "$work/entries$1"; }

step() {   # WORDS COMMAND...
  echo "$1"
  shift
  "$@" || cannot "$* failed"
}
io() { xfs_io "$@" > "$work/said.txt" 2>&1 && [ ! -s "$work/said.txt" ] || { cat "$work/said.txt" >&2 && return 1; }; }
attach() { losetup -f --show "$1" || cannot 'no loop device'; }
stop_array() { mdadm --stop --quiet "$array" && assembled='' || cannot 'the array cannot be stopped'; }

flush_disks() {   # with --flush
  [ -n "$flush" ] || return 0
  for disk in 0 1 2; do step "   flush disk $disk" io -c fsync "/dev/mapper/hc-log$disk"; done
}

# examine WORDS PREFIX: assembles the disks $work/PREFIX0 to 3, mounts and compares.
lost='' kept=''
examine() {
  echo "== $1"
  members=''
  for disk in $disks; do
    loop=$(attach "$work/$2$disk") || exit
    members="$members $loop"
  done
  # shellcheck disable=SC2086   # several words
  mdadm --assemble --quiet --run "$array" $members || cannot 'the array cannot be assembled'
  assembled=1
  mdadm --wait "$array" > /dev/null 2>&1
  mount -t ext4 "$array" "$work/mnt" || cannot 'ext4 cannot be mounted'
  mounted=$work/mnt
  for at in 8 32; do   # KiB; these blocks must be version 2
    if dd if="$mounted/f" bs=1024 skip=$at count=1 2> /dev/null | tr -d '\002' | cmp -s - /dev/null; then
      echo "as promised  f, 1 KiB at $at KiB: version 2"
      kept="$kept$1, $at KiB; "
    else
      echo "FAILED  f, 1 KiB at $at KiB"
      echo '        expected  version 2'
      echo "        found     $(dd if="$mounted/f" bs=1024 skip=$at count=1 2> /dev/null | od -An -v -tx1 -N16) ..."
      lost="$lost$1, $at KiB; "
    fi
  done
  umount "$mounted" || cannot 'unmount failed'
  mounted=''
  stop_array
  for loop in $members; do losetup -d "$loop"; done
}

echo "== $(uname -sr), $(uname -v)"
modprobe raid456 > /dev/null 2>&1   # fails if it is built in, or loaded already
members=''
for disk in $disks; do
  truncate -s "${mib}M" "$work/disk$disk" && truncate -s 1G "$work/log$disk" || cannot 'no room for the disks'
  loop=$(attach "$work/disk$disk") || exit
  members="$members $loop"
done
echo "== mdadm --create --level=5 --raid-devices=3 --write-journal; mkfs.ext4 -b 1024"
# shellcheck disable=SC2086   # several words
mdadm --create "$array" --force --run --quiet --metadata=1.2 --level=5 --raid-devices=3 --chunk=64 --data-offset=2M \
  --write-journal "${members##* }" ${members% *} || cannot 'the array cannot be created'
assembled=1
mdadm --wait "$array" > /dev/null 2>&1
mkfs.ext4 -q -F -b 1024 -E lazy_itable_init=0,lazy_journal_init=0 "$array" || cannot 'mkfs failed'
mkdir "$work/mnt"
mount -t ext4 "$array" "$work/mnt" || cannot 'ext4 cannot be mounted'
mounted=$work/mnt
echo '== operations'
step '0  write version 1 to f, 64 KiB' io -f -c 'pwrite -q -b 65536 -S 1 0 65536' "$mounted/f"
step '1  sync, unmount, stop the array' sync
umount "$mounted" || cannot 'unmount failed'
mounted=''
stop_array
for disk in $disks; do cp --sparse=always "$work/disk$disk" "$work/formatted$disk" || cannot 'a disk could not be copied'; done

logged=''
sectors=$((mib * 2048))
disk=0
for loop in $members; do
  log=$(attach "$work/log$disk") || exit
  echo "0 $sectors log-writes $loop $log" | dmsetup create "hc-log$disk" || cannot 'no dm-log-writes in this kernel'
  logged="$logged /dev/mapper/hc-log$disk"
  disk=$((disk + 1))
done
# shellcheck disable=SC2086   # several words
mdadm --assemble --quiet --run "$array" $logged || cannot 'the array cannot be assembled'
assembled=1
echo 0 > "/sys/block/${array#/dev/}/md/safe_mode_delay"   # no superblock write, with its flush, before the next data
echo "$mode" > "/sys/block/${array#/dev/}/md/journal_mode" || cannot 'the mode of the journal cannot be set'
echo "== mode of the journal: $(cat "/sys/block/${array#/dev/}/md/journal_mode")"
mount -t ext4 "$array" "$work/mnt" || cannot 'ext4 cannot be mounted'
mounted=$work/mnt
sleep 1
step '2  overwrite 1 KiB of f at 8 KiB with version 2, fdatasync f' io -c 'pwrite -q -b 1024 -S 2 8192 1024' -c fdatasync "$mounted/f"
sleep 1   # md writes it to the disks, too
flush_disks
step '3  overwrite 1 KiB of f at 32 KiB with version 2, fdatasync f' io -c 'pwrite -q -b 1024 -S 2 32768 1024' -c fdatasync "$mounted/f"
[ -z "$flush" ] || sleep 1
flush_disks
for disk in $disks; do dmsetup message "hc-log$disk" 0 mark fdatasync-returned || cannot 'dm-log-writes takes no mark'; done
for disk in $disks; do cp --sparse=always "$work/disk$disk" "$work/panic$disk" || cannot 'a disk could not be copied'; done
umount "$mounted" || cannot 'unmount failed'
mounted=''
stop_array
for disk in $disks; do
  dmsetup remove --retry "hc-log$disk" || cannot 'the device mapper cannot be removed'
  replay_log "$work/log$disk" > "$work/entries$disk" || cannot 'a log could not be read'
  [ -n "$(mark_of "$disk")" ] || cannot "the log of disk $disk has no mark"
  print_log "$disk"
done
for loop in $members; do losetup -d "$loop"; done

examine 'panic when the second fdatasync has returned' panic
for disk in $disks; do
  cp --sparse=always "$work/formatted$disk" "$work/cut$disk" && replay_log "$work/log$disk" "$work/cut$disk" "$(mark_of "$disk")" ||
    cannot 'a log could not be replayed'
done
examine 'power cut when the second fdatasync has returned' cut

echo '== result'
[ -z "$kept" ] || echo "kept by: ${kept%; }"
if [ -n "$lost" ]; then
  echo "lost by: ${lost%; }"
  echo lost
  exit 1
fi
echo kept
