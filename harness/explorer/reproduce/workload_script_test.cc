#include "harness/explorer/reproduce/workload_script.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "harness/explorer/reproduce/plain_checks.h"
#include "harness/explorer/testing/recorded_disk.h"

namespace headcrash::explorer {
namespace {

using oracle::Finding;
using oracle::Tier;
using oracle::Verdict;

std::vector<workload::Operation> operations_of(const std::string& text) {
  return workload::parse_operations(text, "test").value();
}

std::string in_shell(const std::string& list,
                     const std::vector<workload::FailedOperation>& failed = {}) {
  const auto text = operations_in_shell(operations_of(list), failed);
  return text ? *text : text.error().message();
}

TEST(OperationsInShell, KeepTheirOrderAndMarkEachPersistencePoint) {
  EXPECT_EQ(
      in_shell("create f\nwrite f 0 8192 1 1\nsync\nwrite f 512 1024 1 2\nfsync f\nrename f g\n"),
      "  step 0 'create f' create 'f'\n"
      "  step 1 'write f 0 8192 1 1' write 'f' 0 8192 1\n"
      "  step 2 'sync' sync\n"
      "  mark 2\n"
      "  step 3 'write f 512 1024 1 2' write 'f' 512 1024 2\n"
      "  step 4 'fsync f' io -c fsync 'f'\n"
      "  mark 4\n"
      "  step 5 'rename f g' rename_flags 'f' 'g' 0\n");
}

TEST(OperationsInShell, SupportEachKind) {
  const std::string text = in_shell(
      "mkdir d\ncreate d/f\nwrite-sync d/f 0 512 1 1\nwrite-dsync d/f 0 512 1 2\nwrite-direct d/f 0 512 1 3\n"
      "write-mapped d/f 0 512 1 4\nappend d/f 512 512 1 5\ntruncate d/f 100\nallocate d/f 0 4096\n"
      "allocate-keep d/f 0 8192\npunch d/f 0 512\nzero d/f 0 512\nzero-keep d/f 0 1024\nlink d/f g\nsymlink to s\n"
      "rename-noreplace g h\nrename-exchange h s\nrename-whiteout s t\nsetxattr d/f user.x one\n"
      "removexattr d/f user.x\nchmod d/f 640\nchown d/f 1 2\ntouch d/f 1000000000\nfdatasync d/f\nfsyncdir d\n"
      "fsyncdir .\nsyncfs\nrest 3\njoin\nunlink h\nrmdir d\ncollapse d/f 0 4096\ninsert d/f 4096 4096\n"
      "clone d/f 0 4096 g 8192\ndedupe d/f 0 4096 g 8192\n"
      "store g 512 1024 1 6\nmsync g 512 1024\nsync-range g 0 512\n"
      "mknod p fifo\nopen g %g\nlink %g h\nclose %g\nfreeze\nevict\n"
      "flags g d\nflags g -\nproject g 7\nwrite-direct-dsync g 0 512 1 7\n");
  for (const char* each : {" mkdir 'd'\n",
                           " create 'd/f'\n",
                           " write_sync 'd/f' 0 512 1\n  mark 2\n",
                           " write_dsync 'd/f' 0 512 2\n  mark 3\n",
                           " write_direct 'd/f' 0 512 3\n  step 5",
                           " write_mapped 'd/f' 0 512 4\n  mark 5\n",
                           " append 'd/f' 512 512 5\n",
                           " io -c 'truncate 100' 'd/f'\n",
                           " io -c 'falloc 0 4096' 'd/f'\n",
                           " io -c 'falloc -k 0 8192' 'd/f'\n",
                           " io -c 'fpunch 0 512' 'd/f'\n",
                           " io -c 'fzero 0 512' 'd/f'\n",
                           " io -c 'fzero -k 0 1024' 'd/f'\n",
                           " ln -T 'd/f' 'g'\n",
                           " ln -sT 'to' 's'\n",
                           " rename_flags 'g' 'h' 1\n",
                           " rename_flags 'h' 's' 2\n",
                           " rename_flags 's' 't' 4\n",
                           " setfattr -n 'user.x' -v 'one' 'd/f'\n",
                           " setfattr -x 'user.x' 'd/f'\n",
                           " chmod 640 'd/f'\n",
                           " chown 1:2 'd/f'\n",
                           " touch -c -m -d @1000000000 'd/f'\n",
                           " io -c fdatasync 'd/f'\n  mark 23\n",
                           " io -c fsync 'd'\n  mark 24\n",
                           " io -c fsync .\n  mark 25\n",
                           " io -c syncfs .\n  mark 26\n",
                           " sleep 3\n  mark 27\n  step 29",
                           " unlink 'h'\n",
                           " mkfifo 'p'\n",
                           " io -x -c freeze -c thaw .\n  mark 42\n",
                           " quiet sh -c 'echo 3 > /proc/sys/vm/drop_caches'\n",
                           " ln -LT /proc/self/fd/4 'h'\n",
                           " io -c 'fcollapse 0 4096' 'd/f'\n",
                           " io -c 'mmap 0 1536' -c 'mwrite -S 6 512 1024' 'g'\n  step 36",
                           " io -c 'mmap 0 1536' -c 'msync -s 512 1024' 'g'\n  mark 36\n",
                           " io -c 'sync_range -b -w -a 0 512' 'g'\n",
                           " io -c 'finsert 4096 4096' 'd/f'\n",
                           " io -c 'reflink -q \"d/f\" 0 8192 4096' 'g'\n",
                           " io -c 'dedupe -q \"d/f\" 0 8192 4096' 'g'\n",
                           " io -r -c 'chattr -sAd +d' 'g'\n",
                           " io -r -c 'chattr -sAd' 'g'\n",
                           " io -r -c 'chproj 7' 'g'\n",
                           " write_direct_dsync 'g' 0 512 7\n  mark 47\n",
                           " rmdir 'd'\n"})
    EXPECT_NE(text.find(each), std::string::npos) << each << " is missing in\n" << text;
}

TEST(OperationsInShell, KeepFilesOpenThroughDescriptors) {
  EXPECT_EQ(in_shell("create a\nopen a %f\nunlink a\nfsync %f\nclose %f\n"),
            "  step 0 'create a' create 'a'\n"
            "  step 1 'open a %f' true\n"
            "  command exec 4<> 'a' || cannot 'it cannot be opened'\n"
            "  step 2 'unlink a' unlink 'a'\n"
            "  step 3 'fsync %f' io -c fsync /proc/self/fd/4\n"
            "  mark 3\n"
            "  step 4 'close %f' true\n"
            "  exec 4>&-\n");
  const std::string two = in_shell("create a\nopen a %f\nopen a %g\nclose %f\nopen a %h\n");
  EXPECT_NE(two.find("exec 5<> 'a'"), std::string::npos) << two;
  EXPECT_NE(two.find("  exec 4>&-\n  step 4 'open a %h' true\n  command exec 4<> 'a'"),
            std::string::npos)
      << two;
  EXPECT_TRUE(two.ends_with("  exec 5>&-\n  exec 4>&-\n"))
      << "descriptors open at the end must be closed:\n"
      << two;
}

TEST(OperationsInShell, OmitSkippedOperations) {
  EXPECT_EQ(in_shell("create a\nsetxattr a user.x 1\nfsync a\n", {{1, workload::Outcome::skipped}}),
            "  step 0 'create a' create 'a'\n"
            "  # 1  setxattr a user.x 1: not supported, skipped\n"
            "  step 2 'fsync a' io -c fsync 'a'\n"
            "  mark 2\n");
}

TEST(OperationsInShell, ErrorsNameTheUnsupportedOperation) {
  for (const auto& [list, named, why] : std::vector<std::array<std::string, 3>>{
           {"create a\n@1 create b\n", "operation 1, \"@1 create b\"", "operations concurrently"},
           {"create a\nbegin\n", "operation 1, \"begin\"", "transactions"},
           {"create a\nwrite a 0 512 1 256\n", "operation 1, \"write a 0 512 1 256\"", "1 to 255"},
           {"open a %1\nopen a %2\nopen a %3\nopen a %4\nopen a %5\nopen a %6\nopen a %7\n",
            "operation 6, \"open a %7\"", "six open files"},
           {"fsync %f\n", "operation 0, \"fsync %f\"", "not open"}}) {
    const std::string text = in_shell(list);
    EXPECT_NE(text.find(named), std::string::npos) << text;
    EXPECT_NE(text.find(why), std::string::npos) << text;
  }
  EXPECT_NE(in_shell("write a 0 512 1 1\n", {{0, workload::Outcome::partial}}).find("operation 0"),
            std::string::npos);
}

class WorkloadScriptTest : public testing::Test {
 protected:
  WorkloadScriptTest() {
    filesystem_.title = "XFS, defaults";
    filesystem_.type = "xfs";
    filesystem_.replay_by_mount = true;
    filesystem_.mkfs = {.argv = {"mkfs.xfs", "-m", "uuid={uuid}", "{device}"}, .good_exits = {0}};
    filesystem_.check = {.argv = {"xfs_repair", "-n", "{device}"}, .good_exits = {0}};
  }
  ReproducerOf of(const std::string& list, std::vector<Finding> findings = {}) const {
    return {.filesystem = &filesystem_,
            .state = state_,
            .judgement = {Verdict::lost_synced_data, "it's gone"},
            .findings = std::move(findings),
            .operations = operations_of(list),
            .account = "An account of $(reboot)\n",
            .persisted = 2,
            .disk_bytes = 335544320,
            .uuid = "11111111-2222-3333-4444-555555555555"};
  }
  std::string script(const ReproducerOf& of) {
    const auto text = workload_script(of);
    EXPECT_TRUE(text) << text.error().message();
    return text ? *text : "";
  }
  int run(const std::string& text, const std::string& words = "") {
    std::ofstream(folder_ / "workload.sh") << text;
    return std::system(("sh " + words + " '" + (folder_ / "workload.sh").string() + "' > '" +
                        (folder_ / "out").string() + "' 2>&1")
                           .c_str());
  }

