#!/usr/bin/env bash
# ufs in a guest through FUSE. On the paper's drive, it loses power, is preened, and keeps synced data. Crash states of a
# short workload are clean or repaired. Without a cut, it matches the reference. Its tools reject invalid input with a clear
# message.
. "$(dirname "$0")/lib.sh"
cd "$scratch"
export TMPDIR=$scratch

truncate -s 16M image
"$build/bin/mkfs.headcrash-ufs" image >out || failed "mkfs: $(cat out)"
"$build/bin/fsck.headcrash-ufs" -p image >out || failed "fsck of a new file system: $(cat out)"
printf '\010' | dd of=image bs=1 seek=33128 conv=notrunc status=none   # the root's di_blocks, as a power cut may leave it
exits 1 "$build/bin/fsck.headcrash-ufs" -p image
says 'bad-sectors.*repaired' <out || failed "it was something else: $(cat out)"
refuses 1 "journal-size" "no group has" -- "$build/bin/mkfs.headcrash-ufs" -J 16M image
"$build/bin/fsck.headcrash-ufs" -n image >out || failed "a refused mkfs has written something: $(cat out)"
"$build/bin/mkfs.headcrash-ufs" -J 0 image >out || failed "mkfs with a journal: $(cat out)"
refuses 1 /nosuchdevice -- "$build/bin/mkfs.headcrash-ufs" /nosuchdevice
truncate -s 1M nothing
refuses 8 "no UFS1 superblock" -- "$build/bin/fsck.headcrash-ufs" -y nothing
refuses 1 'did you mean "soft-updates"' -- "$build/bin/mount.headcrash-ufs" -o scheme=soft-update image "$scratch"
refuses 1 "unknown option" -- "$build/bin/mount.headcrash-ufs" -o journal image "$scratch"
refuses 32 nosuchdevice -- "$build/bin/mount.headcrash-ufs" /nosuchdevice "$scratch"

cat >cut.toml <<'EOF'
trials = 1
filesystems = ["ufs-soft-updates"]
[device]
profiles = ["hp-c2447"]
size = "64M"
[workload]
rounds = 20
EOF
exits 0 "$headcrash" campaign cut.toml --db cut.db
[ "$(sqlite3 cut.db 'SELECT verdict FROM trial')" = replayed ] || failed "after the cut: $(sqlite3 cut.db 'SELECT verdict, summary FROM trial')"
[ "$(sqlite3 cut.db "SELECT count(*) FROM phase WHERE name IN ('mkfs', 'workload', 'cut', 'replay', 'mount', 'verify')")" = 6 ] ||
  failed "phases: $(sqlite3 cut.db 'SELECT name FROM phase')"

exits 0 "$headcrash" explore --fs ufs-soft-updates --workload small-files --rounds 5 --budget 12 --record here
exits 0 "$headcrash" explore --fs ufs-journal --workload small-files --rounds 5 --budget 3 --jobs 1
exits 0 "$headcrash" explore --fs ufs-journal-external --workload small-files --rounds 5 --budget 3 --jobs 1

cat >uncut.toml <<'EOF'
trials = 1
filesystems = ["ufs-journal"]
[device]
profiles = ["hp-c2447"]
size = "64M"
clock = "off"
[workload]
name = "random"
rounds = 100
[cut]
after-unmount = true
EOF
exits 0 "$headcrash" campaign uncut.toml --db uncut.db
[ "$(sqlite3 uncut.db 'SELECT verdict FROM trial')" = clean ] || failed "uncut: $(sqlite3 uncut.db 'SELECT verdict, summary FROM trial')"
echo "fuse: all as it should be"
