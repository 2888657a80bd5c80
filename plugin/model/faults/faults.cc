// The life of a fault (faults.h).
//
//   add ----after_ns----> begun ---skip matching operations---> fires, at most `times` ---> gone
//
// A latent error keeps its set of bad sectors. Writes heal the sectors one by one; the fault ends
// when all sectors are healed. The random numbers of write faults come from the seed (splitmix64),
// in the order of firing.
#include "plugin/model/faults/faults.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "plugin/base/random.h"
#include "plugin/model/core/sector_ranges.h"

namespace headcrash::model {
namespace {

constexpr std::uint64_t kEverywhere = ~std::uint64_t{0};

bool is_write_fault(FaultKind kind) {
  return kind == FaultKind::torn_write || kind == FaultKind::lost_write ||
         kind == FaultKind::misdirected_write || kind == FaultKind::corrupted_write;
}

/// Returns true if a fault of this kind can fire at every command. To limit the log, only some of
/// these firings are reported.
bool fires_often(FaultKind kind) {
  return kind == FaultKind::latent_error || kind == FaultKind::dead || kind == FaultKind::slow ||
         kind == FaultKind::write_error || kind == FaultKind::flush_error;
}

}  // namespace

struct DeviceFaults::State {
  struct ActiveFault {
    FaultSpec spec;
    TimeNs begins_at = 0;
    std::uint64_t passed = 0;  ///< number of matching operations that have been skipped
    std::uint64_t fired = 0;
    std::uint64_t times = 0;  ///< maximum value of `fired`; 0 for no limit
    SectorRanges bad;         ///< latent_error: the sectors that have not healed yet

    std::uint64_t first() const { return spec.sectors == 0 ? 0 : spec.lba; }
    std::uint64_t end() const { return spec.sectors == 0 ? kEverywhere : spec.lba + spec.sectors; }
    /// Returns true if the payload of the request contains `data`. After stay_at() has fixed the
    /// fault's range, returns true for any payload.
    bool wants(const Request& request) const {
      return spec.data.empty() ||
             std::search(request.data.begin(), request.data.end(), spec.data.begin(),
                         spec.data.end()) != request.data.end();
    }
    /// If the fault waits for certain bytes, restricts the fault to the range of `request`, which
    /// is the first write that contains these bytes.
    void stay_at(const Request& request) {
      if (spec.data.empty()) return;
      spec.lba = request.lba;
      spec.sectors = request.sectors;
      spec.data.clear();
    }
    bool is_of(Op op) const {
      return !spec.op || *spec.op == op || (*spec.op == Op::write && op == Op::write_zeroes);
    }
    bool touches(std::uint64_t lba, std::uint64_t sectors) const {
      return spec.sectors == 0 || (lba < end() && first() < lba + sectors);
    }
    bool over() const {
      return (times != 0 && fired >= times) ||
             (spec.kind == FaultKind::latent_error && bad.empty());
    }
  };

  State(Simulation& s, Observer& w, DeviceId d, std::uint64_t seed)
      : simulation(s), observer(w), device(d), random(seed ^ (std::uint64_t{d} << 48) ^ kStream) {}

  /// Selects a stream of random numbers that is independent of the platter's stream.
  static constexpr std::uint64_t kStream = 0x6661756c74730000;

  /// Counts a matching operation. Returns true if the fault fires.
  bool fires(ActiveFault& fault) const {
    if (simulation.now() < fault.begins_at || fault.over()) return false;
    if (fault.passed < fault.spec.skip) {
      ++fault.passed;
      return false;
    }
    ++fault.fired;
    return true;
  }

  void tell(const ActiveFault& fault, std::string_view what) {
    const bool power_of_two = (fault.fired & (fault.fired - 1)) == 0;
    if (fires_often(fault.spec.kind) && !power_of_two) return;
    observer.incident(device, simulation.now(),
                      fmt::format("fault {} fired (occurrence {}): {}",
                                  fault_kind_name(fault.spec.kind), fault.fired, what));
  }

  /// Finds the first fault of this kind that applies to the request, and fires it. Returns null if
  /// there is no such fault.
  ActiveFault* first_firing(FaultKind kind, const Request& request) {
    for (ActiveFault& fault : active) {
      if (fault.spec.kind != kind || !fault.touches(request.lba, request.sectors) ||
          !fault.wants(request))
        continue;
      if (!fires(fault)) continue;
      fault.stay_at(request);
      return &fault;
    }
    return nullptr;
  }

  bool drop_finished() {
    active.erase(std::remove_if(active.begin(), active.end(),
                                [](const ActiveFault& fault) { return fault.over(); }),
                 active.end());
    return !active.empty() || !unreadable.empty();
  }

