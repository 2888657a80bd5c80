// Traces in the Storage Performance Council's format (SPC Trace File Format Specification 1.0.1;
// the UMass repository's Financial and WebSearch traces):
//
//   ASU,LBA,Size,Opcode,Timestamp[,more]
//   0,20941264,8192,W,0.551706
//
// LBA counts blocks of 512 bytes; size is in bytes, time in seconds. Each ASU is a volume.
#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

constexpr std::size_t kSpcFields = 5;

bool is_read(std::string_view opcode) {
  return opcode == "R" || opcode == "r";
}
bool is_write(std::string_view opcode) {
  return opcode == "W" || opcode == "w";
}

}  // namespace

std::optional<ParseError> parse_spc(std::string_view line, TraceLines& lines, TraceRequest& into) {
  const CommaFields fields(line);
  if (fields.count < kSpcFields)
    return ParseError{"has fewer than 5 fields", "expected: ASU,LBA,Size,Opcode,Timestamp"};
  if (!number_of<std::uint64_t>(fields[0], kLbnMax))
    return ParseError{"the ASU is not a number", "the first field is the volume number"};
  const auto device = lines.volume(fields[0]);
  if (!device) return kTooManyVolumes;
  into.device = *device;
  const auto lbn = number_of<std::uint64_t>(fields[1], kLbnMax);
  if (!lbn) return ParseError{"the LBA is not a whole number", "count blocks of 512 bytes from 0"};
  if (!blocks_of_bytes("0", fields[2], into)) return kBytes;
  into.lbn = *lbn;
  into.read = is_read(fields[3]);
  if (!into.read && !is_write(fields[3]))
    return ParseError{"the opcode is neither R nor W", "use R for a read, W for a write"};
  return parse_arrival(fields[4], model::kSecondNs, into);
}

bool is_spc(std::string_view line) {
  const CommaFields fields(line);
  return fields.count >= kSpcFields && (is_read(fields[3]) || is_write(fields[3])) &&
         number_of<std::uint64_t>(fields[0], kLbnMax) &&
         number_of<std::uint64_t>(fields[1], kLbnMax) &&
         number_of<std::uint64_t>(fields[2], kLbnMax) && time_of(fields[4], model::kSecondNs);
}

}  // namespace headcrash::replay
