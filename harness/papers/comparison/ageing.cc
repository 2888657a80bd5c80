// Fills a file system and rewrites its contents (ageing.h).
#include "harness/papers/comparison/ageing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "plugin/base/random.h"

namespace headcrash::experiment::compare {
namespace {

constexpr double kMeanBytes = 23'000, kSpread = 2.2;
constexpr std::uint64_t kLeastBytes = 1, kMostBytes = 1 << 20;
constexpr std::uint64_t kFilesPerFolder = 20;
/// Number of files created between two checks of the free space.
constexpr std::size_t kTogether = 32;
constexpr std::int64_t kBetweenFilesNs = 100'000'000;

class Turnover {
 public:
  Turnover(Vfs& vfs, const AgeingOptions& options)
      : vfs_(vfs), options_(options), random_(options.seed) {}

  VfsResult<AgedDisk> run() {
    if (auto measured = measure(); !measured) return forward_errno(measured);
    folders_ = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(static_cast<double>(total_) * options_.full / kMeanBytes) /
               kFilesPerFolder);
    if (auto made = vfs_.mkdir("aged", 0755); !made) return forward_errno(made);
    for (std::uint64_t i = 0; i < folders_; ++i)
      if (auto made = vfs_.mkdir(fmt::format("aged/d{}", i), 0755); !made)
        return forward_errno(made);
    while (full_ < options_.full) {
      const std::uint64_t missing = files_missing();
      for (std::uint64_t i = 0; i <= std::min<std::uint64_t>(missing, kTogether); ++i)
        if (auto made = make(); !made) return forward_errno(made);
      if (auto measured = measure(); !measured) return forward_errno(measured);
    }
    const double in_use = static_cast<double>(bytes_);
    written_ = 0;
    while (static_cast<double>(written_) < options_.turnovers * in_use)
      if (auto turned = turn(); !turned) return forward_errno(turned);
    return AgedDisk{.full = full_,
                    .files = files_.size(),
                    .written_over = static_cast<double>(written_) / in_use};
  }

 private:
  struct File {
    std::uint64_t number = 0, folder = 0, bytes = 0;
  };

  /// Measures the used space. Calls sync first, because some systems free space only later.
  VfsResult<void> measure() {
    TRY(vfs_.syncfs());
    TRY(const auto space, vfs_.space());
    total_ = space.total_bytes;
    full_ = 1 - static_cast<double>(space.free_bytes) / static_cast<double>(space.total_bytes);
    return {};
  }
  std::uint64_t files_missing() const {
    return static_cast<std::uint64_t>(
        std::max(0., (options_.full - full_) * static_cast<double>(total_) / kMeanBytes));
  }
  std::uint64_t files_too_many() const {
    return static_cast<std::uint64_t>(
        std::max(0., (full_ - options_.full) * static_cast<double>(total_) / kMeanBytes));
  }

  VfsResult<void> turn() {
    for (std::uint64_t i = files_too_many(); i > 0; --i) TRY(remove());
    for (std::uint64_t i = std::min<std::uint64_t>(files_missing(), kTogether); i > 0; --i)
      TRY(make());
    for (std::size_t i = 0; i < kTogether; ++i) {
      TRY(remove());
      TRY(make());
    }
    return measure();
  }

  std::uint64_t draw_bytes() {
    const double bytes =
        kMeanBytes * std::exp(kSpread * normal_of(random_) - kSpread * kSpread / 2);
    return std::clamp(static_cast<std::uint64_t>(std::min(bytes, 1e9)), kLeastBytes, kMostBytes);
  }

  static std::string path(const File& file) {
    return fmt::format("aged/d{}/f{}", file.folder, file.number);
  }

  VfsResult<void> make() {
    const File file{.number = ++numbers_, .folder = random_.below(folders_), .bytes = draw_bytes()};
    TRY(const auto handle, vfs_.open(path(file), {.create = true, .exclusive = true}));
    VfsResult<void> done;
    for (std::uint64_t at = 0; done && at < file.bytes; at += zeroes_.size()) {
      const auto piece =
          std::span(zeroes_).first(std::min<std::uint64_t>(zeroes_.size(), file.bytes - at));
      if (const auto written = vfs_.pwrite(handle, at, piece); !written)
        done = forward_errno(written);
    }
    if (auto closed = vfs_.close(handle); done && !closed) done = closed;
    vfs_.cpu(kBetweenFilesNs);
    files_.push_back(file);
    bytes_ += file.bytes;
    written_ += file.bytes;
    return done;
  }

  VfsResult<void> remove() {
    if (files_.empty()) return {};
    const std::size_t young = std::max<std::size_t>(1, files_.size() / 20);
    const bool is_young = random_.below(2) == 0;
    const std::size_t at =
        is_young ? files_.size() - 1 - random_.below(young) : random_.below(files_.size());
    const File file = files_[at];
    files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(at));
    bytes_ -= file.bytes;
    vfs_.cpu(kBetweenFilesNs);
    return vfs_.unlink(path(file));
  }

  Vfs& vfs_;
  const AgeingOptions& options_;
  Random random_;
  std::vector<File> files_;  ///< ordered from the oldest to the newest file
  std::uint64_t numbers_ = 0, folders_ = 1, bytes_ = 0, written_ = 0, total_ = 0;
  double full_ = 0;
  std::vector<std::byte> zeroes_ = std::vector<std::byte>(64 << 10);
};

}  // namespace

VfsResult<AgedDisk> age(Vfs& vfs, const AgeingOptions& options) {
  return Turnover(vfs, options).run();
}

}  // namespace headcrash::experiment::compare
