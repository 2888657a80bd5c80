#!/bin/sh
# reiserfs: lost-synced-data (documented)
# =======================================
# objects with lost-synced-data: 1, although fsck reported no errors; first: a: expected the name to
# be there, found no such name
#
# file system  ReiserFS, defaults (data=ordered)
# made by      mkreiserfs -q -f -f -u {uuid} {device}
# crash state  w8- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create a
#      1 P* fsync a
#           -- the power may have been cut at any later point
#      2    create b
#      3 P  fsync b
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 8 of the recording, 3933.450 ms after its start, 0.000 ms after the mark "persisted 1".
#   unflushed writes 0; lost or torn 0
#
# Expected and found
# ------------------
#   a    lost-synced-data, tier documented
#     expected  the name to be there
#     found     no such name
#
# Recovery
# --------
#   (29 lines before)
#   	Data block pointers 0 (0 of them are zero)
#   	Safe links 0
#   ###########
#   reiserfsck finished at Fri Nov 27 04:05:49 2026
#   ###########
#   exit 0
#   guest: mount
#   REISERFS warning:  read_super_block: reiserfs filesystem is deprecated and scheduled to be removed from the kernel in 2025
#   REISERFS (device vda): found reiserfs format "3.6" with standard journal
#   REISERFS (device vda): using ordered data mode
#   reiserfs: using flush barriers
#   REISERFS (device vda): journal params: device vda, size 8192, journal first block 18, max trans len 1024, max batch 900, max commit age 30, max trans age 30
#   REISERFS (device vda): checking transaction log (vda)
#   REISERFS (device vda): Using r5 hash to sort names
#   guest$ reiserfsck -y -f -q --check /dev/vda
#   reiserfsck 3.6.27
#
#   Will read-only check consistency of the filesystem on /dev/vda
#   Will put log info to 'stdout'
#   ###########
#   reiserfsck --check started at Fri Nov 27 04:05:49 2026
#   ###########
#   Replaying journal: 
Replaying journal: Done.
#   Reiserfs journal '/dev/vda' in blocks [18..8211]: 0 transactions replayed
#   Checking internal tree..  \finished
#   Comparing bitmaps..finished
#   Checking Semantic tree:
#   finished
#   No corruptions found
#   There are on the filesystem:
#   	Leaves 1
#   	Internal nodes 0
#   	Directories 2
#   	Other files 0
#   	Data block pointers 0 (0 of them are zero)
#   	Safe links 0
#   ###########
#   reiserfsck finished at Fri Nov 27 04:05:50 2026
#   ###########
#   exit 0

title='ReiserFS, defaults (data=ordered), crash state w8-: objects with lost-synced-data: 1, although fsck reported no errors; first: a: expected the name to be there, found no such name'
fstype='reiserfs'
mount_options=''
replay_by_mount='yes'
kernel_recovers=''
fsck_may_repair=''
replay_words='mount and unmount'
check_words='reiserfsck -y -f -q --check {device}'
replay() { true; }
replay_good='0'
check() { 'reiserfsck' '-y' '-f' '-q' '--check' ''"$1"''; }
check_good='0'
repair() { 'reiserfsck' '-y' '-q' '--fix-fixable' ''"$1"''; }
repair_good='0 1'
size='335544320'
persisted='1'
one_left_out=''
torn=''
mkfs_words='mkreiserfs -q -f -f -u 2245bd5f-bb68-4f68-a2eb-92502318fa4e {device}'
mkfs() { 'mkreiserfs' '-q' '-f' '-f' '-u' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_name 'a'
}

operations() {
  :
  step 0 'create a' create 'a'
  step 1 'fsync a' io -c fsync 'a'
  mark 1
  step 2 'create b' create 'b'
  step 3 'fsync b' io -c fsync 'b'
  mark 3
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
