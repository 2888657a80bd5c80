// Tests how a session handles the agent's answers. An invalid answer must not cause an error of a
// kind that counts as a verdict on the file system.
#include "harness/run/guest_session.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "harness/run/testing/pretended_guest.h"

namespace headcrash::run {
namespace {

constexpr std::chrono::seconds kLimit{20};

/// Returns the kind of a failed request's error, or nullopt if the request succeeds.
std::optional<ErrorKind> kind_of(std::string_view answers, auto&& question) {
  PretendedGuest pretended(answers);
  GuestSession session(pretended.guest(), kLimit);
  const auto outcome = question(session);
  return outcome ? std::nullopt : std::optional(outcome.error().kind);
}

TEST(GuestSession, AFieldOfTheWrongTypeIsMalformed) {
  const auto exec = [](GuestSession& session) { return session.exec({"true"}); };
  EXPECT_EQ(
      kind_of(R"({"id":1,"ok":true,"exit":0,"timed_out":false,"stdout":"","stderr":"","wall_ms":1})"
              "\n",
              exec),
      std::nullopt);
  for (const char* answer :
       {R"({"id":1,"ok":"x"})", R"({"id":1,"ok":true,"exit":"0"})", R"({"id":1,"ok":true})",
        R"({"id":1,"ok":true,"exit":1e300,"timed_out":false,"stdout":"","stderr":""})"})
    EXPECT_EQ(kind_of(std::string(answer) + "\n", exec), ErrorKind::malformed) << answer;
}

TEST(GuestSession, AnUnknownFileSystemTypeIsUnsupported) {
  const std::string refusal = R"({"id":1,"ok":false,"error":"mount","errno":19)";
  const auto mount = [](GuestSession& session) {
    return session.mount(adapters::load_adapter("ext4").value());
  };
  EXPECT_EQ(kind_of(refusal + "}\n", mount), std::nullopt) << "a refusal is an answer";
  EXPECT_EQ(kind_of(refusal + R"(,"unknown_type":true})"
                              "\n",
                    mount),
            ErrorKind::unsupported);
}

TEST(GuestSession, AnInvalidEntryIsAHarnessError) {
  const auto dump = [](GuestSession& session) { return session.dump(); };
  const std::string end = R"({"id":1,"ok":true,"entries":1})"
                          "\n";
  const auto entry = [](const std::string& fields) {
    return R"({"id":1,"event":"entry","path":"a","type":"file",)" + fields + "}\n";
  };
  EXPECT_EQ(kind_of(entry(R"("size":0,"links":1)") + end, dump), std::nullopt);
  for (const char* fields : {R"("links":4294967296)", R"("links":1e300)", R"("mode":-1)",
                             R"("user":1.5)", R"("errno":-5)", R"("runs":[[0,1,"stamp",1e300,1]])",
                             R"("runs":[[0,1,"moved",1,1,-1]])", R"("modified":1e300)"})
    EXPECT_EQ(kind_of(entry(fields) + end, dump), ErrorKind::other) << fields;
  EXPECT_EQ(kind_of(end, dump), ErrorKind::other) << "fewer entries than announced";
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
    EXPECT_EQ(kind_of(answers("write back"), verify),
              through ? std::optional(ErrorKind::other) : std::nullopt);
    EXPECT_EQ(kind_of(answers("write through"), verify),
              through ? std::nullopt : std::optional(ErrorKind::other));
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

TEST(GuestSession, OnlyAHarnessErrorSuggestsInstallingATool) {
  const adapters::LinuxAdapter filesystem = adapters::load_adapter("ext4").value();
  for (const auto& [kind, suggests] : {std::pair{ErrorKind::refused, true},
                                       {ErrorKind::timeout, false},
                                       {ErrorKind::guest_died, false}}) {
    const auto outcome = with_tool_remedy(Result<void>(stop(kind, "no answer")), filesystem);
    EXPECT_EQ(!outcome.error().hint.empty(), suggests) << kErrorKinds[kind];
  }
}

/// The daemon may die before the file system is mounted, although the mount command has succeeded.
TEST(GuestSession, FailsIfAMountCommandLeavesNothingMounted) {
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

TEST(GuestSession, LimitsTheNumberOfEvents) {
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
