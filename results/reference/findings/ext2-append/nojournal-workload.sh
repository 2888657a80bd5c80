#!/bin/sh
# ext4-nojournal@6.1: lost-synced-data (posix)
# ============================================
# foo: expected the name to be there, found no such name; fsck reported no errors
#
# file system  ext4 without a journal, Linux 6.1
# made by      mkfs.ext4 -q -F -O ^has_journal -U {uuid} -E hash_seed={uuid},lazy_itable_init=0 {device}
# crash state  w9- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create foo
#      1 P  fsyncdir .
#      2 P* fsync foo
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 9 of the recording, 55.792 ms after its start, 0.000 ms after the mark "persisted 2".
#   unflushed writes 1; lost or torn 1
#
#    request         LBA  sectors     submitted  acknowledged
#          3        8742        2     50.230 ms     53.365 ms
#            directory, inode 2, /, adds "foo" for inode 12
#            submitted after the mark "phase workload"
#
# Expected and found
# ------------------
#   foo    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#
# Recovery
# --------
#   (1 lines before)
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 11/16384 files (0.0% non-contiguous), 5417/65536 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 1
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 11/16384 files (0.0% non-contiguous), 5417/65536 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest: mount
#   EXT4-fs (vda): mounted filesystem without journal. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem.
#   EXT4-fs (vda): mounted filesystem without journal. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem.
#   guest$ e2fsck -fy /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 11/16384 files (0.0% non-contiguous), 5417/65536 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 11/16384 files (0.0% non-contiguous), 5417/65536 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0

title='ext4 without a journal, Linux 6.1, crash state w9-: foo: expected the name to be there, found no such name; fsck reported no errors'
fstype='ext4'
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
repair() { 'e2fsck' '-fy' ''"$1"''; }
repair_good='0 1'
size='67108864'
persisted='2'
one_left_out=''
torn=''
mkfs_words='mkfs.ext4 -q -F -O ^has_journal -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e -E hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0 {device}'
mkfs() { 'mkfs.ext4' '-q' '-F' '-O' '^has_journal' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' '-E' 'hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_name 'foo'
}

operations() {
  :
  step 0 'create foo' create 'foo'
  step 1 'fsyncdir .' io -c fsync .
  mark 1
  step 2 'fsync foo' io -c fsync 'foo'
  mark 2
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
