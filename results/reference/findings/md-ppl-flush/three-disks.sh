#!/bin/sh
# md RAID-5 with a partial parity log (PPL): fdatasync returns before the disks have flushed their caches.
#
# Written by hand. Each of the three disks is a loop device under dm-delay, which makes a flush slow, under dm-log-writes, which
# logs a write when a flush of this disk covers it. md is on top.

title='md RAID-5 with a partial parity log: an overwrite that fdatasync has synced is lost'

usage() {
  cat <<END
usage: $0 --yes [--resync | --wait] [--flush-ms MS] [--keep]

$title

This script needs only a Linux kernel with md RAID-5, dm-log-writes and dm-delay, root, mdadm, dmsetup, losetup, perl, xfs_io and
mkfs.ext4. It
  1. makes ext4 on a RAID-5 of three loop devices, writes a file and syncs it,
  2. lets each flush of a disk take MS milliseconds (10000), overwrites 8 KiB of the file, calls fdatasync, and puts a mark into
     the log of each disk,
  3. examines the array after a panic and after a power cut when fdatasync has returned: after a panic, each disk has everything
     that it has completed; after a power cut, only data that was flushed or written through (FUA), according to its log,
  4. assembles the array, mounts ext4, compares the file, and prints "lost" or "kept".

A kernel that assembles an array after a power cut may crash or hang. Run this script on a machine that you can lose, best a
virtual one. Nothing is done without --yes.

  --resync       control: without the log (--consistency-policy=resync)
  --wait         control: wait until the disks have been flushed before the mark
  --flush-ms MS  duration of a flush of a disk
  --keep         keep the disks and the logs

Exit code, suitable for git bisect run: 0 kept, 1 lost, 125 could not be tested.
END
}

cannot() {
  echo "$0: cannot be tested: $*" >&2
  exit 125
}

array=/dev/md127 mib=48 disks='0 1 2'
work='' mounted='' assembled=''
cleanup() {
  cd /
  [ -z "$mounted" ] || umount "$mounted" || umount -l "$mounted"
  [ -z "$assembled" ] || mdadm --stop --quiet "$array"
  for disk in $disks; do
    for layer in log slow; do
      [ ! -e "/dev/mapper/hc-$layer$disk" ] || dmsetup remove --retry "hc-$layer$disk"
    done
  done
  [ -z "$work" ] || losetup -a | sed -n "s|^\([^:]*\):.*$work/.*|\1|p" | while read -r loop; do losetup -d "$loop"; done
  [ -z "$work" ] || [ -n "$keep" ] || rm -rf "$work"
}

yes='' keep='' policy=ppl wait='' flush_ms=10000
while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=1 ;;
    --keep) keep=1 ;;
    --resync) policy=resync ;;
    --wait) wait=1 ;;
    --flush-ms)
      case ${2:-} in '' | 0* | *[!0-9]*) cannot '--flush-ms needs milliseconds' ;; esac
      flush_ms=$2
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
now_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }
stop_array() { mdadm --stop --quiet "$array" && assembled='' || cannot 'the array cannot be stopped'; }

delay_table() { echo "0 $sectors delay $1 0 0 $1 0 0 $1 0 $2"; }   # LOOP MS
flushes_take() {   # MS
  disk=0
  for loop in $members; do
    delay_table "$loop" "$1" | dmsetup load "hc-slow$disk" && dmsetup suspend --nolockfs "hc-slow$disk" && dmsetup resume "hc-slow$disk" ||
      cannot 'dm-delay cannot be changed'
    disk=$((disk + 1))
  done
}

# examine WORDS PREFIX: assembles the disks $work/PREFIX0, 1 and 2, mounts and compares.
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
  # Bytes 8192 to 16383 must be version 2.
  if dd if="$mounted/f" bs=4096 skip=2 count=2 2> /dev/null | tr -d '\002' | cmp -s - /dev/null; then
    echo 'as promised  f, bytes 8192 to 16383: version 2'
    kept="$kept$1; "
  else
    echo 'FAILED  f, bytes 8192 to 16383'
    echo '        expected  version 2'
    echo "        found     $(dd if="$mounted/f" bs=4096 skip=2 count=1 2> /dev/null | od -An -v -tx1 -N16) ..."
    lost="$lost$1; "
  fi
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
echo "== mdadm --create --level=5 --raid-devices=3 --consistency-policy=$policy; mkfs.ext4 -b 4096"
# shellcheck disable=SC2086   # several words
mdadm --create "$array" --force --run --quiet --metadata=1.2 --level=5 --raid-devices=3 --chunk=64 \
  --consistency-policy=$policy --data-offset=2M $members || cannot 'the array cannot be created'
