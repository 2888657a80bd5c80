#pragma once
// Stores for tests of fsck and of journal replay. CutStore simulates a power cut within a write,
// and BoundedStore detects accesses past its end.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fs-adapters/ufs/format/format.h"
#include "plugin/base/invariant.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

/// Writes sectors one by one until the power is cut.
class CutStore : public model::SectorStore {
 public:
  CutStore(model::SectorStore& below, std::uint64_t sectors) : below_(below), left_(sectors) {}
  std::uint64_t sectors() const override { return below_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    return below_.read(lba, into);
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    for (std::size_t at = 0; at < data.size(); at += kSectorBytes, --left_) {
      if (left_ == 0) return fail("device", "the power is off");
      TRY(below_.write(lba + at / kSectorBytes, data.subspan(at, kSectorBytes)));
    }
    return {};
  }
  Result<void> write_zeroes(std::uint64_t, std::uint64_t) override {
    return fail("device", "not expected");
  }

 private:
  model::SectorStore& below_;
  std::uint64_t left_;
};

/// Counts requests. An access beyond the end stops the test.
class BoundedStore : public model::SectorStore {
 public:
  explicit BoundedStore(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t sectors() const override { return bytes_.size() / kSectorBytes; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    check(lba, into.size());
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(lba * kSectorBytes), into.size(),
                into.begin());
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    check(lba, data.size());
    std::copy(data.begin(), data.end(),
              bytes_.begin() + static_cast<std::ptrdiff_t>(lba * kSectorBytes));
    return {};
  }
  Result<void> write_zeroes(std::uint64_t, std::uint64_t) override {
    return fail("store", "not expected");
  }
  std::span<std::byte> bytes() { return bytes_; }
  std::uint64_t requests() const { return requests_; }

 private:
  void check(std::uint64_t lba, std::size_t size) const {
    ++requests_;
    invariant(size % kSectorBytes == 0 && lba + size / kSectorBytes <= sectors(),
              "access beyond the end of the device");
  }
  std::vector<std::byte> bytes_;
  mutable std::uint64_t requests_ = 0;
};

}  // namespace headcrash::ufs
