// The operation language: text form and execution (operation.h).
#include "harness/workload/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "harness/workload/stamp.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

struct Word {
  Kind kind;
  std::string_view name;
  std::size_t arguments;
};
constexpr std::array kWords{Word{Kind::mkdir, "mkdir", 1},
                            Word{Kind::create, "create", 1},
                            Word{Kind::write, "write", 5},
                            Word{Kind::rename, "rename", 2},
                            Word{Kind::unlink, "unlink", 1},
                            Word{Kind::fsync, "fsync", 1},
                            Word{Kind::fsync_directory, "fsyncdir", 1},
                            Word{Kind::sync, "sync", 0}};

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    if (blank > 0) words.push_back(line.substr(0, blank));
    line.remove_prefix(std::min(blank + 1, line.size()));
  }
  return words;
}

template <typename T>
bool parse_number(std::string_view word, T& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size();
}

VfsResult<void> with_file(Vfs& vfs, const std::string& path, const OpenOptions& options, auto&& act) {
  const auto file = vfs.open(path, options);
  if (!file) return tl::unexpected(file.error());
  const VfsResult<void> acted = act(*file);
  const VfsResult<void> closed = vfs.close(*file);
  return acted ? closed : acted;
}

}  // namespace

std::string format(const Operation& operation) {
  const auto word =
      std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.kind == operation.kind; });
  switch (operation.kind) {
    case Kind::sync:
      return std::string(word->name);
    case Kind::rename:
      return fmt::format("{} {} {}", word->name, operation.path, operation.target);
    case Kind::write:
      return fmt::format("{} {} {} {} {} {}", word->name, operation.path, operation.offset, operation.length,
                         operation.file, operation.version);
    default:
      return fmt::format("{} {}", word->name, operation.path);
  }
}

Result<Operation> parse_operation(std::string_view line, const std::string& subject) {
  const std::vector<std::string_view> words = split(line);
  const auto word = std::find_if(kWords.begin(), kWords.end(),
                                 [&](const Word& w) { return !words.empty() && w.name == words[0]; });
  if (word == kWords.end()) {
    return fail(subject, fmt::format("unknown operation \"{}\"", line.substr(0, 80)),
                "use mkdir, create, write, rename, unlink, fsync, fsyncdir or sync");
  }
  if (words.size() != word->arguments + 1) {
    return fail(subject,
                fmt::format("\"{}\" takes {} words, not {}", word->name, word->arguments, words.size() - 1));
  }
  Operation operation;
  operation.kind = word->kind;
  if (word->arguments > 0) operation.path = words[1];
  if (operation.kind == Kind::rename) operation.target = words[2];
  if (operation.kind == Kind::write) {
    if (!parse_number(words[2], operation.offset) || !parse_number(words[3], operation.length) ||
        !parse_number(words[4], operation.file) || !parse_number(words[5], operation.version)) {
      return fail(subject, fmt::format("\"{}\" has a number that is none", line.substr(0, 80)));
    }
    if (operation.offset % kStampBytes != 0) return fail(subject, "a write must start at a multiple of 512");
    if (operation.length == 0 || operation.length > kLongestWriteBytes ||
        operation.offset > std::numeric_limits<std::int64_t>::max() - kLongestWriteBytes) {
      return fail(subject, fmt::format("a write is 1 to {} bytes long", kLongestWriteBytes));
    }
  }
  return operation;
}

bool is_persistence_point(const Operation& operation) {
  return operation.kind == Kind::fsync || operation.kind == Kind::fsync_directory ||
         operation.kind == Kind::sync;
}

VfsResult<void> execute(const Operation& operation, Vfs& vfs) {
  switch (operation.kind) {
    case Kind::mkdir:
      return vfs.mkdir(operation.path, 0755);
    case Kind::create:
      return with_file(vfs, operation.path, {.create = true, .exclusive = true},
                       [](FileHandle) { return VfsResult<void>{}; });
    case Kind::write: {
      std::vector<std::byte> data(operation.length);
      write_stamps(operation.file, operation.version, operation.offset, data);
      return with_file(vfs, operation.path, {},
                       [&](FileHandle file) { return vfs.pwrite(file, operation.offset, data); });
    }
    case Kind::rename:
      return vfs.rename(operation.path, operation.target, RenameMode::replace);
    case Kind::unlink:
      return vfs.unlink(operation.path);
    case Kind::fsync:
      return with_file(vfs, operation.path, {}, [&](FileHandle file) { return vfs.fsync(file); });
    case Kind::fsync_directory:
      return vfs.fsync_directory(operation.path);
    case Kind::sync:
      return vfs.sync();
  }
  return tl::unexpected(Errno{.value = 22});
}

}  // namespace headcrash::workload
