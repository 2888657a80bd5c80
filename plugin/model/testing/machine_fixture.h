#pragma once
// Fixtures for the tests of this directory: a small drive, a memory store, an observer that logs
// all events, and a host that collects completions.

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/model/core/machine.h"
#include "plugin/model/disk/disk.h"

namespace headcrash::model::bench {

/// A drive with 2 zones, 4 heads, 40 cylinders, 2060 sectors and 10 ms per revolution.
inline DiskProfile small_profile() {
  DiskProfile p;
  p.name = "small";
  p.heads = 4;
  p.cylinders = 40;
  p.revolution_ps = 10'000'000'000;
  ZoneProfile outer;
  outer.track_sectors = 16;
  outer.track_skew_sectors = 3;
  outer.cylinder_skew_sectors = 5;
  outer.front_unused_sectors = 4;
  outer.spare_tracks = 4;
  outer.slipped_tracks = {2, 3};
  ZoneProfile inner;
  inner.first_cylinder = 20;
  inner.track_sectors = 10;
  inner.track_skew_sectors = 2;
  inner.cylinder_skew_sectors = 3;
  inner.start_offset_sectors = 1;
  p.zones = {outer, inner};
  p.capacity_sectors = (20 * 4 - 4) * 16 - 4 + 20 * 4 * 10;
  p.seek.short_ns = {1'000'000, 1'500'000};
  p.seek.linear_from_cylinders = 20;
  p.seek.root_base_ns = 1'500'000;
  p.seek.root_factor_ns = 500'000;
  p.seek.linear_base_ns = 3'000'000;
  p.seek.linear_per_cylinder_ns = 50'000;
  p.seek.head_switch_ns = 500'000;
  p.seek.write_settle_ns = 200'000;
  p.overhead.read_miss_command = {500'000, 500'000};
  p.overhead.read_hit_command = {400'000, 400'000};
  p.overhead.read_completion_ns = 50'000;
  p.overhead.write_command = {600'000, 600'000};
  p.overhead.write_near_command = p.overhead.write_command;
  p.overhead.write_completion_ns = 50'000;
  p.overhead.bus_read_sector_ns = 100'000;
  p.overhead.bus_write_sector_ns = 100'000;
  p.overhead.read_watermark_permille = 750;
  p.read_buffer = {64, 32};
  p.write_cache = {64, 48, 32, 20 * kMillisecondNs};
  return p;
}

class MemoryStore final : public SectorStore {
 public:
  explicit MemoryStore(std::uint64_t sectors) : bytes_(sectors * kSectorBytes) {}
  std::uint64_t sectors() const override { return bytes_.size() / kSectorBytes; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    if (broken) return fail("memory", "broken");
    std::memcpy(into.data(), bytes_.data() + lba * kSectorBytes, into.size());
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    if (broken) return fail("memory", "broken");
    std::memcpy(bytes_.data() + lba * kSectorBytes, data.data(), data.size());
    return {};
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    if (broken) return fail("memory", "broken");
    std::memset(bytes_.data() + lba * kSectorBytes, 0, count * kSectorBytes);
    return {};
  }
  bool broken = false;

