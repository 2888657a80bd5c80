#!/usr/bin/env bash
# File systems on stacks of disks in a user-mode guest: sound stacks keep everything, controls are caught, and rules below the file
# system name the disk.
#
#   stacks.sh BUILD-FOLDER        the commonest stacks, and the controls
#   stacks.sh BUILD-FOLDER all    each provided stack, and md in a QEMU guest
#
# Skipped (77) where the kernel of user-mode Linux is not built, or mdadm is not installed.
tests=$(cd "$(dirname "$0")" && pwd)
. "$tests/lib.sh"
"$tests/../build-uml" --check >/dev/null 2>&1 || { echo "the kernel of user-mode Linux is not built (scripts/build-guest --uml)"; exit 77; }
command -v mdadm >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v mdadm >/dev/null || { echo "mdadm is not installed"; exit 77; }
cd "$scratch"

# In-place writes that only a flush makes durable.
cat >overwrite.txt <<'END'
create f0
write f0 0 65536 1 1
create f1
write f1 0 65536 2 2
sync
write f0 0 4096 1 3
fdatasync f0
write f1 4096 8192 2 4
fdatasync f1
write f0 8192 4096 1 5
fdatasync f0
write f1 16384 16384 2 6
fdatasync f1
END

# explores CODE STACK OPTION...: the exploration of the list on ext4 on the stack exits with CODE; its output is in out.
explores() {
  local code=$1 stack=$2
  shift 2
  exits "$code" "$headcrash" explore --fs ext4 --stack "$stack" --workload overwrite.txt --guest virtual --record here "$@"
}
has() { says -F -- "$1" <out || failed "the output lacks \"$1\": $(cat out)"; }

# A sound stack keeps everything: also with all writes present, which is a run without a cut.
explores 0 md-raid1 --budget 40
has 'ext4:md-raid1: passed'
has 'rules of the stack md-raid1: obeyed by all requests of 2 recordings'
explores 0 md-raid5 --budget 30
has 'ext4:md-raid5: passed'

# The recording of three disks is one file, whose states replay by name.
exits 0 "$headcrash" recording info here/workload.hcrec
for disk in hd0 hd1 hd2; do has "$disk"; done
refuses 2 'has 3 disks, but the stack md-raid1 has 2' -- \
  "$headcrash" explore here/workload.hcrec --fs ext4 --stack md-raid1 --guest virtual

# A shell in a state has the stack assembled.
exits 0 "$headcrash" replay here/workload.hcrec --fs ext4:md-raid5 --guest virtual --state a60- --shell <<<'cat /proc/mdstat'
has '/dev/md127 is mounted on '
has 'active raid5'

# Disks that ignore flushes must lose. That is not the stack's fault: a bare disk that ignores flushes loses, too.
explores 1 md-raid1 --strategy lying-flush --budget 20 --stop-at-first
has 'lost-synced-data'
has 'attributed to the file system or the disks: the same list of operations also fails on the bare disk,'

# A disk that gets no flush: no file system is needed to see it.
explores 1 md-raid1-no-flush --budget 4
has 'RULE BROKEN by the stack md-raid1-no-flush: flushed-on-all, hd1: '
has 'RULE BROKEN by the stack md-raid1-no-flush: preflushed-on-all, hd1: '
# A write that completes before both disks have it.
explores 1 md-raid1-write-behind --budget 4
has 'RULE BROKEN by the stack md-raid1-write-behind: answered-after-all, hd0: '

# A disk that is written behind the stack's back differs.
cat >behind.toml <<'END'
base = "md-raid1"
[assemble]
command = ["sh", "-c", "mdadm --assemble --quiet --run {device} {disks} && dd if=/dev/urandom of={disk1} bs=4096 seek=512 count=1 conv=notrunc,fsync 2>/dev/null"]
END
explores 1 ./behind.toml --budget 2
has 'mirror-width, hd0: '
has 'sector 4096 differs between the copies; last writes there: hd0 none, hd1 request'

