// Parses DiskSim's open traces. Also parses closed-loop traces, in which one request is in flight
// at a time. Their response times were measured on a drive.
#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

constexpr ParseError kLbn{"the block number is not a whole number",
                          "count blocks of 512 bytes from 0"};
constexpr ParseError kBlocks{"the number of blocks must be from 1 to 1048576",
                             "give the length in blocks of 512 bytes"};

constexpr const char* kMicroseconds = "use microseconds";

std::optional<ParseError> parse_extent(Words& words, TraceRequest& into) {
  const auto lbn = number_of<std::uint64_t>(words.next(), kLbnMax);
  if (!lbn) return kLbn;
  const auto blocks = number_of<std::uint32_t>(words.next(), kBlocksMax);
  if (!blocks || *blocks == 0) return kBlocks;
  into.lbn = *lbn;
  into.blocks = *blocks;
  return std::nullopt;
}

}  // namespace

std::optional<ParseError> parse_disksim_open(std::string_view line, TraceLines&,
                                             TraceRequest& into) {
  Words words(line);
  if (const auto error = parse_arrival(words.next(), model::kMillisecondNs, into)) return error;
  const auto device = number_of<std::uint16_t>(words.next(), 0xffff);
  if (!device) return ParseError{"the device is not a number", "use 0 for the first device"};
  if (const auto error = parse_extent(words, into)) return error;
  const auto flags = number_of<std::uint32_t>(words.next(), 0xffffffff);
  if (!flags) return ParseError{"the flags are not a number", "use 1 for a read and 0 for a write"};
  if (!words.at_end())
    return ParseError{"has too many fields", "expected: arrival_ms device lbn blocks flags"};
  into.device = *device;
  into.read = (*flags & 1U) != 0;
  return std::nullopt;
}

std::optional<ParseError> parse_disksim_closed(std::string_view line, TraceLines&,
                                               TraceRequest& into) {
  Words words(line);
  const std::string_view op = words.next();
  if (op != "R" && op != "W")
    return ParseError{"begins with neither R nor W", "use R for a read, W for a write"};
  into.read = op == "R";
  // Skips the field that says whether the traced drive had a cache hit, because the model
  // determines its own hits.
  words.next();
  if (const auto error = parse_extent(words, into)) return error;
  const auto measured = time_of(words.next(), model::kMicrosecondNs);
  if (measured.state == ParsedTime::State::too_large)
    return ParseError{"the measured time exceeds 292 years", kMicroseconds};
  if (!measured) return ParseError{"the measured time is not a number", kTimeHint};
  const auto think = time_of(words.next(), model::kMicrosecondNs);
  if (think.state == ParsedTime::State::too_large)
    return ParseError{"the think time exceeds 292 years", kMicroseconds};
  if (!think) return ParseError{"the think time is not a number", kTimeHint};
  if (!words.at_end())
    return ParseError{"has too many fields", "expected: R|W hint lbn blocks measured_us think_us"};
  into.measured_ns = measured.ns;
  into.wait_ns = think.ns;
  return std::nullopt;
}

}  // namespace headcrash::replay
