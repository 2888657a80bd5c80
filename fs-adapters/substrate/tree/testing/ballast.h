#pragma once
// A test user that keeps a disk nearly full while other users are working (history.h), and verifies
// the contents of the files that it has written.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string>

#include "fs-adapters/substrate/tree/testing/history.h"

namespace headcrash::tree::bench {

/// Creates, overwrites and removes files in the root to keep the disk as full as requested.
class Ballast {
 public:
  static constexpr std::uint64_t kFullPercent = 90;

  Ballast(Vfs& fs, std::uint32_t seed, std::uint64_t full_percent = kFullPercent)
      : fs_(&fs), random_(seed), wanted_percent_(full_percent) {}

  std::uint64_t full_percent() const {
    const SpaceStatus space = *fs_->space();
    return 100 - space.free_bytes * 100 / space.total_bytes;
  }
  void fill() {
    while (full_percent() < wanted_percent_ && !testing::Test::HasFailure()) make();
  }
  void step() {
    if (full_percent() > wanted_percent_) {
      remove();
    } else if (full_percent() < wanted_percent_) {
      make();
    } else {
      overwrite();
    }
  }
  void moves_to(Vfs& fs) { fs_ = &fs; }
  void compare() {
    for (const auto& [number, text] : files_)
      EXPECT_TRUE(get_file(*fs_, name(number)) == text) << name(number);
  }

 private:
  static std::string name(int number) { return fmt::format("ballast{}", number); }
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }
  auto some() { return std::next(files_.begin(), below(files_.size())); }

  void make() {
    std::string& text = files_[next_];
    text.assign(1 + below(40'000), static_cast<char>('a' + below(26)));
    put_file(*fs_, name(next_++), text);
  }
  void remove() {
    const auto one = some();
    EXPECT_TRUE(fs_->unlink(name(one->first)));
    files_.erase(one);
  }
  void overwrite() {
    auto& [number, text] = *some();
    const std::size_t at = below(text.size());
    const std::string part(std::min<std::size_t>(1 + below(5'000), text.size() - at),
                           static_cast<char>('A' + below(26)));
    text.replace(at, part.size(), part);
    const auto file = fs_->open(name(number), {});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs_->pwrite(*file, at, bytes_of(part)));
    if (below(8) == 0) {
      EXPECT_TRUE(fs_->fsync(*file));
    }
    EXPECT_TRUE(fs_->close(*file));
  }

  Vfs* fs_;
  std::mt19937 random_;
  std::uint64_t wanted_percent_;
  std::map<int, std::string> files_;
  int next_ = 0;
};

}  // namespace headcrash::tree::bench
