#!/bin/sh
# f2fs@6.1: lost-synced-data (posix)
# ==================================
# objects with lost-synced-data: 1, although fsck reported no errors; first: foo: expected version 1
# of block 24 of file 1 or newer in block 8, found version 1 of file 1 (40 blocks of 512 bytes)
#
# file system  F2FS, fsync_mode=posix (the default), Linux 6.1
# made by      mkfs.f2fs -q -f -r -T 0 -U {uuid} {device}
# crash state  w26- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create foo
#      1    write foo 0 32768 1 1
#      2 P  sync
#      3    collapse foo 4096 8192
#      4 P* fsync foo
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 26 of the recording, 127.528 ms after its start, 0.000 ms after the mark "persisted 4".
#   unflushed writes 1; lost or torn 1
#
#    request         LBA  sectors     submitted  acknowledged
#         11       36872        8    122.711 ms         never
#            metadata or data of no known kind
#            submitted after the mark "persisted 2"
#
# Expected and found
# ------------------
#   foo    wrong-data, tier integrity (file 1)
#     expected  24576 bytes
#     found     32768 bytes
#   foo    stale-data, tier posix (file 1)
#     expected  zeroes in block 48
#     found     version 1 of file 1 (16 blocks of 512 bytes)
#   foo    lost-synced-data, tier posix (file 1)
#     expected  version 1 of block 24 of file 1 or newer in block 8
#     found     version 1 of file 1 (40 blocks of 512 bytes)
#
# Recovery
# --------
#   (27 lines before)
#   [FSCK] free segment_count matched with CP             [Ok..] [0x12]
#   [FSCK] next block offset is free                      [Ok..]
#   [FSCK] fixing SIT types
#   [FSCK] other corrupted bugs                           [Ok..]
#
#   Done: 0.000000 secs
#   exit 0
#   guest: mount
#   F2FS-fs (vda): Mounted with checkpoint version = 6b8b456b
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
#   Info: CKPT version = 6b8b456d
#   Info: checkpoint state = 45 :  crc compacted_summary unmount
#
#   [FSCK] Max image size: 22 MB, Free space: 15 MB
#   [FSCK] Unreachable nat entries                        [Ok..] [0x0]
#   [FSCK] SIT valid block bitmap checking                [Ok..]
#   [FSCK] Hard link checking for regular file            [Ok..] [0x0]
#   [FSCK] valid_block_count matching with CP             [Ok..] [0xb]
#   [FSCK] valid_node_count matching with CP (de lookup)  [Ok..] [0x2]
#   [FSCK] valid_node_count matching with CP (nat lookup) [Ok..] [0x2]
#   [FSCK] valid_inode_count matched with CP              [Ok..] [0x2]
#   [FSCK] free segment_count matched with CP             [Ok..] [0x12]
#   [FSCK] next block offset is free                      [Ok..]
#   [FSCK] fixing SIT types
#   [FSCK] other corrupted bugs                           [Ok..]
#
#   Done: 0.000000 secs
#   exit 0

title='F2FS, fsync_mode=posix (the default), Linux 6.1, crash state w26-: objects with lost-synced-data: 1, although fsck reported no errors; first: foo: expected version 1 of block 24 of file 1 or newer in block 8, found version 1 of file 1 (40 blocks of 512 bytes)'
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
persisted='4'
one_left_out=''
torn=''
mkfs_words='mkfs.f2fs -q -f -r -T 0 -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e {device}'
mkfs() { 'mkfs.f2fs' '-q' '-f' '-r' '-T' '0' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_size 'foo' 24576 24576
}

operations() {
  :
  step 0 'create foo' create 'foo'
  step 1 'write foo 0 32768 1 1' write 'foo' 0 32768 1
  step 2 'sync' sync
  mark 2
  step 3 'collapse foo 4096 8192' io -c 'fcollapse 4096 8192' 'foo'
  step 4 'fsync foo' io -c fsync 'foo'
  mark 4
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
