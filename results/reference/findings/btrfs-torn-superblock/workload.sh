#!/bin/sh
# btrfs@6.1: unmountable
# ======================
# the file system could not be mounted again
#
# file system  btrfs, defaults, Linux 6.1
# made by      mkfs.btrfs -q -f -U {uuid} {device}
# crash state  w26~11:0x4 of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create a
#      1    write a 0 4096 1 1
#      2 P  sync
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 26 of the recording, 124.702 ms after its start, 68.622 ms after the mark "phase
#   workload".
#   unflushed writes 2; lost or torn 1
#
#    request         LBA  sectors     submitted  acknowledged
#         11         128        8    117.186 ms    121.482 ms
#            superblock (torn: only sectors 0 to 3 are on the medium)
#            submitted after the mark "phase workload"
#
# Expected and found
# ------------------
#   the file system could not be mounted again
#
# Recovery
# --------
#   guest: mount refused: Invalid argument
#   BTRFS: device fsid 2245bd5f-bb68-4f68-a2eb-92502318fa4e devid 1 transid 7 /dev/vda scanned by init (1)
#   BTRFS info (device vda): first mount of filesystem 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   BTRFS info (device vda): using crc32c (crc32c-generic) checksum algorithm
#   BTRFS error (device vda): superblock checksum mismatch
#   BTRFS error (device vda): open_ctree failed: -22
#   guest$ btrfs check --readonly /dev/vda
#   Opening filesystem to check...
#   ERROR: superblock checksum mismatch
#   ERROR: superblock checksum mismatch
#   No valid Btrfs found on /dev/vda
#   ERROR: cannot open file system
#   exit 1
#   guest: mount refused: Invalid argument
#   BTRFS: device fsid 2245bd5f-bb68-4f68-a2eb-92502318fa4e devid 1 transid 7 /dev/vda scanned by init (1)
#   BTRFS info (device vda): first mount of filesystem 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   BTRFS info (device vda): using crc32c (crc32c-generic) checksum algorithm
#   BTRFS error (device vda): superblock checksum mismatch
#   BTRFS error (device vda): open_ctree failed: -22

title='btrfs, defaults, Linux 6.1, crash state w26~11:0x4: the file system could not be mounted again'
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
persisted='start'
one_left_out=''
torn='1 4 -1'
mkfs_words='mkfs.btrfs -q -f -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e {device}'
mkfs() { 'mkfs.btrfs' '-q' '-f' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' ''"$1"''; }
mkfs_good='0'
checks() {
  :
}

operations() {
  :
  step 0 'create a' create 'a'
  step 1 'write a 0 4096 1 1' write 'a' 0 4096 1
  step 2 'sync' sync
  mark 2
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
