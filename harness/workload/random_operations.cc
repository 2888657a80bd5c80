// Generates random lists from seeds (random_operations.h). If the draft rejects an operation that
// cannot be executed, another one is generated. Random numbers come from std::mt19937_64 and are
// reduced without the library's distributions, so that a seed gives the same list with every
// library.
#include "harness/workload/random_operations.h"

#include <fmt/format.h>
#include <linux/fs.h>

#include <array>
#include <initializer_list>
#include <numeric>
#include <random>

#include "harness/workload/draft.h"
#include "harness/workload/operation_table.h"
#include "harness/workload/stamp.h"
#include "plugin/base/invariant.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

constexpr std::uint64_t kPage = 4096;
// Maximum number of attempts to find an operation. If all of them fail, the round is skipped.
constexpr std::uint32_t kDrawsMost = 200;
constexpr std::uint64_t kLargestBytes = 1 << 20;
constexpr std::uint64_t kModes = 01000;  // number of different values of the permission bits
constexpr std::uint64_t kOwners = 1000;
/// Inode flags that do not make later operations fail.
constexpr std::array kHarmlessFlags{0, FS_NODUMP_FL, FS_NOATIME_FL, FS_NODUMP_FL | FS_NOATIME_FL};
// Number of different timestamps that a list may set. They are even numbers of seconds, starting at
// kEarliestSeconds.
constexpr std::uint64_t kEvenSeconds = 1 << 29;

bool zeroes_or_allocates(Kind kind) {
  return kind == Kind::allocate || kind == Kind::allocate_keep || kind == Kind::punch ||
         kind == Kind::zero || kind == Kind::zero_keep;
}

class RandomHistory {
 public:
  explicit RandomHistory(const RandomOptions& options) : options_(options), random_(options.seed) {
    invariant(options.threads >= 1 && options.threads <= kThreadsMost,
              "the number of threads must be positive and within the limit of operation lists");
  }

  std::vector<Operation> generate() {
    for (std::uint32_t i = 0; i < options_.directories; ++i)
      draft_.add({.kind = Kind::mkdir, .path = directory(i)});
    for (std::uint8_t set = 0; side_by_side() && set < options_.threads; ++set)
      draft_.add({.kind = Kind::mkdir, .path = set_name(set) + "dir"});
    draft_.add({.kind = Kind::sync});
    meet();
    for (std::uint32_t round = 0; round < options_.rounds; ++round) {
      if (side_by_side() && below(options_.rounds_to_a_join) == 0) meet();
      thread_ = static_cast<std::uint8_t>(side_by_side() ? below(options_.threads) : 0);
      for (std::uint32_t draw = 0; draw < kDrawsMost; ++draw) {
        const Operation operation = draw_one();
        if (operation.kind == Kind::crash) draft_.add({.kind = Kind::sync});
        if (draft_.size(operation.path) < kLargestBytes && is_own(operation) &&
            draft_.try_add(operation))
          break;
      }
    }
    meet();
    draft_.add({.kind = Kind::sync});
    return draft_.take();
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  static std::string directory(std::uint64_t index) { return fmt::format("dir{}", index); }
  static std::string set_name(std::uint64_t set) { return fmt::format("s{}", set); }

  bool side_by_side() const { return options_.threads > 1; }
  void meet() {
    if (!side_by_side()) return;
    draft_.add({.kind = Kind::join});
    ++turn_;
  }
  /// Returns a unique target for a symbolic link. The length of the target is computed from its
  /// number. Drawing it at random would change the lists of existing seeds.
  std::string target() {
    const std::uint32_t number = next_text_++;
    std::string text = fmt::format("somewhere/{}", number);
    if (options_.longest_target != 0 && number % 2 == 1)
      text.resize(text.size() + number * 0x9E3779B1U % options_.longest_target, 't');
    return text;
  }
  std::string own_set() const { return set_name((thread_ + turn_) % options_.threads); }
  /// Returns true if the object belongs to the thread's own set, that is, if a component of its
  /// path begins with the name of the set.
  bool is_own(const std::string& path) const {
    return !side_by_side() || path.starts_with(own_set()) ||
           path.find("/" + own_set()) != std::string::npos;
  }
  /// Returns true if all threads share the path: the root, or a directory of the set-up. These
  /// directories are never moved.
  static bool is_shared(const std::string& path) { return path.find('s') == std::string::npos; }
  bool is_own(const Operation& operation) const {
    const OperationRow& row = row_of(operation.kind);
    if (row.has(kWholeSystem)) return true;
    if (operation.kind == Kind::fsync_directory && is_shared(operation.path)) return true;
    return is_own(operation.path) && (!row.has(kTwoNames) || is_own(operation.target));
  }
  std::vector<std::string> own(FileType type) const {
    std::vector<std::string> paths = draft_.all(type);
    std::erase_if(paths, [&](const std::string& path) { return !is_own(path); });
    return paths;
  }

  Kind draw_kind() {
    const bool persist = below(100) < options_.persistence_percent;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kOperationKinds; ++i) sum += weight(i, persist);
    if (sum == 0) return Kind::sync;
    std::uint64_t draw = below(sum);
    std::size_t kind = 0;
    for (; draw >= weight(kind, persist); ++kind) draw -= weight(kind, persist);
    return static_cast<Kind>(kind);
  }
  std::uint64_t weight(std::size_t kind, bool persist) const {
    const bool persists = is_persistence_point({.kind = static_cast<Kind>(kind)});
    return persists == persist ? options_.weights[kind] : 0;
  }

