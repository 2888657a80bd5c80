#include "harness/vm/oops.h"

#include <gtest/gtest.h>

namespace headcrash::vm {
namespace {

TEST(Oops, FindsKernelDefects) {
  for (
      const char* line : {
          "[    9.1] BUG: kernel NULL pointer dereference, address: 0000000000000008",
          "[    9.1] kernel BUG at fs/ext4/inode.c:2721!",
          "[    9.1] invalid opcode: 0000 [#1] PREEMPT SMP NOPTI",
          "[    9.1] Oops: 0002 [#1] PREEMPT SMP NOPTI",
          "[    9.1] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b",
          "[    9.1] general protection fault, probably for non-canonical address 0xdead: 0000 [#1] SMP",
          "[   99.1] INFO: task jbd2/vda-8:123 blocked for more than 120 seconds.",
          "[   99.1] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [mount:140]",
          "[   99.1] watchdog: Watchdog detected hard LOCKUP on cpu 0",
          "[   99.1] rcu: INFO: rcu_preempt self-detected stall on CPU",
          "[    9.1] WARNING: CPU: 0 PID: 88 at fs/btrfs/inode.c:3061 btrfs_free+0x1/0x2 [btrfs]",
          "[    9.1] XFS: Assertion failed: 0, file: fs/xfs/xfs_log.c, line: 1",
          "[    9.1] BUG: Bad page state in process cat  pfn:00001",
      }) {
    EXPECT_EQ(find_oops(std::string("[ 1.0] fine\r\n") + line + "\r\nmore\n"), line);
    EXPECT_FALSE(find_damage_message(line)) << line;
  }
}

TEST(Oops, FindsDamageMessages) {
  for (
      const char* line : {
          "[    9.1] EXT4-fs error (device vda): ext4_lookup:1855: inode #2: comm ls: deleted inode "
          "referenced: 12",
          "[    9.1] XFS (vda): Metadata CRC error detected at xfs_agf_read_verify+0x1/0x2 [xfs], xfs_agf "
          "block 0x1",
          "[    9.1] XFS (vda): Corruption of in-memory data (0x8) detected at xfs_trans_cancel+0x1 "
          "(fs/xfs/x.c:1)",
          "[    9.1] XFS (vda): log mount/recovery failed: error -117",
          "[    9.1] BTRFS critical (device vda): corrupt leaf: root=1 block=1 slot=1, invalid key",
          "[    9.1] F2FS-fs (vda): inconsistent node block, nid:3",
          "[    9.1] JBD2: recovery failed",
          // Messages observed on damaged disks under Linux 6.1.
          "[    9.375864] BTRFS warning (device vda): checksum verify failed on logical 30654464 mirror 1 "
          "wanted 0x7b4df90c found 0x842db4f3 level 0",
          "[    9.386425] BTRFS error (device vda): open_ctree failed: -22",
          "[    9.363061] F2FS-fs (vdb): access invalid blkaddr:3454814695",
          "[    9.781273] F2FS-fs (vdb): invalid journal entries nats 17297 sits 43744",
          "[    9.781624] F2FS-fs (vdb): Failed to initialize F2FS segment manager (-22)",
          "[    9.375075] F2FS-fs (vdb): Failed to read root inode",
          "[   10.202679] NILFS (vdc): unable to fall back to spare super block",
          "[   10.202900] NILFS (vdc): error -22 while searching super root",
          "[   10.684080] REISERFS warning (device vde): sh-2022 reiserfs_fill_super: unable to initialize "
          "journal space",
          "[   11.180124] Bad inode number on dev vdf: 2213867530 is out of range",
      }) {
    EXPECT_EQ(find_damage_message(line), line);
    EXPECT_FALSE(find_oops(line)) << line;
  }
}

TEST(Oops, IgnoresExpectedErrors) {
  const char* normal =
      "[    9.1] blk_update_request: I/O error, dev vda, sector 2048 op 0x1:(WRITE) flags 0x0\n"
      "[    9.1] Buffer I/O error on dev vda, logical block 4, lost sync page write\n"
      "[    9.1] EXT4-fs (vda): I/O error while writing superblock\n"
      "[    9.1] EXT4-fs (vda): Remounting filesystem read-only\n"
      "[    9.1] EXT4-fs (vda): recovery complete\n"
      "[    9.1] XFS (vda): log I/O error -5\n"
      "[    9.1] XFS (vda): Filesystem has been shut down due to log error (0x2).\n"
      "[    9.1] XFS (vda): Starting recovery (logdev: internal)\n"
      // Harmless: a checkpoint pack or a superblock is torn, but its copy is intact.
      "[    9.770938] F2FS-fs (vdb): invalid crc value\n"
      "[    9.323744] F2FS-fs (vdb): invalid crc_offset: 584320358\n"
      "[   24.807222] F2FS-fs (vdc): Disable nat_bits due to incorrect cp_ver (1647444242736039275, 5485)\n"
      "[   24.821741] F2FS-fs (vdc): Mounted with checkpoint version = 6b8b456b\n"
      "[   10.153243] NILFS (vdc): broken superblock, retrying with spare superblock (blocksize = 1024)\n"
      "[   10.680420] REISERFS warning:  read_super_block: reiserfs filesystem is deprecated and scheduled "
      "to "
      "be removed from the kernel in 2025\n"
      "[   10.681337] reiserfs: using flush barriers\n"
      "[   11.819073] BTRFS info (device vdc): start tree-log replay\n"
      "[   11.819073] BTRFS error (device vda): bdev /dev/vda errs: wr 1, rd 0, flush 0, corrupt 0, gen 0\n"
      "[    1.2] XFS (vda): Metadata CRC error detected at a+0xf0/0x130, xfs_dquot block 0x78 a\n"
      "[    9.1] e2fsck[77]: segfault at 0 ip 0 sp 0 error 4 in e2fsck\n";
  EXPECT_FALSE(find_oops(normal));
  EXPECT_FALSE(find_damage_message(normal));
  EXPECT_FALSE(find_oops(""));
}

TEST(Oops, ReturnsTheFirstLine) {
  EXPECT_EQ(find_oops("Oops: 0 [#1]\nKernel panic - not syncing"), "Oops: 0 [#1]");
}

}  // namespace
}  // namespace headcrash::vm
