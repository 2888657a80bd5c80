// Tests the messages for rejected parameters, the man page, and the checks that compare existing
// stores and recordings with the parameters.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "plugin/servers/emulation/settings.h"
#include "plugin/servers/nbd/testing/served_disk.h"

namespace headcrash::nbd {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  for (const emulation::Parameter& row : emulation::parameters()) keys.emplace_back(row.name);
  return keys;
}

std::string help_text() {
  std::string command = "nbdkit '" HEADCRASH_PLUGIN "' --help";
  if (!std::string(HEADCRASH_PRELOAD).empty())
    command = "LD_PRELOAD='" HEADCRASH_PRELOAD "' ASAN_OPTIONS=detect_leaks=0 " + command;
  FILE* const help = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t got = 0; (got = fread(part.data(), 1, part.size(), help)) > 0;)
    text.append(part.data(), got);
  EXPECT_EQ(pclose(help), 0);
  return text;
}

TEST(Parameters, AreAllDocumentedInTheManPageAndTheHelp) {
  std::ifstream in(HEADCRASH_POD);
  std::stringstream pod;
  pod << in.rdbuf();
  ASSERT_GT(all_keys().size(), 10U);
  const std::string help = help_text();
  for (const std::string& key : all_keys()) {
    EXPECT_NE(
        pod.str().find("=item " + std::string(key == "profile" ? "[" : "") + "B<" + key + "=>"),
        std::string::npos)
        << key << " is not an item of the man page";
    EXPECT_NE(help.find((key == "profile" ? "\n[" + key + "=]" : "\n" + key + "=")),
              std::string::npos)
        << key << " is not in the help";
  }
}

TEST(Parameters, RejectTheStoreOfAnotherMachine) {
  TemporaryFolder folder;
  const std::string store = "store=" + (folder / "store");
  {
    ServedDisk disk(folder, {"raid5-5", "size=64M", "clock=off", store});
  }
  const std::pair<std::vector<std::string>, const char*> table[] = {
      {{"raid5-5", "size=32M", store}, "sectors"},
      {{"raid4-5", "size=64M", store}, "devices"},
      {{"hp-c2447", "size=64M", store}, "devices"},
  };
  for (const auto& [arguments, word] : table) {
    const ExitResult ended = run_nbdkit(folder, arguments);
    if (std::string(word) == "devices" && arguments[0] == "raid4-5") {
      // The array has the same drives, but their metadata says that they belong to another array.
      EXPECT_EQ(ended.exit_code, 1) << ended.stderr_text;
      continue;
    }
    EXPECT_EQ(ended.exit_code, 1) << ended.stderr_text;
    EXPECT_NE(ended.stderr_text.find(word), std::string::npos) << ended.stderr_text;
    EXPECT_NE(ended.stderr_text.find("store="), std::string::npos) << ended.stderr_text;
  }
  fs::remove(folder / "store/hd0.3.img");
  const ExitResult ended = run_nbdkit(folder, {"raid5-5", "size=64M", store});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.stderr_text.find("hd0.3.img: is missing"), std::string::npos)
      << ended.stderr_text;
}

TEST(Parameters, UseTheRecordingAsTheStoreIfNoneIsGiven) {
  TemporaryFolder folder;
  const std::string record = "record=" + (folder / "run.rec");
  for (int run = 0; run < 3; ++run) {
    ServedDisk disk(folder, with(kFast, {record}));
    Client client(disk);
    for (int before = 0; before < run; ++before)
      EXPECT_EQ(read_block(client, static_cast<std::uint64_t>(before) * 100),
                block(static_cast<char>('a' + before)));
    EXPECT_EQ(
        client.write(static_cast<std::uint64_t>(run) * 100, block(static_cast<char>('a' + run))),
        0);
  }
  const ExitResult other = run_nbdkit(folder, {"hp-c2447", "size=32M", record});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_NE(other.stderr_text.find("record="), std::string::npos) << other.stderr_text;
}

TEST(Parameters, AreNamedInErrorsIfInvalid) {
  TemporaryFolder folder;
  std::ofstream(folder / "file") << "not a store";
  const std::string file = folder / "file";
  struct Bad {
    std::vector<std::string> arguments;
    const char* word;
  };
  const std::vector<Bad> table = {
      {{}, "profile"},
      {{"no-such-drive"}, "profile=no-such-drive"},
      {{"profile=/no/such.toml"}, "/no/such.toml"},
      {{"hp-c2447", "size=0"}, "size"},
      {{"hp-c2447", "size=banana"}, "size"},
      {{"hp-c2447", "size=1000"}, "size"},
      {{"hp-c2447", "size=100T"}, "size"},
      {{"hp-c2447", "size=-1"}, "size"},
      {{"hp-c2447", "size=99999999999999999999G"}, "size"},
      {{"hp-c2447", "clock=fast"}, "clock"},
      {{"hp-c2447", "clock=real:0"}, "clock"},
      {{"hp-c2447", "write-cache=maybe"}, "write-cache"},
      {{"hp-c2447", "tear=gently"}, "tear: "},
      {{"hp-c2447", "tear=unreadble"}, "did you mean \"unreadable\""},
      {{"hp-c2447", "tear="}, "tear: "},
      {{"hp-c2447", "tear=any", "tear=any"}, "tear: is given twice"},
      {{"hp-c2447", "seed=x"}, "seed"},
      {{"hp-c2447", "cut=sometimes"}, "cut"},
      {{"hp-c2447", "cut=after-writes:0"}, "cut"},
      {{"hp-c2447", "store="}, "store"},
      {{"hp-c2447", "store=" + file}, "store"},
      {{"hp-c2447", "store=/no/such/folder"}, "store"},
      {{"hp-c2447", "record=" + file}, "record"},
      {{"hp-c2447", "record=/no/such/folder/x"}, "record"},
      {{"hp-c2447", "control=" + file}, "control"},
      {{"hp-c2447", "control=/no/such/folder/x"}, "control"},
      {{"hp-c2447", "control=" + (folder / std::string(120, 'c').c_str())}, "control"},
      {{"hp-c2447", "colour=red"}, "colour"},
      {{"hp-c2447", "seed=1", "seed=2"}, "seed"},
      {{"hp-c2447", "lead=soon"}, "lead"},
      {{"hp-c2447", "lead=2000"}, "lead"},
      {{"hp-c2447", "fault=tired:hd0"}, "fault"},
      {{"hp-c2447", "fault=dead:hd7"}, "hd7"},
      {{"hp-c2447", "fault=battery-low:hd0"}, "fault"},
      {{"hp-c2447", "machine=" + file}, "machine"},
      {{"machine=" + file}, "machine"},
      {{"machine=/no/such.toml"}, "machine"},
      {{"machine=" + file, "size=1M"}, "size"},
      {{"machine=" + file, "tear=any"}, "tear"},
      {{"raid5-5", "size=64M", "write-cache=on"}, "write-cache"},
  };
  for (const Bad& bad : table) {
    const ExitResult ended = run_nbdkit(folder, bad.arguments);
    EXPECT_EQ(ended.exit_code, 1) << bad.word << ": " << ended.stderr_text;
    EXPECT_NE(ended.stderr_text.find(bad.word), std::string::npos)
        << bad.word << ": " << ended.stderr_text;
    EXPECT_EQ(std::count(ended.stderr_text.begin(), ended.stderr_text.end(), '\n'), 1)
        << ended.stderr_text;
    EXPECT_NE(ended.stderr_text.find("; "), std::string::npos) << "no hint: " << ended.stderr_text;
  }
}

}  // namespace
}  // namespace headcrash::nbd