  /// Selects a name at random. The name may or may not exist.
  std::string name() {
    const std::uint64_t index = below(options_.directories + 1);
    const std::string base =
        fmt::format("{}file{}", side_by_side() ? own_set() : "", below(options_.names));
    if (side_by_side() && below(4) == 0) {
      const std::vector<std::string> mine = own(FileType::directory);
      if (!mine.empty()) return mine[below(mine.size())] + "/" + base;
    }
    return index == options_.directories ? base : directory(index) + "/" + base;
  }
  std::string file() {
    const std::vector<std::string> files = own(FileType::regular);
    return files.empty() ? name() : files[below(files.size())];
  }
  std::string any_directory() {
    const std::vector<std::string> all = draft_.all(FileType::directory);
    const std::uint64_t index = below(all.size() + 1);
    return index == all.size() ? "" : all[index];
  }

  void draw_range(Operation& operation) {
    const std::uint64_t size = draft_.size(operation.path);
    operation.offset = below(size / kStampBytes + 4) * kStampBytes;
    operation.length = (1 + below(options_.largest_blocks)) * kStampBytes;
    if (is_direct(operation.kind)) {
      operation.offset = operation.offset / kPage * kPage;
      operation.length = (operation.length + kPage - 1) / kPage * kPage;
    } else if (is_write(operation.kind) && !options_.whole_blocks && below(8) == 0) {
      operation.length -= below(kStampBytes);
    }
    if (options_.any_byte && zeroes_or_allocates(operation.kind) && below(2) == 0) {
      operation.offset += below(kStampBytes);
      operation.length -= below(kStampBytes);
    }
    const bool buffered = is_write(operation.kind) && !is_direct(operation.kind);
    if (options_.any_byte && buffered && below(4) == 0) operation.offset += below(kStampBytes);
    if (operation.kind == Kind::append) {  // the append must end at a stamp boundary
      if (size % kStampBytes != 0) {
        operation.kind = Kind::write;
      } else {
        operation.offset = size;
      }
    }
  }

  /// Randomly selects a range of whole units (operation.h) inside the file.
  void draw_units(Operation& operation) {
    const auto units = [&](const std::string& path) { return draft_.size(path) / kRangeUnitBytes; };
    const bool moves = moves_blocks(operation.kind);
    operation.offset = below(units(operation.path) + 1) * kRangeUnitBytes;
    operation.length = (1 + below(moves ? 2 : 4)) * kRangeUnitBytes;
    if (moves) return;
    operation.target = file();
    operation.target_offset = below(units(operation.target) + 2) * kRangeUnitBytes;
  }