  TemporaryFolder folder_;
  adapters::LinuxAdapter filesystem_;
  std::string state_ = "w36-";
};

TEST_F(WorkloadScriptTest, DescribesTheFailure) {
  const std::string text = script(of(
      "create f\nwrite f 0 512 1 1\nfsync f\n",
      {{Verdict::lost_synced_data, Tier::posix, "f", "version 1 or newer in block 0", "zeroes"}}));
  std::vector<std::byte> block(512, std::byte{1});
  for (const std::string& each :
       {std::string(
            "mkfs() { 'mkfs.xfs' '-m' 'uuid=11111111-2222-3333-4444-555555555555' ''\"$1\"''; }\n"),
        std::string("size='335544320'\npersisted='2'\none_left_out=''\ntorn=''\n"),
        std::string("replay_by_mount='yes'\n"), std::string("# An account of $(reboot)\n"),
        "expect_block 'f' 0 'version 1 or newer' " + std::to_string(posix_cksum(block)) + "\n",
        in_shell("create f\nwrite f 0 512 1 1\nfsync f\n")})
    EXPECT_NE(text.find(each), std::string::npos) << each << " is missing in\n"
                                                  << text.substr(0, 3000);
  EXPECT_EQ(run(text, "-n"), 0) << "the script has a syntax error";
}

TEST_F(WorkloadScriptTest, ListsTheLostWritesOfAState) {
  state_ = "w36-17";
  EXPECT_NE(script(of("create f\nsync\n")).find("one_left_out='yes'\ntorn=''\n"),
            std::string::npos);
  state_ = "w36+17~18:0x1";
  EXPECT_NE(script(of("create f\nsync\n")).find("one_left_out='yes'\ntorn='1 -1'\n"),
            std::string::npos);
  state_ = "w36~18:0x3";
  EXPECT_NE(script(of("create f\nsync\n")).find("one_left_out=''\ntorn='1 3 -1'\n"),
            std::string::npos);
  auto early = of("create f\nsync\n");
  early.persisted.reset();
  EXPECT_NE(script(early).find("persisted='start'\n"), std::string::npos);
  early.mounted = false;
  EXPECT_NE(script(early).find("persisted='mkfs'\n"), std::string::npos)
      << "a cut during the mount";
}

TEST_F(WorkloadScriptTest, DoesNothingWithoutTheYesOption) {
  const int status = run(script(of("create f\nsync\n")));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 125);
  std::ifstream out(folder_ / "out");
  const std::string said{std::istreambuf_iterator<char>(out), {}};
  EXPECT_NE(said.find("Nothing is done without --yes"), std::string::npos) << said;
  EXPECT_NE(said.find("it's gone"), std::string::npos) << said;
  EXPECT_EQ(said.find("== "), std::string::npos) << said;
}

TEST_F(WorkloadScriptTest, RejectsMissingAndThreadedWorkloads) {
  const auto none = workload_script(of(""));
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("its operations are unknown"), std::string::npos);
  const auto two = workload_script(of("@1 create f\n"));
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().message().find("@1 create f"), std::string::npos);
}

