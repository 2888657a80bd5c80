#!/bin/sh
# Repeats a cell of the contract table without headcrash.
#
# Written by hand. Nothing of headcrash is used: the requests are those that dm-log-writes logs, and the states of the disk are
# rebuilt from its log.

usage() {
  cat <<END
usage: $0 --yes FILESYSTEM TEST

Looks for a crash state in which an assumption of applications does not hold. FILESYSTEM is ext4, xfs, btrfs or f2fs. TEST is the
number of a litmus test of headcrash: 9, 27, 39, 42, 43, 53, 55, 61, 64 or 66.

This script needs only a Linux kernel with the file system, dm-log-writes and loop devices, root, perl, xfs_io, dmsetup, losetup
and mkfs of the file system. It
  1. makes the file system, mounts it on dm-log-writes, does the initial operations of the test, and calls sync,
  2. does the operations of the test, and puts a mark into the log after each of them,
  3. rebuilds states of the disk from the log: all writes before a point, and of the writes after the last flush before this point
     either all, or all but one, or only one, or only one of which half arrived,
  4. mounts each state and looks at the files.

A kernel that mounts a file system after a power cut may crash or hang. Run this script on a machine that you can lose, best a
virtual one. Nothing is done without --yes.

Exit code: 0 no state was seen in which the assumption does not hold, 1 one was seen (it is printed), 125 could not be tested.
END
}
cannot() {
  echo "$0: cannot be tested: $*" >&2
  exit 125
}
[ "${1-}" = --yes ] && [ $# = 3 ] || { usage; exit 125; }
fs=$2 test=$3
[ "$(id -u)" = 0 ] || cannot 'this needs root'
case $fs in
  ext4) mib=64 make='mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0' ;;
  xfs) mib=300 make='mkfs.xfs -q -f' ;;
  btrfs) mib=128 make='mkfs.btrfs -q -f' ;;
  f2fs) mib=256 make='mkfs.f2fs -q -f' ;;
  *) usage; exit 125 ;;
esac
for program in perl xfs_io dmsetup losetup "${make%% *}"; do
  command -v "$program" > /dev/null || cannot "there is no $program on this machine"
done

# ---- the tests: the operations, and what is assumed of the files afterwards
put() { xfs_io -f -c "pwrite -q -S $4 $2 $3" "$1"; }   # FILE OFFSET LENGTH BYTE
call() { perl -e 'my $n = shift; exit(syscall($n, map { /^-?\d+$/ ? $_ + 0 : $_ } @ARGV) == 0 ? 0 : 1)' -- "$@"; }
rename() { call 316 -100 "$1" -100 "$2" 0; }       # renameat2
exchange() { call 316 -100 "$1" -100 "$2" 2; }
persist() { xfs_io -c fsync "$1"; }
writeback() { sleep 40 && sync; }

