// Fuzzes requests to a crash-state server. Every input must be either a valid request or rejected
// with an error that describes the problem.
#include <gtest/gtest.h>

#include "plugin/base/testing/fuzz.h"
#include "plugin/stages/order.h"

namespace headcrash::stages {
namespace {

TEST(Fuzz, StageOrder) {
  fuzz::Options options;
  options.name = "stage-order";
  options.corpus = {
      R"({"state":"load","stage":0,"recording":"/a/b.hcrec","id":"w12-3.4"})",
      R"({"state":"load","stage":1,"sectors":8192,"record":"/a/new"})",
      R"({"state":"load","stage":1,"sectors":8192,"other_disks":[["log",64],["hd1",8]]})",
      R"({"state":"load","stage":1,"recording":"/a","id":"p7","machine":"raid5-5","faults":["dead:hd0.1"]})",
      R"({"state":"seal","stage":0})",
      R"({"state":"mark","stage":2,"text":"persisted \u00e4 12"})",
      R"({"state":"status","stage":63})",
      R"({"state":"digest","stage":0})"};
  options.dictionary = {
      "{",          "}",        "[",          "]",           ":",    ",",       "\"state\"",
      "\"stage\":", "\"load\"", "\"record\"", "\\u0000",     "null", "\"id\":", "\"w1+2~3:1\"",
      "\xff",       "-1",       "1e3",        "\"sectors\":"};
  fuzz::run(options, [](std::string_view line) {
    const auto order = parse_order(line);
    if (order) return static_cast<std::uint64_t>(order->index());
    EXPECT_FALSE(order.error().problem.empty());
    return fuzz::novelty(order.error().problem);
  });
}

}  // namespace
}  // namespace headcrash::stages