/// Tests the script's function that replays the dm-log-writes log, with a log whose contents are
/// known.
class ReplayLogTest : public WorkloadScriptTest {
 protected:
  ReplayLogTest() {
    add(0, 2, 0, "A");  // entry 0: sectors 0, 1
    add(1, 1, 2, "B");  // entry 1: sector 1, FUA
    add(0, 0, 8, "", "operation-4");
    add(4, 2, 1, "C");     // entry 3: FLUSH
    add(4, 1, 4, "");      // entry 4: discard
    put(16, 4, entries_);  // number of entries
    put(0, 8, 0x6a736677736872);
    put(8, 8, 1);
    put(24, 4, 512);
    std::ofstream(folder_ / "log", std::ios::binary) << log_;
  }
  void put(std::size_t at, std::size_t bytes, std::uint64_t value) {
    if (log_.size() < at + bytes) log_.resize(at + bytes);
    for (std::size_t i = 0; i < bytes; ++i) log_[at + i] = static_cast<char>(value >> (8 * i));
  }
  void add(std::uint64_t sector, std::uint64_t sectors, std::uint64_t flags,
           const std::string& content, const std::string& mark = "") {
    const std::size_t at = log_.size();
    log_.resize(at + 512);
    put(at, 8, sector);
    put(at + 8, 8, sectors);
    put(at + 16, 8, flags);
    put(at + 24, 8, mark.size());
    log_.replace(at + 32, mark.size(), mark);
    if (!content.empty()) log_ += std::string(sectors * 512, content[0]);
    ++entries_;
  }
  /// Runs the script's replay_log with `arguments`, and returns the first byte of each of eight
  /// sectors.
  std::string replayed(const std::string& arguments) {
    std::ofstream(folder_ / "disk", std::ios::binary) << std::string(8 * 512, '.');
    const std::string text = script(of("create f\nsync\n"));
    const std::size_t main_part = text.find("\nyes='' keep='' all=''");
    EXPECT_NE(main_part, std::string::npos);
    EXPECT_EQ(run("cd '" + folder_.path().string() + "'\n" + text.substr(0, main_part) +
                  "\nreplay_log log " + arguments + "\n"),
              0);
    std::ifstream in(folder_ / "disk", std::ios::binary);
    const std::string disk{std::istreambuf_iterator<char>(in), {}};
    std::string first;
    for (std::size_t i = 0; i < disk.size(); i += 512) first += disk[i] == '\0' ? '0' : disk[i];
    return first;
  }

