// Microsoft Research Cambridge's server traces (Narayanan et al., FAST 2008; SNIA IOTTA):
//
//   Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime
//   128166372003061629,hm,1,Read,383496192,32768,56557
//
// Times are in Windows ticks of 100 ns. Arrivals count from 1601. Offset and size are in bytes.
#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

constexpr std::uint64_t kTicksUntil1970 = 116'444'736'000'000'000;
constexpr TimeNs kTickNs = 100;
constexpr std::uint64_t kTicksMax = std::numeric_limits<TimeNs>::max() / kTickNs;
constexpr std::size_t kMsrFields = 7;

}  // namespace

std::optional<ParseError> parse_msr(std::string_view line, TraceLines& lines, TraceRequest& into) {
  const CommaFields fields(line);
  if (fields.count != kMsrFields)
    return ParseError{"does not have 7 fields",
                      "expected: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime"};
  auto ticks = number_of<std::uint64_t>(fields[0], std::numeric_limits<std::uint64_t>::max());
  if (!ticks)
    return ParseError{"the arrival time is not a number", "use ticks of 100 ns since 1601"};
  if (*ticks >= kTicksUntil1970) *ticks -= kTicksUntil1970;
  if (*ticks > kTicksMax)
    return ParseError{"the arrival time is beyond the year 2262", "use ticks of 100 ns since 1601"};
  into.wait_ns = static_cast<TimeNs>(*ticks) * kTickNs;
  if (!number_of<std::uint64_t>(fields[2], kLbnMax))
    return ParseError{"the disk number is not a number", "count the disks of a host from 0"};
  const auto device = lines.volume(std::string(fields[1]) + "," + std::string(fields[2]));
  if (!device) return kTooManyVolumes;
  into.device = *device;
  into.read = fields[3] == "Read";
  if (!into.read && fields[3] != "Write")
    return ParseError{"the type is neither Read nor Write",
                      "use Read or Write as the fourth field"};
  if (!blocks_of_bytes(fields[4], fields[5], into)) return kBytes;
  const auto measured = number_of<std::uint64_t>(fields[6], kTicksMax);
  if (!measured) return ParseError{"the response time is not a number", "use ticks of 100 ns"};
  into.measured_ns = static_cast<TimeNs>(*measured) * kTickNs;
  return std::nullopt;
}

bool is_msr(std::string_view line) {
  const CommaFields fields(line);
  return fields.count == kMsrFields && (fields[3] == "Read" || fields[3] == "Write") &&
         number_of<std::uint64_t>(fields[0], std::numeric_limits<std::uint64_t>::max());
}

}  // namespace headcrash::replay
