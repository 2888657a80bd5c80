#pragma once
// A list of operations of a pattern that is being created (patterns.h, commit_patterns.h).
// Operations are added as text, and every operation must be possible.

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>

#include "harness/workload/draft.h"
#include "harness/workload/patterns.h"
#include "harness/workload/stamp.h"
#include "plugin/base/invariant.h"

namespace headcrash::workload {

class Script {
 public:
  explicit Script(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::uint64_t some_bytes(std::uint64_t most_blocks) {
    return (1 + below(most_blocks)) * kStampBytes;
  }

  /// Adds an operation. The file number and the version of a write are replaced.
  template <typename... Parts>
  void say(fmt::format_string<const Parts&...> line, const Parts&... parts) {
    const std::string text = fmt::format(line, parts...);
    invariant(draft.try_add(text), "a pattern must contain only possible operations");
  }
  void create(const std::string& path, std::uint64_t length = 0) {
    say("create {}", path);
    if (length > 0) write(path, 0, length);
  }
  void mkdir(const std::string& path) { say("mkdir {}", path); }
  void unlink(const std::string& path) { say("unlink {}", path); }
  void write(const std::string& path, std::uint64_t offset, std::uint64_t length) {
    say("write {} {} {} 1 1", path, offset, length);
  }
  void write_direct(const std::string& path, std::uint64_t offset, std::uint64_t length) {
    say("write-direct {} {} {} 1 1", path, offset, length);
  }
  void append(const std::string& path, std::uint64_t length) {
    say("append {} {} {} 1 1", path, draft.size(path), length);
  }
  void truncate(const std::string& path, std::uint64_t size) { say("truncate {} {}", path, size); }
  void allocate_keep(const std::string& path, std::uint64_t offset, std::uint64_t length) {
    say("allocate-keep {} {} {}", path, offset, length);
  }
  void rename(const std::string& from, const std::string& to) { say("rename {} {}", from, to); }
  void rename_whiteout(const std::string& from, const std::string& to) {
    say("rename-whiteout {} {}", from, to);
  }
  void link(const std::string& from, const std::string& to) { say("link {} {}", from, to); }
  void symlink(const std::string& target, const std::string& path) {
    say("symlink {} {}", target, path);
  }
  void open(const std::string& path, const std::string& as) { say("open {} {}", path, as); }
  void close(const std::string& open_file) { say("close {}", open_file); }
  void fsync(const std::string& path) { say("fsync {}", path); }
  void fdatasync(const std::string& path) { say("fdatasync {}", path); }
  void fsyncdir(const std::string& path) { say("fsyncdir {}", path.empty() ? "." : path); }
  void sync() { say("sync"); }
  /// Makes a file persistent with a call that is selected at random.
  void keep(const std::string& path) { below(4) == 0 ? fdatasync(path) : fsync(path); }

  Draft draft;

 private:
  std::mt19937_64 random_;
};

/// A pattern, and the function that adds a number of rounds of it.
struct Scenario {
  Pattern pattern;
  void (*play)(Script& script, std::uint32_t rounds);
};

}  // namespace headcrash::workload
