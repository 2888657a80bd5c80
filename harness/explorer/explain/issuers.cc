// Stores issuers as text, and selects the part of a stack that explains a request (issuers.h).
#include "harness/explorer/explain/issuers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

namespace headcrash::explorer {
namespace {

constexpr std::string_view kFirstLine = "#issuers 1";
constexpr std::string_view kFrameIndent = "  ";
constexpr std::size_t kIssuersShown = 3;

/// Prefixes of the names of functions that say nothing about the cause of a request: functions of
/// the tracer, the block layer, buffers, pages and writeback, and functions with which file systems
/// submit requests.
constexpr auto kGeneral = std::to_array<std::string_view>({"trace_",
                                                           "__traceiter_",
                                                           "stack_trace_",
                                                           "save_stack_trace",
                                                           "__trace_stack",
                                                           "event_trigger",
                                                           "__event_trigger",
                                                           "stacktrace_",
                                                           "do_trace_event",
                                                           "__do_trace_event",
                                                           "perf_",
                                                           "__ftrace",
                                                           "submit_bio",
                                                           "__submit_bio",
                                                           "submit_bh",
                                                           "__submit_bh",
                                                           "blk_",
                                                           "__blk_",
                                                           "blkdev_issue_",
                                                           "__blkdev_issue_",
                                                           "bio_",
                                                           "mark_buffer_dirty",
                                                           "__mark_buffer_dirty",
                                                           "__set_page_dirty",
                                                           "__folio_mark_dirty",
                                                           "folio_mark_dirty",
                                                           "set_page_dirty",
                                                           "xfs_trans_log_buf",
                                                           "f2fs_dirty_",
                                                           "f2fs_set_page_dirty",
                                                           "write_dirty_buffer",
                                                           "sync_dirty_buffer",
                                                           "__sync_dirty_buffer",
                                                           "__block_",
                                                           "block_",
                                                           "mpage_",
                                                           "__mpage_",
                                                           "iomap_",
                                                           "__writepage",
                                                           "write_cache_pages",
                                                           "do_writepages",
                                                           "generic_",
                                                           "__filemap_",
                                                           "filemap_",
                                                           "file_write_and_wait",
                                                           "file_fdatawrite",
                                                           "blockdev_",
                                                           "ext4_io_submit",
                                                           "f2fs_submit_",
                                                           "__submit_merged_",
                                                           "__submit_flush_wait",
                                                           "xfs_submit_ioend",
                                                           "btrfs_submit_",
                                                           "btrfs_map_bio"});

/// Prefixes of the functions in which the kernel starts a thread or a system call. Every stack ends
/// with such functions.
constexpr auto kOutermost = std::to_array<std::string_view>(
    {"do_syscall_64", "x64_sys_call", "entry_SYSCALL", "ret_from_fork", "kthread", "handle_syscall",
     "userspace", "new_thread_handler", "fork_handler"});

std::string function_of(const std::string& frame) {
  return frame.substr(0, frame.find_first_of("+ "));
}

/// Returns the function of a frame, and its source line if the frame has one.
std::string function_and_line_of(const std::string& frame) {
  const std::size_t line = frame.rfind(" (");
  return function_of(frame) + (line == std::string::npos ? "" : frame.substr(line));
}

bool begins_with_any(const std::string& frame, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return frame.starts_with(name); });
}

bool is_general(const std::string& frame) {
  return begins_with_any(frame, kGeneral);
}

/// Returns the index of the first frame whose function may explain the request; 0 if all functions
/// are general ones, such as those of the block layer.
std::size_t telling_frame(const Issuer& issuer) {
  const auto found = std::ranges::find_if_not(issuer.stack, is_general);
  return found == issuer.stack.end() ? 0 : static_cast<std::size_t>(found - issuer.stack.begin());
}

void add_once(std::vector<Issuer>& issuers, const Issuer& issuer) {
  if (std::ranges::find(issuers, issuer) == issuers.end()) issuers.push_back(issuer);
}

/// Splits off the next word and the blank after it.
std::string_view split_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  return word;
}

template <typename Number>
bool take_number(std::string_view& rest, Number& number) {
  const std::string_view word = split_word(rest);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return !word.empty() && error == std::errc{} && end == word.data() + word.size();
}

class IssuersParser {
 public:
  /// Parses a line. Returns false if it is damaged.
  bool take(std::string_view line) {
    if (line.starts_with(kFrameIndent)) {
      if (!in_stack_) return false;
      stacks_.back().emplace_back(line.substr(kFrameIndent.size()));
      return true;
    }
    const std::string_view word = split_word(line);
    in_stack_ = word == "stack";
    if (in_stack_) return begin_stack(line);
    if (word != "issued" && word != "dirtied") return false;
    model::DeviceId device = 0;
    model::RequestId request = 0;
    std::size_t stack = 0;
    if (!take_number(line, device) || !take_number(line, request) || !take_number(line, stack) ||
        stack >= stacks_.size())
      return false;
    const Issuer issuer{std::string(line), stacks_[stack]};
    if (word == "issued")
      issuers_.add_issued(device, request, issuer);
    else
      issuers_.add_dirtied(device, request, issuer);
    return true;
  }
  Issuers issuers() { return std::move(issuers_); }

