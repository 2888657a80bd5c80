// Parses and formats operations as text (operation.h). The signature of an operation has one letter
// for each argument (operation_table.h). One loop can thus format all operations, and another one
// can parse them.
#include "harness/workload/operation.h"

#include <fmt/format.h>
#include <linux/fs.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "harness/workload/attribute_value.h"
#include "harness/workload/operation_table.h"
#include "harness/workload/parse_number.h"
#include "harness/workload/stamp.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

constexpr std::string_view kPersistedWord = "persisted ";

/// Inode flags, and the letters that chattr(1) uses for them.
struct InodeFlag {
  char letter;
  std::uint32_t flag;
};
constexpr std::array<InodeFlag, 9> kInodeFlags{{{'A', FS_NOATIME_FL},
                                                {'C', FS_NOCOW_FL},
                                                {'D', FS_DIRSYNC_FL},
                                                {'S', FS_SYNC_FL},
                                                {'a', FS_APPEND_FL},
                                                {'d', FS_NODUMP_FL},
                                                {'i', FS_IMMUTABLE_FL},
                                                {'s', FS_SECRM_FL},
                                                {'u', FS_UNRM_FL}}};

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    if (blank > 0) words.push_back(line.substr(0, blank));
    line.remove_prefix(std::min(blank + 1, line.size()));
  }
  return words;
}

bool parse_flags(std::string_view letters, std::uint32_t& flags) {
  if (letters == "-") return true;
  for (const char letter : letters) {
    const auto* const known = std::ranges::find(kInodeFlags, letter, &InodeFlag::letter);
    if (known == kInodeFlags.end()) return false;
    flags |= known->flag;
  }
  return true;
}

bool parse_argument(char letter, std::string_view word, Operation& operation) {
  switch (letter) {
    case 'p':
      operation.path = word == "." ? "" : word;
      return true;
    case 't':
    case 'k':
    case 'c':
      operation.target = word;
      return true;
    case 'a':
      operation.attribute = word;
      return true;
    case 'x': {
      auto value = parse_attribute_value(word);
      if (value) operation.value = std::move(*value);
      return value.has_value();
    }
    case 'o':
      return parse_number(word, operation.offset);
    case 'l':
      return parse_number(word, operation.length);
    case 'q':
      return parse_number(word, operation.target_offset);
    case 'f':
      return parse_number(word, operation.file);
    case 'm':
      return parse_number(word, operation.mode, 8);
    case 'u':
      return parse_number(word, operation.user);
    case 'g':
      return parse_number(word, operation.group);
    case 's':
      return parse_number(word, operation.seconds);
    case 'i':
      return parse_flags(word, operation.flags);
    case 'j':
      return parse_number(word, operation.project);
    default:
      return parse_number(word, operation.version);
  }
}

/// Returns true if the ranges of the operation may begin and end at any byte. Returns false if they
/// must be multiples of a stamp: for msync, sync-range, operations that move blocks, and operations
/// that bypass the page cache.
bool takes_any_byte(Kind kind) {
  return row_of(kind).has(kAnyByte);
}

Result<void> check_numbers(const Operation& operation, const std::string& subject) {
  const bool two_files = shares_blocks(operation.kind);
  const bool range =
      is_write(operation.kind) || row_of(operation.kind).signature == "pol" || two_files;
  if (range) {
    if (!takes_any_byte(operation.kind) && operation.offset % kStampBytes != 0)
      return fail(subject, "the offset of a direct write or range must be a multiple of 512 bytes");
    const std::uint64_t most = is_write(operation.kind) ? kLongestWriteBytes : kLargestFileBytes;
    if (operation.length == 0 || operation.length > most)
      return fail(subject, fmt::format("the length must be 1 to {} bytes", most));
    if (!takes_any_byte(operation.kind) && operation.length % kStampBytes != 0)
      return fail(subject, "the length must be a multiple of 512 bytes");
    const bool in_units = operation.offset % kRangeUnitBytes == 0 &&
                          operation.length % kRangeUnitBytes == 0 &&
                          operation.target_offset % kRangeUnitBytes == 0;
    if ((moves_blocks(operation.kind) || two_files) && !in_units)
      return fail(subject,
                  fmt::format("offsets and length must be multiples of {} bytes", kRangeUnitBytes));
  }
  if (operation.offset > kLargestFileBytes || operation.length > kLargestFileBytes ||
      operation.target_offset > kLargestFileBytes ||
      (range && std::max(operation.offset, operation.target_offset) + operation.length >
                    kLargestFileBytes)) {
    return fail(subject, fmt::format("a file can have at most {} bytes", kLargestFileBytes));
  }
  if (operation.mode > 0777) return fail(subject, "a mode must be an octal number from 0 to 777");
  if (operation.project > kLargestOwner)
    return fail(subject, fmt::format("a project ID must be a number from 0 to {}", kLargestOwner));
  if (operation.user > kLargestOwner || operation.group > kLargestOwner)
    return fail(subject,
                fmt::format("a user or group ID must be a number from 0 to {}", kLargestOwner));
  const bool representable = operation.seconds % 2 == 0 && operation.seconds >= kEarliestSeconds &&
                             operation.seconds <= kLatestSeconds;
  if ((operation.kind == Kind::touch || operation.kind == Kind::access) && !representable) {
    return fail(subject,
                fmt::format("the time must be an even number of seconds from {} to {}",
                            kEarliestSeconds, kLatestSeconds),
                "use a time that every file system can store");
  }
  if (operation.kind == Kind::mknod && operation.target != "fifo")
    return fail(subject, fmt::format("unknown kind of node \"{}\"", operation.target),
                "use \"mknod PATH fifo\"");
  if (operation.kind == Kind::crash && operation.target != "panic" && operation.target != "power")
    return fail(subject, fmt::format("unknown kind of crash \"{}\"", operation.target),
                "use \"crash panic\" or \"crash power\"");
  if (operation.kind == Kind::rest &&
      (operation.seconds < 1 || operation.seconds > kLongestRestSeconds))
    return fail(subject, fmt::format("a rest must be 1 to {} seconds long", kLongestRestSeconds));
  return {};
}

