#include "harness/guest/commands.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::guest {
namespace {

using nlohmann::json;

std::vector<json> answer(const std::string& text, bool too_long = false) {
  std::vector<json> messages;
  answer_line({.text = text, .too_long = too_long},
              [&](const json& message) { messages.push_back(message); });
  return messages;
}

json refused(const std::string& text) {
  const auto messages = answer(text);
  EXPECT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages.at(0)["ok"], false) << text;
  return messages.at(0);
}

TEST(Commands, EveryLineGetsOneAnswer) {
  for (const char* text :
       {"", "{", "[1]", "7", "null", "{\"id\":1}", R"({"id":1,"do":7})", R"({"id":1,"do":"fly"})",
        R"({"id":1,"do":"exec","argv":"ls","timeout_ms":1})",
        R"({"id":1,"do":"exec","argv":[],"timeout_ms":1})",
        R"({"id":1,"do":"exec","argv":["true"],"timeout_ms":-1})",
        R"({"id":1,"do":"run","root":"/","mark":"","operations":[7]})", "\xff\xfe"}) {
    EXPECT_FALSE(refused(text)["error"].get<std::string>().empty()) << text;
  }
  EXPECT_EQ(answer("", true).at(0)["ok"], false);
  EXPECT_TRUE(refused("{")["id"].is_null());
  EXPECT_EQ(refused(R"({"id":42,"do":"fly"})")["id"], 42);
}

TEST(Commands, HelloReportsTheProtocol) {
  const json hello = answer(R"({"id":3,"do":"hello"})").at(0);
  EXPECT_EQ(hello["ok"], true);
  EXPECT_EQ(hello["id"], 3);
  EXPECT_EQ(hello["agent"], 3);
  EXPECT_TRUE(hello["modules"].is_array());
}

TEST(Commands, ErrorsIncludeErrno) {
  const json answer =
      refused(R"({"id":1,"do":"exec","argv":["no-such-program"],"timeout_ms":1000})");
  EXPECT_EQ(answer["errno"], ENOENT);
}

TEST(Commands, RunStopsAtTheFirstFailure) {
  const TemporaryFolder folder;
  const json request{
      {"id", 9},
      {"do", "run"},
      {"root", folder.path().string()},
      {"mark", ""},
      {"operations", {"create a", "write a 0 1000 1 1", "fsync a", "unlink b", "create c"}}};
  const auto messages = answer(request.dump());
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0], (json{{"event", "persisted"}, {"operation", 2}, {"id", 9}}));
  EXPECT_EQ(messages[1],
            (json{{"event", "failed"}, {"operation", 3}, {"errno", ENOENT}, {"id", 9}}));
  EXPECT_EQ(messages[2]["done"], 3);
  EXPECT_EQ(messages[2]["ok"], true);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "c"));

  const auto dumped =
      answer(json{{"id", 10}, {"do", "dump"}, {"root", folder.path().string()}}.dump());
  ASSERT_EQ(dumped.size(), 2U);
  EXPECT_EQ(dumped[0]["runs"], json::parse(R"([[0,2,"stamp",1,1]])"));
  EXPECT_EQ(dumped[1]["entries"], 1);
}

// The file system of the host's temporary directory may not support some operations (for example,
// tmpfs has no user attributes before Linux 6.6). These operations must be skipped and must not
// count as failed.
TEST(Commands, RunExecutesOrSkipsEveryOperation) {
  const TemporaryFolder folder;
  const std::vector<std::string> lines{"mkdir d",
                                       "create d/a",
                                       "write d/a 0 8192 1 1",
                                       "append d/a 8192 4096 1 2",
                                       "write-sync d/a 0 512 1 3",
                                       "write-dsync d/a 512 512 1 4",
                                       "write-direct d/a 4096 4096 1 5",
                                       "write-mapped d/a 8192 1000 1 6",
                                       "truncate d/a 10000",
                                       "truncate d/a 16384",
                                       "allocate d/a 16384 4096",
                                       "allocate-keep d/a 20480 4096",
                                       "punch d/a 0 4096",
                                       "zero d/a 4096 4096",
                                       "zero-keep d/a 20480 4096",
                                       "link d/a b",
                                       "symlink d/a s",
                                       "setxattr b user.x one",
                                       "removexattr b user.x",
                                       "setxattr d user.y two",
                                       "rename b c",
                                       "rename-exchange c s",
                                       "rename-noreplace c e",
                                       "fsync d/a",
                                       "fdatasync d/a",
                                       "fsyncdir .",
                                       "sync",
                                       "syncfs",
                                       "unlink e",
                                       "unlink s",
                                       "unlink d/a",
                                       "rmdir d"};
  const json request{{"id", 1},
                     {"do", "run"},
                     {"root", folder.path().string()},
                     {"mark", ""},
                     {"operations", lines}};
  const auto messages = answer(request.dump());
  EXPECT_EQ(messages.back()["done"], lines.size()) << json(messages).dump();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

json application(const std::vector<std::string>& lines) {
  json argvs = json::array();
  for (const std::string& line : lines) argvs.push_back({"sh", "-c", line});
  return {{"id", 5},
          {"do", "run-application"},
          {"commands", argvs},
          {"mark", ""},
          {"timeout_ms", 20000}};
}

TEST(Commands, ApplicationLinesBecomeEventsImmediately) {
  const TemporaryFolder folder;
  const std::string go = (folder.path() / "files/go").string();
  EXPECT_EQ(
      answer(json{{"id", 4}, {"do", "put"}, {"path", go}, {"text", "echo persisted $1; echo done"}}
                 .dump())
          .at(0)["ok"],
      true);
  const auto messages = answer(
      application({"sh " + go + " a", "sh " + go + " b; exit 3", "echo persisted c"}).dump());
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0], (json{{"event", "persisted"}, {"text", "a"}, {"id", 5}}));
  EXPECT_EQ(messages[1]["text"], "b");
  EXPECT_EQ(messages[2]["exit"], 3);
  EXPECT_EQ(messages[2]["done"], 1);
  EXPECT_EQ(messages[2]["stdout"], "persisted b\ndone\n");

  // The program exits only after the agent has delivered its first line. The test would hang if the
  // agent delivered lines only after the program's end.
  const std::string heard = (folder.path() / "heard").string();
  std::vector<json> events;
  const std::string line =
      application({"echo persisted x; while [ ! -e " + heard + " ]; do sleep 0.01; done"}).dump();
  answer_line({.text = line, .too_long = false}, [&](const json& message) {
    events.push_back(message);
    std::ofstream(heard) << "yes";
  });
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1]["exit"], 0);
}

