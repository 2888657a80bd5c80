// Tests how a session handles answers of the agent. Each invalid answer must be a harness error,
// not another verdict.
#include "harness/run/guest_session.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/run/testing/pretended_guest.h"

namespace headcrash::run {
namespace {

using oracle::Verdict;

constexpr std::chrono::seconds kLimit{20};

/// Returns the verdict with which a request ends, or `clean` if the request was answered.
Verdict verdict_of(std::string_view answers, auto&& question) {
  PretendedGuest pretended(answers);
  GuestSession session(pretended.guest(), kLimit);
  const auto outcome = question(session);
  return outcome ? Verdict::clean : outcome.error().verdict;
}

TEST(GuestSession, AWrongTypeIsALaboratoryError) {
  const auto exec = [](GuestSession& session) { return session.exec({"true"}); };
  EXPECT_EQ(
      verdict_of(
          R"({"id":1,"ok":true,"exit":0,"timed_out":false,"stdout":"","stderr":"","wall_ms":1})"
          "\n",
          exec),
      Verdict::clean);
  for (const char* answer :
       {R"({"id":1,"ok":"x"})", R"({"id":1,"ok":true,"exit":"0"})", R"({"id":1,"ok":true})",
        R"({"id":1,"ok":true,"exit":1e300,"timed_out":false,"stdout":"","stderr":""})"})
    EXPECT_EQ(verdict_of(std::string(answer) + "\n", exec), Verdict::harness_error) << answer;
}

TEST(GuestSession, AnUnknownFileSystemTypeIsALaboratoryError) {
  const std::string refusal = R"({"id":1,"ok":false,"error":"mount","errno":19)";
  const auto mount = [](GuestSession& session) {
    return session.mount(adapters::load_adapter("ext4").value());
  };
  EXPECT_EQ(verdict_of(refusal + "}\n", mount), Verdict::clean) << "a refusal is an answer";
  EXPECT_EQ(verdict_of(refusal + R"(,"unknown_type":true})"
                                 "\n",
                       mount),
            Verdict::harness_error);
}

TEST(GuestSession, AnInvalidEntryIsALaboratoryError) {
  const auto dump = [](GuestSession& session) { return session.dump(); };
  const std::string end = R"({"id":1,"ok":true,"entries":1})"
                          "\n";
  const auto entry = [](const std::string& fields) {
    return R"({"id":1,"event":"entry","path":"a","type":"file",)" + fields + "}\n";
  };
  EXPECT_EQ(verdict_of(entry(R"("size":0,"links":1)") + end, dump), Verdict::clean);
  for (const char* fields : {R"("links":4294967296)", R"("links":1e300)", R"("mode":-1)",
                             R"("user":1.5)", R"("errno":-5)", R"("runs":[[0,1,"stamp",1e300,1]])",
                             R"("runs":[[0,1,"moved",1,1,-1]])", R"("modified":1e300)"})
    EXPECT_EQ(verdict_of(entry(fields) + end, dump), Verdict::harness_error) << fields;
  EXPECT_EQ(verdict_of(end, dump), Verdict::harness_error) << "fewer entries than announced";
}

TEST(GuestSession, RejectsADiskInWriteThroughMode) {
  const auto answers = [](const std::string& flush) {
    std::string text;
    for (const char* id : {"1", "2"})
      text += std::string(R"({"ok":true,"bytes":4096,"nonce":"n","id":)") + id + R"(,"flush":")" +
              flush + "\"}\n";
    return text;
  };
  for (const bool through : {false, true}) {
    const auto verify = [&](GuestSession& session) {
      return session.verify_disks({.bytes = 4096, .nonce = "n", .write_through = through});
    };
    EXPECT_EQ(verdict_of(answers("write back"), verify),
              through ? Verdict::harness_error : Verdict::clean);
    EXPECT_EQ(verdict_of(answers("write through"), verify),
              through ? Verdict::clean : Verdict::harness_error);
  }
}

TEST(GuestSession, NamesTheFailedOperationAndItsError) {
  PretendedGuest pretended(R"({"id":1,"event":"failed","operation":0,"errno":28})"
                           "\n"
                           R"({"id":1,"ok":true,"done":0})"
                           "\n");
  GuestSession session(pretended.guest(), kLimit);
  const auto outcome = session.run({workload::parse_operation("create a", "test").value()});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->failure.value_or(""),
            "operation 0 (create a) failed: No space left on device (ENOSPC)");
}

/// The daemon may die after the mount command has exited.
TEST(GuestSession, AMountCommandMustMount) {
  const adapters::LinuxAdapter filesystem{.type = "fuseblk",
                                          .mount = {.argv = {"mount.mine"}, .good_exits = {0}}};
  for (const auto& [first, second, mounted] :
       {std::tuple{0, 0, true}, std::tuple{0, 1, false}, std::tuple{1, 0, false}}) {
    const auto answer = [](int id, int exit) {
      return R"({"ok":true,"timed_out":false,"stdout":"no space","stderr":"","id":)" +
             std::to_string(id) + R"(,"exit":)" + std::to_string(exit) + "}\n";
    };
    PretendedGuest pretended(answer(1, first) + answer(2, second));
    GuestSession session(pretended.guest(), kLimit);
    std::string why;
    const auto outcome = session.mount(filesystem, &why);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(*outcome, mounted) << first << second;
    EXPECT_EQ(why.find("no space") != std::string::npos, !mounted) << why;
  }
}

TEST(GuestSession, BoundsAFloodOfEvents) {
  std::string flood;
  for (int i = 0; i < 500; ++i)
    flood += R"({"id":1,"event":"skipped","operation":0,"errno":95})"
             "\n";
  PretendedGuest pretended(flood + R"({"id":1,"ok":true,"done":1})"
                                   "\n");
  GuestSession session(pretended.guest(), kLimit);
  const auto outcome = session.run({workload::parse_operation("create a", "test").value()});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->failed_operations.size(), 1U);
}

}  // namespace
}  // namespace headcrash::run
