#pragma once
// For tests: a simple drive with a write cache. The drive acknowledges writes at once and destages
// them later, in any order, in pieces, and with occasional faults. It calls the stores and the
// observer in the same way as the model's drives. The seed determines the whole run.

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "plugin/model/core/machine.h"

namespace headcrash::record {

inline constexpr std::uint32_t kSector = model::kSectorBytes;

inline std::vector<std::byte> filled(std::size_t sectors, int value) {
  return std::vector<std::byte>(sectors * kSector, static_cast<std::byte>(value));
}

class TestDrive {
 public:
  TestDrive(model::DeviceId device, model::SectorStore& store, model::MachineObserver& observer,
            unsigned seed)
      : device_(device), store_(store), observer_(observer), random_(seed) {}

  model::TimeNs now = 0;
  model::RequestId last_request = 0;

  std::uint64_t random(std::uint64_t below) { return random_() % below; }

  void write(std::uint64_t lba, std::span<const std::byte> data, bool fua = false) {
    model::Request request = new_request(model::Op::write, lba, data.size() / kSector);
    request.data = data;
    request.fua = fua;
    submit(request);
    for (std::uint64_t i = 0; i < request.sectors; ++i) {
      const auto sector = data.subspan(i * kSector, kSector);
      cache_[lba + i] = {request.id, {sector.begin(), sector.end()}};
    }
    if (fua) destage_range(lba, request.sectors);
    acknowledge(request);
  }

  void zero(model::Op op, std::uint64_t lba, std::uint64_t sectors) {
    const model::Request request = new_request(op, lba, sectors);
    submit(request);
    for (std::uint64_t i = 0; i < sectors; ++i) cache_[lba + i] = {request.id, {}};
    acknowledge(request);
  }

  void flush() {
    const model::Request request = new_request(model::Op::flush, 0, 0);
    submit(request);
    while (!cache_.empty()) destage(false);
    acknowledge(request);
  }

  /// Destages adjacent cached sectors of one request. If `may_go_wrong` is true, the media write
  /// may be faulty.
  void destage(bool may_go_wrong) {
    if (cache_.empty()) return;
    auto first = cache_.lower_bound(random(store_.sectors()));
    if (first == cache_.end()) first = cache_.begin();
    auto last = std::next(first);
    while (last != cache_.end() && last->first == std::prev(last)->first + 1 &&
           last->second.source == first->second.source && random(8) != 0)
      ++last;
    put(first->first, first, last, may_go_wrong ? random(24) : 99);
    cache_.erase(first, last);
  }

  void power_cut() {
    cache_.clear();
    observer_.power_changed(now, model::PowerState::off);
    observer_.power_changed(now, model::PowerState::on);
  }

  void step(std::uint64_t sectors_most) {
    now += 1 + static_cast<model::TimeNs>(random(5));
    const std::uint64_t lba = random(store_.sectors());
    const std::uint64_t sectors = 1 + random(std::min(store_.sectors() - lba, sectors_most));
    const std::uint64_t dice = random(40);
    if (dice < 3) {
      zero(dice == 0 ? model::Op::trim : model::Op::write_zeroes, lba, sectors);
    } else if (dice == 3) {
      flush();
    } else if (dice == 4) {
      power_cut();
    } else if (dice == 5) {
      observer_.marked(now, "persisted " + std::to_string(last_request));
    } else {
      std::vector<std::byte> data(sectors * kSector);
      for (std::size_t at = 0; at < data.size(); at += 8) {
        const std::uint64_t word = random_();
        std::memcpy(data.data() + at, &word, 8);
      }
      write(lba, data, dice == 6);
    }
    for (int i = 0; i < 3; ++i) destage(true);
  }

 private:
  struct Cached {
    model::RequestId source;
    std::vector<std::byte> bytes;  ///< empty: zeroes
  };
  using Entry = std::map<std::uint64_t, Cached>::iterator;

  model::Request new_request(model::Op op, std::uint64_t lba, std::uint64_t sectors) {
    model::Request request;
    request.id = ++last_request;
    request.op = op;
    request.lba = lba;
    request.sectors = static_cast<std::uint32_t>(sectors);
    return request;
  }
  void submit(const model::Request& request) { observer_.submitted(device_, now, request); }
  void acknowledge(const model::Request& request) {
    observer_.acknowledged(device_, {.id = request.id, .submitted_at = now, .completed_at = now});
  }
  void destage_range(std::uint64_t lba, std::uint64_t sectors) {
    const auto first = cache_.find(lba);
    const auto last = cache_.lower_bound(lba + sectors);
    put(lba, first, last, 99);
    cache_.erase(first, last);
  }

  void put(std::uint64_t lba, Entry first, Entry last, std::uint64_t fault) {
    using Outcome = model::MediaWrite::Outcome;
    const model::RequestId source = first->second.source;
    const bool zeroes = first->second.bytes.empty();
    std::vector<std::byte> bytes;
    for (auto entry = first; entry != last; ++entry)
      bytes.insert(bytes.end(), entry->second.bytes.begin(), entry->second.bytes.end());
    const auto sectors = static_cast<std::uint32_t>(std::distance(first, last));
    if (zeroes) {
      EXPECT_TRUE(store_.write_zeroes(lba, sectors));
      return observer_.media_written(device_, now, {source, lba, sectors, Outcome::written, {}});
    }
    Outcome outcome = Outcome::written;
    if (fault == 0) {
      outcome = Outcome::torn;
      std::vector<std::byte> old(bytes.size());
      EXPECT_TRUE(store_.read(lba, old));
      const std::size_t fresh = random(bytes.size());
      std::copy(old.begin() + static_cast<std::ptrdiff_t>(fresh), old.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(fresh));
    } else if (fault == 1) {
      outcome = Outcome::corrupted;
      bytes[random(bytes.size())] ^= std::byte{0x10};
    } else if (fault == 2) {
      outcome = Outcome::misdirected;
      lba = random(store_.sectors() - sectors + 1);
    } else if (fault == 3) {
      outcome = Outcome::unreadable;
    } else if (fault == 4) {
      observer_.incident(device_, now, "lost-write");
      return;
    }
    EXPECT_TRUE(store_.write(lba, bytes));
    observer_.media_written(device_, now, {source, lba, sectors, outcome, bytes});
  }

  model::DeviceId device_;
  model::SectorStore& store_;
  model::MachineObserver& observer_;
  std::mt19937_64 random_;
  std::map<std::uint64_t, Cached> cache_;
};

/// A store that forwards every write to two stores and compares every read.
class BothStores final : public model::SectorStore {
 public:
  BothStores(model::SectorStore& one, model::SectorStore& other) : one_(one), other_(other) {}
  std::uint64_t sectors() const override { return one_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    std::vector<std::byte> again(into.size());
    TRY(one_.read(lba, into));
    TRY(other_.read(lba, again));
    EXPECT_TRUE(std::equal(into.begin(), into.end(), again.begin())) << "reading " << lba;
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    TRY(other_.write(lba, data));
    return one_.write(lba, data);
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    TRY(other_.write_zeroes(lba, count));
    return one_.write_zeroes(lba, count);
  }

 private:
  model::SectorStore& one_;
  model::SectorStore& other_;
};

inline std::vector<std::byte> all_of(const model::SectorStore& store) {
  std::vector<std::byte> bytes(store.sectors() * kSector);
  EXPECT_TRUE(store.read(0, bytes));
  return bytes;
}

}  // namespace headcrash::record
