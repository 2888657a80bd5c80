#!/bin/sh
# ext4-fast-commit@6.1: lost-synced-data (documented)
# ===================================================
# c6: expected the name to be there, found no such name; fsck reported no errors
#
# file system  ext4 with fast_commit, Linux 6.1
# made by      mkfs.ext4 -q -F -O fast_commit -U {uuid} -E hash_seed={uuid},lazy_itable_init=0,lazy_journal_init=0 {device}
# crash state  w96- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create f
#      1 P  sync
#      2    create g
#      3 P  fsync g
#      4    create a0
#      5    create b0
#      6    create c0
#      7 P  fsync c0
#      8    create a1
#      9    create b1
#     10    create c1
#     11 P  fsync c1
#     12    create a2
#     13    create b2
#     14    create c2
#     15 P  fsync c2
#     16    create a3
#     17    create b3
#     18    create c3
#     19 P  fsync c3
#     20    create a4
#     21    create b4
#     22    create c4
#     23 P  fsync c4
#     24    create a5
#     25    create b5
#     26    create c5
#     27 P  fsync c5
#     28    create a6
#     29    create b6
#     30    create c6
#     31 P* fsync c6
#           -- the power may have been cut at any later point
#     32    create a7
#     33    create b7
#     34    create c7
#     35 P  fsync c7
#           == power cut
#         (16 operations that cannot have begun)
#
# Power cut and lost writes
# -------------------------
#   After event 96 of the recording, 325.292 ms after its start, 0.000 ms after the mark "persisted
#   31".
#   unflushed writes 1; lost or torn 1
#
#    request         LBA  sectors     submitted  acknowledged
#         40      311326        2    322.239 ms    324.982 ms
#            journal: a copy of a block
#            submitted after the mark "persisted 27"
#
# Expected and found
# ------------------
#   c6    lost-synced-data, tier documented
#     expected  the name to be there
#     found     no such name
#
# Recovery
# --------
#   guest: mount
#   EXT4-fs (vda): recovery complete
#   EXT4-fs (vda): mounted filesystem with ordered data mode. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem.
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 31/81920 files (0.0% non-contiguous), 30975/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest: mount
#   EXT4-fs (vda): mounted filesystem with ordered data mode. Quota mode: none.
#   EXT4-fs (vda): unmounting filesystem.
#   guest$ e2fsck -fn /dev/vda
#   Pass 1: Checking inodes, blocks, and sizes
#   Pass 2: Checking directory structure
#   Pass 3: Checking directory connectivity
#   Pass 4: Checking reference counts
#   Pass 5: Checking group summary information
#   /dev/vda: 11/81920 files (0.0% non-contiguous), 30975/327680 blocks
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0

title='ext4 with fast_commit, Linux 6.1, crash state w96-: c6: expected the name to be there, found no such name; fsck reported no errors'
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
persisted='31'
one_left_out=''
torn=''
mkfs_words='mkfs.ext4 -q -F -O fast_commit -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e -E hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0 {device}'
mkfs() { 'mkfs.ext4' '-q' '-F' '-O' 'fast_commit' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' '-E' 'hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_name 'c6'
}

operations() {
  :
  step 0 'create f' create 'f'
  step 1 'sync' sync
  mark 1
  step 2 'create g' create 'g'
  step 3 'fsync g' io -c fsync 'g'
  mark 3
  step 4 'create a0' create 'a0'
  step 5 'create b0' create 'b0'
  step 6 'create c0' create 'c0'
  step 7 'fsync c0' io -c fsync 'c0'
  mark 7
  step 8 'create a1' create 'a1'
  step 9 'create b1' create 'b1'
  step 10 'create c1' create 'c1'
  step 11 'fsync c1' io -c fsync 'c1'
  mark 11
  step 12 'create a2' create 'a2'
  step 13 'create b2' create 'b2'
  step 14 'create c2' create 'c2'
  step 15 'fsync c2' io -c fsync 'c2'
  mark 15
  step 16 'create a3' create 'a3'
  step 17 'create b3' create 'b3'
  step 18 'create c3' create 'c3'
  step 19 'fsync c3' io -c fsync 'c3'
  mark 19
  step 20 'create a4' create 'a4'
  step 21 'create b4' create 'b4'
  step 22 'create c4' create 'c4'
  step 23 'fsync c4' io -c fsync 'c4'
  mark 23
  step 24 'create a5' create 'a5'
  step 25 'create b5' create 'b5'
  step 26 'create c5' create 'c5'
  step 27 'fsync c5' io -c fsync 'c5'
  mark 27
  step 28 'create a6' create 'a6'
  step 29 'create b6' create 'b6'
  step 30 'create c6' create 'c6'
  step 31 'fsync c6' io -c fsync 'c6'
  mark 31
  step 32 'create a7' create 'a7'
  step 33 'create b7' create 'b7'
  step 34 'create c7' create 'c7'
  step 35 'fsync c7' io -c fsync 'c7'
  mark 35
  step 36 'create a8' create 'a8'
  step 37 'create b8' create 'b8'
  step 38 'create c8' create 'c8'
  step 39 'fsync c8' io -c fsync 'c8'
  mark 39
  step 40 'create a9' create 'a9'
  step 41 'create b9' create 'b9'
  step 42 'create c9' create 'c9'
  step 43 'fsync c9' io -c fsync 'c9'
  mark 43
  step 44 'create a10' create 'a10'
  step 45 'create b10' create 'b10'
  step 46 'create c10' create 'c10'
  step 47 'fsync c10' io -c fsync 'c10'
  mark 47
  step 48 'create a11' create 'a11'
  step 49 'create b11' create 'b11'
  step 50 'create c11' create 'c11'
  step 51 'fsync c11' io -c fsync 'c11'
  mark 51
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
