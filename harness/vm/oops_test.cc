#include "harness/vm/oops.h"

#include <gtest/gtest.h>

namespace headcrash::vm {
namespace {

TEST(Oops, KnowsKernelDefects) {
  for (const char* line : {
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
    EXPECT_FALSE(find_complaint(line)) << line;
  }
}

TEST(Oops, KnowsComplaints) {
  for (const char* line : {
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
       }) {
    EXPECT_EQ(find_complaint(line), line);
    EXPECT_FALSE(find_oops(line)) << line;
  }
}

TEST(Oops, LeavesNormalProtestAlone) {
  const char* normal =
      "[    9.1] blk_update_request: I/O error, dev vda, sector 2048 op 0x1:(WRITE) flags 0x0\n"
      "[    9.1] Buffer I/O error on dev vda, logical block 4, lost sync page write\n"
      "[    9.1] EXT4-fs (vda): I/O error while writing superblock\n"
      "[    9.1] EXT4-fs (vda): Remounting filesystem read-only\n"
      "[    9.1] EXT4-fs (vda): recovery complete\n"
      "[    9.1] XFS (vda): log I/O error -5\n"
      "[    9.1] XFS (vda): Filesystem has been shut down due to log error (0x2).\n"
      "[    9.1] XFS (vda): Starting recovery (logdev: internal)\n"
      "[    9.1] e2fsck[77]: segfault at 0 ip 0 sp 0 error 4 in e2fsck\n";
  EXPECT_FALSE(find_oops(normal));
  EXPECT_FALSE(find_complaint(normal));
  EXPECT_FALSE(find_oops(""));
}

TEST(Oops, TellsTheFirstLine) {
  EXPECT_EQ(find_oops("Oops: 0 [#1]\nKernel panic - not syncing"), "Oops: 0 [#1]");
}

}  // namespace
}  // namespace headcrash::vm