Result<void> check_open_files(const Operation& operation, const std::string& subject) {
  const bool open = operation.kind == Kind::open || operation.kind == Kind::tmpfile;
  const bool close = operation.kind == Kind::close;
  if ((open && !is_open_file(operation.target)) || (close && !is_open_file(operation.path)))
    return fail(subject, "the name of an open file must begin with %",
                "use \"open PATH %f\" and \"close %f\"");
  if (is_open_file(operation.path) && !row_of(operation.kind).has(kAcceptsOpenFile)) {
    return fail(subject,
                fmt::format("\"{}\" takes a path, not an open file", row_of(operation.kind).name),
                "an open file can be written, truncated, allocated, linked, synced and closed");
  }
  const bool two_paths =
      (row_of(operation.kind).signature == "pt" && !open) || shares_blocks(operation.kind);
  if (two_paths && is_open_file(operation.target))
    return fail(subject, fmt::format("\"{}\" begins with %, which is reserved for open files",
                                     operation.target));
  return {};
}

/// Removes a prefix such as "@2", and returns the thread's number. If the prefix is invalid, the
/// error is a message for the user.
tl::expected<std::uint8_t, std::string> parse_thread(std::vector<std::string_view>& words) {
  if (words.empty() || !words[0].starts_with('@')) return std::uint8_t{0};
  std::uint8_t thread = 0;
  if (!parse_number(words[0].substr(1), thread) || thread >= kThreadsMost) {
    return tl::unexpected(fmt::format("invalid thread \"{}\"; use @0 to @{}",
                                      words[0].substr(0, 20), kThreadsMost - 1));
  }
  words.erase(words.begin());
  if (!words.empty() && words[0] == "join")
    return tl::unexpected<std::string>("a join applies to all threads; remove the @ prefix");
  return thread;
}

}  // namespace

std::string format_argument(char letter, const Operation& operation) {
  switch (letter) {
    case 'p':
      return operation.path.empty() ? "." : operation.path;
    case 't':
    case 'k':
    case 'c':
      return operation.target;
    case 'a':
      return operation.attribute;
    case 'x':
      return format_attribute_value(operation.value);
    case 'o':
      return std::to_string(operation.offset);
    case 'l':
      return std::to_string(operation.length);
    case 'q':
      return std::to_string(operation.target_offset);
    case 'f':
      return std::to_string(operation.file);
    case 'm':
      return fmt::format("{:o}", operation.mode);
    case 'u':
      return std::to_string(operation.user);
    case 'g':
      return std::to_string(operation.group);
    case 's':
      return std::to_string(operation.seconds);
    case 'i':
      return format_flags(operation.flags);
    case 'j':
      return std::to_string(operation.project);
    default:
      return std::to_string(operation.version);
  }
}

std::string format_flags(std::uint32_t flags) {
  std::string letters;
  for (const InodeFlag& each : kInodeFlags)
    if ((flags & each.flag) != 0) letters += each.letter;
  return letters.empty() ? "-" : letters;
}

std::uint32_t known_flags() {
  std::uint32_t flags = 0;
  for (const InodeFlag& each : kInodeFlags) flags |= each.flag;
  return flags;
}

std::string format(const Operation& operation) {
  const OperationRow& word = row_of(operation.kind);
  std::string line = operation.thread == 0 ? "" : fmt::format("@{} ", operation.thread);
  line += word.name;
  for (const char letter : word.signature) line += " " + format_argument(letter, operation);
  return line;
}

