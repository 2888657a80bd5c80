// Tests how control-socket requests are parsed, and the messages for rejected requests.
#include "plugin/stages/order.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headcrash::stages {
namespace {

std::string refusal_of(std::string_view line) {
  const auto order = parse_order(line);
  return order ? "accepted" : order.error().message();
}

TEST(StageOrder, ParsesALoadOfAState) {
  const auto order = parse_order(
      R"({"state":"load","stage":3,"recording":"/r/a.hcrec","id":"w12-4.7","record":"/r/b","machine":"raid5-5","faults":["dead:hd0.1"]})");
  ASSERT_TRUE(order);
  const auto& load = std::get<LoadOrder>(*order);
  EXPECT_EQ(load.stage, 3U);
  EXPECT_EQ(load.recording, "/r/a.hcrec");
  EXPECT_EQ(load.id, "w12-4.7");
  EXPECT_EQ(load.record, "/r/b");
  EXPECT_EQ(load.machine, "raid5-5");
  ASSERT_EQ(load.faults.size(), 1U);
  EXPECT_EQ(model::to_text(load.faults.front()), "dead:hd0.1");
}

TEST(StageOrder, ParsesALoadOfAnEmptyDisk) {
  const auto order = parse_order(R"({"state":"load","stage":0,"sectors":2048})");
  ASSERT_TRUE(order);
  EXPECT_FALSE(std::get<LoadOrder>(*order).recording);
  EXPECT_EQ(std::get<LoadOrder>(*order).sectors, 2048U);
  EXPECT_TRUE(std::get<LoadOrder>(*order).other_disks.empty());
  const auto two = parse_order(
      R"({"state":"load","stage":0,"sectors":2048,"other_disks":[["log",64],["hd1",32]]})");
  ASSERT_TRUE(two);
  EXPECT_EQ(std::get<LoadOrder>(*two).sectors, 2048U);
  const auto& others = std::get<LoadOrder>(*two).other_disks;
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others[0].name, "log");
  EXPECT_EQ(others[0].sectors, 64U);
  EXPECT_EQ(others[1].name, "hd1");
}

TEST(StageOrder, ParsesRequestsOtherThanLoads) {
  EXPECT_EQ(std::get<SealOrder>(*parse_order(R"({"state":"seal","stage":1})")).stage, 1U);
  EXPECT_EQ(std::get<StatusOrder>(*parse_order(R"({"state":"status","stage":2})")).stage, 2U);
  EXPECT_EQ(std::get<DigestOrder>(*parse_order(R"({"state":"digest","stage":3})")).stage, 3U);
  EXPECT_EQ(std::get<MarkOrder>(*parse_order(R"({"state":"mark","stage":0,"text":"a b"})")).text,
            "a b");
}

