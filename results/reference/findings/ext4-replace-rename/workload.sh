#!/bin/sh
# ext4@7.3: lost-synced-data (de-facto)
# =====================================
# objects with lost-synced-data: 1, although fsck reported no errors; first: a: expected version 2 or
# newer in block 0, found zeroes (64 blocks of 512 bytes)
#
# file system  ext4, defaults (data=ordered), Linux 7.3
# made by      mkfs.ext4 -q -F -U {uuid} -E hash_seed={uuid},lazy_itable_init=0,lazy_journal_init=0 {device}
# crash state  w41- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create a
#      1    write a 0 32768 1 1
#      2 P  sync
#      3    create b
#      4    write b 0 32768 2 2
#      5    rename b a
#      6 P* fsyncdir .
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 41 of the recording, 452.529 ms after its start, 0.000 ms after the mark "persisted 6".
#   unflushed writes 0; lost or torn 0
#
# Expected and found
# ------------------
#   a    lost-synced-data, tier de-facto (file 1)
#     expected  version 2 or newer in block 0
#     found     zeroes (64 blocks of 512 bytes)
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
#   Free blocks count wrong (56023, counted=55991).
#   Fix? no
#
#   Free inodes count wrong (16373, counted=16372).
#   Fix? no
#
#   /dev/vda: 11/16384 files (0.0% non-contiguous), 9513/65536 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest: mount
#   EXT4-fs (vda): recovery complete
#   EXT4-fs (vda): mounted filesystem e75297ed-0981-4a4c-99a9-135d5afb2f59 r/w with ordered data mode. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem e75297ed-0981-4a4c-99a9-135d5afb2f59.
#   EXT4-fs (vda): mounted filesystem e75297ed-0981-4a4c-99a9-135d5afb2f59 r/w with ordered data mode. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem e75297ed-0981-4a4c-99a9-135d5afb2f59.
#   guest$ e2fsck -y -E journal_only /dev/vda
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 12/16384 files (0.0% non-contiguous), 9545/65536 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0

title='ext4, defaults (data=ordered), Linux 7.3, crash state w41-: objects with lost-synced-data: 1, although fsck reported no errors; first: a: expected version 2 or newer in block 0, found zeroes (64 blocks of 512 bytes)'
fstype='ext4'
mount_options=''
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
size='67108864'
persisted='6'
one_left_out=''
torn=''
mkfs_words='mkfs.ext4 -q -F -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e -E hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0 {device}'
mkfs() { 'mkfs.ext4' '-q' '-F' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' '-E' 'hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_block 'a' 0 'version 2 or newer' 3289848745
}

operations() {
  :
  step 0 'create a' create 'a'
  step 1 'write a 0 32768 1 1' write 'a' 0 32768 1
  step 2 'sync' sync
  mark 2
  step 3 'create b' create 'b'
  step 4 'write b 0 32768 2 2' write 'b' 0 32768 2
  step 5 'rename b a' rename_flags 'b' 'a' 0
  step 6 'fsyncdir .' io -c fsync .
  mark 6
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
