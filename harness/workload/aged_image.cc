// Ages a file system (aged_image.h). Random numbers come from std::mt19937_64 and are reduced
// without the library's distributions, so that lists do not depend on the library.
#include "harness/workload/aged_image.h"

#include <fmt/format.h>

#include <random>

#include "harness/workload/draft.h"
#include "harness/workload/stamp.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

constexpr std::uint64_t kAgedDirectories = 4;

class Ageing {
 public:
  explicit Ageing(const AgedImageOptions& options) : options_(options), random_(options.seed) {}

  std::vector<Operation> live() {
    for (std::uint64_t i = 0; i < kAgedDirectories; ++i)
      draft_.add({.kind = Kind::mkdir, .path = fmt::format("aged{}", i)});
    for (std::uint32_t round = 0; round < options_.rounds; ++round) {
      if (round == options_.rounds / 2) draft_.add({.kind = Kind::sync});
      change();
    }
    for (const std::string& path : draft_.all(FileType::regular)) {
      if (below(3) != 0) draft_.add({.kind = Kind::unlink, .path = path});
    }
    draft_.add({.kind = Kind::sync});
    std::vector<Operation> list = draft_.take();
    for (Operation& each : list) {
      if (!is_write(each.kind)) continue;
      each.file += kAgedFirst;
      each.version += kAgedFirst;
    }
    return list;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::string new_name() {
    return fmt::format("aged{}/file{}", below(kAgedDirectories), next_name_++);
  }

  void write(Kind kind, const std::string& path, std::uint64_t offset) {
    const std::uint64_t bytes = (1 + below(options_.largest_blocks)) * kStampBytes;
    draft_.add({.kind = kind, .path = path, .offset = offset, .length = bytes});
  }

  void change() {
    const std::vector<std::string> files = draft_.all(FileType::regular);
    const std::uint64_t dice = below(10);
    if (files.size() < 4 || (dice < 3 && files.size() < options_.files_most)) {
      const std::string path = new_name();
      draft_.add({.kind = Kind::create, .path = path});
      return write(Kind::write, path, 0);
    }
    const std::string& path = files[below(files.size())];
    const std::uint64_t size = draft_.size(path);
    const std::uint64_t most = 7ULL * options_.largest_blocks * kStampBytes;
    if (dice < 6 && size < most) return write(Kind::append, path, size);
    if (dice < 7) return write(Kind::write, path, below(size / kStampBytes) * kStampBytes);
    if (dice < 8) {
      draft_.add({.kind = Kind::rename, .path = path, .target = new_name()});
      return;
    }
    draft_.add({.kind = Kind::unlink, .path = path});
  }

  AgedImageOptions options_;
  std::mt19937_64 random_;
  Draft draft_;
  std::uint32_t next_name_ = 0;
};

}  // namespace

std::vector<Operation> age(const AgedImageOptions& options) {
  return Ageing(options).live();
}

}  // namespace headcrash::workload
