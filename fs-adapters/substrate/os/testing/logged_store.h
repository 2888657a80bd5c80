#pragma once
// A store that remembers all writes, for tests that cut the power after each of them.

#include <cstdint>
#include <span>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::os {

/// Forwards all requests and keeps the written bytes in completion order.
class LoggedStore final : public model::SectorStore {
 public:
  struct Write {
    std::uint64_t lba = 0;
    std::vector<std::byte> bytes;
  };
  explicit LoggedStore(model::SectorStore& below) : below_(below) {}
  std::uint64_t sectors() const override { return below_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    return below_.read(lba, into);
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    ++writes;
    if (keep) log.push_back({lba, {data.begin(), data.end()}});
    return below_.write(lba, data);
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    return below_.write_zeroes(lba, count);
  }
  bool keep = false;
  std::uint64_t writes = 0;
  std::vector<Write> log;

 private:
  model::SectorStore& below_;
};

}  // namespace headcrash::os
