#include "harness/workload/operation.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "harness/workload/small_files.h"

namespace headcrash::workload {
namespace {

TEST(Operation, ParsingInvertsFormatting) {
  for (const Operation& operation : small_files({.seed = 1})) {
    const Result<Operation> read = parse_operation(format(operation), "list:1");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, operation) << format(operation);
  }
}

const char* const kOneOfEach =
    "mkdir A\nrmdir A\ncreate A/foo\nunlink A/foo\nwrite foo 0 512 1 1\nwrite-sync foo 512 700 1 2\n"
    "write-dsync foo 0 1 1 3\nwrite-direct foo 4096 4096 1 4\nwrite-mapped foo 0 512 1 5\n"
    "append foo 8192 512 1 6\ntruncate foo 700\nallocate foo 0 4096\nallocate-keep foo 4096 4096\n"
    "punch foo 0 4096\nzero foo 0 4096\nzero-keep foo 8192 512\nlink foo bar\nsymlink ../foo A/s\n"
    "rename foo bar\nrename-noreplace foo bar\nrename-exchange foo bar\nrename-whiteout foo bar\nsetxattr . "
    "user.x one\n"
    "removexattr foo user.x\nfsync foo\nfdatasync foo\nfsyncdir .\nsync\nsyncfs\njoin\nopen foo %f\nclose "
    "%f\nchmod foo 640\nchown foo 7 65534\ntouch foo 1000000000\nrest 8\nbegin\ncommit\n"
    "collapse foo 4096 8192\ninsert foo 0 4096\nclone foo 4096 8192 bar 0\ndedupe foo 0 4096 bar 8192\n"
    "store foo 512 700 1 3\nmsync foo 512 1024\nsync-range foo 0 4096\ntmpfile %g\nmknod pipe fifo\nclose %g\nremount\nfreeze\nevict\n"
    "flags foo ACDSadisu\nproject foo 65534\nwrite-direct-dsync foo 4096 4096 1 6\nwrite-uring foo 0 4096 1 7\nwrite-atomic foo 0 4096 1 8\nremount-ro\naccess foo 1000000000\nsubvolume s\nsnapshot . t\nremove-subvolume t\ncrash panic\ncrash power\n";

TEST(Operation, EveryOperationIsParsedAndFormatted) {
  const Result<std::vector<Operation>> list =
      parse_operations(std::string("# a comment\n\n") + kOneOfEach, "all.txt");
  ASSERT_TRUE(list) << list.error().message();
  std::set<Operation::Kind> kinds;
  std::string text;
  for (const Operation& operation : *list) {
    kinds.insert(operation.kind);
    text += format(operation) + "\n";
  }
  EXPECT_EQ(kinds.size(), kOperationKinds);
  EXPECT_EQ(text, kOneOfEach);
  EXPECT_EQ((*list)[22].path, "");
  EXPECT_NE(parse_operations("sync\r\n\nfly a", "all.txt").error().message().find("all.txt:3"),
            std::string::npos);
}

TEST(Operation, AcceptsAnOpenFileInPlaceOfAPath) {
  for (const char* line :
       {"write %f 0 512 1 1", "write-mapped %f 0 512 1 1", "truncate %f 0", "allocate %f 0 512",
        "punch %f 0 512", "collapse %f 0 4096", "store %f 0 512 1 1", "msync %f 0 512", "link %f a",
        "sync-range %f 0 512", "fsync %f", "fsyncdir %f", "@3 fdatasync %f"})
    EXPECT_EQ(format(parse_operation(line, "list:7").value()), line);
  EXPECT_EQ(parse_operation("symlink %x s", "list:7").value().target, "%x")
      << "a target may be any text";
  for (const char* line : {"unlink %f",
                           "rename a %f",
                           "link a %f",
                           "tmpfile f",
                           "tmpfile %",
                           "mknod p",
                           "mknod p socket",
                           "create %f",
                           "open %f %g",
                           "open a f",
                           "close a",
                           "write-sync %f 0 512 1 1",
                           "append %f 0 512 1 1",
                           "setxattr %f a b",
                           "clone %f 0 4096 b 0",
                           "clone a 0 4096 %f 0",
                           "open a %",
                           "chmod %f 600",
                           "chmod a 1777",
                           "chmod a 8",
                           "chmod . 700",
                           "chown a 65535 0",
                           "touch a 1000000001",
                           "touch a 7",
                           "access a 1000000001",
                           "access %f 1000000000",
                           "flags a x",
                           "flags . d",
                           "flags %f d",
                           "project a 65535",
                           "write-uring a 0 700 1 1",
                           "write-uring %f 0 512 1 1",
                           "write-direct a 100 512 1 1",
                           "msync a 100 512",
                           "sync-range a 0 100",
                           "collapse a 100 4096",
                           "rest 0",
                           "rest -1",
                           "rest 3601",
                           "rest"}) {
    const auto read = parse_operation(line, "list:7");
    ASSERT_FALSE(read) << line;
    EXPECT_NE(read.error().message().find("list:7"), std::string::npos);
  }
}

TEST(Operation, AllocatedAndZeroedRangesNeedNoAlignment) {
  for (const char* line : {"write a 100 512 1 1", "store a 79837 56425 1 2", "append a 7 1 1 3",
                           "allocate a 40 40", "allocate-keep a 1 1", "punch a 700 1",
                           "zero a 0 511", "zero-keep a 513 4096", "flags a -"})
    EXPECT_EQ(format(parse_operation(line, "list:7").value()), line);
  EXPECT_EQ(format(parse_operation("flags a dA", "list:7").value()), "flags a Ad");
}

TEST(Operation, ARemountNeedsAnIdleFileSystem) {
  const auto problem = [](const char* text) {
    const auto list = parse_operations(text, "list.txt");
    return list ? std::string() : list.error().message();
  };
  EXPECT_EQ(problem("create a\nopen a %f\nclose %f\nremount\nfsync a\n"), "");
  EXPECT_NE(problem("create a\nopen a %f\nremount\n").find("%f is still open"), std::string::npos);
  EXPECT_NE(problem("tmpfile %f\nremount\n").find("operation 1"), std::string::npos);
  EXPECT_NE(problem("open a %f\nremount-ro\n").find("%f is still open"), std::string::npos);
  EXPECT_NE(problem("@1 create a\njoin\nremount\n").find("a single thread"), std::string::npos);
  EXPECT_NE(problem("open a %f\ncrash power\n").find("%f is still open before a crash"),
            std::string::npos);
  EXPECT_NE(
      problem("@1 create a\njoin\ncrash panic\n").find("with a crash must have a single thread"),
      std::string::npos);
  EXPECT_NE(problem("crash\n").find("takes 1 arguments, not 0"), std::string::npos);
  EXPECT_NE(problem("crash now\n").find("unknown kind of crash \"now\""), std::string::npos);
}

TEST(Operation, ParsesAThreadPrefix) {
  const auto list =
      parse_operations("create a\n@0 fsync a\n@7 rename b c\njoin\n", "threads.txt").value();
  EXPECT_EQ(list[1].thread, 0);
  EXPECT_EQ(format(list[1]), "fsync a");
  EXPECT_EQ(list[2].thread, 7);
  EXPECT_EQ(format(list[2]), "@7 rename b c");
  EXPECT_EQ(threads_of(list), 8U);
  EXPECT_EQ(threads_of({}), 1U);
  for (const char* line :
       {"@8 sync", "@ sync", "@-1 sync", "@1x sync", "@1", "@1 join", "@1 @2 sync"}) {
    const auto read = parse_operation(line, "list:7");
    ASSERT_FALSE(read) << line;
    EXPECT_NE(read.error().message().find("list:7"), std::string::npos);
  }
}

TEST(Operation, UnsupportedOperationsAreSkipped) {
  const auto outcome = [](const char* line, int error, bool before = false) {
    return outcome_of(parse_operation(line, "test").value(),
                      {.error = error, .skipped_before = before});
  };
  EXPECT_EQ(outcome("punch a 0 512", EOPNOTSUPP), Outcome::skipped);
  EXPECT_EQ(outcome("clone a 0 4096 b 0", EOPNOTSUPP), Outcome::skipped);
  EXPECT_EQ(outcome("collapse a 0 4096", EINVAL), Outcome::skipped) << "the block size is larger";
  EXPECT_EQ(outcome("rename-exchange a b", EINVAL), Outcome::skipped);
  EXPECT_EQ(outcome("rename a b", EINVAL), Outcome::failed);
  EXPECT_EQ(outcome("link a b", EPERM), Outcome::skipped);
  EXPECT_EQ(outcome("unlink b", ENOENT), Outcome::failed);
  EXPECT_EQ(outcome("unlink b", ENOENT, true), Outcome::skipped);
  EXPECT_EQ(outcome("write a 0 512 1 1", ENOSPC), Outcome::partial);
  EXPECT_EQ(outcome("fsync a", EIO, true), Outcome::failed);
}

TEST(Operation, ErrorsNameFileAndLine) {
  for (const char* line : {"punch a 1 0",
                           "punch a 1073741824 1",
                           "collapse a 512 4096",
                           "insert a 0 512",
                           "clone a 0 4096 b 512",
                           "clone a 512 4096 b 0",
                           "clone a 0 4096 b 1073741824",
                           "clone a 0 0 b 0",
                           "dedupe a 0 4096 b",
                           "msync a 0 100",
                           "write-direct a 0 100 1 1",
                           "truncate a 1073741825",
                           "mkdir .",
                           "subvolume .",
                           "remove-subvolume .",
                           "snapshot . %f",
                           "write a 1073741312 1024 1 1",
                           "setxattr a user.x",
                           "",
                           "fly a",
                           "write a 0 512 1",
                           "write-direct a 1 512 1 1",
                           "write a 0 0 1 1",
                           "write a 0 99999999999 1 1",
                           "write a x 512 1 1",
                           "rename a",
                           "sync now",
                           "write a 18446744073709551104 512 1 1"}) {
    const Result<Operation> read = parse_operation(line, "list:7");
    ASSERT_FALSE(read) << line;
    EXPECT_NE(read.error().message().find("list:7"), std::string::npos);
  }
}

TEST(SmallFiles, EqualSeedsGiveEqualLists) {
  EXPECT_EQ(small_files({.seed = 5}), small_files({.seed = 5}));
  EXPECT_NE(small_files({.seed = 5}), small_files({.seed = 6}));
}

TEST(SmallFiles, IncludesEveryOperationOfItsDescription) {
  std::set<Operation::Kind> kinds;
  std::set<std::string> written;
  bool overwrites = false, replaces = false;
  for (const Operation& operation : small_files({.seed = 3})) {
    kinds.insert(operation.kind);
    if (operation.kind == Operation::Kind::write)
      overwrites |= !written.insert(operation.path).second;
    if (operation.kind == Operation::Kind::rename) replaces |= written.contains(operation.target);
  }
  EXPECT_EQ(kinds.size(), 8u);
  EXPECT_TRUE(overwrites);
  EXPECT_TRUE(replaces);
}

}  // namespace
}  // namespace headcrash::workload
