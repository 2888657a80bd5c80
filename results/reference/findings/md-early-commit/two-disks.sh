#!/bin/sh
# md RAID-0: a write with REQ_PREFLUSH reaches one disk before the other disk has flushed.
#
# Written by hand. Each of the two disks is a loop device under dm-delay, which makes a flush slow, under dm-log-writes, which logs a
# write when a flush of this disk covers it. md is on top.

title='md RAID-0: after a power cut during fsync, a new file shows bytes that were never written to it'

usage() {
  cat <<END
usage: $0 --yes [--level LEVEL] [--flush-ms MS] [--keep]

$title

This script needs only a Linux kernel with md, dm-log-writes and dm-delay, root, mdadm, dmsetup, losetup, perl, xfs_io and
mkfs.ext4. For each of the two disks, it
  1. makes ext4 on an array of two loop devices that are full of the byte 0xa5,
  2. lets each flush of this disk take MS milliseconds (10000), writes a new file of 192 KiB, calls fsync, and puts a mark into the
     log of each disk after half of this time, while fsync has not returned yet,
  3. examines the array after a power cut at the mark: each disk has only data that was flushed or written through (FUA),
     according to its log,
  4. assembles the array, mounts ext4, and prints "lost" if the file has bytes 0xa5, which were never written to it, or "kept".

A kernel that assembles an array after a power cut may crash or hang. Run this script on a machine that you can lose, best a
virtual one. Nothing is done without --yes.

  --level LEVEL  0 (default) or linear
  --flush-ms MS  duration of a flush of the slow disk
  --keep         keep the disks and the logs

Exit code, suitable for git bisect run: 0 kept, 1 lost, 125 could not be tested.
END
}

cannot() {
  echo "$0: cannot be tested: $*" >&2
  exit 125
}

array=/dev/md127 mib=48 disks='0 1'
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

yes='' keep='' level=0 flush_ms=10000
while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=1 ;;
    --keep) keep=1 ;;
    --level)
      case ${2:-} in 0 | linear) level=$2 ;; *) cannot '--level needs 0 or linear' ;; esac
      shift
      ;;
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
mark_of() { awk '$2 == 8 && $5 == "during-fsync" { print $1; exit }' "$work/entries$1"; }

step() {   # WORDS COMMAND...
  echo "$1"
  shift
  "$@" || cannot "$* failed"
}
io() { xfs_io "$@" > "$work/said.txt" 2>&1 && [ ! -s "$work/said.txt" ] || { cat "$work/said.txt" >&2 && return 1; }; }
attach() { losetup -f --show "$1" || cannot 'no loop device'; }
stop_array() { mdadm --stop --quiet "$array" && assembled='' || cannot 'the array cannot be stopped'; }

delay_table() { echo "0 $sectors delay $1 0 0 $1 0 0 $1 0 $2"; }   # LOOP MS
flushes_take() {   # DISK MS
  delay_table "$(sed -n "$(($1 + 1))p" "$work/loops")" "$2" | dmsetup load "hc-slow$1" && dmsetup suspend --nolockfs "hc-slow$1" &&
    dmsetup resume "hc-slow$1" || cannot 'dm-delay cannot be changed'
}