# The marks of a bitmap are erased behind md's back: each chunk is written to, and then the bitmap of a disk is zeroed.
cat >unmarked.toml <<'END'
base = "md-raid1"
[assemble]
command = ["sh", "-c", "mdadm --assemble --quiet --run {device} {disks} && dd if={device} of={device} bs=4M oflag=direct conv=notrunc,fsync 2>/dev/null && dd if=/dev/zero of={disk1} bs=256 seek=33 count=15 conv=notrunc,fsync 2>/dev/null"]
END
explores 1 ./unmarked.toml --budget 2
has 'bitmap-marks-writes, hd1: '
! says 'bitmap-marks-writes, hd0' <out || failed "the bitmap of hd0 is sound: $(cat out)"

# A zeroing reaches only the beginning of its range.
cat >half.toml <<'END'
base = "md-raid1"
[assemble]
command = ["sh", "-c", "printf '#!/bin/sh\\nexec dd if=/dev/zero of=$6 bs=4096 count=1 seek=$3 oflag=seek_bytes conv=notrunc\\n' > /usr/sbin/blkdiscard; chmod +x /usr/sbin/blkdiscard; exec mdadm --assemble --quiet --run {device} {disks}"]
END
explores 1 ./half.toml --budget 2
has 'RULE BROKEN by the stack half: zeroed-is-zero, '

cat >behind5.toml <<'END'
base = "md-raid5"
[assemble]
command = ["sh", "-c", "mdadm --assemble --quiet --run {device} {disks} && dd if=/dev/urandom of={disk1} bs=4096 seek=1024 count=1 conv=notrunc,fsync 2>/dev/null"]
END
explores 1 ./behind5.toml --budget 2
has 'xor-is-zero, '
has 'sector 8192 has wrong parity'

# The write hole is documented, and the stack's.
explores 1 md-raid5-degraded --strategy lose-all,prefix --budget 60 --stop-at-first
has '(documented: write hole:'
has 'attributed to the stack md-raid5-degraded: the same list of operations does not fail on the bare disk,'

# A disk that failed before the workload returns with old content. The newer disk has everything, also if the copy is cut.
explores 0 md-raid1-stale --strategy prefix,recovery --budget 12
has 'ext4:md-raid1-stale: passed'
explores 1 md-raid1-stale-only --budget 12 --stop-at-first
has 'f0: expected the name to be there, found no such name'

# A disk that is absent after the cut is absent from a recorded recovery, too. Only a clean array has both disks.
cat >absent.toml <<'END'
base = "md-raid1"
absent = ["hd1"]
[assemble]
command = ["sh", "-c", "set -- {disks}; [ $# = 1 ] || mdadm --examine {disk0} | grep -q 'State : clean' || exit 9; exec mdadm --assemble --quiet --run {device} $@"]
[scrub]
command = ["true"]
[rules]
mirror-width = 0
END
explores 0 ./absent.toml --strategy prefix,recovery --budget 8
has 'recovery cut in 4 of 4 states'
! says 'could not be cut' <out || failed "a recovery was not recorded: $(cat out)"

# Some crash state of the recording is in the middle of the stack's change: in its guest, COMMAND prints TEXT.
in_progress() {   # STACK COMMAND TEXT
  local event
  for event in 40 20 30 60 80 120 160; do
    "$headcrash" replay here/workload.hcrec --fs "ext4:$1" --guest virtual --state "a$event-" --shell <<<"$2" >out 2>err || continue
    if grep -qF -- "$3" out; then return; fi
  done
  failed "no state of $1 has \"$3\": $(cat out err)"
}
# Data moves while the workload writes: pvmove keeps everything, and a growing RAID-5 does not (docs/stacks.md).
explores 0 lvm-pvmove --budget 20
in_progress lvm-pvmove 'dmsetup table' 'headcrash-pvmove0: '
explores 1 md-raid5-reshape --strategy lose-all --budget 100 --stop-at-first
has 'attributed to the stack md-raid5-reshape: the same list of operations does not fail on the bare disk,'
in_progress md-raid5-reshape 'cat /proc/mdstat' 'reshape = '

