// Parses the lines of the kernel's `trace` file (block_trace_text.h). TP_printk() in
// include/trace/events/block.h defines the fields of an event. Newer kernels add fields after the
// number of sectors.
#include "harness/explorer/guests/block_trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "plugin/base/printable.h"
#include "plugin/model/core/device.h"

namespace headcrash::explorer {
namespace {

constexpr std::size_t kLineShownBytes = 120;
/// Numbers above these limits are not valid positions on a disk.
constexpr std::uint64_t kSectorsMost = 1 << 30, kBlockMost = std::uint64_t{1} << 48;
constexpr std::string_view kFrame = " => ";
constexpr std::string_view kStackTrace = "<stack trace>";
constexpr std::string_view kEntries = "# entries-in-buffer/entries-written: ";

/// The part of a line before the event: "TASK-PID  [CPU] FLAGS NUMBER:".
struct EventOrigin {
  std::string_view thread;  ///< TASK-PID
  std::string_view task;
};

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

template <typename Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Splits off the text before the next blank.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

/// Parses the part of a line before the event, and removes it from `line`. The number of the
/// processor, in brackets, follows the task's name and process id. Because a task's name may
/// contain any characters, each opening bracket is tried, from left to right.
std::optional<EventOrigin> take_origin(std::string_view& line) {
  for (std::size_t at = line.find(" ["); at != std::string_view::npos;
       at = line.find(" [", at + 1)) {
    const std::size_t end = line.find("] ", at);
    if (end == std::string_view::npos || !is_digits(line.substr(at + 2, end - at - 2))) continue;
    const std::string_view thread = without_blanks(line.substr(0, at));
    const std::size_t dash = thread.rfind('-');
    if (dash == std::string_view::npos || !is_digits(thread.substr(dash + 1))) continue;
    const std::size_t colon = line.find(": ", end);
    if (colon == std::string_view::npos) return std::nullopt;
    line.remove_prefix(colon + 2);
    return EventOrigin{thread, thread.substr(0, dash)};
  }
  return std::nullopt;
}

/// Parses the letters with which the kernel describes an operation (blk_fill_rwbs()). An F before
/// the operation requests a flush before it. The operation is W, D, N, Z or F. An F after the
/// operation means FUA; other letters are ignored. Returns false for an operation without effect.
bool parse_letters(std::string_view letters, BlockEvent& event) {
  if (letters.starts_with("F") && letters.size() > 1) {
    event.preflush = true;
    letters.remove_prefix(1);
  }
  if (letters.empty()) return false;
  const char op = letters.front();
  letters.remove_prefix(1);
  if (op == 'W' && letters.starts_with("Z")) {
    event.op = BlockEvent::Op::zero;
  } else if (op == 'W') {
    event.op = BlockEvent::Op::write;
  } else if (op == 'D') {
    event.op = BlockEvent::Op::trim;
  } else if (op == 'N' || op == 'Z') {
    event.op = BlockEvent::Op::zero;
  } else if (op == 'F') {
    event.op = BlockEvent::Op::flush;
  } else {
    return false;
  }
  event.fua = letters.find('F') != std::string_view::npos;
  return true;
}

/// Parses "254,0 WS 8236 + 8 [task]" and, for an issued request, "254,0 WS 4096 () 8236 + 8 ...".
/// Returns false if the text is damaged; `has_effect` is false for reads.
bool parse_request(std::string_view fields, BlockEvent& event, bool& has_effect) {
  event.device = take_word(fields);
  has_effect = parse_letters(take_word(fields), event);
  const std::size_t plus = fields.find(" + ");
  if (plus == std::string_view::npos) return false;
  std::string_view before = without_blanks(fields.substr(0, plus));
  before = before.substr(before.rfind(' ') == std::string_view::npos ? 0 : before.rfind(' ') + 1);
  fields.remove_prefix(plus + 3);
  std::uint64_t sector = 0;
  // A flush has no sector; the kernel prints -1 as an unsigned number.
  if (!parse_whole(before, sector) || !parse_whole(take_word(fields), event.sectors)) return false;
  event.sector = event.sectors == 0 ? 0 : sector;
  if (event.sectors == 0 && event.preflush) event.op = BlockEvent::Op::flush;
  return true;
}

/// Parses "254,0 sector=515 size=4096". The sector is in units of `size`.
bool parse_dirtied(std::string_view fields, BlockEvent& event) {
  constexpr std::string_view kSector = "sector=", kSize = "size=";
  event.device = take_word(fields);
  std::string_view sector = take_word(fields), size = take_word(fields);
  if (!sector.starts_with(kSector) || !size.starts_with(kSize)) return false;
  std::uint32_t bytes = 0;
  if (!parse_whole(sector.substr(kSector.size()), event.sector) ||
      !parse_whole(size.substr(kSize.size()), bytes))
    return false;
  event.sectors = bytes / model::kSectorBytes;
  event.sector *= event.sectors;
  return event.sectors > 0;
}

/// Parses the number after `key`. A number that begins with "0x" is hexadecimal.
std::optional<std::uint64_t> field_after(std::string_view fields, std::string_view key) {
  const std::size_t at = fields.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  fields.remove_prefix(at + key.size());
  const bool hexadecimal = fields.starts_with("0x");
  if (hexadecimal) fields.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(fields.data(), fields.data() + fields.size(), number, hexadecimal ? 16 : 10);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

/// Parses "254:0" and "(254,0)" after `key`, and returns "254,0". Returns an empty string if `key`
/// is missing or is not followed by a number, as for a file system on several disks.
std::string device_after(std::string_view fields, std::string_view key) {
  const std::size_t at = fields.find(key);
  if (at == std::string_view::npos) return {};
  fields.remove_prefix(at + key.size());
  std::string device(fields.substr(0, fields.find_first_not_of("0123456789:,")));
  while (device.ends_with(':') || device.ends_with(',')) device.pop_back();
  std::ranges::replace(device, ':', ',');
  return device;
}

/// Parses "dev 254:0 daddr 0x80 bbcount 0x8 ...".
bool parse_xfs_logged(std::string_view fields, BlockEvent& event) {
  const auto sector = field_after(fields, "daddr "), count = field_after(fields, "bbcount ");
  if (!sector || !count || *count > kSectorsMost) return false;
  event.sector = *sector;
  event.sectors = static_cast<std::uint32_t>(*count);
  event.device = device_after(fields, "dev ");
  return !event.device.empty();
}

/// Describes how the kernel prints an event about the pages of a file. `device` and the members
/// after it are the labels that precede the values. A `page_dirtied` event has no block number. If
/// `blocks` is empty, the event is about one block.
struct PageEvent {
  std::string_view name;
  BlockEvent::Kind kind;
  std::string_view device, inode, at, block, blocks;
};
constexpr std::array kPageEvents{PageEvent{"writeback_dirty_folio", BlockEvent::Kind::page_dirtied,
                                           "bdi ", "ino=", "index=", "", ""},
                                 PageEvent{"f2fs_set_page_dirty", BlockEvent::Kind::page_dirtied,
                                           "dev = (", "ino = ", " index = ", "", ""},
                                 PageEvent{"xfs_map_blocks_found", BlockEvent::Kind::placed, "dev ",
                                           "ino ", "startoff ", "startblock ", "fsbcount "},
                                 PageEvent{"xfs_iext_insert", BlockEvent::Kind::placed, "dev ",
                                           "ino ", "fileoff ", "startblock ", "fsbcount "},
                                 PageEvent{"xfs_bmap_post_update", BlockEvent::Kind::placed, "dev ",
                                           "ino ", "fileoff ", "startblock ", "fsbcount "},
                                 PageEvent{"ext4_es_insert_extent", BlockEvent::Kind::placed,
                                           "dev ", "ino ", " es [", "mapped ", "/"},
                                 PageEvent{"f2fs_submit_page_write", BlockEvent::Kind::placed,
                                           "dev = (", "ino = ", "_index = ", "newaddr = ", ""},
                                 PageEvent{"f2fs_submit_folio_write", BlockEvent::Kind::placed,
                                           "dev = (", "ino = ", "_index = ", "newaddr = ", ""}};

/// In an event, a range without a place on the disk, such as a delayed allocation, has an
/// impossible block number. `blocks` is then set to 0.
bool parse_page_event(const PageEvent& form, std::string_view fields, BlockEvent& event) {
  const auto inode = field_after(fields, form.inode), at = field_after(fields, form.at);
  if (!inode || !at) return false;
  event.device = device_after(fields, form.device);
  event.inode = *inode;
  event.at = *at;
  if (form.kind == BlockEvent::Kind::page_dirtied) return true;
  const auto block = field_after(fields, form.block);
  const auto blocks =
      form.blocks.empty() ? std::optional<std::uint64_t>(1) : field_after(fields, form.blocks);
  if (!block || !blocks) return false;
  event.block = *block;
  event.blocks = *block > kBlockMost || *at > kBlockMost || *blocks > kBlockMost ? 0 : *blocks;
  return true;
}

class TraceParser {
 public:
  Result<BlockTrace> parse(std::string_view text) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      if (!take(line))
        return fail(fmt::format("line {} of the guest's trace", number),
                    fmt::format("is not an event: \"{}\"",
                                base::printable(std::string(line), kLineShownBytes)));
    }
    return std::move(trace_);
  }

