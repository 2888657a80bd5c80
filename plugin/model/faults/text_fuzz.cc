// Fuzzes the text forms used on command lines, in machine files and on the control socket.
#include <gtest/gtest.h>

#include <algorithm>

#include "plugin/base/testing/fuzz.h"
#include "plugin/model/core/machine.h"
#include "plugin/model/faults/faults.h"

namespace headcrash::model {
namespace {

TEST(Fuzz, Fault) {
  fuzz::Options options;
  options.name = "fault";
  options.corpus = {"latent-error:hd0,lba=4096+8",
                    "dead:hd0.1,after-ms=1.5",
                    "slow:log,delay-ms=30.25,times=2",
                    "torn-write:hd0,after=2",
                    "lost-write:hd0,lba=1",
                    "misdirected-write:hd0,lba=7+1,to=9",
                    "corrupted-write:hd0",
                    "lying-flush:hd0,times=1",
                    "slow:hd0,delay-ms=2,op=flush",
                    "write-error:hd0,data=c03b3998",
                    "flush-error:hd0,times=1",
                    "battery-low:hd0",
                    "battery-dead:hd0,after-ms=0.000001"};
  options.dictionary = {
      ":",      ",",         "=",         "+",     "lba=",          "after-ms=", "after=",
      "times=", "delay-ms=", ",to=",      "hd0",   "latent-error:", "slow:",     "lying-flush:",
      "dead:",  "1000000.5", "0.1234567", "data=", "op=",           "trim"};
  fuzz::run(options, [](std::string_view input) {
    const auto parsed = parse_fault(input);
    if (!parsed) {
      EXPECT_FALSE(parsed.error().subject.empty());
      EXPECT_FALSE(parsed.error().hint.empty());
      return fuzz::novelty(parsed.error().problem);
    }
    const std::string text = to_text(*parsed);
    const auto again = parse_fault(text);
    EXPECT_TRUE(again && *again == *parsed) << text;
    return fuzz::novelty(std::string_view(text).substr(0, text.find(':'))) +
           static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '='));
  });
}

TEST(Fuzz, CutTrigger) {
  fuzz::Options options;
  options.name = "cut-trigger";
  options.corpus = {"after-requests:2",
                    "after-writes:7",
                    "at-flush:1",
                    "at-lba:9",
                    "at-lba:hd0.3/4096",
                    "after-ms:12.5",
                    "after-mark:persisted 12+30"};
  options.dictionary = {"after-requests:",
                        "after-writes:",
                        "at-flush:",
                        "at-lba:",
                        "after-ms:",
                        "after-mark:",
                        "+",
                        ".",
                        "/"};
  fuzz::run(options, [](std::string_view input) {
    const auto parsed = parse_cut_trigger(input);
    if (parsed) {
      EXPECT_GE(parsed->delay_ns, 0);
      return std::uint64_t{1} + static_cast<std::uint64_t>(parsed->kind);
    }
    EXPECT_FALSE(parsed.error().hint.empty());
    return fuzz::novelty(parsed.error().problem);
  });
}

}  // namespace
}  // namespace headcrash::model
