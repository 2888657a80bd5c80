// Fuzzes the control socket (CONTROL.md). Every line must be either accepted as a command or
// rejected with an error that has a hint.
#include <gtest/gtest.h>

#include "plugin/base/testing/fuzz.h"
#include "plugin/servers/emulation/control.h"

namespace headcrash::emulation {
namespace {

TEST(Fuzz, ControlMessage) {
  fuzz::Options options;
  options.name = "control-message";
  options.corpus = {R"({"power":"cut"})",
                    R"({"power":"cut","when":"after-mark:persisted 12+30"})",
                    R"({"power":"cut","when":"at-lba:hd0.3/4096"})",
                    R"({"power":"disarm"})",
                    R"({"power":"on"})",
                    R"({"power":"status"})",
                    R"({"power":"wait-cut","timeout_ms":1000})",
                    R"({"clock":"off"})",
                    R"({"clock":"real:2.5"})",
                    R"({"mark":"persisted \u00e4 12"})",
                    R"({"stats":"read"})",
                    R"({"stats":"take"})",
                    R"({"fault":"add","spec":"lost-write:hd0,lba=4096+8"})",
                    R"({"fault":"clear","kind":"dead"})"};
  options.dictionary = {
      "{",        "}",         "[",          "]",          ":",       ",",       "\"",
      "\\u0000",  "null",      "true",       "\"power\"",  "\"on\"",  "\"cut\"", "\"when\"",
      "\"mark\"", "\"clock\"", "\"real:1\"", "\"stats\":", "{\"a\":", "\xff",    "\"timeout_ms\":"};
  fuzz::run(options, [](std::string_view line) {
    const auto command = parse_command(line);
    if (command) return static_cast<std::uint64_t>(command->index());
    EXPECT_FALSE(command.error().problem.empty());
    return fuzz::novelty(command.error().problem);
  });
}

}  // namespace
}  // namespace headcrash::emulation