  std::string log_ = std::string(512, '\0');
  std::uint64_t entries_ = 0;
};

TEST_F(ReplayLogTest, ListsTheEntries) {
  EXPECT_EQ(replayed(""), "........");
  std::ifstream out(folder_ / "out");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(out), {}),
            "0 0 0 2\n1 2 1 1\n2 8 0 0 operation-4\n3 1 4 2\n4 4 4 1\n");
}

TEST_F(ReplayLogTest, ReplaysUpToTheGivenEntry) {
  EXPECT_EQ(replayed("disk 0"), "........");
  EXPECT_EQ(replayed("disk 1"), "AA......");
  EXPECT_EQ(replayed("disk 2"), "AB......");
  EXPECT_EQ(replayed("disk 3"), "AB......") << "marks do not count as writes";
  EXPECT_EQ(replayed("disk 4"), "AB..CC..");
  EXPECT_EQ(replayed("disk 5"), "AB..0C..") << "discarded sectors read as zeroes";
  EXPECT_EQ(replayed("disk 4 0"), ".B..CC..") << "entry 0 is omitted";
  EXPECT_EQ(replayed("disk 4 '' 1"), "AB..C...") << "the last write is torn";
  EXPECT_EQ(replayed("disk 4 '' -1"), "AB...C..") << "only the last sector of the write";
}

}  // namespace
}  // namespace headcrash::explorer