 private:
  bool begin_stack(std::string_view line) {
    std::size_t number = 0;
    if (!take_number(line, number) || number != stacks_.size() || !line.empty()) return false;
    stacks_.emplace_back();
    return true;
  }

  Issuers issuers_;
  std::vector<std::vector<std::string>> stacks_;
  bool in_stack_ = false;
};

/// Formats issuers as text. Equal stacks are written only once.
class IssuersFormatter {
 public:
  void add(const char* word, model::DeviceId device, model::RequestId request,
           const std::vector<Issuer>& issuers) {
    for (const Issuer& issuer : issuers)
      lines_ += fmt::format("{} {} {} {} {}\n", word, device, request, number_of(issuer.stack),
                            issuer.task);
  }
  std::string text() const { return fmt::format("{}\n{}{}", kFirstLine, stacks_, lines_); }

 private:
  std::size_t number_of(const std::vector<std::string>& stack) {
    const auto [place, fresh] = numbers_.try_emplace(stack, numbers_.size());
    if (!fresh) return place->second;
    stacks_ += fmt::format("stack {}\n", place->second);
    for (const std::string& frame : stack) stacks_ += fmt::format("{}{}\n", kFrameIndent, frame);
    return place->second;
  }

  std::map<std::vector<std::string>, std::size_t> numbers_;
  std::string stacks_, lines_;
};

}  // namespace

const IssuersOfRequest* Issuers::find(model::DeviceId device, model::RequestId request) const {
  const auto found = of_.find({device, request});
  return found == of_.end() ? nullptr : &found->second;
}

void Issuers::add_issued(model::DeviceId device, model::RequestId request, const Issuer& issuer) {
  add_once(of_[{device, request}].issued, issuer);
}

void Issuers::add_dirtied(model::DeviceId device, model::RequestId request, const Issuer& issuer) {
  add_once(of_[{device, request}].dirtied, issuer);
}

std::set<std::string> Issuers::frames() const {
  std::set<std::string> frames;
  for (const auto& [key, issuers] : of_)
    for (const auto* list : {&issuers.issued, &issuers.dirtied})
      for (const Issuer& issuer : *list) frames.insert(issuer.stack.begin(), issuer.stack.end());
  return frames;
}

void Issuers::add_source_lines(const std::map<std::string, std::string>& lines) {
  for (auto& [key, issuers] : of_)
    for (auto* list : {&issuers.issued, &issuers.dirtied})
      for (Issuer& issuer : *list)
        for (std::string& frame : issuer.stack)
          if (const auto line = lines.find(frame); line != lines.end())
            frame += fmt::format(" ({})", line->second);
}

std::string Issuers::text() const {
  IssuersFormatter formatter;
  for (const auto& [key, issuers] : of_) {
    formatter.add("issued", key.first, key.second, issuers.issued);
    formatter.add("dirtied", key.first, key.second, issuers.dirtied);
  }
  return formatter.text();
}

Result<Issuers> Issuers::parse(std::string_view text, const std::string& file) {
  IssuersParser parser;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool complete = line.size() < text.size();
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (complete && (number == 1 ? line == kFirstLine : parser.take(line))) continue;
    return fail(fmt::format("{}:{}", file, number),
                "is not a valid line about the issuer of a request",
                "delete the file, or record again with --stacks");
  }
  return parser.issuers();
}

Result<Issuers> Issuers::read(const std::filesystem::path& recording) {
  const std::filesystem::path path = issuers_file(recording);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return Issuers();
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return fail(path.string(), "cannot be read");
  return parse(text, path.string());
}

std::filesystem::path issuers_file(const std::filesystem::path& recording) {
  return std::filesystem::path(recording).replace_extension(".issuers.txt");
}

std::string telling_function(const Issuer& issuer) {
  return issuer.stack.empty() ? "" : function_of(issuer.stack[telling_frame(issuer)]);
}

std::string issuers_text(std::span<const Issuer> issuers) {
  std::vector<std::string> texts;
  for (const Issuer& issuer : issuers) {
    std::string text = telling_function(issuer);
    text += fmt::format("{}from {}", text.empty() ? "" : " ", issuer.task);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  if (texts.size() > kIssuersShown) {
    texts.resize(kIssuersShown);
    texts.emplace_back("...");
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string stack_text(const Issuer& issuer) {
  std::vector<std::string> functions;
  const std::size_t first = telling_frame(issuer);
  std::size_t end = issuer.stack.size();
  while (end > first + 1 && begins_with_any(issuer.stack[end - 1], kOutermost)) --end;
  for (std::size_t i = first; i < end; ++i)
    functions.push_back(function_and_line_of(issuer.stack[i]));
  return fmt::format("{}", fmt::join(functions, " < "));
}

}  // namespace headcrash::explorer
