// blkparse's output for blktrace's binary traces, in its default form:
//
//   dev  cpu sequence time        pid action rwbs sector + sectors [process]
//   8,0    3        1 0.000000000  697  Q  WS 223490 + 8 [kjournald]
//
// Requests are the lines with action Q (queued), as in fio's replay; the other actions are later
// stages of the same requests. The summary at the end begins with a line for the first
// CPU.
#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

constexpr ParseError kLine{
    "is not a blkparse line",
    "expected: dev cpu sequence time pid action rwbs sector + sectors [process]"};
constexpr ParseError kSector{"the sector or the number of sectors is not a whole number",
                             "expected: sector + sectors, with 1 to 1048576 sectors"};

bool is_device(std::string_view word) {
  const CommaFields numbers(word);
  return numbers.count == 2 && number_of<std::uint32_t>(numbers[0], 0xffffffff) &&
         number_of<std::uint32_t>(numbers[1], 0xffffffff);
}

bool begins_summary(std::string_view word) {
  return word.starts_with("CPU") || word == "Total";
}

}  // namespace

std::optional<ParseError> parse_blkparse(std::string_view line, TraceLines& lines,
                                         TraceRequest& into) {
  Words words(line);
  const std::string_view name = words.next();
  if (begins_summary(name)) {
    lines.over = true;
    lines.skip_line();
    return std::nullopt;
  }
  if (!is_device(name) || !number_of<std::uint32_t>(words.next(), 0xffffffff) ||
      !number_of<std::uint64_t>(words.next(), kLbnMax))
    return kLine;
  if (const auto error = parse_arrival(words.next(), model::kSecondNs, into)) return error;
  words.next();  // pid
  const std::string_view action = words.next();
  const std::string_view letters = words.next();
  if (action.empty() || letters.empty()) return kLine;
  if (action != "Q") {
    lines.skip_line();
    return std::nullopt;
  }
  into.read = letters.find('R') != std::string_view::npos;
  const bool write = letters.find('W') != std::string_view::npos;
  if (letters.find('D') != std::string_view::npos) {
    lines.leave_out("discard");
    return std::nullopt;
  }
  const std::string_view sector = words.next();
  const bool no_sectors = sector.empty() || sector.starts_with('[');
  if (no_sectors || into.read == write) {
    lines.leave_out(letters.starts_with('F') ? "flush" : "other");
    return std::nullopt;
  }
  const auto lbn = number_of<std::uint64_t>(sector, kLbnMax);
  const bool plus = words.next() == "+";
  const auto blocks = number_of<std::uint32_t>(words.next(), kBlocksMax);
  if (!lbn || !plus || !blocks) return kSector;
  if (*blocks == 0) {
    lines.leave_out("flush");
    return std::nullopt;
  }
  const auto device = lines.volume(name);
  if (!device) return kTooManyVolumes;
  into.lbn = *lbn;
  into.blocks = *blocks;
  into.device = *device;
  return std::nullopt;
}

bool is_blkparse(std::string_view line) {
  Words words(line);
  const std::string_view device = words.next();
  if (!is_device(device) || !number_of<std::uint32_t>(words.next(), 0xffffffff) ||
      !number_of<std::uint64_t>(words.next(), kLbnMax) || !time_of(words.next(), model::kSecondNs))
    return false;
  words.next();
  const std::string_view action = words.next();
  return !action.empty() && action.size() <= 2 && !words.at_end();
}

}  // namespace headcrash::replay
