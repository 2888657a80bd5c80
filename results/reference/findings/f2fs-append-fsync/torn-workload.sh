#!/bin/sh
# f2fs@6.1: not-repairable
# ========================
# the check found damage that was not repaired
#
# file system  F2FS, fsync_mode=posix (the default), Linux 6.1
# made by      mkfs.f2fs -q -f -r -T 0 -U {uuid} {device}
# crash state  w25~11:4x4 of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create foo
#      1    write foo 0 32768 1 1
#      2 P* sync
#           -- the power may have been cut at any later point
#      3    write foo 32768 8192 1 2
#      4 P  fsync foo
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 25 of the recording, 91.372 ms after its start, 5.433 ms after the mark "persisted 2".
#   unflushed writes 2; lost or torn 1
#
#    request         LBA  sectors     submitted  acknowledged
#         11       36872        8     90.960 ms     90.968 ms
#            metadata or data of no known kind (torn: only sectors 4 to 7 are on the medium)
#            submitted after the mark "persisted 2"
#
# Expected and found
# ------------------
#   foo    lost-synced-data, tier documented (file 1)
#     expected  the name to be there
#     found     no such name
#
# Recovery
# --------
#   (69 lines before)
#   [FSCK] fixing SIT types
#   [FSCK] other corrupted bugs                           [Fail]
#
#   Do you want to restore lost files into ./lost_found/? [Y/N] [ASSERT] (fsck_verify:3330) res >= 0
#   exit 255
#   guest: mount
#   F2FS-fs (vda): Mounted with checkpoint version = 6b8b456c
#   F2FS-fs (vda): Mounted with checkpoint version = 6b8b456e
#   guest$ fsck.f2fs -f --dry-run /dev/vda
#   Info: Force to fix corruption
#   Info: Dry run
#   Info: MKFS version
#     "Linux version 6.1.0-56-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)"
#   Info: FSCK version
#     from "Linux version 6.1.0-56-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)"
#       to "Linux version 6.1.0-56-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)"
#   Info: superblock features = 0 : 
#   Info: superblock encrypt level = 0, salt = 00000000000000000000000000000000
#   Info: Segments per section = 1
#   Info: Sections per zone = 1
#   Info: total FS sectors = 131072 (64 MB)
#   Info: CKPT version = 6b8b4570
#   Info: checkpoint state = 45 :  crc compacted_summary unmount
#
#   NID[0x4] is unreachable, blkaddr:0x1201
#   [FSCK] Max image size: 22 MB, Free space: 15 MB
#   [FSCK] Unreachable nat entries                        [Fail] [0x1]
#   [FSCK] SIT valid block bitmap checking                [Fail]
#   [FSCK] Hard link checking for regular file            [Ok..] [0x0]
#   [FSCK] valid_block_count matching with CP             [Fail] [0x2]
#   [FSCK] valid_node_count matching with CP (de lookup)  [Fail] [0x1]
#   [FSCK] valid_node_count matching with CP (nat lookup) [Ok..] [0x2]
#   [FSCK] valid_inode_count matched with CP              [Fail] [0x1]
#   [FSCK] free segment_count matched with CP             [Ok..] [0x11]
#   [FSCK] next block offset is free                      [Ok..]
#   [FSCK] fixing SIT types
#   [FSCK] other corrupted bugs                           [Ok..]
#
#   Do you want to restore lost files into ./lost_found/? [Y/N] [ASSERT] (fsck_verify:3330) res >= 0
#   exit 255

title='F2FS, fsync_mode=posix (the default), Linux 6.1, crash state w25~11:4x4: the check found damage that was not repaired'
fstype='f2fs'
mount_options=''
replay_by_mount='yes'
kernel_recovers=''
fsck_may_repair=''
replay_words='mount and unmount'
check_words='fsck.f2fs -f --dry-run {device}'
replay() { true; }
replay_good='0'
check() { 'fsck.f2fs' '-f' '--dry-run' ''"$1"''; }
check_good='0'
repair() { 'fsck.f2fs' '-f' '-y' ''"$1"''; }
repair_good='0'
size='67108864'
persisted='2'
one_left_out=''
torn='1 -1'
mkfs_words='mkfs.f2fs -q -f -r -T 0 -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e {device}'
mkfs() { 'mkfs.f2fs' '-q' '-f' '-r' '-T' '0' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_name 'foo'
}

operations() {
  :
  step 0 'create foo' create 'foo'
  step 1 'write foo 0 32768 1 1' write 'foo' 0 32768 1
  step 2 'sync' sync
  mark 2
  step 3 'write foo 32768 8192 1 2' write 'foo' 32768 8192 2
  step 4 'fsync foo' io -c fsync 'foo'
  mark 4
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
