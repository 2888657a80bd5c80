// Draws lists of conflicting operations (shared_names.h).
#include "harness/workload/shared_names.h"

#include <fmt/format.h>

#include <random>
#include <string>
#include <utility>

#include "harness/workload/stamp.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

class SharedDrawing {
 public:
  explicit SharedDrawing(std::uint64_t number)
      : random_(number * 0x9e3779b97f4a7c15 + 23), kind_(number % 3) {}

  std::vector<Operation> take() {
    set_up();
    add({.kind = Kind::sync});
    add({.kind = Kind::join});
    const auto users = static_cast<std::uint8_t>(one_in(2) ? 2 : 3);
    for (std::uint8_t user = 0; user < users; ++user) {
      const std::size_t end = list_.size() + kSharedCallsMost / users;
      while (list_.size() < end) act(user, end - list_.size());
    }
    add({.kind = Kind::join});
    add({.kind = Kind::sync});
    return std::move(list_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  void add(Operation operation) { list_.push_back(std::move(operation)); }

  std::string name() { return {static_cast<char>('a' + below(3))}; }
  std::string path() {
    if (kind_ == 0) return "d/" + name();
    if (kind_ == 1 && !one_in(4))
      return (one_in(2) ? "d/" : "e/") + std::string(one_in(2) ? "a" : "b");
    return kind_ == 1 ? std::string(one_in(2) ? "d" : "e") : name();
  }

  void make_file(const std::string& path) {
    add({.kind = Kind::create, .path = path});
    if (one_in(2)) return;
    write(path, 0);
  }
  void write(const std::string& path, std::uint8_t user) {
    const std::string file = fmt::format("%o{}", ++opened_);
    add({.kind = Kind::open, .path = path, .target = file, .thread = user});
    use(file, user);
    add({.kind = Kind::close, .path = file, .thread = user});
  }
  void use(const std::string& file, std::uint8_t user) {
    if (one_in(6)) return add({.kind = Kind::fsync, .path = file, .thread = user});
    if (one_in(6))
      return add(
          {.kind = Kind::truncate, .path = file, .length = below(3) * kStampBytes, .thread = user});
    ++version_;
    add({.kind = Kind::write,
         .path = file,
         .offset = below(3) * kStampBytes,
         .length = (1 + below(3)) * kStampBytes,
         .file = version_,
         .version = version_,
         .thread = user});
  }

  void set_up() {
    if (kind_ < 2) add({.kind = Kind::mkdir, .path = "d"});
    if (kind_ == 1) add({.kind = Kind::mkdir, .path = "e"});
    const std::vector<std::string> all = kind_ == 0   ? std::vector<std::string>{"d/a", "d/b"}
                                         : kind_ == 1 ? std::vector<std::string>{"d/a", "e/b"}
                                                      : std::vector<std::string>{"a", "b"};
    for (const std::string& each : all) {
      if (one_in(4)) continue;
      if (kind_ == 2 && one_in(3))
        add({.kind = Kind::mkdir, .path = each});
      else
        make_file(each);
    }
  }

  /// Adds one or several operations, at most `most`.
  void act(std::uint8_t user, std::size_t most) {
    const bool directories = kind_ != 0;
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
        return add({.kind = Kind::create, .path = path(), .thread = user});
      case 3:
      case 4:
      case 5:
        return add({.kind = Kind::unlink, .path = path(), .thread = user});
      case 6:
      case 7:
      case 8:
        return add({.kind = Kind::rename, .path = path(), .target = path(), .thread = user});
      case 9:
        return add({.kind = one_in(2) ? Kind::rename_exchange : Kind::rename_noreplace,
                    .path = path(),
                    .target = path(),
                    .thread = user});
      case 10:
      case 11:
        return add({.kind = Kind::link, .path = path(), .target = path(), .thread = user});
      case 12:
        if (directories)
          return add(
              {.kind = one_in(2) ? Kind::mkdir : Kind::rmdir, .path = path(), .thread = user});
        return add({.kind = Kind::fsync, .path = path(), .thread = user});
      case 13:
        if (one_in(2)) return add({.kind = Kind::sync, .thread = user});
        return add({.kind = Kind::fsync, .path = path(), .thread = user});
      case 14:
        if (one_in(3)) return add({.kind = Kind::evict, .thread = user});
        return add({.kind = Kind::fsync_directory, .path = "d", .thread = user});
      default:
        if (most >= 3) write(path(), user);
    }
  }

  std::mt19937_64 random_;
  std::uint64_t kind_;
  std::uint32_t version_ = 0;
  int opened_ = 0;
  std::vector<Operation> list_;
};

}  // namespace

std::vector<Operation> shared_names(std::uint64_t number) {
  return SharedDrawing(number).take();
}

}  // namespace headcrash::workload
