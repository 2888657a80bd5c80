// Costs of the substrate on the host: rates of fiber switches, processor charges, requests through
// the queue, and buffers found and written. The queue is measured at two lengths, to show that no
// cost grows with the length.
//
//   headcrash_os_bench
#include <fmt/core.h>

#include <ctime>
#include <vector>

#include "fs-adapters/substrate/os/memory_disk.h"
#include "fs-adapters/substrate/os/system.h"
#include "plugin/base/random.h"

namespace {

using namespace headcrash;

class Nothing final : public model::SectorStore {
 public:
  std::uint64_t sectors() const override { return 1ULL << 32; }
  Result<void> read(std::uint64_t, std::span<std::byte>) const override { return {}; }
  Result<void> write(std::uint64_t, std::span<const std::byte>) override { return {}; }
  Result<void> write_zeroes(std::uint64_t, std::uint64_t) override { return {}; }
};

struct World {
  explicit World(const os::SystemOptions& options = {}) : system(clock, disk, options) {}
  model::Simulation simulation;
  os::VirtualClock clock{simulation};
  Nothing nothing;
  os::MemoryDisk disk{simulation, nothing, model::kMillisecondNs};
  os::System system;
  os::Account account{.name = "bench"};

  /// Runs `body` on each of `fibers` fibers. Together, the fibers perform `things` actions. Prints
  /// the number of actions per second and the time for each.
  template <typename Body>
  void measure(const char* what, int fibers, double things, const Body& body) {
    const std::clock_t before = std::clock();
    for (int i = 0; i < fibers; ++i) system.executor.spawn(os::Executor::Kind::user, account, body);
    system.executor.run();
    const double passed_s = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    fmt::print("{:48} {:>12.0f} per second {:>8.0f} ns each\n", what, things / passed_s,
               passed_s * 1e9 / things);
  }
};

struct Ignore final : os::DiskDone {
  void done(os::RequestId, model::Status) override {}
};

void queue_of(const char* what, os::FlagMeaning flag, std::uint64_t length,
              std::uint64_t requests) {
  World w({.queue = {.flag = flag}});
  const std::vector<std::byte> bytes(16 * model::kSectorBytes);
  Random random(1);
  Ignore ignore;
  w.measure(what, 1, static_cast<double>(requests), [&] {
    for (std::uint64_t i = 0; i < requests; ++i) {
      os::BlockRequest request{model::Op::write, random.below(1 << 20) * 16, 16};
      request.data = bytes;
      const os::RequestId id = w.system.queue.issue(request, {.flagged = i % 8 == 0}, ignore);
      if (id > length) w.system.queue.wait_for(id - length);
    }
    w.system.queue.drain();
  });
}

void blocks(const char* what, bool block_copy) {
  World w({.cache = {.bytes = 36 << 20, .block_copy = block_copy}});
  os::BufferCache& cache = w.system.cache;
  constexpr int kWrites = 200'000;
  Random random(1);
  w.measure(what, 1, kWrites, [&] {
    for (int i = 0; i < kWrites; ++i) {
      const auto block = static_cast<std::int64_t>(random.below(8000));
      os::HeldBuffer buffer = cache.get({0, block}, os::Content::metadata,
                                        static_cast<std::uint64_t>(block) * 16, 8192);
      buffer.bytes()[0] = std::byte{1};
      if (i % 4 == 0)
        cache.write_async(std::move(buffer));
      else
        cache.write_delayed(std::move(buffer));
    }
    cache.flush_all();
  });
}

/// Writes a log in segments of 1 MiB.
void segments(const char* what, bool block_copy) {
  World w({.cache = {.bytes = 36 << 20, .block_copy = block_copy}});
  os::BufferCache& cache = w.system.cache;
  constexpr int kSegments = 800, kBlocks = 128;
  w.measure(what, 1, kSegments * kBlocks, [&] {
    std::uint64_t end = 0;
    for (int segment = 0; segment < kSegments; ++segment) {
      std::vector<os::GatheredPart> parts;
      for (std::int64_t block = 0; block < kBlocks; ++block) {
        os::HeldBuffer buffer = cache.get({1, segment % 16 * kBlocks + block}, os::Content::data,
                                          os::kUnassigned, 8192);
        buffer.bytes()[0] = std::byte{1};
        parts.push_back({.buffer = std::move(buffer)});
      }
      const os::RequestId id = cache.write_gathered(end, std::move(parts));
      end += kBlocks * 16;
      if (id > 2) w.system.queue.wait_for(id - 2);
    }
    w.system.queue.drain();
  });
}

}  // namespace

int main() {
  {
    World w;
    w.measure("fiber switches (100 fibers yield)", 100, 2e6, [&] {
      for (int i = 0; i < 20'000; ++i) w.system.executor.yield();
    });
  }
  for (const int fibers : {4, 100}) {
    World w({.executor = {.schedule = {.seed = 1, .hold_ns_max = 0}}});
    w.measure(fibers == 4 ? "fiber switches under a schedule (4 fibers)"
                          : "fiber switches under a schedule (100 fibers)",
              fibers, 2e6, [&] {
                for (int i = 0; i < 2'000'000 / fibers; ++i) w.system.executor.yield();
              });
  }
  for (const std::uint64_t seed : {0, 1}) {
    World w({.executor = {.schedule = {.seed = seed, .hold_ns_max = 0}}});
    w.measure(seed == 0 ? "possible switches, no schedule"
                        : "possible switches under a schedule, none taken",
              4, 2e7, [&] {
                for (int i = 0; i < 5'000'000; ++i) w.system.executor.possible_switch();
              });
  }
  {
    World w;
    w.measure("charges of 1 us, one fiber", 1, 5e6, [&] {
      for (int i = 0; i < 5'000'000; ++i) w.system.cpu.use(1000);
    });
  }
  {
    World w;
    w.measure("charges of 1 us, four fibers in 10 ms slices", 4, 4e6, [&] {
      for (int i = 0; i < 1'000'000; ++i) w.system.cpu.use(1000);
    });
  }
  queue_of("requests, 10 queued, no flags", os::FlagMeaning::ignore, 10, 300'000);
  queue_of("requests, 40000 queued, no flags", os::FlagMeaning::ignore, 40'000, 300'000);
  queue_of("requests, 10 queued, Part flags", os::FlagMeaning::part, 10, 300'000);
  queue_of("requests, 40000 queued, Part flags", os::FlagMeaning::part, 40'000, 300'000);
  queue_of("requests, 40000 queued, Full flags", os::FlagMeaning::full, 40'000, 300'000);
  blocks("blocks of 8 KiB fetched and written", false);
  blocks("blocks of 8 KiB fetched and written, -CB", true);
  segments("blocks of 8 KiB in segments of 1 MiB", false);
  segments("blocks of 8 KiB in segments of 1 MiB, -CB", true);
  return 0;
}
