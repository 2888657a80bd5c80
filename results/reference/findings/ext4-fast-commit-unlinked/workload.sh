#!/bin/sh
# ext4-fast-commit@6.1: wrong-data (integrity)
# ============================================
# objects with wrong-data: 1, after a repair by fsck; first: t/bar: expected 0 bytes, found 65536
# bytes
#
# file system  ext4 with fast_commit, Linux 6.1
# made by      mkfs.ext4 -q -F -O fast_commit -U {uuid} -E hash_seed={uuid},lazy_itable_init=0,lazy_journal_init=0 {device}
# crash state  w50- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    mkdir t
#      1    create t/foo
#      2    write t/foo 0 65536 1 1
#      3 P  sync
#      4    open t/foo %f
#      5    unlink t/foo
#      6 P  fsync %f
#      7    close %f
#      8    create t/bar
#      9 P* fsync t/bar
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 50 of the recording, 507.709 ms after its start, 0.000 ms after the mark "persisted 9".
#   unflushed writes 0; lost or torn 0
#
# Expected and found
# ------------------
#   t/bar    wrong-data, tier integrity
#     expected  0 bytes
#     found     65536 bytes
#   t/bar    stale-data, tier integrity
#     expected  zeroes in block 0
#     found     version 1 of file 1 (128 blocks of 512 bytes)
#
# Recovery
# --------
#   (17 lines before)
#   Inode bitmap differences:  -32770
#   Fix? no
#
#   Free inodes count wrong (81909, counted=81907).
#   Fix? no
#
#
#   /dev/vda: ********** WARNING: Filesystem still has errors **********
#
#   /dev/vda: 11/81920 files (0.0% non-contiguous), 30975/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 4
#   guest$ e2fsck -fy /dev/vda
#   /dev/vda: recovering journal
#   Pass 1: Checking inodes, blocks, and sizes
#   Inode 32770, i_size is 0, should be 65536.  Fix? yes
#
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#
#   /dev/vda: ***** FILE SYSTEM WAS MODIFIED *****
#   /dev/vda: 13/81920 files (0.0% non-contiguous), 31040/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 1
#   guest: mount
#   EXT4-fs (vda): mounted filesystem with ordered data mode. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem.
#   EXT4-fs (vda): mounted filesystem with ordered data mode. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem.
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 13/81920 files (0.0% non-contiguous), 31040/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0

title='ext4 with fast_commit, Linux 6.1, crash state w50-: objects with wrong-data: 1, after a repair by fsck; first: t/bar: expected 0 bytes, found 65536 bytes'
fstype='ext4'
mount_options=''
replay_by_mount='yes'
kernel_recovers=''
fsck_may_repair=''
replay_words='mount and unmount'
check_words='e2fsck -fn {device}'
replay() { 'e2fsck' '-y' '-E' 'journal_only' ''"$1"''; }
replay_good='0 1'
check() { 'e2fsck' '-fn' ''"$1"''; }
check_good='0'
repair() { 'e2fsck' '-fy' ''"$1"''; }
repair_good='0 1'
size='335544320'
persisted='9'
one_left_out=''
torn=''
mkfs_words='mkfs.ext4 -q -F -O fast_commit -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e -E hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0 {device}'
mkfs() { 'mkfs.ext4' '-q' '-F' '-O' 'fast_commit' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' '-E' 'hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_size 't/bar' 0 0
  expect_block 't/bar' 0 'zeroes' 4135437457 4294967295
}

operations() {
  :
  step 0 'mkdir t' mkdir 't'
  step 1 'create t/foo' create 't/foo'
  step 2 'write t/foo 0 65536 1 1' write 't/foo' 0 65536 1
  step 3 'sync' sync
  mark 3
  step 4 'open t/foo %f' true
  command exec 4<> 't/foo' || cannot 'it cannot be opened'
  step 5 'unlink t/foo' unlink 't/foo'
  step 6 'fsync %f' io -c fsync /proc/self/fd/4
  mark 6
  step 7 'close %f' true
  exec 4>&-
  step 8 'create t/bar' create 't/bar'
  step 9 'fsync t/bar' io -c fsync 't/bar'
  mark 9
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