TEST(Commands, ReportsEachCommandAsPersistedIfRequested) {
  json request = application({"true", "true", "false"});
  request["each_command_persists"] = true;
  const auto messages = answer(request.dump());
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[1]["text"], "command 1");
  EXPECT_EQ(messages[2]["done"], 2);
}

TEST(Commands, AnApplicationNeedsItsMarkDisk) {
  json request = application({"true"});
  request["mark"] = "/dev/no-such-disk";
  EXPECT_EQ(refused(request.dump())["errno"], ENOENT);
  request = application({"sleep 60"});
  request["timeout_ms"] = 50;
  EXPECT_EQ(answer(request.dump()).back()["timed_out"], true);
}

TEST(Commands, RunParsesEverythingBeforeItStarts) {
  const TemporaryFolder folder;
  const json request{{"id", 1},
                     {"do", "run"},
                     {"root", folder.path().string()},
                     {"mark", ""},
                     {"operations", {"create a", "frobnicate"}}};
  EXPECT_NE(refused(request.dump())["error"].get<std::string>().find("operation 1"),
            std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

json small_files(const std::filesystem::path& root, int phase) {
  return {{"id", 1},
          {"do", "timed"},
          {"workload", "lfs-small-file"},
          {"arguments", {{"files", 20}}},
          {"seed", "1234"},
          {"root", root},
          {"phase", phase}};
}

TEST(Commands, MeasuresATimedPhase) {
  const TemporaryFolder folder;
  EXPECT_EQ(answer(small_files(folder.path(), 0).dump()).at(0)["latency"], nullptr);
  const json created = answer(small_files(folder.path(), 1).dump()).at(0);
  EXPECT_EQ(created["ok"], true) << created;
  EXPECT_EQ(created["operations"], 20);
  EXPECT_EQ(created["operation"], "files");
  EXPECT_EQ(created["bytes_written"], 20 * 1024);
  EXPECT_EQ(created["bytes_read"], 0);
  EXPECT_EQ(created["latency"]["count"], 20);
  EXPECT_GT(created["elapsed_ns"], 0);
  EXPECT_GE(created["elapsed_ns"], created["latency"]["max_ns"]);
  EXPECT_FALSE(created.contains("error"));
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "d0/f19"), 1024U);

  const json again = answer(small_files(folder.path(), 1).dump()).at(0);
  EXPECT_EQ(again["ok"], true);
  EXPECT_EQ(again["errno"], EEXIST);
  EXPECT_EQ(again["error"], "create d0/f0: File exists");
}

TEST(Commands, RejectsAnInvalidTimedPhase) {
  const TemporaryFolder folder;
  EXPECT_NE(
      refused(small_files(folder.path(), 9).dump())["error"].get<std::string>().find("5 phases"),
      std::string::npos);
  for (const auto& [field, wrong] :
       std::vector<std::pair<std::string, json>>{{"workload", "lfs-small-flie"},
                                                 {"arguments", {{"flies", 3}}},
                                                 {"arguments", {{"files", -1}}},
                                                 {"arguments", {{"files", "many"}}},
                                                 {"seed", "1x"},
                                                 {"seed", ""},
                                                 {"phase", -1}}) {
    json request = small_files(folder.path(), 0);
    request[field] = wrong;
    refused(request.dump());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Commands, SettleRejectsInvalidDisks) {
  EXPECT_EQ(refused(R"({"id":1,"do":"settle","device":"no-such-disk"})")["errno"], ENOENT);
  EXPECT_EQ(refused(R"({"id":1,"do":"settle","device":"../block/vda"})")["errno"], EINVAL);
}

TEST(Commands, RunNeedsItsMarkDisk) {
  const json request{{"id", 1},
                     {"do", "run"},
                     {"root", "/tmp"},
                     {"mark", "/dev/no-such-disk"},
                     {"operations", {"sync"}}};
  EXPECT_EQ(refused(request.dump())["errno"], ENOENT);
}

}  // namespace
}  // namespace headcrash::guest
