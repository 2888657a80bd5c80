// Determines the lost writes. If the state's base is `writes`, its name lists them. For a physical
// state, compares the medium with the writes (lost_writes.h).
#include "harness/explorer/explain/lost_writes.h"

#include <algorithm>
#include <map>

#include "harness/explorer/explain/block_kind.h"
#include "plugin/record/recording.h"

namespace headcrash::explorer {
namespace {

using states::CrashState;
using states::RecordedWrite;
using states::RunHistory;
using states::TornWrite;

constexpr std::size_t kComparedBytes = 64 << 20;

struct SentWrite {
  model::DeviceId device = 0;
  const RecordedWrite* write = nullptr;
  std::optional<TornWrite> torn;
};
using SentWrites = std::vector<SentWrite>;  ///< by submission

SentWrites unflushed_writes(const RunHistory& run, const CrashState& state) {
  SentWrites unflushed;
  for (const states::UnflushedWrite& one : run.unflushed_of(state))
    unflushed.push_back({one.device, &run.writes(one.device)[one.write], std::nullopt});
  return unflushed;
}

SentWrites listed_missing(const RunHistory& run, const CrashState& state) {
  SentWrites missing;
  for (SentWrite one : unflushed_writes(run, state)) {
    const auto each = missing_write(state, one.write->request);
    if (!each) continue;
    one.torn = each->torn;
    missing.push_back(one);
  }
  return missing;
}

/// Returns the bytes of the write. For a trim or a similar request, returns zeroes.
Result<std::vector<std::byte>> sent_bytes(const record::RecordingReader& reader,
                                          const RecordedWrite& write) {
  std::vector<std::byte> bytes(
      std::min<std::size_t>(kComparedBytes, std::size_t{write.sectors} * model::kSectorBytes));
  if (write.op != model::Op::write) return bytes;
  TRY(reader.read_at(write.bytes_at, bytes));
  return bytes;
}

/// Compares each sector to determine which writes are missing in a physical state. A write that a
/// later write has overwritten also counts as missing. This is harmless, because that later write
/// is either present or itself counted as missing.
Result<SentWrites> compared_missing(const RunHistory& run, const CrashState& physical) {
  std::map<model::DeviceId, states::StateImage> images;
  for (const model::DeviceId device : run.devices_of(physical)) {
    TRY(auto image, run.image(physical, device));
    images.emplace(device, std::move(image));
  }
  TRY(const auto reader, record::RecordingReader::open(run.path()));
  SentWrites missing;
  for (SentWrite one : unflushed_writes(run, physical)) {
    const RecordedWrite* write = one.write;
    TRY(const auto sent, sent_bytes(reader, *write));
    std::vector<std::byte> held(sent.size());
    TRY(images.at(one.device).read(write->lba, held));
    std::vector<std::uint32_t> there;
    for (std::uint32_t i = 0; i < held.size() / model::kSectorBytes; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(std::size_t{i} * model::kSectorBytes);
      if (std::equal(held.begin() + at, held.begin() + at + model::kSectorBytes, sent.begin() + at))
        there.push_back(i);
    }
    if (there.size() == write->sectors) continue;
    if (!there.empty()) one.torn = TornWrite{write->request, there[0], there.back() - there[0] + 1};
    missing.push_back(one);
  }
  return missing;
}

/// Returns the times of these events. RunHistory does not store times.
Result<std::map<std::uint64_t, model::TimeNs>> times_of(
    const RunHistory& run, std::map<std::uint64_t, model::TimeNs> events) {
  TRY(auto reader, record::RecordingReader::open(run.path()));
  auto wanted = events.begin();
  for (std::uint64_t ordinal = 0; wanted != events.end(); ++ordinal) {
    TRY(const auto event, reader.next(record::PayloadUse::skip));
    if (!event) break;
    if (ordinal != wanted->first) continue;
    wanted->second = event->at;
    ++wanted;
  }
  return events;
}

Result<void> fill_in_times(const RunHistory& run, const CrashState& state, LostWrites& lost) {
  std::map<std::uint64_t, model::TimeNs> events;
  const auto acked_before_cut = [&](const RecordedWrite& write) {
    return write.acked_event && *write.acked_event < state.event;
  };
  for (const LostWrite& each : lost.writes) {
    events[each.write.submitted_event] = 0;
    if (acked_before_cut(each.write)) events[*each.write.acked_event] = 0;
  }
  if (state.event > 0) events[state.event - 1] = 0;
  TRY(const auto times, times_of(run, std::move(events)));
  for (LostWrite& each : lost.writes) {
    each.submitted_at = times.at(each.write.submitted_event);
    if (acked_before_cut(each.write)) each.acked_at = times.at(*each.write.acked_event);
  }
  if (state.event > 0) lost.cut_at = times.at(state.event - 1);
  return {};
}

}  // namespace

std::optional<MissingWrite> missing_write(const CrashState& state, model::RequestId unflushed) {
  const auto torn = std::find_if(state.torn.begin(), state.torn.end(),
                                 [&](const TornWrite& each) { return each.request == unflushed; });
  if (torn != state.torn.end()) return MissingWrite{unflushed, *torn};
  const bool listed = std::binary_search(state.listed.begin(), state.listed.end(), unflushed);
  if (listed == state.keep_others) return MissingWrite{unflushed, std::nullopt};
  return std::nullopt;
}

std::vector<model::RequestId> unflushed_requests(const RunHistory& run, const CrashState& state) {
  std::vector<model::RequestId> requests;
  for (const SentWrite& one : unflushed_writes(run, state)) requests.push_back(one.write->request);
  std::sort(requests.begin(), requests.end());
  return requests;
}

Result<LostWrites> lost_writes(const RunHistory& run, const CrashState& state,
                               const KnownDisks& disks) {
  if (state.base == CrashState::Base::members) {
    return fail(states::format(state), "is a state of an array's members, not of a single disk");
  }
  SentWrites missing;
  if (state.base == CrashState::Base::physical) {
    TRY(auto compared, compared_missing(run, state));
    missing = std::move(compared);
  } else {
    missing = listed_missing(run, state);
  }
  LostWrites lost{.unflushed = unflushed_writes(run, state).size()};
  TRY(const auto reader, record::RecordingReader::open(run.path()));
  TRY(const auto issuers, Issuers::read(run.path()));
  const auto devices = run.devices_of(state);
  for (const auto& [device, write, torn] : missing) {
    LostWrite each{.write = *write, .torn = torn};
    if (const auto* known = issuers.find(device, write->request)) each.issuers = *known;
    if (devices.size() > 1) each.disk = run.header().devices[device].name;
    if (write->op == model::Op::write) {
      TRY(const auto sent, described_bytes(reader, write->bytes_at, write->sectors));
      const KnownDisk disk = disks.at(device, write->submitted_event);
      each.what = describe_write(disk.map->type(), write->lba, sent, disk);
    } else {
      each.what = write->op == model::Op::trim ? "trim" : "zeroing";
    }
    lost.writes.push_back(std::move(each));
  }
  std::uint64_t last_flush = 0;
  for (const model::DeviceId device : devices) {
    for (const states::RecordedFlush& flush : run.flushes(device)) {
      if (!flush.acked_event || *flush.acked_event >= state.event) continue;
      if (state.lies_from && flush.request >= *state.lies_from) {
        ++lost.flushes_ignored;
      } else if (*flush.acked_event > last_flush) {
        last_flush = *flush.acked_event;
        const auto* known = issuers.find(device, flush.request);
        lost.last_flush = known != nullptr ? known->issued : std::vector<Issuer>{};
      }
    }
  }
  TRY(fill_in_times(run, state, lost));
  return lost;
}

Result<LostWrites> lost_writes(const RunHistory& run, const CrashState& state,
                               std::string_view type) {
  TRY(const auto disks, KnownDisks::read(run, type, run.devices_of(state)));
  return lost_writes(run, state, disks);
}

Result<std::optional<CrashState>> as_lost_writes(const RunHistory& run,
                                                 const CrashState& physical) {
  TRY(const auto missing, compared_missing(run, physical));
  const auto devices = run.devices_of(physical);
  CrashState state{
      .base = CrashState::Base::writes, .all_disks = devices.size() > 1, .event = physical.event};
  for (const auto& [device, write, torn] : missing) {
    if (torn) {
      state.torn.push_back(*torn);
    } else {
      state.listed.push_back(write->request);
    }
  }
  std::sort(state.listed.begin(), state.listed.end());
  std::sort(state.torn.begin(), state.torn.end(), [](const TornWrite& one, const TornWrite& other) {
    return one.request < other.request;
  });
  for (const model::DeviceId device : devices) {
    TRY(const auto one, run.image(physical, device));
    TRY(const auto other, run.image(state, device));
    TRY(const auto there, one.digest());
    TRY(const auto expected, other.digest());
    if (there != expected) return std::nullopt;
  }
  return state;
}

}  // namespace headcrash::explorer