  Operation draw_one() {
    Operation operation{.kind = draw_kind(), .thread = thread_};
    switch (operation.kind) {
      case Kind::sync:
      case Kind::syncfs:
      case Kind::remount:
      case Kind::remount_read_only:
      case Kind::freeze:
      case Kind::evict:
        break;
      case Kind::crash:
        operation.target = below(2) == 0 ? "panic" : "power";
        break;
      case Kind::mkdir:
      case Kind::create:
      case Kind::mknod:
        operation.path = name();
        if (operation.kind == Kind::mknod) operation.target = "fifo";
        break;
      case Kind::rmdir:
      case Kind::fsync_directory:
        operation.path = any_directory();
        break;
      case Kind::symlink:
        operation.path = name();
        operation.target = target();
        break;
      case Kind::unlink:
        operation.path = below(4) == 0 ? name() : file();
        break;
      case Kind::link:
        operation.path = below(6) == 0 ? name() : file();
        operation.target = name();
        break;
      case Kind::rename:
      case Kind::rename_noreplace:
      case Kind::rename_exchange:
      case Kind::rename_whiteout:
        operation.path = below(6) == 0 ? any_directory() : name();
        operation.target = below(6) == 0 ? any_directory() : name();
        break;
      case Kind::setxattr:
      case Kind::removexattr:
        operation.path = below(6) == 0 ? any_directory() : file();
        operation.attribute = fmt::format("user.a{}", below(2));
        if (operation.kind == Kind::setxattr)
          operation.value = fmt::format("value{}", next_text_++);
        break;
      case Kind::fsync:
      case Kind::fdatasync:
        operation.path = file();
        break;
      case Kind::collapse:
      case Kind::insert:
      case Kind::clone:
      case Kind::dedupe:
        operation.path = file();
        draw_units(operation);
        break;
      case Kind::chmod:
        operation.path = file();
        operation.mode = static_cast<std::uint32_t>(below(kModes));
        break;
      case Kind::chown:
        operation.path = file();
        operation.user = static_cast<std::uint32_t>(below(kOwners));
        operation.group = static_cast<std::uint32_t>(below(kOwners));
        break;
      case Kind::flags:
        operation.path = file();
        operation.flags = static_cast<std::uint32_t>(kHarmlessFlags[below(kHarmlessFlags.size())]);
        break;
      case Kind::touch:
      case Kind::access:
        operation.path = file();
        operation.seconds = kEarliestSeconds + 2 * static_cast<std::int64_t>(below(kEvenSeconds));
        break;
      case Kind::truncate:
        operation.path = file();
        operation.length = below(draft_.size(operation.path) / kStampBytes + 8) * kStampBytes;
        if (!options_.whole_blocks && below(8) == 0) operation.length += below(kStampBytes);
        break;
      default:
        operation.path = file();
        draw_range(operation);
    }
    return operation;
  }

  RandomOptions options_;
  std::mt19937_64 random_;
  Draft draft_;
  std::uint32_t next_text_ = 0;
  std::uint8_t thread_ = 0;
  std::uint64_t turn_ = 0;  // number of joins so far; the sets have rotated by this number
};

}  // namespace

RandomOptions with_later_words(RandomOptions options) {
  const auto weigh = [&](std::initializer_list<Kind> kinds, std::uint32_t weight) {
    for (const Kind kind : kinds) options.weights.at(static_cast<std::size_t>(kind)) = weight;
  };
  options.any_byte = true;
  weigh({Kind::chmod, Kind::chown, Kind::touch, Kind::access, Kind::flags, Kind::mknod,
         Kind::sync_range, Kind::freeze, Kind::evict, Kind::write_direct_dsync, Kind::write_uring},
        1);
  weigh({Kind::collapse, Kind::insert, Kind::clone, Kind::dedupe, Kind::store, Kind::msync}, 3);
  if (options.threads == 1) weigh({Kind::remount, Kind::remount_read_only}, 1);
  return options;
}

RandomOptions with_crashes(RandomOptions options) {
  options.whole_blocks = true;
  options.weights.at(static_cast<std::size_t>(Kind::crash)) = 3;
  return options;
}

std::vector<Operation> random_operations(const RandomOptions& options) {
  return RandomHistory(options).generate();
}

}  // namespace headcrash::workload
