#pragma once
// Fixtures for this directory's tests: a system in virtual time on an in-memory disk that logs its
// requests.

#include <cstring>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/memory_disk.h"
#include "fs-adapters/substrate/os/system.h"
#include "plugin/model/core/store.h"
#include "plugin/model/testing/sector_bytes.h"

namespace headcrash::os::bench {

class Medium final : public model::SectorStore {
 public:
  explicit Medium(std::uint64_t sectors) : bytes_(sectors * model::kSectorBytes) {}
  std::uint64_t sectors() const override { return bytes_.size() / model::kSectorBytes; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    std::memcpy(into.data(), bytes_.data() + lba * model::kSectorBytes, into.size());
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    std::memcpy(bytes_.data() + lba * model::kSectorBytes, data.data(), data.size());
    return {};
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    std::memset(bytes_.data() + lba * model::kSectorBytes, 0, count * model::kSectorBytes);
    return {};
  }
  /// Returns the word with which the sector is filled.
  std::uint64_t word(std::uint64_t lba) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + lba * model::kSectorBytes, sizeof word);
    return word;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Forwards all requests to another disk and logs them. Requests that touch a bad sector fail.
class WatchedDisk final : public BlockDevice {
 public:
  explicit WatchedDisk(BlockDevice& disk) : disk_(disk) {}
  std::uint64_t sectors() const override { return disk_.sectors(); }
  bool volatile_cache() const override { return disk_.volatile_cache(); }
  void start(const BlockRequest& request, BlockDone& done) override {
    const char* op = request.op == model::Op::read    ? "r"
                     : request.op == model::Op::write ? "w"
                                                      : "f";
    log.push_back(op + std::to_string(request.lba) + "+" + std::to_string(request.sectors));
    Inner& inner = under_way_.emplace_back(*this);
    inner.listener = &done;
    inner.self = std::prev(under_way_.end());
    for (std::uint64_t lba = request.lba; lba < request.lba + request.sectors; ++lba)
      inner.bad = inner.bad || bad_sectors.contains(lba);
    disk_.start(inner.bad ? BlockRequest{model::Op::flush} : request, inner);
  }

  std::vector<std::string> log;
  std::set<std::uint64_t> bad_sectors;

 private:
  struct Inner final : BlockDone {
    explicit Inner(WatchedDisk& outer) : disk(outer) {}
    void done(model::Status status) override {
      BlockDone& finished = *listener;
      const bool fails = bad && status == model::Status::ok;
      disk.under_way_.erase(self);
      finished.done(fails ? model::Status::medium_error : status);
    }
    WatchedDisk& disk;
    BlockDone* listener = nullptr;
    bool bad = false;
    std::list<Inner>::iterator self;
  };
  BlockDevice& disk_;
  std::list<Inner> under_way_;
};

struct Calls final : model::EventTarget {
  explicit Calls(std::function<void()> what) : what_(std::move(what)) {}
  void on_event(std::uint64_t) override { what_(); }
  std::function<void()> what_;
};

struct World {
  explicit World(const DiskQueueOptions& queue_options = {}, const CpuCosts& costs = {},
                 TimeNs latency_ns = model::kMillisecondNs)
      : World({.costs = costs, .queue = queue_options}, latency_ns) {}
  explicit World(const SystemOptions& options, TimeNs latency_ns = model::kMillisecondNs)
      : memory(simulation, medium, latency_ns), system(clock, disk, options) {}

  void run_as_user(std::function<void()> body) { system.run_as(account, std::move(body)); }

  model::Simulation simulation;
  VirtualClock clock{simulation};
  Medium medium{4096};
  MemoryDisk memory;
  WatchedDisk disk{memory};
  System system;
  Executor& executor = system.executor;
  Cpu& cpu = system.cpu;
  DiskQueue& queue = system.queue;
  BufferCache& cache = system.cache;
  Syncer& syncer = system.syncer;
  Account account{.name = "ann"};
};

inline std::vector<std::byte> filled(std::uint32_t sectors, std::uint64_t word) {
  std::vector<std::byte> bytes(std::size_t{sectors} * model::kSectorBytes);
  model::bench::fill_with(std::span<std::byte>(bytes), word);
  return bytes;
}

}  // namespace headcrash::os::bench
