#!/bin/sh
# exfat@7.3: lost-synced-data (documented)
# ========================================
# f: expected the name to be there, found no such name; fsck reported no errors
#
# file system  exFAT, Linux 7.3
# made by      mkfs.exfat {device}
# crash state  w14- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create f
#      1    write f 0 8192 1 1
#      2 P* sync
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 14 of the recording, 22.783 ms after its start, 0.000 ms after the mark "persisted 2".
#   unflushed writes 3; lost or torn 3
#
#    request         LBA  sectors     submitted  acknowledged
#          4        4120        1     11.662 ms     18.192 ms
#            metadata or data of unknown kind
#            submitted after the mark "phase workload"
#            operation 2 (sync) returned without a flush of this write
#          5        4128       16     11.662 ms     13.633 ms
#            file 1: version 1, blocks 0 to 15
#            submitted after the mark "phase workload"
#            operation 2 (sync) returned without a flush of this write
#          6        4096        1     18.192 ms     22.783 ms
#            metadata or data of unknown kind
#            submitted after the mark "phase workload"
#            operation 2 (sync) returned without a flush of this write
#
# Expected and found
# ------------------
#   f    lost-synced-data, tier documented (file 1)
#     expected  the name to be there
#     found     no such name
#
# Recovery
# --------
#   guest$ fsck.exfat -p /dev/vda
#   exfatprogs version : 1.2.0
#   /dev/vda: clean. directories 1, files 0
#   exit 0
#   guest$ fsck.exfat -n /dev/vda
#   exfatprogs version : 1.2.0
#   /dev/vda: clean. directories 1, files 0
#   exit 0
#   guest: mount
#   guest$ fsck.exfat -p /dev/vda
#   exfatprogs version : 1.2.0
#   /dev/vda: clean. directories 1, files 0
#   exit 0
#   guest$ fsck.exfat -n /dev/vda
#   exfatprogs version : 1.2.0
#   /dev/vda: clean. directories 1, files 0
#   exit 0

title='exFAT, Linux 7.3, crash state w14-: f: expected the name to be there, found no such name; fsck reported no errors'
fstype='exfat'
mount_options=''
replay_by_mount=''
kernel_recovers=''
fsck_may_repair='yes'
replay_words='fsck.exfat -p {device}'
check_words='fsck.exfat -n {device}'
replay() { 'fsck.exfat' '-p' ''"$1"''; }
replay_good='0 1'
check() { 'fsck.exfat' '-n' ''"$1"''; }
check_good='0'
repair() { 'fsck.exfat' '-y' ''"$1"''; }
repair_good='0 1'
size='67108864'
persisted='2'
one_left_out=''
torn=''
mkfs_words='mkfs.exfat {device}'
mkfs() { 'mkfs.exfat' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_name 'f'
}

operations() {
  :
  step 0 'create f' create 'f'
  step 1 'write f 0 8192 1 1' write 'f' 0 8192 1
  step 2 'sync' sync
  mark 2
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