  Simulation& simulation;
  Observer& observer;
  DeviceId device;
  Random random;
  std::vector<ActiveFault> active;
  SectorRanges unreadable;  ///< sectors that power cuts have made unreadable
};

DeviceFaults::DeviceFaults(Simulation& simulation, Observer& observer, DeviceId device,
                           std::uint64_t seed)
    : state_(std::make_unique<State>(simulation, observer, device, seed)) {}
DeviceFaults::~DeviceFaults() = default;

Result<void> DeviceFaults::add(const FaultSpec& fault) {
  State& s = *state_;
  if (s.active.size() >= kFaultsMax)
    return fail(fmt::format("fault '{}'", to_text(fault)),
                fmt::format("the device already has {} faults", kFaultsMax),
                "clear some of them first");
  State::ActiveFault added;
  added.spec = fault;
  added.begins_at = s.simulation.now() + fault.after_ns;
  added.times = fault.times == 0 && is_write_fault(fault.kind) ? 1 : fault.times;
  if (fault.kind == FaultKind::latent_error)
    added.bad.add(added.first(), added.end() - added.first());
  s.active.push_back(std::move(added));
  any_ = true;
  return {};
}

void DeviceFaults::clear(std::optional<FaultKind> kind) {
  auto& active = state_->active;
  active.erase(std::remove_if(active.begin(), active.end(),
                              [kind](const State::ActiveFault& fault) {
                                return !kind || fault.spec.kind == *kind;
                              }),
               active.end());
  any_ = state_->drop_finished();
}

bool DeviceFaults::dead(const Request& request) {
  State::ActiveFault* const fault = state_->first_firing(FaultKind::dead, request);
  if (fault == nullptr) return false;
  state_->tell(*fault, fmt::format("request {} fails", request.id));
  any_ = state_->drop_finished();
  return true;
}

bool DeviceFaults::is_dead() const {
  const TimeNs now = state_->simulation.now();
  return std::any_of(
      state_->active.begin(), state_->active.end(), [now](const State::ActiveFault& fault) {
        return fault.spec.kind == FaultKind::dead && fault.spec.sectors == 0 &&
               now >= fault.begins_at && fault.passed >= fault.spec.skip && !fault.over();
      });
}

TimeNs DeviceFaults::delay_ns(const Request& request) {
  TimeNs sum = 0;
  for (State::ActiveFault& fault : state_->active) {
    if (fault.spec.kind != FaultKind::slow || !fault.is_of(request.op) ||
        !fault.touches(request.lba, request.sectors) || !state_->fires(fault))
      continue;
    state_->tell(fault,
                 fmt::format("request {} takes {} ns longer", request.id, fault.spec.delay_ns));
    sum += fault.spec.delay_ns;
  }
  any_ = state_->drop_finished();
  return sum;
}

bool DeviceFaults::lies_about_flush(const Request& request) {
  if (request.op != Op::flush && !request.fua) return false;
  State::ActiveFault* const fault = state_->first_firing(FaultKind::lying_flush, request);
  if (fault == nullptr) return false;
  state_->tell(*fault,
               fmt::format("{} {} is acknowledged without being executed",
                           request.op == Op::flush ? "flush" : "FUA of request", request.id));
  any_ = state_->drop_finished();
  return true;
}

bool DeviceFaults::fails(const Request& request) {
  const bool writes = request.op == Op::write || request.op == Op::write_zeroes;
  if (!writes && request.op != Op::flush) return false;
  State::ActiveFault* const fault =
      state_->first_firing(writes ? FaultKind::write_error : FaultKind::flush_error, request);
  if (fault == nullptr) return false;
  state_->tell(*fault, writes ? fmt::format("write of {}+{} fails", request.lba, request.sectors)
                              : fmt::format("flush {} fails", request.id));
  any_ = state_->drop_finished();
  return true;
}

std::optional<std::uint64_t> DeviceFaults::unreadable(
    std::uint64_t lba, std::uint32_t sectors, const std::function<bool(std::uint64_t)>& cached) {
  const std::uint64_t end = lba + sectors;
  const auto first_bad = [&](const SectorRanges& bad) {
    auto at = bad.first_in(lba, end);
    while (at && cached && cached(*at)) at = bad.first_in(*at + 1, end);
    return at;
  };
  std::optional<std::uint64_t> lowest = first_bad(state_->unreadable);
  for (State::ActiveFault& fault : state_->active) {
    if (fault.spec.kind != FaultKind::latent_error) continue;
    const auto at = first_bad(fault.bad);
    if (!at || !state_->fires(fault)) continue;
    state_->tell(fault, fmt::format("sector {} cannot be read", *at));
    lowest = std::min(*at, lowest.value_or(*at));
  }
  any_ = state_->drop_finished();
  return lowest;
}

std::optional<WriteFault> DeviceFaults::next_write(std::uint64_t lba, std::uint32_t sectors) {
  for (State::ActiveFault& fault : state_->active) {
    if (!is_write_fault(fault.spec.kind) || !fault.touches(lba, sectors) || !state_->fires(fault))
      continue;
    WriteFault met;
    met.kind = fault.spec.kind;
    met.to_lba = fault.spec.to_lba;
    met.lba = std::max(lba, fault.first());
    met.sectors = static_cast<std::uint32_t>(std::min(lba + sectors, fault.end()) - met.lba);
    met.random = state_->random.next();
    const std::string target = met.kind == FaultKind::misdirected_write
                                   ? fmt::format(" to {}", met.to_lba)
                                   : std::string();
    state_->tell(fault, fmt::format("write of {}+{}{}", lba, sectors, target));
    any_ = state_->drop_finished();
    return met;
  }
  return std::nullopt;
}

void DeviceFaults::make_unreadable(std::uint64_t lba, std::uint32_t sectors) {
  state_->unreadable.add(lba, sectors);
  any_ = true;
}

void DeviceFaults::written(std::uint64_t lba, std::uint32_t sectors) {
  state_->unreadable.remove(lba, sectors);
  for (State::ActiveFault& fault : state_->active)
    if (fault.spec.kind == FaultKind::latent_error && state_->simulation.now() >= fault.begins_at)
      fault.bad.remove(lba, sectors);
  any_ = state_->drop_finished();
}

bool DeviceFaults::battery(FaultKind state) {
  for (State::ActiveFault& fault : state_->active) {
    if (fault.spec.kind != state || state_->simulation.now() < fault.begins_at) continue;
    if (fault.fired++ == 0) state_->tell(fault, "begins");
    return true;
  }
  return false;
}

}  // namespace headcrash::model
