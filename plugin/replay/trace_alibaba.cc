// Alibaba Cloud's block traces (Li et al., IISWC 2020):
//
//   device_id,opcode,offset,length,timestamp
//   419,W,8792731648,16384,1577808000000041
//
// Offset and length are in bytes, and the timestamp is in microseconds since 1970.
#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

constexpr std::size_t kAlibabaFields = 5;

}  // namespace

std::optional<ParseError> parse_alibaba(std::string_view line, TraceLines& lines,
                                        TraceRequest& into) {
  const CommaFields fields(line);
  if (fields.count != kAlibabaFields)
    return ParseError{"does not have 5 fields",
                      "expected: device_id,opcode,offset,length,timestamp"};
  if (!number_of<std::uint64_t>(fields[0], kLbnMax))
    return ParseError{"the device is not a number", "the first field is the device number"};
  const auto device = lines.volume(fields[0]);
  if (!device) return kTooManyVolumes;
  into.device = *device;
  into.read = fields[1] == "R";
  if (!into.read && fields[1] != "W")
    return ParseError{"the opcode is neither R nor W", "use R for a read, W for a write"};
  if (!blocks_of_bytes(fields[2], fields[3], into)) return kBytes;
  return parse_arrival(fields[4], model::kMicrosecondNs, into);
}

bool is_alibaba(std::string_view line) {
  const CommaFields fields(line);
  return fields.count == kAlibabaFields && (fields[1] == "R" || fields[1] == "W") &&
         number_of<std::uint64_t>(fields[0], kLbnMax) &&
         number_of<std::uint64_t>(fields[2], kLbnMax) &&
         number_of<std::uint64_t>(fields[3], kLbnMax) && time_of(fields[4], model::kMicrosecondNs);
}

}  // namespace headcrash::replay