TEST(StageOrder, ErrorsNameTheKey) {
  const std::pair<const char*, const char*> table[] = {
      {"nonsense", "request: is not a JSON object"},
      {R"({"power":"cut"})", "is not supported by a server of crash states"},
      {R"({"state":"load"})", "stage: is missing"},
      {R"({"state":"load","stage":64,"sectors":8})",
       "stage: is missing or not an integer in range; use 0 to 63"},
      {R"({"state":"load","stage":-1,"sectors":8})", "stage: "},
      {R"({"state":"load","stage":0})", "recording: is missing"},
      {R"({"state":"load","stage":0,"recording":"a.hcrec","id":"w1"})", "is not an absolute path"},
      {R"({"state":"load","stage":0,"recording":"/a"})", "id: is missing"},
      {R"({"state":"load","stage":0,"recording":"/a","id":"x!!"})", "x"},
      {R"({"state":"load","stage":0,"sectors":0})", "sectors: must be at least 1"},
      {R"({"state":"load","stage":0,"sectors":18446744073709551615})", "sectors: "},
      {R"({"state":"load","stage":0,"sectors":8,"id":"w1"})", "id: unknown key"},
      {R"({"state":"load","stage":0,"sectors":8,"other_disks":[["log",0]]})",
       "other_disks: invalid size of log: 0 sectors"},
      {R"({"state":"load","stage":0,"sectors":8,"other_disks":[["log","8"]]})", "other_disks: "},
      {R"({"state":"load","stage":0,"sectors":8,"other_disks":[]})", "other_disks: is not a list"},
      {R"({"state":"load","stage":0,"sectors":8,"other_disks":[["hd9",8]]})",
       "other_disks: unknown disk \"hd9\""},
      {R"({"state":"load","stage":0,"sectors":8,"other_disks":[["hd1",8],["hd1",8]]})",
       "other_disks: names hd1 twice"},
      {R"({"state":"load","stage":0,"sectors":8,"other_disks":[["log",8]],"machine":"raid5-5"})",
       "other_disks: cannot be combined"},
      {R"({"state":"load","stage":0,"recording":"/a","id":"w1","other_disks":[["log",8]]})",
       "other_disks: unknown key"},
      {R"({"state":"load","stage":0,"recording":"/a","id":"w1","size":1})", "size: unknown key"},
      {R"({"state":"load","stage":0,"recording":"/a","id":"w1","used_disk":true})",
       "used_disk: unknown key"},
      {R"({"state":"load","stage":0,"sectors":8,"used_disk":1})", "used_disk: is not a boolean"},
      {R"({"state":"load","stage":0,"sectors":8,"used_disk":true,"machine":"raid5-5"})",
       "used_disk: cannot be"},
      {R"({"state":"load","stage":0,"sectors":8,"delay_us":5})", "delay_us: has no effect"},
      {R"({"state":"load","stage":0,"sectors":8,"record":"/a","delay_us":2000000})", "delay_us: "},
      {R"({"state":"load","stage":0,"sectors":8,"slow":[[0,8]],"slow_us":5})",
       "slow: has no effect"},
      {R"({"state":"load","stage":0,"sectors":8,"record":"/a","slow":[[0,8]]})",
       "slow: slow and slow_us are required together"},
      {R"({"state":"load","stage":0,"sectors":8,"record":"/a","slow":[[0]],"slow_us":5})",
       "slow: has an invalid range"},
      {R"({"state":"load","stage":0,"sectors":8,"record":"/a","slow":[[0,-1]],"slow_us":5})",
       "slow: has an invalid range"},
      {R"({"state":"load","stage":0,"sectors":8,"record":"/a","slow":7,"slow_us":5})",
       "slow: is not a list"},
      {R"({"state":"load","stage":0,"sectors":8,"faults":["dead:hd0"]})",
       "faults: require a machine"},
      {R"({"state":"load","stage":0,"sectors":8,"machine":"raid5-5","faults":"dead:hd0.1"})",
       "faults: is not a list"},
      {R"({"state":"load","stage":0,"sectors":8,"machine":"raid5-5","faults":[7]})",
       "faults: has an element that is not a string"},
      {R"({"state":"load","stage":0,"sectors":8,"machine":"raid5-5","faults":["odd:hd0.1"]})",
       "odd"},
      {R"({"state":"mark","stage":0,"text":""})", "text: has 0 bytes"},
      {R"({"state":"mark","stage":0,"text":"a\u0000b"})", "text: has 3 bytes or contains a NUL"},
      {R"({"state":"seal","stage":0,"text":"x"})", "text: unknown key"},
      {R"({"state":"eject","stage":0})", "unknown command \"eject\"; use load, seal"},
  };
  for (const auto& [line, words] : table)
    EXPECT_NE(refusal_of(line).find(words), std::string::npos)
        << line << " -> " << refusal_of(line);
}

TEST(StageOrder, RepliesWithOneLine) {
  auto server = StageServer::create({.stages = 2});
  ASSERT_TRUE(server);
  const auto ask = [&](std::string_view line) {
    return nlohmann::json::parse(answer(**server, line));
  };
  const auto refused = ask(R"({"state":"status","stage":2})");
  EXPECT_FALSE(refused["ok"]);
  EXPECT_NE(refused["error"].get<std::string>().find("this server has 2"), std::string::npos)
      << refused;
  const auto loaded = ask(R"({"state":"load","stage":1,"sectors":2048})");
  EXPECT_TRUE(loaded["ok"]);
  EXPECT_EQ(loaded["sectors"], 2048);
  EXPECT_EQ(loaded["nonce"].get<std::string>().size(), 16U);
  EXPECT_EQ(loaded["digest"].get<std::string>().size(), 16U);
  const auto status = ask(R"({"state":"status","stage":1})");
  EXPECT_EQ(status["nonce"], loaded["nonce"]);
  EXPECT_EQ(status["id"], "");
  EXPECT_TRUE(status["error"].is_null());
  EXPECT_EQ(ask(R"({"state":"digest","stage":1})")["digest"], loaded["digest"]);
  EXPECT_FALSE(ask(R"({"state":"digest","stage":0})")["ok"]) << "nothing was loaded there";
}

}  // namespace
}  // namespace headcrash::stages
