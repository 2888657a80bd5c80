// Tests messages from an agent that is damaged or has a different version.
#include "harness/vm/agent_message.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace headcrash::vm {
namespace {

using nlohmann::json;

bool passes(const char* text) {
  json message = json::parse(text);
  return check_message(message).has_value();
}

TEST(AgentMessage, AcceptsAnswersAndEventsOfTheProtocol) {
  for (
      const char* text :
      {R"({"id":1,"ok":true})", R"({"id":null,"ok":false,"error":"no","errno":28})",
       R"({"id":2,"ok":true,"exit":-1,"timed_out":false,"stdout":"","stderr":"","wall_ms":3})",
       R"({"id":2,"ok":true,"mounted":true,"mount_ms":1.5,"entries":3,"again":{"mounted":true,"difference":""}})",
       R"({"id":3,"event":"persisted","operation":7})",
       R"({"id":3,"event":"persisted","text":"key 1"})",
       R"({"id":3,"event":"partial","operation":7,"errno":28})",
       R"({"id":3,"event":"entries","entries":[{}]})",
       R"({"id":3,"event":"entry","path":"a","anything":[1,2]})",
       R"({"id":4,"ok":true,"latency":null,"layout":{"files":1,"blocks":2,"pieces":1}})"})
    EXPECT_TRUE(passes(text)) << text;
}

TEST(AgentMessage, RejectsWrongTypesAndRanges) {
  for (const char* text : {R"([])",
                           R"("ok")",
                           R"({"id":1})",
                           R"({"id":1,"ok":"x"})",
                           R"({"id":[1],"ok":true})",
                           R"({"id":1,"ok":true,"exit":1e300})",
                           R"({"id":1,"ok":true,"exit":2147483648})",
                           R"({"id":1,"ok":true,"done":-1})",
                           R"({"id":1,"ok":true,"entries":[]})",
                           R"({"id":1,"ok":true,"bytes":18446744073709551615})",
                           R"({"id":1,"ok":true,"stdout":7})",
                           R"({"id":1,"ok":true,"wall_ms":-1})",
                           R"({"id":1,"ok":true,"mounted":1})",
                           R"({"id":1,"ok":true,"again":[]})",
                           R"({"id":1,"ok":true,"again":{"mounted":"yes"}})",
                           R"({"id":1,"ok":true,"latency":{"count":1}})",
                           R"({"id":1,"ok":true,"disk":{"reads":"1"}})",
                           R"({"id":1,"event":7})",
                           R"({"id":1,"event":"failed","operation":1.5,"errno":5})",
                           R"({"id":1,"event":"failed","errno":5})",
                           R"({"id":1,"event":"skipped","operation":1})",
                           R"({"id":1,"event":"entries","entries":{}})",
                           R"({"id":{},"event":"entry"})"})
    EXPECT_FALSE(passes(text)) << text;
}

TEST(AgentMessage, RemovesUnknownFields) {
  json message{{"id", 1}, {"ok", true}, {"colour", json::array({1})}, {"again", {{"shape", 1}}}};
  ASSERT_TRUE(check_message(message));
  EXPECT_EQ(message, (json{{"id", 1}, {"ok", true}, {"again", json::object()}}));
}

TEST(AgentMessage, RejectsAnswersWithoutRequiredFields) {
  EXPECT_TRUE(check_answer("inspect", {{"ok", true}, {"mounted", false}}));
  EXPECT_FALSE(check_answer("inspect", {{"ok", true}})) << "the field `mounted` is missing";
  EXPECT_FALSE(
      check_answer("exec", {{"ok", true}, {"timed_out", false}, {"stdout", ""}, {"stderr", ""}}));
  EXPECT_TRUE(check_answer("unmount", {{"ok", true}}));
}

}  // namespace
}  // namespace headcrash::vm