# try SLOW: the flushes of disk SLOW are slow.
lost='' kept=''
try() {
  members=''
  : > "$work/loops"
  for disk in $disks; do
    rm -f "$work/disk$disk" "$work/log$disk"
    tr '\0' '\245' < /dev/zero | head -c "$((mib * 1048576))" > "$work/disk$disk" && truncate -s 1G "$work/log$disk" ||
      cannot 'no room for the disks'
    loop=$(attach "$work/disk$disk") || exit
    echo "$loop" >> "$work/loops"
    members="$members $loop"
  done
  echo "== slow flushes: disk $1; mdadm --create --level=$level --raid-devices=2; mkfs.ext4 -b 4096 -E nodiscard"
  # shellcheck disable=SC2086   # several words
  mdadm --create "$array" --force --run --quiet --metadata=1.2 --level=$level --raid-devices=2 --chunk=64 --data-offset=2M $members ||
    cannot 'the array cannot be created'
  assembled=1
  mkfs.ext4 -q -F -b 4096 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 "$array" || cannot 'mkfs failed'
  stop_array
  for disk in $disks; do cp "$work/disk$disk" "$work/cut$disk" || cannot 'a disk could not be copied'; done
  logged=''
  sectors=$((mib * 2048))
  for disk in $disks; do
    log=$(attach "$work/log$disk") || exit
    delay_table "$(sed -n "$((disk + 1))p" "$work/loops")" 0 | dmsetup create "hc-slow$disk" || cannot 'no dm-delay in this kernel'
    echo "0 $sectors log-writes /dev/mapper/hc-slow$disk $log" | dmsetup create "hc-log$disk" || cannot 'no dm-log-writes in this kernel'
    logged="$logged /dev/mapper/hc-log$disk"
  done
  # shellcheck disable=SC2086   # several words
  mdadm --assemble --quiet --run "$array" $logged || cannot 'the array cannot be assembled'
  assembled=1
  mount -t ext4 "$array" "$work/mnt" || cannot 'ext4 cannot be mounted'
  mounted=$work/mnt
  step '0  sync' sync
  sleep 1
  flushes_take "$1" "$flush_ms"
  echo '1  write 192 KiB of the byte 1 to the new file f, fsync f'
  rm -f "$work/returned"
  { xfs_io -f -c 'pwrite -q -b 196608 -S 1 0 196608' -c fsync "$mounted/f"; : > "$work/returned"; } &
  sleep $((flush_ms / 2000))
  for disk in $disks; do dmsetup message "hc-log$disk" 0 mark during-fsync || cannot 'dm-log-writes takes no mark'; done
  [ ! -e "$work/returned" ] || cannot 'fsync has returned before the mark; use a longer --flush-ms'
  wait
  flushes_take "$1" 0
  umount "$mounted" || cannot 'unmount failed'
  mounted=''
  stop_array
  for disk in $disks; do
    dmsetup remove --retry "hc-log$disk" && dmsetup remove --retry "hc-slow$disk" || cannot 'the device mapper cannot be removed'
    replay_log "$work/log$disk" > "$work/entries$disk" || cannot 'a log could not be read'
    [ -n "$(mark_of "$disk")" ] || cannot "the log of disk $disk has no mark"
    print_log "$disk"
    replay_log "$work/log$disk" "$work/cut$disk" "$(mark_of "$disk")" || cannot 'a log could not be replayed'
  done
  losetup -a | sed -n "s|^\([^:]*\):.*$work/.*|\1|p" | while read -r loop; do losetup -d "$loop"; done
  examine "power cut during fsync, flushes of disk $1 are slow"
}

# examine WORDS: assembles the disks after the cut, mounts and compares.
examine() {
  echo "== $1"
  members=''
  for disk in $disks; do
    loop=$(attach "$work/cut$disk") || exit
    members="$members $loop"
  done
  # shellcheck disable=SC2086   # several words
  mdadm --assemble --quiet --run "$array" $members || cannot 'the array cannot be assembled'
  assembled=1
  mount -t ext4 "$array" "$work/mnt" || cannot 'ext4 cannot be mounted'
  mounted=$work/mnt
  if [ ! -e "$mounted/f" ]; then
    echo 'as promised  f does not exist: fsync had not returned'
    kept="$kept$1; "
  elif [ "$(tr -d '\000\001' < "$mounted/f" | wc -c)" = 0 ]; then
    echo "as promised  f has $(wc -c < "$mounted/f") bytes, which are zero or were written"
    kept="$kept$1; "
  else
    echo "FAILED  f has $(wc -c < "$mounted/f") bytes, and $(tr -d '\000\001' < "$mounted/f" | wc -c) of them were never written to it:"
    tr -d '\000\001' < "$mounted/f" | od -An -v -tx1 -N16
    lost="$lost$1; "
  fi
  umount "$mounted" || cannot 'unmount failed'
  mounted=''
  stop_array
  for loop in $members; do losetup -d "$loop"; done
}

echo "== $(uname -sr), $(uname -v)"
modprobe "raid$level" > /dev/null 2>&1   # fails if it is built in, or loaded already
mkdir "$work/mnt"
try 1
try 0

echo '== result'
[ -z "$kept" ] || echo "kept by: ${kept%; }"
if [ -n "$lost" ]; then
  echo "lost by: ${lost%; }"
  echo lost
  exit 1
fi
echo kept
