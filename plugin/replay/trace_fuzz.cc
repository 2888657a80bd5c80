// Fuzzes the parsers of trace lines: no line may crash them, and accepted lines must be valid
// requests.
#include <gtest/gtest.h>

#include "plugin/base/testing/fuzz.h"
#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

std::uint64_t parse_all(const TraceFormatRow& row, std::string_view text) {
  TraceLines lines;
  TraceRequest before;
  std::uint64_t seen = 0;
  while (!text.empty() && !lines.over) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    TraceRequest request;
    lines.holds_request = true;
    if (const auto error = row.parse(line, lines, request)) {
      EXPECT_NE(*error->hint, '\0');
      return seen + fuzz::novelty(error->problem);
    }
    lines.first = false;
    if (!lines.holds_request) continue;
    EXPECT_GE(request.wait_ns, 0);
    EXPECT_GE(request.blocks, 1U);
    EXPECT_LE(request.blocks, kBlocksMax + 1);
    EXPECT_LE(request.lbn, kLbnMax);
    before = request;
    lines.before = &before;
    seen += 1 + (request.read ? 2 : 0);
  }
  return seen + (lines.over ? 1 : 0) + lines.left_out.size();
}

TEST(Fuzz, TraceLines) {
  fuzz::Options options;
  options.name = "trace";
  options.corpus = {"62.687285 0 1777192 8 1\n138.7 1 2 16 0\n",
                    "R Miss 564347 2 14095.370 13876.270\nW Hit 25805 43 0.0 20296.786638\n",
                    "128166372003061629,hm,1,Read,383496192,32768,56557\n",
                    "0,303567,3584,w,0.000000\n1,55590,3072,R,0.026214,more\n",
                    "419,W,8792731648,16384,1577808000000041\n",
                    "1538323200,12910952,128,0,1063\n",
                    "8,0 3 1 5.000000100 697 Q WS 223490 + 8 [kjournald]\nCPU0 (sda):\n",
                    "fio version 2 iolog\n/f add\n/f write 0 4096\n/f wait 1000 0\n/f sync 0 0\n",
                    "fio version 3 iolog\n16 /f add\n285 /f write 0 4096\n300 /f trim 0 512\n"};
  options.dictionary = {
      ",",    ".",     "\n",   "Read", "Write", "Q",  "+",       "fio version 2 iolog",
      "wait", "trim",  "CPU0", "8,0",  "-1",    "1e", "\r",      "9223372036854775807",
      "0.5",  "close", "FWS",  "[x]",  "#",     " ",  "1048577", "18446744073709551616"};
  fuzz::run(options, [](std::string_view input) {
    std::uint64_t seen = recognise_trace(input) ? 1 : 0;
    for (const TraceFormatRow& row : trace_formats()) seen = seen * 31 + parse_all(row, input);
    return seen;
  });
}

}  // namespace
}  // namespace headcrash::replay
