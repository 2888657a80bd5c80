// Tencent's traces of cloud block storage (Zhang et al., USENIX ATC 2020; SNIA IOTTA):
//
//   Timestamp,Offset,Size,IOType,VolumeID
//   1538323200,12910952,128,0,1063
//
// Time is in seconds since 1970; offset and size are in blocks of 512 bytes; type 0 is a read, 1 a
// write. A line of five numbers is ambiguous, so this format is never recognised automatically.
#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

constexpr std::size_t kTencentFields = 5;

}  // namespace

std::optional<ParseError> parse_tencent(std::string_view line, TraceLines& lines,
                                        TraceRequest& into) {
  const CommaFields fields(line);
  if (fields.count != kTencentFields)
    return ParseError{"does not have 5 fields", "expected: Timestamp,Offset,Size,IOType,VolumeID"};
  if (const auto error = parse_arrival(fields[0], model::kSecondNs, into)) return error;
  const auto lbn = number_of<std::uint64_t>(fields[1], kLbnMax);
  if (!lbn)
    return ParseError{"the offset is not a whole number", "count blocks of 512 bytes from 0"};
  const auto blocks = number_of<std::uint32_t>(fields[2], kBlocksMax);
  if (!blocks || *blocks == 0)
    return ParseError{"the size must be from 1 to 1048576 blocks",
                      "give the length in blocks of 512 bytes"};
  into.lbn = *lbn;
  into.blocks = *blocks;
  into.read = fields[3] == "0";
  if (!into.read && fields[3] != "1")
    return ParseError{"the type is neither 0 nor 1", "use 0 for a read, 1 for a write"};
  if (!number_of<std::uint64_t>(fields[4], kLbnMax))
    return ParseError{"the volume is not a number", "the last field is the volume number"};
  const auto device = lines.volume(fields[4]);
  if (!device) return kTooManyVolumes;
  into.device = *device;
  return std::nullopt;
}

}  // namespace headcrash::replay