assembled=1
mdadm --wait "$array" > /dev/null 2>&1
mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$array" || cannot 'mkfs failed'
stop_array
for disk in $disks; do cp --sparse=always "$work/disk$disk" "$work/formatted$disk" || cannot 'a disk could not be copied'; done

mkdir "$work/mnt"
logged=''
sectors=$((mib * 2048))
disk=0
for loop in $members; do
  log=$(attach "$work/log$disk") || exit
  delay_table "$loop" 0 | dmsetup create "hc-slow$disk" || cannot 'no dm-delay in this kernel'
  echo "0 $sectors log-writes /dev/mapper/hc-slow$disk $log" | dmsetup create "hc-log$disk" || cannot 'no dm-log-writes in this kernel'
  logged="$logged /dev/mapper/hc-log$disk"
  disk=$((disk + 1))
done
# shellcheck disable=SC2086   # several words
mdadm --assemble --quiet --run "$array" $logged || cannot 'the array cannot be assembled'
assembled=1
echo 0 > "/sys/block/${array#/dev/}/md/safe_mode_delay"   # no superblock write, with its flush, before the next data
echo "== mdadm: $(mdadm --detail "$array" | sed -n 's/^ *\(Consistency Policy : .*\)/\1/p')"
mount -t ext4 "$array" "$work/mnt" || cannot 'ext4 cannot be mounted'
mounted=$work/mnt
echo '== operations'
step '0  write version 1 to f, 64 KiB' io -f -c 'pwrite -q -b 65536 -S 1 0 65536' "$mounted/f"
step '1  sync' sync
sleep 2   # all flushes have completed
flushes_take "$flush_ms"
echo "   each flush of a disk takes $flush_ms ms from now on"
step '2  overwrite bytes 8192 to 16383 of f with version 2' io -c 'pwrite -q -b 8192 -S 2 8192 8192' "$mounted/f"
before=$(now_ms)
step '3  fdatasync f' io -c fdatasync "$mounted/f"
after=$(now_ms)
echo "   returned after $((after - before)) ms"
if [ -n "$wait" ]; then
  echo '   wait until the disks have been flushed'
  sleep $((flush_ms / 1000 + 3))
fi
for disk in $disks; do dmsetup message "hc-log$disk" 0 mark fdatasync-returned || cannot 'dm-log-writes takes no mark'; done
marked=$(now_ms)
for disk in $disks; do cp --sparse=always "$work/disk$disk" "$work/panic$disk" || cannot 'a disk could not be copied'; done
echo "   the marks were written $((marked - after)) ms later"
[ -n "$wait" ] || [ $((marked - after)) -lt "$flush_ms" ] || cannot 'the marks came too late; use a longer --flush-ms'
flushes_take 0
umount "$mounted" || cannot 'unmount failed'
mounted=''
stop_array
for disk in $disks; do
  dmsetup remove --retry "hc-log$disk" && dmsetup remove --retry "hc-slow$disk" || cannot 'the device mapper cannot be removed'
  replay_log "$work/log$disk" > "$work/entries$disk" || cannot 'a log could not be read'
  [ -n "$(mark_of "$disk")" ] || cannot "the log of disk $disk has no mark"
  print_log "$disk"
done
for loop in $members; do losetup -d "$loop"; done

examine 'panic when fdatasync has returned' panic
for disk in $disks; do
  cp --sparse=always "$work/formatted$disk" "$work/cut$disk" && replay_log "$work/log$disk" "$work/cut$disk" "$(mark_of "$disk")" ||
    cannot 'a log could not be replayed'
done
examine 'power cut when fdatasync has returned' cut

echo '== result'
[ -z "$kept" ] || echo "kept by: ${kept%; }"
if [ -n "$lost" ]; then
  echo "lost by: ${lost%; }"
  echo lost
  exit 1
fi
echo kept
