#!/bin/sh
# ext4-fast-commit+few-fast-commits@6.1: unmountable
# ==================================================
# the file system could not be mounted again
#
# file system  ext4 with fast_commit, few-fast-commits, Linux 6.1
# made by      mkfs.ext4 -q -F -O fast_commit -U {uuid} -E hash_seed={uuid},lazy_itable_init=0,lazy_journal_init=0 -b 1024 -J size=4,fast_commit_size=16 {device}
# crash state  w153 of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create bar
#      1 P  write-sync bar 0 4096 1 1
#      2 P  write-sync bar 4096 4096 1 2
#      3 P  write-sync bar 8192 4096 1 3
#      4 P  write-sync bar 12288 4096 1 4
#      5 P  write-sync bar 16384 4096 1 5
#      6 P  write-sync bar 20480 4096 1 6
#      7 P  write-sync bar 24576 4096 1 7
#      8 P  write-sync bar 28672 4096 1 8
#      9 P  write-sync bar 32768 4096 1 9
#     10 P  write-sync bar 36864 4096 1 10
#     11 P  write-sync bar 40960 4096 1 11
#     12 P  write-sync bar 45056 4096 1 12
#     13 P  write-sync bar 49152 4096 1 13
#     14 P  write-sync bar 53248 4096 1 14
#     15 P  write-sync bar 57344 4096 1 15
#     16 P* write-sync bar 61440 4096 1 16
#           -- the power may have been cut at any later point
#     17 P  write-sync bar 65536 4096 1 17
#           == power cut
#         (3 operations that cannot have begun)
#
# Power cut and lost writes
# -------------------------
#   After event 153 of the recording, 314.974 ms after its start, 0.000 ms after the mark "persisted
#   16".
#   unflushed writes 0; lost or torn 0
#
# Expected and found
# ------------------
#   the file system could not be mounted again
#
# Recovery
# --------
#   guest: mount refused: Input/output error
#   JBD2: corrupted journal superblock
#   JBD2: recovery failed
#   EXT4-fs (vda): error loading journal
#   guest$ e2fsck -fn /dev/vda
#   Warning: skipping journal recovery because doing a read-only filesystem check.
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 11/81920 files (0.0% non-contiguous), 26767/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest: mount refused: Input/output error
#   JBD2: corrupted journal superblock
#   JBD2: recovery failed
#   EXT4-fs (vda): error loading journal

title='ext4 with fast_commit, few-fast-commits, Linux 6.1, crash state w153: the file system could not be mounted again'
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
persisted='16'
one_left_out=''
torn=''
mkfs_words='mkfs.ext4 -q -F -O fast_commit -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e -E hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0 -b 1024 -J size=4,fast_commit_size=16 {device}'
mkfs() { 'mkfs.ext4' '-q' '-F' '-O' 'fast_commit' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' '-E' 'hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0' '-b' '1024' '-J' 'size=4,fast_commit_size=16' ''"$1"''; }
mkfs_good='0'
checks() {
  :
}

operations() {
  :
  step 0 'create bar' create 'bar'
  step 1 'write-sync bar 0 4096 1 1' write_sync 'bar' 0 4096 1
  mark 1
  step 2 'write-sync bar 4096 4096 1 2' write_sync 'bar' 4096 4096 2
  mark 2
  step 3 'write-sync bar 8192 4096 1 3' write_sync 'bar' 8192 4096 3
  mark 3
  step 4 'write-sync bar 12288 4096 1 4' write_sync 'bar' 12288 4096 4
  mark 4
  step 5 'write-sync bar 16384 4096 1 5' write_sync 'bar' 16384 4096 5
  mark 5
  step 6 'write-sync bar 20480 4096 1 6' write_sync 'bar' 20480 4096 6
  mark 6
  step 7 'write-sync bar 24576 4096 1 7' write_sync 'bar' 24576 4096 7
  mark 7
  step 8 'write-sync bar 28672 4096 1 8' write_sync 'bar' 28672 4096 8
  mark 8
  step 9 'write-sync bar 32768 4096 1 9' write_sync 'bar' 32768 4096 9
  mark 9
  step 10 'write-sync bar 36864 4096 1 10' write_sync 'bar' 36864 4096 10
  mark 10
  step 11 'write-sync bar 40960 4096 1 11' write_sync 'bar' 40960 4096 11
  mark 11
  step 12 'write-sync bar 45056 4096 1 12' write_sync 'bar' 45056 4096 12
  mark 12
  step 13 'write-sync bar 49152 4096 1 13' write_sync 'bar' 49152 4096 13
  mark 13
  step 14 'write-sync bar 53248 4096 1 14' write_sync 'bar' 53248 4096 14
  mark 14
  step 15 'write-sync bar 57344 4096 1 15' write_sync 'bar' 57344 4096 15
  mark 15
  step 16 'write-sync bar 61440 4096 1 16' write_sync 'bar' 61440 4096 16
  mark 16
  step 17 'write-sync bar 65536 4096 1 17' write_sync 'bar' 65536 4096 17
  mark 17
  step 18 'write-sync bar 69632 4096 1 18' write_sync 'bar' 69632 4096 18
  mark 18
  step 19 'write-sync bar 73728 4096 1 19' write_sync 'bar' 73728 4096 19
  mark 19
  step 20 'write-sync bar 77824 4096 1 20' write_sync 'bar' 77824 4096 20
  mark 20
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
