#pragma once
// Ages a disk: creates files of all sizes until a given part of the space is used, then removes and
// creates files until a given multiple of the used space has been written. Half of the removed
// files are young. File sizes are log-normal: half of them are below 2 KB, and none is above 1 MB.
// Sizes and ages are those of harness/papers/comparison/ageing.h, which names their sources.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::tree::bench {

struct TurnoverOptions {
  double full = .9;
  double turnovers = 3;
  std::uint32_t seed = 1;
  double largest_bytes = 1 << 20;  ///< maximum size of a file
  /// Number of files that are created or removed between two checks of the free space.
  std::size_t together = 32;
};

class Turnover {
 public:
  Turnover(Vfs& vfs, const TurnoverOptions& options)
      : vfs_(vfs), options_(options), random_(options.seed) {}

  /// Must be called from a fiber. Returns a description of the operation that failed; empty if
  /// every operation succeeded.
  std::string run() {
    for (std::uint32_t i = 0; i < kFolders; ++i)
      if (const auto made = vfs_.mkdir(fmt::format("d{}", i), 0755); !made)
        refused("mkdir", made.error().value);
    look();
    while (full_ < options_.full && refused_.empty()) make_some();
    const auto in_use = static_cast<double>(bytes_);
    written_ = 0;
    while (static_cast<double>(written_) < options_.turnovers * in_use && refused_.empty()) {
      while (full_ > options_.full + .005) {
        for (std::size_t i = 0; i < options_.together; ++i) remove();
        look();
      }
      for (std::size_t i = 0; i < options_.together; ++i) {
        remove();
        make();
      }
      look();
      if (full_ < options_.full - .005) make_some();
    }
    return refused_;
  }

 private:
  static constexpr std::uint32_t kFolders = 60;
  static constexpr std::size_t kPieceBytes = 64 << 10;
  struct File {
    std::string name;
    std::uint64_t bytes = 0;
  };

  void refused(const char* what, int error) {
    if (refused_.empty())
      refused_ =
          fmt::format("{}: errno {} at {:.1f} % of {} bytes", what, error, 100 * full_, total_);
  }
  void look() {
    if (const auto synced = vfs_.syncfs(); !synced) return refused("sync", synced.error().value);
    const auto space = vfs_.space();
    if (!space) return refused("space", space.error().value);
    total_ = space->total_bytes;
    full_ = 1 - static_cast<double>(space->free_bytes) / static_cast<double>(total_);
  }
  void make_some() {
    const double mean = 20'000;
    const double missing =
        std::max(1., (options_.full - full_) * static_cast<double>(total_) / mean);
    for (std::size_t i = 0;
         i < std::min<std::size_t>(options_.together, static_cast<std::size_t>(missing)); ++i)
      make();
    look();
  }
  void make() {
    if (!refused_.empty()) return;
    const double drawn = std::exp(std::log(2045.) + 2.2 * normal_(random_));
    const File file{fmt::format("d{}/f{}", random_() % kFolders, numbers_ + 1),
                    static_cast<std::uint64_t>(std::clamp(drawn, 1., options_.largest_bytes))};
    ++numbers_;
    const auto handle = vfs_.open(file.name, {.create = true, .exclusive = true});
    if (!handle) return refused("open", handle.error().value);
    for (std::uint64_t at = 0; at < file.bytes; at += kPieceBytes) {
      const auto piece =
          std::span(zeroes_).first(std::min<std::uint64_t>(kPieceBytes, file.bytes - at));
      if (const auto done = vfs_.pwrite(*handle, at, piece); !done)
        refused("write", done.error().value);
    }
    if (const auto closed = vfs_.close(*handle); !closed) refused("close", closed.error().value);
    vfs_.cpu(kBetweenNs);
    files_.push_back(file);
    bytes_ += file.bytes;
    written_ += file.bytes;
  }
  void remove() {
    if (files_.empty() || !refused_.empty()) return;
    const std::size_t young =
        random_() % 2 == 0 ? std::max<std::size_t>(1, files_.size() / 20) : files_.size();
    const std::size_t at = files_.size() - 1 - random_() % young;
    if (const auto gone = vfs_.unlink(files_[at].name); !gone)
      refused("unlink", gone.error().value);
    bytes_ -= files_[at].bytes;
    files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(at));
    vfs_.cpu(kBetweenNs);
  }

  static constexpr std::int64_t kBetweenNs = 100'000'000;
  Vfs& vfs_;
  TurnoverOptions options_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::vector<File> files_;
  std::vector<std::byte> zeroes_ = std::vector<std::byte>(kPieceBytes);
  std::uint64_t numbers_ = 0, bytes_ = 0, written_ = 0, total_ = 1;
  double full_ = 0;
  std::string refused_;
};

}  // namespace headcrash::tree::bench
