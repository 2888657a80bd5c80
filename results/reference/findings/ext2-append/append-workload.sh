#!/bin/sh
# ext2: lost-synced-data (posix)
# ==============================
# foo: expected 2048 bytes, found 1536 bytes; fsck reported no errors
#
# file system  ext2
# made by      mkfs.ext2 -q -F -U {uuid} -E hash_seed={uuid},lazy_itable_init=0 {device}
# crash state  w32- of workload.hcrec
#
# Written by hand from what `headcrash extract` made: the operations that it tells, 4 to 9, take one process here, as each process
# takes longer than a tick.
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create foo
#      1 P  fsyncdir .
#      2    append foo 0 512 1 1
#      3 P  fsync foo
#      4    append foo 512 512 1 2
#      5 P  fsync foo
#      6    append foo 1024 512 1 3
#      7 P  fsync foo
#      8    append foo 1536 512 1 4
#      9 P* fsync foo
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 32 of the recording, 0.513 ms after its start, 0.000 ms after the mark "persisted 9".
#   unflushed writes 0; lost or torn 0
#
# Expected and found
# ------------------
#   foo    lost-synced-data, tier posix (file 1)
#     expected  2048 bytes
#     found     1536 bytes
#
# Recovery
# --------
#   (23 lines before)
#
#
#   /dev/vda: ***** FILE SYSTEM WAS MODIFIED *****
#   /dev/vda: 12/16384 files (0.0% non-contiguous), 5414/65536 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 1
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 12/16384 files (0.0% non-contiguous), 5414/65536 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest: mount
#   EXT4-fs (vda): mounting ext2 file system using the ext4 subsystem
#   EXT4-fs (vda): mounted filesystem without journal. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem.
#   EXT4-fs (vda): mounting ext2 file system using the ext4 subsystem
#   EXT4-fs (vda): mounted filesystem without journal. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem.
#   guest$ e2fsck -fy /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 11/16384 files (0.0% non-contiguous), 5412/65536 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 11/16384 files (0.0% non-contiguous), 5412/65536 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0

title='ext2, crash state w32-: foo: expected 2048 bytes, found 1536 bytes; fsck reported no errors'
fstype='ext2'
mount_options=''
replay_by_mount=''
kernel_recovers=''
fsck_may_repair='yes'
replay_words='e2fsck -fy {device}'
check_words='e2fsck -fn {device}'
replay() { 'e2fsck' '-fy' ''"$1"''; }
replay_good='0 1'
check() { 'e2fsck' '-fn' ''"$1"''; }
check_good='0'
repair() { true; }
repair_good='0'
size='67108864'
persisted='2'
one_left_out=''
torn=''
mkfs_words='mkfs.ext2 -q -F -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e -E hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0 {device}'
mkfs() { 'mkfs.ext2' '-q' '-F' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' '-E' 'hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_size 'foo' "$(cat "$work/size")" "$(cat "$work/size")"
}

# append_in_one_tick PATH: appends half a block and syncs it, then the other half, until the second append has the same time of
# change as the first. Times have the resolution of a tick, 4 ms in Debian's kernels. Leaves the size in $work/size.
append_in_one_tick() {
  bytes=0
  while [ $bytes -lt 1048576 ]; do
    times=$(xfs_io -a -c "pwrite -q $bytes 512" -c fsync -c 'statx -r' -c "pwrite -q $((bytes + 512)) 512" -c fsync -c 'statx -r' "$1" |
      awk '/mtime/ { print $3 }') || return 1
    bytes=$((bytes + 1024))
    # Two lines a time, seconds and nanoseconds.
    [ "$(echo "$times" | head -n 2)" != "$(echo "$times" | tail -n 2)" ] || { echo $bytes > "$work/size" && return 0; }
  done
  echo 'no two appends fell into one tick' >&2
  return 1
}

operations() {
  :
  step 0 'create foo' create 'foo'
  step 1 'fsyncdir .' io -c fsync .
  mark 1
  step 2 'append foo 512 bytes, fsync foo, append foo 512 bytes, fsync foo: within a tick' append_in_one_tick 'foo'
  echo "   foo has $(cat "$work/size") bytes"
  mark 2
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