 private:
  bool take(std::string_view line) {
    if (line.empty()) return true;
    if (line.front() == '#') return comment(line);
    if (line.starts_with(kFrame)) return frame(line.substr(kFrame.size()));
    // A line such as "CPU:0 [LOST 12 EVENTS]" is ignored, because the head of the text already has
    // the number of lost events.
    if (line.starts_with("CPU:")) return true;
    const auto origin = take_origin(line);
    if (!origin) return false;
    if (line.starts_with(kStackTrace)) {
      in_stack_ = !last_thread_.empty() && last_thread_ == origin->thread;
      return true;
    }
    return event(*origin, line);
  }
  bool comment(std::string_view line) {
    if (!line.starts_with(kEntries)) return true;
    const std::string_view numbers = without_blanks(line.substr(kEntries.size()));
    const std::size_t slash = numbers.find('/');
    std::string_view rest = slash == std::string_view::npos ? "" : numbers.substr(slash + 1);
    std::uint64_t held = 0, written = 0;
    if (!parse_whole(numbers.substr(0, slash), held) || !parse_whole(take_word(rest), written))
      return false;
    trace_.lost = written > held ? written - held : 0;
    return true;
  }
  bool frame(std::string_view function) {
    function = without_blanks(function);
    if (in_stack_ && !function.empty()) trace_.events.back().stack.emplace_back(function);
    return true;
  }
  bool event(const EventOrigin& origin, std::string_view text) {
    in_stack_ = false;
    last_thread_ = {};
    const std::size_t colon = text.find(": ");
    if (colon == std::string_view::npos) return false;
    const std::string_view name = text.substr(0, colon), fields = text.substr(colon + 2);
    BlockEvent event{.task = std::string(origin.task)};
    bool has_effect = true;
    const auto form = std::ranges::find(kPageEvents, name, &PageEvent::name);
    if (form != kPageEvents.end()) {
      event.kind = form->kind;
      // The text of a file system's events differs between kernels.
      if (!parse_page_event(*form, fields, event)) return true;
    } else if (name == "block_bio_queue" || name == "block_rq_issue") {
      event.kind = name == "block_rq_issue" ? BlockEvent::Kind::issued : BlockEvent::Kind::queued;
      if (!parse_request(fields, event, has_effect)) return false;
    } else if (name == "block_dirty_buffer" || name == "xfs_trans_log_buf") {
      const auto parse = name == "block_dirty_buffer" ? parse_dirtied : parse_xfs_logged;
      event.kind = BlockEvent::Kind::dirtied;
      if (!parse(fields, event)) return false;
    } else {
      return true;
    }
    if (!has_effect) return true;
    trace_.events.push_back(std::move(event));
    last_thread_ = origin.thread;
    return true;
  }

  BlockTrace trace_;
  std::string_view last_thread_;  ///< TASK-PID of the last event; its stack may follow
  bool in_stack_ = false;
};

}  // namespace

Result<BlockTrace> parse_block_trace(std::string_view text) {
  return TraceParser().parse(text);
}

}  // namespace headcrash::explorer
