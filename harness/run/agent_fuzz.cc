// Fuzzes the agent's answers to each kind of request. An invalid answer may cause an error, but
// must not cause an exception.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/run/guest_session.h"
#include "harness/run/testing/pretended_guest.h"
#include "plugin/base/testing/fuzz.h"

namespace headcrash::run {
namespace {

// This many bytes fit in a socket's buffer, so the test can write them before there is a reader.
constexpr std::size_t kBytesMost = 64 << 10;

TEST(Fuzz, AgentsAnswers) {
  fuzz::Options options;
  options.name = "agents-answers";
  options.corpus = {
      R"({"id":1,"ok":true,"exit":0,"timed_out":false,"stdout":"a","stderr":"b","wall_ms":3})"
      "\n",
      R"({"id":1,"event":"persisted","operation":0})"
      "\n"
      R"({"id":1,"event":"failed","operation":0,"errno":28})"
      "\n"
      R"({"id":1,"ok":true,"done":1,"wall_ms":3})"
      "\n",
      R"({"id":1,"event":"entry","path":"a","type":"file","size":512,"links":1,"mode":420,"inode":7,)"
      R"("runs":[[0,1,"stamp",1,2],[1,1,"moved",1,2,3],[2,1,"other","5a"]],"attributes":{"user.a":"b"}})"
      "\n"
      R"({"id":1,"ok":true,"entries":1})"
      "\n",
      R"({"id":1,"event":"entries","entries":[{"path":"d","type":"directory","links":2}]})"
      "\n"
      R"({"id":1,"ok":true,"mounted":true,"entries":1,"mount_ms":1.5,"log":"","again":{"mounted":true}})"
      "\n",
      R"({"id":1,"ok":true,"bytes":4096,"nonce":"n","flush":"write back"})"
      "\n",
      R"({"id":1,"ok":false,"error":"no","errno":5})"
      "\n"};
  options.dictionary = {"\"id\":1", "\"ok\":true", "1e300",      "-1", "null",
                        "[]",       "{}",          "\"event\":", "\n"};
  fuzz::run(options, [](std::string_view input) {
    const std::string_view sent = input.substr(0, kBytesMost);
    std::uint64_t kind = 0;
    const auto ask = [&](auto&& question) {
      PretendedGuest pretended(sent);
      GuestSession session(pretended.guest(), std::chrono::seconds(5));
      const auto outcome = question(session);
      kind = kind * 31 + (outcome ? 1 : fuzz::novelty(outcome.error().problem));
    };
    const adapters::LinuxAdapter filesystem{.type = "ext4"};
    ask([](GuestSession& session) { return session.exec({"true"}); });
    ask([](GuestSession& session) {
      return session.run({workload::parse_operation("create a", "test").value()});
    });
    ask([](GuestSession& session) { return session.dump(); });
    ask([&](GuestSession& session) {
      return session.inspect(filesystem, {.again = true, .use = true});
    });
    ask([](GuestSession& session) { return session.verify_disks({.bytes = 4096, .nonce = "n"}); });
    return kind;
  });
}

}  // namespace
}  // namespace headcrash::run