# Prints what a file holds as lengths and bytes, such as "4096x1 4096x0", or "absent".
bytes() {
  [ -e "$1" ] || { echo absent; return; }
  perl -e '
    open(my $in, "<:raw", $ARGV[0]) or exit 1;
    local $/;
    my $all = <$in>;
    my @runs;
    push(@runs, length($1) . "x" . ord($2)) while $all =~ /((.)\2*)/gs;
    print join(" ", @runs) || "empty", "\n"' "$1"
}
one_of() {   # FILE CONTENT...
  is=$(bytes "$1")
  shift
  for content; do [ "$is" != "$content" ] || return 0; done
  return 1
}
initial() { :; }
case $test in
  9)
    what='overwrite, sync_file_range: f is new'
    initial() { put f 0 8192 1; }
    operation1() { put f 0 8192 2; }
    operation2() { xfs_io -c 'sync_range -b -w -a 0 8192' f; }
    holds() { [ "$done" -lt 2 ] || one_of f 8192x2; }
    show='f'
    ;;
  27)
    what='overwrite 4 KiB: f is old or new'
    initial() { put f 0 4096 1; }
    operation1() { put f 0 4096 2; }
    operation2() { persist f; }
    holds() { one_of f 4096x1 4096x2; }
    show='f'
    ;;
  39)
    what='rename over a file, no fsync: f is old or new'
    initial() { put f 0 8192 1; }
    operation1() { put t 0 8192 2; }
    operation2() { rename t f; }
    operation3() { writeback; }
    holds() { one_of f 8192x1 8192x2; }
    show='f t'
    ;;
  42)
    what='create by rename, no fsync: f is absent or new'
    operation1() { put t 0 8192 2; }
    operation2() { rename t f; }
    operation3() { writeback; }
    holds() { one_of f absent 8192x2; }
    show='f t'
    ;;
  43)
    what='rename a to b, make a new a, fsync it: b is new or a is old'
    initial() { put a 0 8192 1; }
    operation1() { rename a b; }
    operation2() { put a 0 4096 2; }
    operation3() { persist a; }
    holds() { [ "$done" -lt 3 ] || one_of b 8192x1 || one_of a 8192x1; }
    show='a b'
    ;;
  53)
    what='rename a directory, create in it, fsync the file: e/f exists'
    initial() { mkdir d; }
    operation1() { rename d e; }
    operation2() { : > e/f; }
    operation3() { persist e/f; }
    holds() { [ "$done" -lt 3 ] || [ -e e/f ]; }
    show='d/f e/f'
    ;;
  55)
    what='exchange two names, fsync one file: f is new'
    initial() { put f 0 8192 1 && put g 0 4096 2; }
    operation1() { exchange f g; }
    operation2() { persist f; }
    holds() { [ "$done" -lt 2 ] || one_of f 4096x2; }
    show='f g'
    ;;
  61)
    what='overwrite two files: if y is new then x is new'
    initial() { put x 0 4096 1 && put y 0 4096 2; }
    operation1() { put x 0 4096 3; }
    operation2() { put y 0 4096 4; }
    operation3() { writeback; }
    holds() { ! one_of y 4096x4 || one_of x 4096x3; }
    show='x y'
    ;;
  64)
    what='append to a file, rename another one: if z exists then x is new'
    initial() { put x 0 4096 1 && put y 0 4096 2; }
    operation1() { put x 4096 4096 3; }
    operation2() { rename y z; }
    operation3() { writeback; }
    holds() { [ ! -e z ] || one_of x '4096x1 4096x3'; }
    show='x y z'
    ;;
  66)
    what='create in two directories, fsync one file: a/x exists'
    initial() { mkdir a b; }
    operation1() { : > a/x; }
    operation2() { : > b/y; }
    operation3() { persist b/y; }
    holds() { [ "$done" -lt 3 ] || [ -e a/x ]; }
    show='a/x b/y'
    ;;
  *) usage; exit 125 ;;
esac