Result<Operation> parse_operation(std::string_view line, const std::string& subject) {
  std::vector<std::string_view> words = split(line);
  const auto thread = parse_thread(words);
  if (!thread) return fail(subject, thread.error());
  const auto rows = operation_rows();
  const auto word = std::ranges::find_if(
      rows, [&](const OperationRow& row) { return !words.empty() && row.name == words[0]; });
  if (word == rows.end()) {
    std::string known;
    for (const OperationRow& each : rows)
      known += (known.empty() ? "" : ", ") + std::string(each.name);
    return fail(subject, fmt::format("unknown operation \"{}\"", line.substr(0, 80)),
                "use one of " + known);
  }
  if (words.size() != word->signature.size() + 1) {
    return fail(subject, fmt::format("\"{}\" takes {} arguments, not {}", word->name,
                                     word->signature.size(), words.size() - 1));
  }
  Operation operation;
  operation.kind = word->kind;
  operation.thread = *thread;
  for (std::size_t i = 0; i < word->signature.size(); ++i) {
    if (word->signature[i] == 'i' && !parse_flags(words[i + 1], operation.flags))
      return fail(subject, fmt::format("invalid inode flags \"{}\"", words[i + 1].substr(0, 80)),
                  "use letters from aACdDisSu, or - for none");
    if (word->signature[i] == 'x' && !parse_attribute_value(words[i + 1]))
      return fail(subject,
                  fmt::format("invalid attribute value \"{}\"", words[i + 1].substr(0, 80)),
                  fmt::format("use a word, 0xHEX or fill:BYTES[:0-25], of at most {} bytes",
                              kAttributeValueMost));
    if (word->signature[i] == 'a' && !is_attribute_name(words[i + 1]))
      return fail(subject, fmt::format("invalid attribute name \"{}\"", words[i + 1].substr(0, 80)),
                  "begin it with user., trusted., security. or system.");
    if (!parse_argument(word->signature[i], words[i + 1], operation))
      return fail(subject, fmt::format("\"{}\" has an invalid number", line.substr(0, 80)));
  }
  const bool has_path = word->signature.find('p') != std::string_view::npos;
  if (has_path && operation.path.empty() && !word->has(kAcceptsRoot))
    return fail(subject, fmt::format("\"{}\" cannot be applied to the root", word->name));
  TRY(check_numbers(operation, subject));
  TRY(check_open_files(operation, subject));
  return operation;
}

std::optional<std::string> problem_with_remounts(std::span<const Operation> operations) {
  std::set<std::pair<std::uint8_t, std::string>> open;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (operation.kind == Kind::open || operation.kind == Kind::tmpfile)
      open.emplace(operation.thread, operation.target);
    if (operation.kind == Kind::close) open.erase({operation.thread, operation.path});
    const bool crash = operation.kind == Kind::crash;
    if (!crash && operation.kind != Kind::remount && operation.kind != Kind::remount_read_only)
      continue;
    if (threads_of(operations) > 1)
      return fmt::format("a list with a {} must have a single thread", crash ? "crash" : "remount");
    if (open.empty()) continue;
    return fmt::format(
        "operation {}: {} is still open before a {}", i, open.begin()->second,
        crash ? "crash; close the file first, because a crash closes all files"
              : "remount; close the file first, because a file system in use cannot be unmounted");
  }
  return std::nullopt;
}

namespace {

/// Returns the lines that contain operations, with line numbers starting at 1.
std::vector<std::pair<std::size_t, std::string_view>> lines_of(std::string_view text) {
  std::vector<std::pair<std::size_t, std::string_view>> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && !line.starts_with('#')) lines.emplace_back(number, line);
  }
  return lines;
}

}  // namespace

std::vector<std::string> subjects_of(std::string_view text, const std::string& file_name) {
  std::vector<std::string> subjects;
  for (const auto& [number, line] : lines_of(text))
    subjects.push_back(fmt::format("{}:{}", file_name, number));
  return subjects;
}

Result<std::vector<Operation>> parse_operations(std::string_view text,
                                                const std::string& file_name) {
  std::vector<Operation> operations;
  for (const auto& [number, line] : lines_of(text)) {
    TRY(auto operation, parse_operation(line, fmt::format("{}:{}", file_name, number)));
    operations.push_back(std::move(operation));
  }
  if (const auto problem = problem_with_remounts(operations)) return fail(file_name, *problem);
  return operations;
}

bool is_open_file(std::string_view path) {
  return path.size() > 1 && path.starts_with('%');
}

bool is_write(Kind kind) {
  return row_of(kind).signature == "polfv";
}

bool is_direct(Kind kind) {
  return row_of(kind).has(kBypassesCache);
}

bool moves_blocks(Kind kind) {
  return row_of(kind).has(kMovesBlocks);
}

bool shares_blocks(Kind kind) {
  return row_of(kind).has(kSharesBlocks);
}

std::size_t threads_of(std::span<const Operation> operations) {
  std::size_t threads = 1;
  for (const Operation& each : operations)
    threads = std::max<std::size_t>(threads, each.thread + 1U);
  return threads;
}

std::string persisted_mark(std::size_t operation) {
  return fmt::format("{}{}", kPersistedWord, operation);
}

std::optional<std::size_t> parse_persisted_mark(std::string_view mark) {
  if (!mark.starts_with(kPersistedWord)) return std::nullopt;
  mark.remove_prefix(kPersistedWord.size());
  std::size_t operation = 0;
  if (std::from_chars(mark.data(), mark.data() + mark.size(), operation).ec != std::errc{})
    return std::nullopt;
  return operation;
}

bool is_persistence_point(const Operation& operation) {
  return row_of(operation.kind).has(kPersists);
}

}  // namespace headcrash::workload
