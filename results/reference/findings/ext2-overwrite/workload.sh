#!/bin/sh
# ext2: lost-synced-data (posix)
# ==============================
# objects with lost-synced-data: 1, although fsck reported no errors; first: foo: expected version 2
# or newer in block 16, found version 1 of file 1 (16 blocks of 512 bytes)
#
# file system  ext2
# made by      mkfs.ext2 -q -F -U {uuid} -E hash_seed={uuid},lazy_itable_init=0 {device}
# crash state  w25- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create foo
#      1    write foo 0 32768 1 1
#      2 P  sync
#      3    write foo 8192 8192 1 2
#      4 P* fdatasync foo
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 25 of the recording, 454.407 ms after its start, 0.000 ms after the mark "persisted 4".
#   unflushed writes 1; lost or torn 1
#
#    request         LBA  sectors     submitted  acknowledged
#         11        1592       16    442.478 ms    444.061 ms
#            file 1: version 2, blocks 16 to 31
#            submitted after the mark "persisted 2"
#
# Expected and found
# ------------------
#   foo    lost-synced-data, tier posix (file 1)
#     expected  version 2 or newer in block 16
#     found     version 1 of file 1 (16 blocks of 512 bytes)
#
# Recovery
# --------
#   (11 lines before)
#
#
#   /dev/vda: ***** FILE SYSTEM WAS MODIFIED *****
#   /dev/vda: 12/81920 files (8.3% non-contiguous), 22680/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 1
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 12/81920 files (8.3% non-contiguous), 22680/327680 blocks
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
#   /dev/vda: 12/81920 files (8.3% non-contiguous), 22680/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 12/81920 files (8.3% non-contiguous), 22680/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0

title='ext2, crash state w25-: objects with lost-synced-data: 1, although fsck reported no errors; first: foo: expected version 2 or newer in block 16, found version 1 of file 1 (16 blocks of 512 bytes)'
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
persisted='4'
one_left_out=''
torn=''
mkfs_words='mkfs.ext2 -q -F -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e -E hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0 {device}'
mkfs() { 'mkfs.ext2' '-q' '-F' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' '-E' 'hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_block 'foo' 16 'version 2 or newer' 3289848745
}

operations() {
  :
  step 0 'create foo' create 'foo'
  step 1 'write foo 0 32768 1 1' write 'foo' 0 32768 1
  step 2 'sync' sync
  mark 2
  step 3 'write foo 8192 8192 1 2' write 'foo' 8192 8192 2
  step 4 'fdatasync foo' io -c fdatasync 'foo'
  mark 4
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
