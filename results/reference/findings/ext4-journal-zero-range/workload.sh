#!/bin/sh
# ext4-journal: stale-data (posix)
# ================================
# objects with stale-data: 1, although fsck reported no errors; first: f: expected zeroes in block 88,
# found version 1 of file 1 (40 blocks of 512 bytes)
#
# file system  ext4, data=journal
# mounted with data=journal
# made by      mkfs.ext4 -q -F -U {uuid} -E hash_seed={uuid},lazy_itable_init=0,lazy_journal_init=0 {device}
# crash state  w42- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create f
#      1    write f 0 131072 1 1
#      2 P  fsync f
#      3    zero f 32768 32768
#      4 P  fsync f
#      5    write f 40960 4096 1 2
#      6 P* fsync f
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 42 of the recording, 734.042 ms after its start, 0.000 ms after the mark "persisted 6".
#   unflushed writes 0; lost or torn 0
#
# Expected and found
# ------------------
#   f    stale-data, tier posix (file 1)
#     expected  zeroes in block 88
#     found     version 1 of file 1 (40 blocks of 512 bytes)
#
# Recovery
# --------
#   guest$ e2fsck -y -E journal_only /dev/vda
#   /dev/vda: recovering journal
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   Free blocks count wrong (296833, counted=296705).
#   Fix? no
#
#   Free inodes count wrong (81909, counted=81908).
#   Fix? no
#
#   /dev/vda: 11/81920 files (9.1% non-contiguous), 30847/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest: mount
#   EXT4-fs: Warning: mounting with data=journal disables delayed allocation, dioread_nolock, O_DIRECT and fast_commit support!
#   EXT4-fs (vda): recovery complete
#   EXT4-fs (vda): mounted filesystem with journalled data mode. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem.
#   EXT4-fs (vda): mounted filesystem with journalled data mode. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem.
#   guest$ e2fsck -y -E journal_only /dev/vda
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 12/81920 files (8.3% non-contiguous), 30975/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0

title='ext4, data=journal, crash state w42-: objects with stale-data: 1, although fsck reported no errors; first: f: expected zeroes in block 88, found version 1 of file 1 (40 blocks of 512 bytes)'
fstype='ext4'
mount_options='data=journal'
replay_by_mount=''
kernel_recovers='yes'
fsck_may_repair=''
replay_words='e2fsck -y -E journal_only {device}'
check_words='e2fsck -fn {device}'
replay() { 'e2fsck' '-y' '-E' 'journal_only' ''"$1"''; }
replay_good='0 1'
check() { 'e2fsck' '-fn' ''"$1"''; }
check_good='0'
repair() { 'e2fsck' '-fy' ''"$1"''; }
repair_good='0 1'
size='335544320'
persisted='6'
one_left_out=''
torn=''
mkfs_words='mkfs.ext4 -q -F -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e -E hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0 {device}'
mkfs() { 'mkfs.ext4' '-q' '-F' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' '-E' 'hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_block 'f' 88 'zeroes' 4135437457
}

operations() {
  :
  step 0 'create f' create 'f'
  step 1 'write f 0 131072 1 1' write 'f' 0 131072 1
  step 2 'fsync f' io -c fsync 'f'
  mark 2
  step 3 'zero f 32768 32768' io -c 'fzero 32768 32768' 'f'
  step 4 'fsync f' io -c fsync 'f'
  mark 4
  step 5 'write f 40960 4096 1 2' write 'f' 40960 4096 2
  step 6 'fsync f' io -c fsync 'f'
  mark 6
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
