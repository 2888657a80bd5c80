#include "harness/explorer/reproduce/reproducer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "harness/explorer/reproduce/plain_checks.h"
#include "harness/explorer/testing/recorded_disk.h"
#include "harness/oracle/oracle.h"

namespace headcrash::explorer {
namespace {

namespace fs = std::filesystem;
using oracle::Finding;
using oracle::Tier;
using oracle::Verdict;

struct Ran {
  int code = -1;
  std::string output;
};
Ran run(const std::string& command) {
  Ran ran;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
    ran.output.append(buffer, got);
  const int status = ::pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}
std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<workload::Operation> operations(const std::string& text) {
  return workload::parse_operations(text, "test").value();
}

TEST(PosixCksum, MatchesTheUtility) {
  const TemporaryFolder folder;
  for (const std::size_t bytes : {0U, 1U, 255U, 256U, 512U, 70'000U}) {
    const auto data = RecordedDisk::stamps(1, 1, 0, bytes);
    std::ofstream(folder / "f", std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(bytes));
    EXPECT_EQ(run("cksum < '" + (folder / "f").string() + "' | cut -d' ' -f1").output,
              std::to_string(posix_cksum(data)) + "\n");
  }
}

/// In each of these trees, the script must find the violations that the oracle finds.
TEST(PlainChecks, CoverAllFindingsOfTheOracle) {
  const auto list = operations(
      "mkdir d\ncreate d/f\nwrite d/f 0 2048 1 1\nfsync d/f\nfsyncdir d\nfsyncdir .\nsymlink t s\ncreate "
      "gone\nsync\n"
      "unlink gone\nwrite d/f 512 512 1 2\nsync\n");
  const auto oracle = oracle::Oracle::follow(list, {});
  ASSERT_TRUE(oracle);
  using oracle::ContentRun;
  using oracle::ObservedObject;
  const ObservedObject d{.path = "d", .type = FileType::directory, .inode = 2, .links = 2};
  const auto file = [](std::uint64_t size, std::vector<ContentRun> runs) {
    return ObservedObject{
        .path = "d/f", .inode = 3, .links = 1, .size_bytes = size, .runs = std::move(runs)};
  };
  const ContentRun all{
      .kind = ContentRun::Kind::stamp, .first_block = 0, .blocks = 4, .file = 1, .version = 1};
  const ObservedObject s{
      .path = "s", .type = FileType::symlink, .inode = 4, .links = 1, .link_target = "t"};
  auto wrong = s;
  wrong.link_target = "u";
  auto counted = file(2048, {all});
  counted.links = 2;
  const std::vector<std::vector<ObservedObject>> trees{
      {},
      {d, s},
      {d, s, file(0, {})},
      {d, s, file(2048, {{.kind = ContentRun::Kind::zero, .blocks = 4}})},
      {d, s, file(2048, {all})},  // block 1 holds an old version of the data
      {d,
       wrong,
       counted,
       {.path = "gone", .inode = 5, .links = 1},
       {.path = "x", .inode = 6, .links = 1}}};
  std::string lines;
  for (const auto& tree : trees) {
    const auto findings = oracle->judge(11, tree);
    EXPECT_FALSE(findings.empty());
    for (const std::string& line : plain_checks(findings, list, Content::stamps)) {
      EXPECT_FALSE(line.starts_with("look_yourself")) << line;
      lines += line + "\n";
    }
  }
  for (const char* each : {"expect_name 'd'", "expect_name 'd/f'", "expect_size 'd/f' 2048 2048",
                           "expect_block 'd/f' 0 'version 1 or newer' ",
                           "expect_block 'd/f' 1 'version 2 or newer' ", "expect_target 's' 't'",
                           "expect_links 'd/f' 1", "expect_no_name 'gone'", "expect_no_name 'x'"})
    EXPECT_NE(lines.find(each), std::string::npos) << each << " is missing in\n" << lines;
}

TEST(PlainChecks, AcceptAnAbsentBlockIfTheFileMayEndBeforeIt) {
  const std::string nothing = " 4294967295";  // output of cksum for an empty input
  const auto check = [](const std::string& expected) {
    return plain_checks(
        {{Verdict::stale_data, Tier::integrity, "f", expected + " in block 9", "other bytes"}},
        operations("create f\nwrite f 0 512 1 1\n"), Content::version_bytes)[0];
  };
  EXPECT_NE(check("zeroes or a version in flight").find(nothing), std::string::npos)
      << "the append may be in flight";
  EXPECT_EQ(check("zeroes").find(nothing), std::string::npos)
      << "the synced zeroes must be present";
  const auto beside_size = [](const std::string& size) {
    return plain_checks(
        {{Verdict::wrong_data, Tier::integrity, "f", size, "8192 bytes"},
         {Verdict::stale_data, Tier::integrity, "f", "zeroes in block 9", "other bytes"}},
        operations("create f\n"), Content::version_bytes)[1];
  };
  EXPECT_NE(beside_size("0 bytes").find(nothing), std::string::npos)
      << "an empty file has no blocks";
  EXPECT_NE(beside_size("4096 to 8192 bytes").find(nothing), std::string::npos);
  EXPECT_NE(beside_size("4608 bytes").find(nothing), std::string::npos)
      << "the file may end at the start of the block";
  EXPECT_EQ(beside_size("8192 bytes").find(nothing), std::string::npos);
}

TEST(PlainChecks, LeaveOtherFindingsToTheUser) {
  EXPECT_EQ(
      plain_checks({{Verdict::zero_length, Tier::posix, "f", "at least 512 bytes", "0 bytes"}}, {},
                   Content::stamps),
      std::vector<std::string>{"expect_size 'f' 512 9223372036854775807"})
      << "a shell cannot compare larger numbers";
  EXPECT_EQ(
      plain_checks({{Verdict::lost_synced_data, Tier::de_facto, "it's", "mode 644", "mode 600"}},
                   {}, Content::stamps),
      (std::vector<std::string>{"look_yourself 'it'\\''s' 'mode 644' 'mode 600'"}));
  EXPECT_EQ(
      plain_checks({{Verdict::non_atomic_rename, Tier::de_facto, "a", "one name", "also \"d/b\""}},
                   {}, Content::stamps),
      std::vector<std::string>{"expect_one_name 'a' 'd/b'"});
}

/// A file system whose adapter commands are harmless, and which can be read without a mount.
class ReproducerTest : public testing::Test {
 protected:
  ReproducerTest() {
    filesystem_.name = "ext4-nobarrier";
    filesystem_.title = "ext4 with 'nobarrier'";
    filesystem_.type = "ext4";
    filesystem_.mount_options = "nobarrier";
    filesystem_.replay = {.argv = {"test", "-w", "{device}"}, .good_exits = {0, 1}};
    filesystem_.check = {.argv = {"grep", "-q", "intact", "{device}"}, .good_exits = {0}};
    filesystem_.repair = {.argv = {"cp", "/dev/null", "{device}"}, .good_exits = {0}};
  }
  ReproducerOf of(std::vector<Finding> findings = {}) const {
    return {.filesystem = &filesystem_,
            .state = "w3-",
            .judgement = {Verdict::lost_synced_data, "it's gone; `reboot` $(reboot)"},
            .findings = std::move(findings),
            .operations = operations("create f\nwrite f 0 1300 1 1\nfsync f\n"),
            .account = "An account\n\nof \"$(reboot)\" and 'quotes'\n"};
  }
  /// Returns a disk that contains only `text`, in sector 8.
  states::StateImage image(const std::string& text) {
    std::vector<std::byte> sector(512);
    std::memcpy(sector.data(), text.data(), text.size());
    RecordedDisk disk(folder_ / ("r" + std::to_string(images_++)), 1 << 15);
    disk.write(1, 8, sector).ack(1);
    run_ = disk.load();
    return run_->image({.event = 2}, 0).value();
  }
  Ran run_script(const std::string& arguments) {
    return run("'" + (folder_ / "out" / "reproduce.sh").string() + "' " + arguments);
  }

  TemporaryFolder folder_;
  adapters::LinuxAdapter filesystem_;
  std::shared_ptr<const states::RunHistory> run_;
  int images_ = 0;
};

TEST_F(ReproducerTest, WritesASparseImageADescriptionAndAScript) {
  const auto made = write_reproducer(of(), image("intact"), folder_ / "out", ImageFormat::raw);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(fs::file_size(made->image), std::uint64_t{1} << 24);
  EXPECT_LT(made->image_bytes, 1U << 20) << "the image is not sparse";
  EXPECT_EQ(contents(made->image).substr(8 * 512, 7), std::string("intact\0", 7));
  EXPECT_EQ(contents(made->account), of().account);
  const Ran checked = run("sh -n '" + made->script.string() + "'");
  EXPECT_EQ(checked.code, 0) << checked.output;
  const auto again = write_reproducer(of(), image("x"), folder_ / "out", ImageFormat::raw);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message().find("already exists"), std::string::npos);
}

TEST_F(ReproducerTest, KeepsAnExistingPartialFolder) {
  fs::create_directories(folder_ / "out.partial");
  folder_.put("out.partial/precious", "x");
  ASSERT_TRUE(write_reproducer(of(), image("intact"), folder_ / "out", ImageFormat::raw));
  EXPECT_TRUE(fs::exists(folder_ / "out" / "reproduce.sh"));
  EXPECT_EQ(folder_.get("out.partial/precious"), "x");
  EXPECT_FALSE(fs::exists(folder_ / "out.partial-2"));
}

TEST_F(ReproducerTest, DoesNothingWithoutTheYesOption) {
  ASSERT_TRUE(write_reproducer(of(), image("intact"), folder_ / "out", ImageFormat::raw));
  for (const char* arguments : {"", "--no-mount", "--yes --what", "--help"}) {
    const Ran ran = run_script(arguments);
    EXPECT_EQ(ran.code, 125) << arguments;
    EXPECT_NE(ran.output.find("Do not trust the image"), std::string::npos);
    EXPECT_NE(ran.output.find("test -w {device}"), std::string::npos) << "prints the commands";
    EXPECT_EQ(ran.output.find("== recovery"), std::string::npos);
  }
}

TEST_F(ReproducerTest, UsesTheExitCodesOfGitBisect) {
  // No tool can read the files of an XFS that is not mounted. A test cannot mount a file system, so
  // some checks are impossible.
  filesystem_.type = "xfs";
  ASSERT_TRUE(write_reproducer(of(), image("intact"), folder_ / "out", ImageFormat::raw));
  Ran ran = run_script("--yes --no-mount");
  EXPECT_EQ(ran.code, 125) << ran.output;
  EXPECT_NE(ran.output.find("some could not be tested"), std::string::npos) << ran.output;

  fs::remove_all(folder_ / "out");
  ASSERT_TRUE(write_reproducer(of(), image("damaged"), folder_ / "out", ImageFormat::raw));
  ran = run_script("--yes --no-mount");
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_NE(ran.output.find("FAILED  check after recovery"), std::string::npos) << ran.output;
  EXPECT_NE(contents(folder_ / "out" / "crash.raw").find("damaged"), std::string::npos)
      << "the original image was changed";

  fs::remove_all(folder_ / "out");
  filesystem_.check.argv[0] = "headcrash-no-such-program";
  ASSERT_TRUE(write_reproducer(of(), image("damaged"), folder_ / "out", ImageFormat::raw));
  ran = run_script("--yes --no-mount");
  EXPECT_EQ(ran.code, 125) << ran.output;
  EXPECT_NE(ran.output.find("the check command is missing"), std::string::npos) << ran.output;
}

/// Tests the script's comparisons on files in a directory, because a test cannot mount a file
/// system.
TEST_F(ReproducerTest, ComparesFilesWithStandardTools) {
  const auto body = reproducer_script(
      of({{Verdict::lost_synced_data, Tier::posix, "f", "version 1 or newer in block 2",
           "zeroes (1 block of 512 bytes)"},
          {Verdict::lost_synced_data, Tier::posix, "f", "1300 bytes", "0 bytes"},
          {Verdict::resurrected, Tier::posix, "it's", "no such name", "a file"},
          {Verdict::wrong_data, Tier::integrity, "s", "a link to \"f\"", "a link to \"\""},
          {Verdict::wrong_data, Tier::integrity, "d", "a directory", "a file"}}),
      "crash.raw");
  ASSERT_TRUE(body) << body.error().message();
  // Keep the script's functions. Replace the main part with code that calls checks() in the
  // directory $1.
  const std::size_t main_part = body->find("\nyes='' no_mount=''");
  ASSERT_NE(main_part, std::string::npos);
  std::ofstream(folder_ / "checks.sh")
      << body->substr(0, main_part) << "\ncd \"$1\" && checks\nfinish\n";
  const fs::path tree = folder_ / "tree";
  fs::create_directories(tree / "d");
  fs::create_symlink("f", tree / "s");
  const auto write_file = [&](std::size_t bytes, std::uint32_t version) {
    const auto data = RecordedDisk::stamps(1, version, 0, bytes);
    std::ofstream(tree / "f", std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(bytes));
  };
  const auto checks = [&] {
    return run("sh '" + (folder_ / "checks.sh").string() + "' '" + tree.string() + "'");
  };

  write_file(1300, 1);
  Ran ran = checks();
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_EQ(ran.output.find("FAILED"), std::string::npos) << ran.output;

  write_file(1300, 2);
  ran = checks();
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.output.find("FAILED  f, block 2"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("1 broken"), std::string::npos) << ran.output;

  write_file(512, 1);
  std::ofstream(tree / "it's") << "";
  fs::remove(tree / "s");
  fs::create_symlink("g", tree / "s");
  fs::remove(tree / "d");
  std::ofstream(tree / "d") << "";
  ran = checks();
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.output.find("5 broken"), std::string::npos) << ran.output;
  fs::remove(tree / "f");
  EXPECT_EQ(checks().code, 1);
}

TEST_F(ReproducerTest, RejectsFileSystemsOnTwoDisks) {
  filesystem_.check.argv = {"e2fsck", "-j", "{log}", "{device}"};
  const auto made = write_reproducer(of(), image("x"), folder_ / "out", ImageFormat::raw);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("{log}"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_FALSE(fs::exists(folder_ / "out.partial"));
  filesystem_.log_size_bytes = 16 << 20;
  const auto can = can_be_reproduced(filesystem_);
  ASSERT_FALSE(can);
  EXPECT_NE(can.error().message().find("second disk"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::explorer
