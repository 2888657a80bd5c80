#!/bin/sh
# ext4: repaired-by-fsck
# ======================
# fsck repaired damage that the replay had left; all synced data is there
#
# file system  ext4, defaults (data=ordered)
# made by      mkfs.ext4 -q -F -U {uuid} -E hash_seed={uuid},lazy_itable_init=0,lazy_journal_init=0 {device}
# crash state  w2~1:0x3 of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    create foo
#      1 P  sync
#           == power cut
#
# Power cut and lost writes
# -------------------------
#   After event 2 of the recording, 29.290 ms after its start.
#   unflushed writes 1; lost or torn 1
#
#    request         LBA  sectors     submitted  acknowledged
#          1           0        8     24.586 ms     29.290 ms
#            superblock (torn: only sectors 0 to 2 are on the medium)
#
# Expected and found
# ------------------
#   fsck repaired damage that the replay had left; all synced data is there
#
# Recovery
# --------
#   guest$ e2fsck -y -E journal_only /dev/vda
#   ext2fs_open2: Superblock checksum does not match superblock
#   e2fsck: Superblock invalid, trying backup blocks...
#   e2fsck 1.47.0 (5-Feb-2023)
#   exit 0
#   guest$ e2fsck -fn /dev/vda
#   17942 -17946 -17948 -17952 -17958 -(17961--17962) -17964 -(17968--17970) -(17973--17974) -17979 -17985 -17990 -17993 -17995 -(17998--17999) -(18001--18002) -18004 -(18006--18007) -(18009--18010) -18013 -(18015--18018) -(18021--18022) -(18024--18025) -(18029--18030) -(18032--18033) -(18036--18037) -(18044--18045) -(18047--18048) -18050 -(18052--18053) -18056 -18058 -(18063--18064) -(18066--18070) - ... (64225 bytes more)
#   Fix? no
#
#   Free inodes count wrong for group #1 (8192, counted=4226).
#   Fix? no
#
#   Free inodes count wrong for group #2 (8192, counted=4265).
#   Fix? no
#
#   Free inodes count wrong for group #3 (8192, counted=4272).
#   Fix? no
#
#   Free inodes count wrong for group #4 (8192, counted=4246).
#   Fix? no
#
#   Free inodes count wrong (40949, counted=25190).
#   Fix? no
#
#   Padding at end of inode bitmap is not set. Fix? no
#
#   Inode bitmap differences: Group 1 inode bitmap does not match checksum.
#   IGNORED.
#   Group 2 inode bitmap does not match checksum.
#   IGNORED.
#   Group 3 inode bitmap does not match checksum.
#   IGNORED.
#   Group 4 inode bitmap does not match checksum.
#   IGNORED.
#   Block bitmap differences: Group 1 block bitmap does not mat

title='ext4, defaults (data=ordered), crash state w2~1:0x3: fsck repaired damage that the replay had left; all synced data is there'
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
size='671088640'
persisted='mkfs'
one_left_out=''
torn='1 3 -1'
mkfs_words='mkfs.ext4 -q -F -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e -E hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0 {device}'
mkfs() { 'mkfs.ext4' '-q' '-F' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' '-E' 'hash_seed=2245bd5f-bb68-4f68-a2eb-92502318fa4e,lazy_itable_init=0,lazy_journal_init=0' ''"$1"''; }
mkfs_good='0'
checks() {
  :
}

operations() {
  :
  step 0 'create foo' create 'foo'
  step 1 'sync' sync
  mark 1
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
