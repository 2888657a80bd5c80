#!/bin/sh
# btrfs: lost-synced-data (de-facto)
# ==================================
# a: expected file 1 under one of its names, found it under none of them; fsck reported no errors
#
# file system  btrfs, defaults
# made by      mkfs.btrfs -q -f -U {uuid} {device}
# crash state  w39- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create a
#      1    write a 0 4096 1 1
#      2 P  sync
#      3    mkdir d
#      4    rename a d/a
#      5    create a
#      6 P* fsync a
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 39 of the recording, 895.045 ms after its start, 0.000 ms after the mark "persisted 6".
#   unflushed writes 0; lost or torn 0
#
# Expected and found
# ------------------
#   a    lost-synced-data, tier de-facto (file 1)
#     expected  file 1 under one of its names
#     found     it under none of them
#
# Recovery
# --------
#   (14 lines before)
#   total tree bytes: 147456
#   total fs tree bytes: 32768
#   total extent tree bytes: 16384
#   btree space waste bytes: 140147
#   file data blocks allocated: 0
#    referenced 0
#   [1/7] checking root items
#   [2/7] checking extents
#   [3/7] checking free space tree
#   [4/7] checking fs roots
#   [5/7] checking only csums items (without verifying data)
#   [6/7] checking root refs
#   [7/7] checking quota groups skipped (not enabled on this FS)
#   exit 0
#   guest: mount
#   BTRFS: device fsid 2245bd5f-bb68-4f68-a2eb-92502318fa4e devid 1 transid 10 /dev/vda scanned by init (1)
#   BTRFS info (device vda): first mount of filesystem 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   BTRFS info (device vda): using crc32c (crc32c-generic) checksum algorithm
#   BTRFS info (device vda): using free space tree
#   BTRFS info (device vda): last unmount of filesystem 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   guest$ btrfs check --readonly /dev/vda
#   Opening filesystem to check...
#   Checking filesystem on /dev/vda
#   UUID: 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   found 147456 bytes used, no error found
#   total csum bytes: 0
#   total tree bytes: 147456
#   total fs tree bytes: 32768
#   total extent tree bytes: 16384
#   btree space waste bytes: 140530
#   file data blocks allocated: 0
#    referenced 0
#   [1/7] checking root items
#   [2/7] checking extents
#   [3/7] checking free space tree
#   [4/7] checking fs roots
#   [5/7] checking only csums items (without verifying data)
#   [6/7] checking root refs
#   [7/7] checking quota groups skipped (not enabled on this FS)
#   exit 0

title='btrfs, defaults, crash state w39-: a: expected file 1 under one of its names, found it under none of them; fsck reported no errors'
fstype='btrfs'
mount_options=''
replay_by_mount='yes'
kernel_recovers=''
fsck_may_repair=''
replay_words='mount and unmount'
check_words='btrfs check --readonly {device}'
replay() { true; }
replay_good='0'
check() { 'btrfs' 'check' '--readonly' ''"$1"''; }
check_good='0'
repair() { true; }
repair_good='0'
size='134217728'
persisted='6'
one_left_out=''
torn=''
mkfs_words='mkfs.btrfs -q -f -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e {device}'
mkfs() { 'mkfs.btrfs' '-q' '-f' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  # Written by hand: the synced file has 4096 bytes, the new one has none.
  for name in a d/a; do
    [ "$(stat -c %s "$name" 2> /dev/null)" != 4096 ] || { fine "$name" 'the file of 4096 bytes'; return; }
  done
  failed 'a, d/a' 'the synced file of 4096 bytes under one of its names' 'neither has 4096 bytes'
}

operations() {
  :
  step 0 'create a' create 'a'
  step 1 'write a 0 4096 1 1' write 'a' 0 4096 1
  step 2 'sync' sync
  mark 2
  step 3 'mkdir d' mkdir 'd'
  step 4 'rename a d/a' rename_flags 'a' 'd/a' 0
  step 5 'create a' create 'a'
  step 6 'fsync a' io -c fsync 'a'
  mark 6
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
