// fio's I/O logs, as written by write_iolog and read by read_iolog:
//
//   fio version 2 iolog                fio version 3 iolog
//   /dev/sda add                       16 /dev/sda add
//   /dev/sda open                      281 /dev/sda open
//   /dev/sda write 0 4096              285 /dev/sda write 0 4096
//   /dev/sda wait 1000 0               250239 /dev/sda write 4096 4096
//   /dev/sda close                     250301 /dev/sda close
//
// Offsets and lengths are in bytes, times in microseconds. Version 2 has no arrival times: each
// request follows the previous one after the waits between them (fio ignores waits below 100 us).
// Each file named in a log is treated as a volume.
#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

constexpr TimeNs kWaitMinNs = 100 * model::kMicrosecondNs;
constexpr std::string_view kVersion2 = "fio version 2 iolog";
constexpr std::string_view kVersion3 = "fio version 3 iolog";

bool is_trimmed(std::string_view line, std::string_view text) {
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line == text;
}

bool is_of_files(std::string_view action) {
  return action == "add" || action == "open" || action == "close";
}

/// Parses the wait in a version 2 line, and adds it to the think time of the preceding request.
/// Waits below kWaitMinNs are ignored.
std::optional<ParseError> parse_wait(Words& words, TraceLines& lines) {
  const ParsedTime wait = time_of(words.next(), model::kMicrosecondNs);
  if (!wait) return ParseError{"the wait time is not a number", "use microseconds"};
  lines.skip_line();
  if (wait.ns < kWaitMinNs || lines.before == nullptr) return std::nullopt;
  if (wait.ns > std::numeric_limits<TimeNs>::max() - lines.before->wait_ns)
    return ParseError{"waits for more than 292 years", "use microseconds"};
  lines.before->wait_ns += wait.ns;
  return std::nullopt;
}

/// Parses the fields after the time, in either version of the format.
std::optional<ParseError> parse_action(Words& words, bool may_wait, TraceLines& lines,
                                       TraceRequest& into) {
  const std::string_view file = words.next();
  const std::string_view action = words.next();
  if (is_of_files(action)) {
    lines.skip_line();
    return std::nullopt;
  }
  if (action == "wait" && may_wait) return parse_wait(words, lines);
  if (action == "sync" || action == "datasync" || action == "trim") {
    lines.leave_out(action);
    return std::nullopt;
  }
  into.read = action == "read";
  if (!into.read && action != "write")
    return ParseError{"has an unknown action",
                      "use read, write, sync, datasync, trim, add, open and close, "
                      "and in version 2 wait"};
  const std::string_view offset = words.next();
  if (!blocks_of_bytes(offset, words.next(), into)) return kBytes;
  if (!words.at_end())
    return ParseError{"has too many fields", "expected: FILE ACTION OFFSET LENGTH"};
  const auto device = lines.volume(file);
  if (!device) return kTooManyVolumes;
  into.device = *device;
  return std::nullopt;
}

}  // namespace

std::optional<ParseError> parse_fio2(std::string_view line, TraceLines& lines, TraceRequest& into) {
  if (lines.first) {
    lines.skip_line();
    if (is_fio2(line)) return std::nullopt;
    return ParseError{"is not \"fio version 2 iolog\"", "begin the file with that line"};
  }
  Words words(line);
  return parse_action(words, true, lines, into);
}

std::optional<ParseError> parse_fio3(std::string_view line, TraceLines& lines, TraceRequest& into) {
  if (lines.first) {
    lines.skip_line();
    if (is_fio3(line)) return std::nullopt;
    return ParseError{"is not \"fio version 3 iolog\"", "begin the file with that line"};
  }
  Words words(line);
  if (const auto error = parse_arrival(words.next(), model::kMicrosecondNs, into)) return error;
  return parse_action(words, false, lines, into);
}

bool is_fio2(std::string_view line) {
  return is_trimmed(line, kVersion2);
}
bool is_fio3(std::string_view line) {
  return is_trimmed(line, kVersion3);
}

}  // namespace headcrash::replay