# overlayfs on ext4: in the second part of the list, a file is copied up, and a whiteout hides the old name.
cat >copy-up.txt <<'END'
create f0
write f0 0 65536 1 1
create f1
mkdir d
create d/f3
sync
crash power
write f0 0 4096 1 2
fsync f0
rename f1 f2
unlink d/f3
sync
END
overlay() { exits "$1" "$headcrash" explore --fs overlay --workload copy-up.txt --guest virtual --record up "${@:2}"; }
overlay 0 --budget 60
has 'overlay: passed'
copied_up() { [ "$(grep -c ' f0$' out)" = 2 ] && says -E '^c.* f1$' <out; }
for event in 60 80 100 120 140 170 200; do
  "$headcrash" replay up/workload.hcrec --fs overlay --guest virtual --state "w$event" \
    --shell <<<'mount -t ext4 /dev/vda /tmp/below; cd /tmp/below; ls -l lower upper' >out 2>err || continue
  if copied_up; then break; fi
done
copied_up || failed "in no state was f0 copied up, and f1 hidden by a whiteout: $(cat out err)"
overlay 1 --strategy lying-flush --budget 30 --stop-at-first
has 'lost-synced-data'

# A program that a stack needs is not in the guest.
printf 'base = "md-raid1"\n[create]\ncommand = ["sh", "-c", "no-such-program {disks}"]\n' >lacking.toml
refuses 2 'could not be created: exit code 127' 'packages' -- \
  "$headcrash" explore --fs ext4 --stack ./lacking.toml --workload overwrite.txt --guest virtual --budget 1

# A campaign applies the rules, too. The strategy "prefix" loses nothing on a sound stack, nor with the controls.
cat >rules.toml <<END
trials = 1
filesystems = ["ext4:md-raid1"]
[device]
size = "64M"
[workload]
name = "$PWD/overwrite.txt"
[explore]
strategies = ["prefix"]
states = 3
[[controls]]
filesystem = "ext4:md-raid1-no-flush"
must = "damage"
[[controls]]
filesystem = "ext4:md-raid1-write-behind"
must = "damage"
END
exits 0 "$headcrash" campaign rules.toml --guest virtual --db rules.db --html rules
has 'controls as expected: 2 of 2'
ask() { sqlite3 rules.db "$1"; }
[ "$(ask "SELECT verdict IN ('clean', 'replayed') FROM trial WHERE control IS NULL")" = 1 ] ||
  failed "a sound stack: $(ask 'SELECT filesystem, verdict, summary FROM trial')"
for rule in no-flush:flushed-on-all write-behind:answered-after-all; do
  [ "$(ask "SELECT count(*) > 0 FROM finding f JOIN trial t ON t.id = f.trial_id
      WHERE t.filesystem LIKE '%${rule%%:*}' AND t.verdict = 'broken-rule' AND f.kind = 'broken-rule' AND f.expected = '${rule#*:}'")" = 1 ] ||
    failed "$rule was not noticed: $(ask 'SELECT filesystem, verdict, summary FROM trial')"
done
says 'broke the rule flushed-on-all on hd1' rules/report.html || failed "the report does not show the broken rule"

if [ "${2:-}" = all ]; then
  "$headcrash" list stacks | awk '$3 == "clean" { print $1 }' >names
  [ "$(wc -l <names)" -ge 20 ] || failed "there are few stacks: $(cat names)"
  for stack in $(cat names); do
    # Known failures: docs/stacks.md.
    case $stack in md-raid5-ppl | md-raid5-journal-write-back | md-raid5-reshape) continue ;; esac
    explores 0 "$stack" --budget 30
    has "ext4:$stack: passed"
    explores 1 "$stack" --strategy lying-flush --budget 40 --stop-at-first
  done
  exits 0 "$headcrash" explore --fs ext4 --stack md-raid1 --workload overwrite.txt --guest qemu --budget 6
  has 'rules of the stack md-raid1: obeyed by all requests of 2 recordings'
fi

echo "stacks: sound ones keep, controls are caught"