 private:
  std::vector<std::byte> bytes_;
};

/// Logs every call as a line of text, so that runs can be compared.
class LogObserver final : public MachineObserver {
 public:
  void submitted(DeviceId device, TimeNs at, const Request& request) override {
    log.push_back(fmt::format("{} submit {} {} op{} {}+{}", at, device, request.id,
                              static_cast<int>(request.op), request.lba, request.sectors));
  }
  void acknowledged(DeviceId device, const Completion& c) override {
    log.push_back(fmt::format("{} ack {} {} status{}", c.completed_at, device, c.id,
                              static_cast<int>(c.status)));
  }
  void media_written(DeviceId device, TimeNs at, const MediaWrite& m) override {
    const std::string_view bytes(reinterpret_cast<const char*>(m.bytes.data()), m.bytes.size());
    log.push_back(fmt::format("{} media {} {} {}+{} outcome{} {:x}", at, device, m.source, m.lba,
                              m.sectors, static_cast<int>(m.outcome),
                              std::hash<std::string_view>()(bytes)));
    torn += m.outcome == MediaWrite::Outcome::torn ? 1 : 0;
  }
  void incident(DeviceId device, TimeNs at, std::string_view text) override {
    log.push_back(fmt::format("{} incident {} {}", at, device, text));
  }
  void marked(TimeNs at, std::string_view text) override {
    log.push_back(fmt::format("{} mark {}", at, text));
  }
  void power_changed(TimeNs at, PowerState state) override {
    log.push_back(fmt::format("{} power {}", at, state == PowerState::on ? "on" : "off"));
  }
  std::vector<std::string> log;
  std::uint64_t torn = 0;
};

class Host final : public Initiator {
 public:
  void completed(const Completion& completion) override { done[completion.id] = completion; }
  bool has(RequestId id) const { return done.count(id) > 0; }
  std::map<RequestId, Completion> done;
};

/// Values for the parameter `write_cache` of DiskFixture.
inline constexpr bool kCacheOff = false, kCacheOn = true;

/// A machine with one disk.
struct DiskFixture {
  explicit DiskFixture(bool write_cache, std::uint64_t seed = 1, DiskProfile p = small_profile(),
                       Tear tear = Tear::silent)
      : profile(std::move(p)),
        store(profile.capacity_sectors),
        machine(observer),
        faults(machine.simulation(), observer, 0, seed) {
    DiskOptions options{profile, machine.simulation(), observer};
    options.store = &store;
    options.seed = seed;
    options.write_cache = write_cache;
    options.faults = &faults;
    options.tear = tear;
    auto made = std::make_unique<Disk>(options);
    disk = made.get();
    machine.add_device("disk", std::move(made));
  }

  static std::vector<std::byte> pattern(std::uint32_t sectors, int value) {
    return std::vector<std::byte>(std::size_t{sectors} * kSectorBytes, std::byte(value));
  }

  RequestId submit(Op op, std::uint64_t lba = 0, std::uint32_t sectors = 0, bool fua = false) {
    Request request;
    request.op = op;
    request.lba = lba;
    request.sectors = sectors;
    request.fua = fua;
    return machine.submit(0, request, host);
  }
  RequestId submit_write(std::uint64_t lba, const std::vector<std::byte>& data, bool fua = false) {
    Request request;
    request.op = Op::write;
    request.lba = lba;
    request.sectors = static_cast<std::uint32_t>(data.size() / kSectorBytes);
    request.data = data;
    request.fua = fua;
    return machine.submit(0, request, host);
  }
  RequestId submit_read(std::uint64_t lba, std::vector<std::byte>& into) {
    Request request;
    request.op = Op::read;
    request.lba = lba;
    request.sectors = static_cast<std::uint32_t>(into.size() / kSectorBytes);
    request.into = into;
    return machine.submit(0, request, host);
  }
  /// Runs until the request completes.
  Completion finish(RequestId id) {
    while (!host.has(id) && machine.simulation().run_next()) {
    }
    return host.done[id];
  }
  std::vector<std::byte> on_medium(std::uint64_t lba, std::uint32_t sectors) {
    std::vector<std::byte> bytes(std::size_t{sectors} * kSectorBytes);
    if (!store.read(lba, bytes)) bytes.clear();
    return bytes;
  }
  void run_for(TimeNs ns) { machine.simulation().run_until(machine.simulation().now() + ns); }
  void drain() {
    while (machine.simulation().run_next()) {
    }
  }

  DiskProfile profile;
  MemoryStore store;
  LogObserver observer;
  Machine machine;
  DeviceFaults faults;
  Host host;
  Disk* disk = nullptr;
};

}  // namespace headcrash::model::bench
