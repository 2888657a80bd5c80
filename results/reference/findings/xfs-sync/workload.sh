#!/bin/sh
# xfs: lost-synced-data (documented)
# ==================================
# objects with lost-synced-data: 1, although fsck reported no errors; first: f: expected version 2 or
# newer in block 0, found version 1 of file 1 (16 blocks of 512 bytes)
#
# file system  XFS, defaults
# made by      mkfs.xfs -q -f -m uuid={uuid} {device}
# crash state  w24- of smaller-a76bc47ffd19f846-15.hcrec
# - Lost or torn writes minimised from 1 to 1 (minimal; states checked: 1).
# - Reproduced on a fresh guest, with the complete recovery in the guest.
# - Operations minimised from 13 to 8 (the time limit was reached; workloads recorded: 21).
# - Lost or torn writes minimised from 1 to 1 (the time limit was reached; states checked: 0).
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create f
#      1    create g
#      2    write f 0 8192 1 1
#      3 P  sync
#      4    write f 0 8192 1 2
#      5    write g 0 8192 2 3
#      6 P  fsync g
#      7 P* sync
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 24 of the recording, 603.521 ms after its start, 0.000 ms after the mark "persisted 7".
#   unflushed writes 1; lost or torn 1
#
#    request         LBA  sectors     submitted  acknowledged
#         10          80       16    595.942 ms    596.137 ms
#            file 1: version 2, blocks 0 to 15
#            submitted after the mark "persisted 6"
#
# Expected and found
# ------------------
#   f    lost-synced-data, tier documented (file 1)
#     expected  version 2 or newer in block 0
#     found     version 1 of file 1 (16 blocks of 512 bytes)
#
# Recovery
# --------
#   (27 lines before)
#   Phase 6 - check inode connectivity...
#           - traversing filesystem ...
#           - traversal finished ...
#           - moving disconnected inodes to lost+found ...
#   Phase 7 - verify link counts...
#   No modify flag set, skipping filesystem flush and exiting.
#   exit 0
#   guest: mount
#   XFS (vda): Mounting V5 Filesystem
#   XFS (vda): Ending clean mount
#   XFS (vda): Unmounting Filesystem
#   guest$ xfs_repair -n /dev/vda
#   No modify flag set, skipping phase 5
#   Phase 1 - find and verify superblock...
#   Phase 2 - using internal log
#           - zero log...
#           - scan filesystem freespace and inode maps...
#           - found root inode chunk
#   Phase 3 - for each AG...
#           - scan (but don't clear) agi unlinked lists...
#           - process known inodes and perform inode discovery...
#           - agno = 0
#           - agno = 1
#           - agno = 2
#           - agno = 3
#           - process newly discovered inodes...
#   Phase 4 - check for duplicate blocks...
#           - setting up duplicate extent list...
#           - check for inodes claiming duplicate blocks...
#           - agno = 0
#           - agno = 1
#           - agno = 2
#           - agno = 3
#   Phase 6 - check inode connectivity...
#           - traversing filesystem ...
#           - traversal finished ...
#           - moving disconnected inodes to lost+found ...
#   Phase 7 - verify link counts...
#   No modify flag set, skipping filesystem flush and exiting.
#   exit 0
#
# To reproduce
# ------------
#   headcrash replay xfs/stage/xfs-sync --state w36-
#   headcrash replay f.artefacts/run-1/xfs.stage.xfs-sync/smaller-a76bc47ffd19f846-15.hcrec --fs xfs --state w24-

title='XFS, defaults, crash state w36-: objects with lost-synced-data: 1, although fsck reported no errors; first: f: expected version 5 or newer in block 0, found version 3 of file 1 (16 blocks of 512 bytes)'
fstype='xfs'
mount_options=''
replay_by_mount='yes'
kernel_recovers=''
fsck_may_repair=''
replay_words='mount and unmount'
check_words='xfs_repair -n {device}'
replay() { true; }
replay_good='0'
check() { 'xfs_repair' '-n' ''"$1"''; }
check_good='0'
repair() { 'xfs_repair' ''"$1"''; }
repair_good='0'
size='335544320'
persisted='12'
one_left_out=''
torn=''
mkfs_words='mkfs.xfs -q -f -m uuid=2245bd5f-bb68-4f68-a2eb-92502318fa4e {device}'
mkfs() { 'mkfs.xfs' '-q' '-f' '-m' 'uuid=2245bd5f-bb68-4f68-a2eb-92502318fa4e' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_block 'f' 0 'version 5 or newer' 2342327677
}

operations() {
  :
  step 0 'create f' create 'f'
  step 1 'create g' create 'g'
  step 2 'write f 0 8192 1 1' write 'f' 0 8192 1
  step 3 'write g 0 8192 2 2' write 'g' 0 8192 2
  step 4 'sync' sync
  mark 4
  step 5 'write f 0 8192 1 3' write 'f' 0 8192 3
  step 6 'write g 0 8192 2 4' write 'g' 0 8192 4
  step 7 'fsync g' io -c fsync 'g'
  mark 7
  step 8 'sync' sync
  mark 8
  step 9 'write f 0 8192 1 5' write 'f' 0 8192 5
  step 10 'write g 0 8192 2 6' write 'g' 0 8192 6
  step 11 'fsync g' io -c fsync 'g'
  mark 11
  step 12 'sync' sync
  mark 12
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
