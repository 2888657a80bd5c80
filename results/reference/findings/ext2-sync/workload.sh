#!/bin/sh
# ext2@6.1: lost-synced-data (documented)
# =======================================
# objects with lost-synced-data: 1, although fsck reported no errors; first: foo: expected the name to
# be there, found no such name
#
# file system  ext2, Linux 6.1
# made by      mkfs.ext2 -q -F -U {uuid} -E hash_seed={uuid},lazy_itable_init=0 {device}
# crash state  w22- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create foo
#      1    write foo 0 32768 1 1
#      2 P* sync
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 22 of the recording, 67.003 ms after its start, 0.000 ms after the mark "persisted 2".
#   unflushed writes 1; lost or torn 1
#
#    request         LBA  sectors     submitted  acknowledged
#          5         528        2     56.203 ms     61.182 ms
#            metadata or data of no known kind
#            submitted after the mark "phase workload"
#
# Expected and found
# ------------------
#   foo    lost-synced-data, tier documented (file 1)
#     expected  the name to be there
#     found     no such name
#
# Recovery
# --------
#   (19 lines before)
#
#
#   /dev/vda: ***** FILE SYSTEM WAS MODIFIED *****
#   /dev/vda: 11/81920 files (0.0% non-contiguous), 22647/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 1
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 11/81920 files (0.0% non-contiguous), 22647/327680 blocks
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
#   /dev/vda: 11/81920 files (0.0% non-contiguous), 22647/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 11/81920 files (0.0% non-contiguous), 22647/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0

title='ext2, Linux 6.1, crash state w22-: objects with lost-synced-data: 1, although fsck reported no errors; first: foo: expected the name to be there, found no such name'
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
size='335544320'
persisted='2'
one_left_out=''
torn=''
mkfs_words='mkfs.ext2 -q -F -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e -E hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0 {device}'
mkfs() { 'mkfs.ext2' '-q' '-F' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' '-E' 'hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_name 'foo'
}

operations() {
  :
  step 0 'create foo' create 'foo'
  step 1 'write foo 0 32768 1 1' write 'foo' 0 32768 1
  step 2 'sync' sync
  mark 2
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
