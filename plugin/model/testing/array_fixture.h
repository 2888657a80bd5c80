#pragma once
// Fixtures for array tests: a member whose delays are derived from a seed, an array of such members
// on persistent stores, and an independent check of the members' stores.

#include <memory>
#include <random>
#include <set>

#include "plugin/base/invariant.h"
#include "plugin/model/array/array.h"
#include "plugin/model/array/parity.h"
#include "plugin/model/array/raid_layout.h"
#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model::bench {

/// Returns bytes that depend on the position of the sector and on the seed.
inline std::vector<std::byte> counted(std::uint32_t sectors, int seed) {
  std::vector<std::byte> bytes(std::size_t{sectors} * kSectorBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = std::byte((i * 11 + i / 512 * 17 + static_cast<std::size_t>(seed) * 37) & 0xff);
  return bytes;
}

struct MemberTraits {
  bool volatile_cache = false;
  bool trim = false;
  TimeNs delay_ns = kMillisecondNs;
  TimeNs jitter_ns = 0;                ///< maximum additional delay, drawn from the seed
  bool cut_leaves_unreadable = false;  ///< a power cut makes some torn sectors unreadable
  /// Size of a physical sector. If one of its sectors becomes unreadable, all of them do.
  std::uint32_t physical_sectors = 1;
};

/// An array member that serves requests concurrently. At a power cut, a prefix of each write in
/// flight (possibly empty or the whole write) is stored, and the next sector is torn.
class TestMember final : public Device, private EventTarget {
 public:
  TestMember(Simulation& simulation, Observer& observer, SectorStore* store, DeviceId device,
             std::uint64_t sectors, std::uint64_t seed, const MemberTraits& traits)
      : simulation_(simulation),
        observer_(observer),
        store_(store),
        device_(device),
        random_(seed * 1000 + device),
        traits_(traits) {
    characteristics_.profile = "member";
    characteristics_.sectors = sectors;
    characteristics_.volatile_cache = traits.volatile_cache;
    characteristics_.trim = traits.trim;
    characteristics_.physical_sector_sectors = traits.physical_sectors;
  }
  const Characteristics& characteristics() const override { return characteristics_; }
  DeviceCounters counters() const override { return counters_; }
  std::optional<TimeNs> quiet_since() const override { return std::nullopt; }  // never called

  void submit(const Request& request, Initiator& initiator) override {
    invariant(request.lba + request.sectors <= characteristics_.sectors,
              "a command is within the member");
    observer_.submitted(device_, simulation_.now(), request);
    const std::uint64_t tag = ++tags_;
    inside_[tag] = {request, &initiator, simulation_.now()};
    const TimeNs jitter =
        traits_.jitter_ns > 0
            ? static_cast<TimeNs>(random_() % static_cast<std::uint64_t>(traits_.jitter_ns))
            : 0;
    simulation_.schedule(simulation_.now() + (powered_ ? traits_.delay_ns + jitter : 0), *this,
                         tag);
    if (!powered_) lost_.insert(tag);
  }

  void power_cut() override {
    if (!powered_) return;
    powered_ = false;
    for (auto& [tag, command] : inside_) {
      if (lost_.insert(tag).second) {
        if (command.request.op == Op::write || command.request.op == Op::write_zeroes)
          cut_short(command.request);
        simulation_.schedule(simulation_.now(), *this, tag);
      }
    }
    for (const auto& [lba, bytes] : cache_) {
      if (random_() % 2 == 0) put(lba, bytes);
    }
    cache_.clear();
  }
  void power_on() override { powered_ = true; }

  bool dead = false;
  bool stall_writes = false;  ///< if true, writes stay in flight until the power is cut
  std::set<std::uint64_t> unreadable;

 private:
  struct PendingCommand {
    Request request;
    Initiator* initiator = nullptr;
    TimeNs submitted_at = 0;
  };
  using Bytes = std::vector<std::byte>;

  Bytes sector_of(const Request& r, std::uint32_t i) const {
    Bytes bytes(kSectorBytes);
    if (r.op == Op::write && !r.data.empty())
      std::memcpy(bytes.data(), r.data.data() + std::size_t{i} * kSectorBytes, kSectorBytes);
    return bytes;
  }
  void put(std::uint64_t lba, const Bytes& bytes) {
    if (store_ != nullptr)
      invariant(store_->write(lba, bytes).has_value(), "writing to memory succeeds");
    unreadable.erase(lba);
  }
  Bytes look(std::uint64_t lba) {
    Bytes bytes(kSectorBytes);
    if (store_ != nullptr)
      invariant(store_->read(lba, bytes).has_value(), "reading from memory must succeed");
    return bytes;
  }
  void cut_short(const Request& r) {
    if (dead || stall_writes) return;
    const auto done = static_cast<std::uint32_t>(random_() % (r.sectors + 1));
    for (std::uint32_t i = 0; i < done; ++i) put(r.lba + i, sector_of(r, i));
    if (done == r.sectors || random_() % 2 == 0) return;
    Bytes torn = sector_of(r, done);
    const Bytes old = look(r.lba + done);
    const auto at = static_cast<std::ptrdiff_t>(random_() % kSectorBytes);
    std::copy(old.begin() + at, old.end(), torn.begin() + at);
    put(r.lba + done, torn);
    if (!traits_.cut_leaves_unreadable || random_() % 4 != 0) return;
    const std::uint64_t first =
        (r.lba + done) / traits_.physical_sectors * traits_.physical_sectors;
    for (std::uint32_t i = 0; i < traits_.physical_sectors; ++i) unreadable.insert(first + i);
  }

  void on_event(std::uint64_t tag) override {
    const auto found = inside_.find(tag);
    if (found == inside_.end()) return;
    const bool lost = lost_.count(tag) > 0;
    if (!lost && stall_writes && found->second.request.op == Op::write) return;
    const PendingCommand command = found->second;
    inside_.erase(found);
    lost_.erase(tag);
    Completion completion;
    completion.id = command.request.id;
    completion.submitted_at = command.submitted_at;
    completion.completed_at = simulation_.now();
    completion.status = lost   ? Status::power_lost
                        : dead ? Status::device_failed
                               : serve(command.request);
    observer_.acknowledged(device_, completion);
    command.initiator->completed(completion);
  }

  Status serve(const Request& r) {
    switch (r.op) {
      case Op::read:
        ++counters_.reads;
        counters_.sectors_read += r.sectors;
        for (std::uint32_t i = 0; i < r.sectors; ++i) {
          const auto cached = cache_.find(r.lba + i);
          if (cached == cache_.end() && unreadable.count(r.lba + i) > 0)
            return Status::medium_error;
          if (r.into.empty()) continue;
          const Bytes bytes = cached != cache_.end() ? cached->second : look(r.lba + i);
          std::memcpy(r.into.data() + std::size_t{i} * kSectorBytes, bytes.data(), kSectorBytes);
        }
        break;
      case Op::write:
      case Op::write_zeroes:
      case Op::trim:
        ++(r.op == Op::trim ? counters_.trims : counters_.writes);
        counters_.sectors_written += r.sectors;
        for (std::uint32_t i = 0; i < r.sectors; ++i) {
          cache_.erase(r.lba + i);
          if (traits_.volatile_cache && !r.fua) {
            cache_[r.lba + i] = sector_of(r, i);
          } else {
            put(r.lba + i, sector_of(r, i));
          }
        }
        break;
      case Op::flush:
        ++counters_.flushes;
        for (const auto& [lba, bytes] : cache_) put(lba, bytes);
        cache_.clear();
        break;
    }
    return Status::ok;
  }

  Simulation& simulation_;
  Observer& observer_;
  SectorStore* store_;
  DeviceId device_;
  std::mt19937_64 random_;
  MemberTraits traits_;
  Characteristics characteristics_;
  DeviceCounters counters_;
  std::map<std::uint64_t, PendingCommand> inside_;
  std::set<std::uint64_t> lost_;
  std::map<std::uint64_t, Bytes> cache_;
  std::uint64_t tags_ = 0;
  bool powered_ = true;
};

inline ArrayProfile array_profile(RaidLevel level, std::uint32_t members, std::uint32_t unit = 4) {
  ArrayProfile p;
  p.name = "array";
  p.level = level;
  p.members = members;
  p.stripe_unit_sectors = unit;
  return p;
}

struct ArrayFixture {
  ArrayFixture(ArrayProfile p, std::uint64_t member_sectors, std::uint64_t s = 1,
               MemberTraits t = {})
      : profile(std::move(p)), seed(s), traits(t) {
    for (std::uint32_t m = 0; m < profile.members; ++m)
      stores.push_back(std::make_unique<MemoryStore>(member_sectors));
  }

  ArrayOptions options(bool bytes = true) {
    ArrayOptions o{profile, *simulation, observer};
    o.seed = seed;
    o.schedule = seed % 2 == 0 ? seed : 0;
    o.bytes = bytes;
    drives.clear();
    for (std::uint32_t m = 0; m < profile.members; ++m) {
      auto drive = std::make_unique<TestMember>(
          *simulation, observer, bytes ? stores[m].get() : nullptr, static_cast<DeviceId>(m + 1),
          stores[m]->sectors(), seed, traits);
      drives.push_back(drive.get());
      o.members.push_back(std::move(drive));
    }
    return o;
  }
  /// Opens a new server on the same stores. `prepare` is called before the array is created, and
  /// may inject failures.
  template <typename Prepare>
  Result<void> open(Prepare prepare, bool bytes = true) {
    array.reset();
    simulation = std::make_unique<Simulation>();
    host.done.clear();  // request ids start from 1 again
    auto o = options(bytes);
    prepare(*this);
    TRY(auto made, Array::create(std::move(o)));
    array = std::move(made);
    return {};
  }
  Result<void> open() {
    return open([](ArrayFixture&) {});
  }

  RequestId submit(Request r) {
    r.id = simulation->new_request_id();
    array->submit(r, host);
    return r.id;
  }
  RequestId submit(Op op, std::uint64_t lba = 0, std::uint32_t sectors = 0) {
    Request r;
    r.op = op;
    r.lba = lba;
    r.sectors = sectors;
    return submit(r);
  }
  RequestId submit_write(std::uint64_t lba, const std::vector<std::byte>& data) {
    Request r;
    r.op = Op::write;
    r.lba = lba;
    r.sectors = static_cast<std::uint32_t>(data.size() / kSectorBytes);
    r.data = data;
    return submit(r);
  }
  Completion finish(RequestId id) {
    while (!host.has(id) && simulation->run_next()) {
    }
    return host.has(id) ? host.done[id] : Completion{0, Status::store_error};
  }
  Status write(std::uint64_t lba, const std::vector<std::byte>& data) {
    return finish(submit_write(lba, data)).status;
  }
  std::vector<std::byte> read(std::uint64_t lba, std::uint32_t sectors, Status* status = nullptr) {
    std::vector<std::byte> bytes(std::size_t{sectors} * kSectorBytes);
    Request r;
    r.lba = lba;
    r.sectors = sectors;
    r.into = bytes;
    const Status s = finish(submit(r)).status;
    if (status != nullptr) *status = s;
    if (status == nullptr && s != Status::ok) bytes.clear();
    return bytes;
  }
  void drain() {
    constexpr int kEventsMax = 2'000'000;
    for (int events = 0; simulation->run_next(); ++events)
      invariant(events < kEventsMax, "an array becomes idle");
  }
  void run_for(TimeNs ns) { simulation->run_until(simulation->now() + ns); }
  void finish_background() {
    while (!array->status().background.empty() && simulation->run_next()) {
    }
  }

  DeviceCounters member_totals() const {
    DeviceCounters sum;
    for (const TestMember* drive : drives) {
      sum.reads += drive->counters().reads;
      sum.writes += drive->counters().writes;
      sum.sectors_read += drive->counters().sectors_read;
      sum.sectors_written += drive->counters().sectors_written;
      sum.flushes += drive->counters().flushes;
      sum.trims += drive->counters().trims;
    }
    return sum;
  }

  std::vector<std::byte> on_member(std::uint32_t member, std::uint64_t lba,
                                   std::uint32_t sectors) const {
    std::vector<std::byte> bytes(std::size_t{sectors} * kSectorBytes);
    invariant(stores[member]->read(lba, bytes).has_value(), "reading from memory must succeed");
    return bytes;
  }
  RaidLayout layout() const { return RaidLayout::of(profile, stores[0]->sectors()); }

  /// Returns the number of stripes whose parity (or copies) in the stores is wrong. The check does
  /// not use the array's parity code.
  std::uint64_t wrong_stripes() const {
    const RaidLayout l = layout();
    std::uint64_t wrong = 0;
    for (std::uint64_t s = 0; s < l.stripes && l.parity > 0; ++s) {
      std::vector<std::vector<std::byte>> columns;
      for (std::uint32_t role = 0; role < l.members; ++role)
        columns.push_back(on_member(l.member_of(s, role), l.member_lba(s, 0), l.unit));
      wrong += stripe_is_right(l, columns) ? 0 : 1;
    }
    return wrong;
  }

  void power_on_and_resync() {
    array->power_on();
    run_for(10 * kMillisecondNs);
    finish_background();
  }

  /// Multiplies each of the eight bytes in `v` by x in GF(2^8).
  static std::uint64_t twice(std::uint64_t v) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    return (v & kOnes * 0x7f) << 1 ^ (v >> 7 & kOnes) * 0x1d;
  }
  static bool stripe_is_right(const RaidLayout& l,
                              const std::vector<std::vector<std::byte>>& columns) {
    const auto word = [&](std::uint32_t role, std::size_t at) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, columns[role].data() + at, sizeof eight);
      return eight;
    };
    for (std::size_t at = 0; at < columns[0].size(); at += sizeof(std::uint64_t)) {
      std::uint64_t p = 0;
      std::uint64_t q = 0;
      for (std::uint32_t d = l.data; d-- > 0;) {
        const std::uint64_t data = word(d, at);
        p ^= data;
        q = twice(q) ^ data;
      }
      for (std::uint32_t role = l.data; role < l.members; ++role)
        if (word(role, at) != (l.mirrored() ? word(0, at) : role == l.data ? p : q)) return false;
    }
    return true;
  }

  ArrayProfile profile;
  std::uint64_t seed;
  MemberTraits traits;
  std::vector<std::unique_ptr<MemoryStore>> stores;
  LogObserver observer;
  Host host;
  std::unique_ptr<Simulation> simulation = std::make_unique<Simulation>();
  std::unique_ptr<Array> array;
  std::vector<TestMember*> drives;
};

}  // namespace headcrash::model::bench