work=$(mktemp -d) || cannot 'no temporary folder'
mounted=''
cleanup() {
  cd /
  [ -z "$mounted" ] || umount "$mounted" || umount -l "$mounted"
  [ ! -e /dev/mapper/by-hand ] || dmsetup remove --retry by-hand
  losetup -a | sed -n "s|^\([^:]*\):.*$work/.*|\1|p" | while read -r loop; do losetup -d "$loop"; done
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 125' INT TERM HUP

# ---- record
echo "$fs, test $test: $what"
mkdir "$work/mnt" && truncate -s "${mib}M" "$work/disk" && truncate -s 1G "$work/log" || cannot 'no room for the disk'
$make "$work/disk" > "$work/said" 2>&1 || { cat "$work/said"; cannot 'mkfs failed'; }
cp --sparse=always "$work/disk" "$work/base"
disk=$(losetup -f --show "$work/disk") && log=$(losetup -f --show "$work/log") || cannot 'no loop device'
echo "0 $((mib * 2048)) log-writes $disk $log" | dmsetup create by-hand || cannot 'no dm-log-writes in this kernel'
mark() { dmsetup message by-hand 0 mark "$1" || cannot 'dm-log-writes takes no mark'; }
mount -t "$fs" /dev/mapper/by-hand "$work/mnt" || cannot "$fs cannot be mounted"
mounted=$work/mnt
# The kernel writes data back at once if its disk has completed few writes.
cd "$work/mnt" && put filler 0 16777216 9 && sync && rm filler && sync && initial && sync || cannot 'the initial operations failed'
sleep 1
mark start
number=1
while command -v "operation$number" > /dev/null; do
  "operation$number" || cannot "operation $number failed"
  mark "done-$number"
  number=$((number + 1))
done
mark end
cd / && umount "$mounted" && mounted='' || cannot 'unmount failed'
dmsetup remove --retry by-hand || cannot 'dm-log-writes cannot be removed'

# ---- the states
# plan LOG: prints a line for each state: the operations that have returned, the last entry, and the writes that it has after the
# last flush ("all", "-N" all but entry N, "+N" only entry N, "/N" only the first half of entry N).
# apply LOG DISK END WHICH FLUSHED: writes such a state to the disk, which has the state before the log.
cat > "$work/states.pl" <<'END'
my ($what, $log, @rest) = @ARGV;
open(my $in, "<:raw", $log) or die "$log: $!\n";
sysread($in, my $super, 64) == 64 or die "$log: too short\n";
my ($magic, $version, $entries, $unit) = unpack("Q<Q<Q<L<", $super);
$magic == 0x6a736677736872 && $version == 1 or die "$log: no log of dm-log-writes\n";
my ($at, @all) = ($unit);
for my $n (0 .. $entries - 1) {
  sysseek($in, $at, 0);
  sysread($in, my $head, $unit) == $unit or die "$log: ends in entry $n\n";
  my ($sector, $sectors, $flags, $length) = unpack("Q<4", $head);
  push @all, {n => $n, at => $at + $unit, sector => $sector, sectors => $sectors, flags => $flags,
              mark => $flags & 8 ? substr($head, 32, $length) : ""};
  $at += $unit + ($flags & 4 ? 0 : $sectors * $unit);
}
if ($what eq "plan") {
  my ($done, $started, $flushed, %seen) = (0, 0, 0);
  my @open;
  for my $entry (@all) {
    last if $entry->{mark} eq "end";
    if ($entry->{mark} eq "start") { $started = 1; }
    if ($entry->{mark} =~ /^done-(\d+)/) { $done = $1; }
    # Entry n is complete: the writes before a flush are on the disk.
    ($flushed, @open) = ($entry->{n}) if $entry->{flags} & 1;
    push @open, $entry->{n} if !($entry->{flags} & 8) && $entry->{sectors} && !($entry->{flags} & 2);
    next if !$started;
    my @ways = ("all", map { ("-$_", "+$_", "/$_") } @open);
    for my $way (@ways) {
      # A state with the same writes and the same operations is listed once.
      my $key = $entry->{flags} & 8 && !@open ? "$done $entry->{n}" : "$done $entry->{n} $way";
      print "$done $entry->{n} $way $flushed\n" if !$seen{$key}++;
    }
  }
} else {
  my ($disk, $end, $way, $flushed) = @rest;
  my ($kind, $one) = $way =~ /^([-+\/])(\d+)$/ ? ($1, $2) : ("", -1);
  open(my $out, "+<:raw", $disk) or die "$disk: $!\n";
  for my $entry (@all[0 .. $end]) {
    my ($n, $sectors) = @$entry{"n", "sectors"};
    next if $entry->{flags} & 8 || !$sectors;
    if ($n >= $flushed && !($entry->{flags} & 2)) {
      next if $kind eq "-" && $n == $one || $kind =~ /[+\/]/ && $n != $one;
      $sectors = int($sectors / 2) if $kind eq "/" && $n == $one;
    }
    my $data = "\0" x ($sectors * $unit);
    sysseek($in, $entry->{at}, 0);
    $entry->{flags} & 4 or sysread($in, $data, length $data) == length $data or die "$log: ends in entry $n\n";
    sysseek($out, $entry->{sector} * $unit, 0);
    syswrite($out, $data) == length $data or die "$disk: $!\n";
  }
}
END
perl "$work/states.pl" plan "$work/log" > "$work/plan" || cannot 'the log could not be read'
states=0
while read -r done end way flushed; do
  states=$((states + 1))
  cp --sparse=always "$work/base" "$work/state"
  perl "$work/states.pl" apply "$work/log" "$work/state" "$end" "$way" "$flushed" || cannot 'a state could not be rebuilt'
  mount -t "$fs" -o loop "$work/state" "$work/mnt" 2> "$work/said" || { echo "state $done $end $way cannot be mounted"; continue; }
  mounted=$work/mnt
  cd "$work/mnt" || exit 125
  if ! holds; then
    echo "broken: state $states of $(wc -l < "$work/plan")"
    echo "  operations that have returned: $done; entries of the log: 0 to $end; last flush: entry $flushed; unflushed writes: $way"
    for file in $show; do echo "  $file: $(bytes "$file")"; done
    exit 1
  fi
  cd / && umount "$work/mnt" && mounted='' || cannot 'a state cannot be unmounted'
done < "$work/plan"
echo "kept: $states states"
