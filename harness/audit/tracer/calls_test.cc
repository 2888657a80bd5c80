#include "harness/audit/tracer/calls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <string>

namespace headcrash::audit {
namespace {

std::string kind(const SystemCall& call, std::uint64_t open_flags = 0) {
  const auto flush = flush_call(call, open_flags);
  return flush ? std::string(flush->kind) : "none";
}

TEST(FlushCalls, IncludeEveryCallThatMakesDataDurable) {
  EXPECT_EQ(kind({.number = SYS_fsync}), "fsync");
  EXPECT_EQ(kind({.number = SYS_fdatasync}), "fdatasync");
  EXPECT_EQ(kind({.number = SYS_sync_file_range}), "sync_file_range");
  EXPECT_EQ(kind({.number = SYS_syncfs}), "syncfs");
  EXPECT_EQ(kind({.number = SYS_sync}), "sync");
  EXPECT_EQ(kind({.number = SYS_msync, .arguments = {0, 0, MS_SYNC}}), "msync");
  EXPECT_EQ(kind({.number = SYS_msync, .arguments = {0, 0, MS_ASYNC}}), "none");
  EXPECT_EQ(kind({.number = SYS_open, .arguments = {0, O_WRONLY | O_DSYNC}}), "O_DSYNC");
  EXPECT_EQ(kind({.number = SYS_openat, .arguments = {0, 0, O_RDWR | O_SYNC}}), "O_SYNC");
  EXPECT_EQ(kind({.number = SYS_openat, .arguments = {0, 0, O_RDWR}}), "none");
  EXPECT_EQ(kind({.number = SYS_openat2}, O_SYNC), "O_SYNC");
  EXPECT_EQ(kind({.number = SYS_pwritev2, .arguments = {0, 0, 0, 0, 0, RWF_DSYNC}}), "RWF_DSYNC");
  EXPECT_EQ(kind({.number = SYS_pwritev2, .arguments = {0, 0, 0, 0, 0, RWF_SYNC}}), "RWF_SYNC");
  EXPECT_EQ(kind({.number = SYS_pwritev2}), "none");
  EXPECT_EQ(kind({.number = SYS_write}), "none");
}

TEST(FlushCalls, CannotBeSkippedInIoUringAioOrOpenat2) {
  EXPECT_FALSE(flush_call({.number = SYS_io_uring_enter})->can_skip);
  EXPECT_FALSE(flush_call({.number = SYS_io_submit})->can_skip);
  EXPECT_FALSE(flush_call({.number = SYS_openat2}, O_SYNC)->can_skip);
  EXPECT_TRUE(flush_call({.number = SYS_fsync})->can_skip);
}

TEST(FlushCalls, IdentifyTheArgumentWithTheSyncFlag) {
  const auto open = flush_call({.number = SYS_openat, .arguments = {0, 0, O_RDWR | O_DSYNC}});
  ASSERT_TRUE(open);
  EXPECT_EQ(open->flags_argument, 2U);
  EXPECT_EQ((O_RDWR | O_DSYNC) & ~open->flags, static_cast<std::uint64_t>(O_RDWR));
}

TEST(ChangeCalls, NameChangesRecordTheirPaths) {
  const auto rename = change_call({.number = SYS_renameat2});
  ASSERT_TRUE(rename);
  EXPECT_TRUE(rename->names && rename->moves);
  EXPECT_EQ(rename->path, 1U);
  EXPECT_EQ(rename->to_path, 3U);
  EXPECT_TRUE(change_call({.number = SYS_unlink})->removes);
  EXPECT_TRUE(change_call({.number = SYS_openat, .arguments = {0, 0, O_CREAT}})->only_creates);
  EXPECT_FALSE(change_call({.number = SYS_openat}));
}

TEST(ChangeCalls, DataChangesIncludeSharedWritableMappings) {
  EXPECT_FALSE(change_call({.number = SYS_write})->names);
  EXPECT_TRUE(change_call({.number = SYS_mmap, .arguments = {0, 0, PROT_WRITE, MAP_SHARED, 3}}));
  EXPECT_FALSE(change_call({.number = SYS_mmap, .arguments = {0, 0, PROT_WRITE, MAP_PRIVATE, 3}}));
  EXPECT_FALSE(change_call({.number = SYS_mmap, .arguments = {0, 0, PROT_READ, MAP_SHARED, 3}}));
}

}  // namespace
}  // namespace headcrash::audit
