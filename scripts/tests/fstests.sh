#!/usr/bin/env bash
# headcrash fstests, with a tiny suite in a root file system of this host's programs: what a sync covered is kept, a disk that
# ignores flushes loses it, and a mount without flushes loses it. "fstests.sh BUILD real" runs the group log of xfstests on ext4;
# $HEADCRASH_FSTESTS is a root file system in which it is installed (docs/fstests.md).
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$scratch"
said() { grep -qF -- "$1" out err || failed "\"$1\" was not said: $(cat out err)"; }

if [ "${2:-}" = real ]; then
  if [ -z "${HEADCRASH_FSTESTS:-}" ]; then
    echo "skipped: set HEADCRASH_FSTESTS to a root file system with xfstests"
    exit 77
  fi
  exits 0 "$headcrash" fstests --rootfs "$HEADCRASH_FSTESTS" --group log --fs ext4 \
    --expunge "$top/results/reference/fstests-crash/known.txt" -- /var/lib/xfstests/check
  exit 0
fi

# The root file system: programs of this host, with their libraries.
for program in sh mount umount losetup truncate mkfs.ext4 dd date sleep grep cat cp chmod mkdir tail find basename dirname sync rm mv; do
  path=$(command -v "$program")
  for file in "$path" $(ldd "$path" 2>/dev/null | grep -o '/[^ ]*'); do
    mkdir -p "root$(dirname "$file")"
    cp -L "$file" "root$file"
  done
done
for folder in bin sbin lib lib64; do [ ! -L "/$folder" ] || mkdir -p "root/usr/$folder"; done
for folder in bin sbin lib lib64; do
  if [ -L "/$folder" ]; then
    if [ -d "root/$folder" ]; then cp -r "root/$folder/." "root/usr/$folder/" && rm -r "root/$folder"; fi
    ln -s "usr/$folder" "root/$folder"
  fi
done
mkdir -p root/etc root/suite/tests/generic
echo root:x:0:0::/root:/bin/sh >root/etc/passwd
echo root:x:0: >root/etc/group
cat >root/suite/tests/generic/group.list <<'END'
001 quick
002 quick
003 quick broken
004 unflushed
005 quick
END
cat >root/suite/check <<'END'
#!/bin/sh
set -e
for test; do :; done
case $test in
  generic/001)   # changes after a sync, and after a second mount
    mkfs.ext4 -q -F "$SCRATCH_DEV"
    mount "$SCRATCH_DEV" "$SCRATCH_MNT"
    echo one >"$SCRATCH_MNT/one"
    mkdir "$SCRATCH_MNT/folder"
    sync
    echo two >"$SCRATCH_MNT/folder/two"
    mv "$SCRATCH_MNT/folder" "$SCRATCH_MNT/renamed"
    umount "$SCRATCH_MNT"
    mount "$SCRATCH_DEV" "$SCRATCH_MNT"
    echo three >"$SCRATCH_MNT/three"
    umount "$SCRATCH_DEV"
    ;;
  generic/002) echo "$test [not run] this machine has no tape" ;;
  generic/003) echo "$test - output mismatch"; exit 1 ;;
  generic/004)   # the mount sends no flushes, so a sync makes nothing durable
    mkfs.ext4 -q -F "$SCRATCH_DEV"
    mount -o nobarrier "$SCRATCH_DEV" "$SCRATCH_MNT"
    echo one >"$SCRATCH_MNT/one"
    sync
    echo two >"$SCRATCH_MNT/two"
    umount "$SCRATCH_MNT"
    ;;
  generic/005) mount "$TEST_DEV" "$TEST_DIR" && umount "$TEST_DIR" ;;
esac
echo "$test passed"
END
chmod +x root/suite/check

exits 2 "$headcrash" fstests --fs ext4 --group quick -- /suite/check
said "add --rootfs"
exits 2 "$headcrash" fstests --rootfs root --fs ext4 --group quick -- /absent/check
said "is not a program in"
exits 2 "$headcrash" fstests --rootfs root --fs ext4 --group quik -- /suite/check
said "has no group quik"
exits 2 "$headcrash" fstests --rootfs root --fs ext4 -- /suite/check
said "no tests are selected"
exits 2 "$headcrash" fstests --rootfs root --fs ext4-external-journal --group quick -- /suite/check
said "needs several disks"

run=("$headcrash" fstests --rootfs root --fs ext4 --disk 64M --states 40 --time 120)
exits 1 "${run[@]}" --group quick --keep --junit quick.xml -- root/suite/check
said "generic/001   passed   kept"
said "in 2 of 2 mounts"
said "generic/002   not run"
said "this machine has no tape"
said "generic/003   failed"
said "ext4: 4 tests: 2 passed, 1 failed, 1 not run; 1 crash-tested"
grep -q '<skipped' quick.xml && grep -q '<failure' quick.xml || failed "the JUnit file: $(cat quick.xml)"

# The same recording on a disk that ignores flushes.
recording=headcrash-fstests/ext4/generic-001.hcrec
exits 0 "$headcrash" fstests --recording "$recording" --fs ext4
exits 1 "$headcrash" fstests --recording "$recording" --fs ext4 --strategy lying-flush
said "lost-synced-data"

echo "generic/003  # a known failure" >known
exits 0 "${run[@]}" --folder again --group quick --expunge known -- /suite/check
said "ext4: 3 tests: 2 passed, 0 failed, 1 not run"
[ ! -e again/ext4/generic-001.hcrec ] || failed "the recording of a test without failures was kept"

exits 1 "${run[@]}" --test generic/004 -- /suite/check
said "generic/004   passed   FAILED"
said "one: expected unchanged since"
[ -s headcrash-fstests/ext4/generic-004.crash.html ] || failed "there is no page of the crash"
