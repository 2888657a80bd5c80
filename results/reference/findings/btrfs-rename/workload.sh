#!/bin/sh
# btrfs: non-atomic-rename (de-facto)
# ===================================
# objects with non-atomic-rename: 1, although fsck reported no errors; first: foo: expected one name,
# found also "A/foo"
#
# file system  btrfs, defaults
# made by      mkfs.btrfs -q -f -U {uuid} {device}
# crash state  w37- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create foo
#      1    mkdir A
#      2 P  sync
#      3    rename foo A/foo
#      4 P* fsyncdir A
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 37 of the recording, 763.924 ms after its start, 0.000 ms after the mark "persisted 4".
#   unflushed writes 0; lost or torn 0
#
# Expected and found
# ------------------
#   foo    non-atomic-rename, tier de-facto
#     expected  one name
#     found     also "A/foo"
#
# Recovery
# --------
#   (13 lines before)
#   total tree bytes: 147456
#   total fs tree bytes: 32768
#   total extent tree bytes: 16384
#   btree space waste bytes: 139654
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
#   btree space waste bytes: 139679
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

title='btrfs, defaults, crash state w37-: objects with non-atomic-rename: 1, although fsck reported no errors; first: foo: expected one name, found also "A/foo"'
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
size='335544320'
persisted='4'
one_left_out=''
torn=''
mkfs_words='mkfs.btrfs -q -f -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e {device}'
mkfs() { 'mkfs.btrfs' '-q' '-f' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_one_name 'foo' 'A/foo'
}

operations() {
  :
  step 0 'create foo' create 'foo'
  step 1 'mkdir A' mkdir 'A'
  step 2 'sync' sync
  mark 2
  step 3 'rename foo A/foo' rename_flags 'foo' 'A/foo' 0
  step 4 'fsyncdir A' io -c fsync 'A'
  mark 4
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
