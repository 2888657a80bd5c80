// Finds the possible cuts in a run and orders them (state_source.h).
#include <algorithm>
#include <bit>

#include "plugin/states/digest.h"
#include "plugin/states/state_source.h"

namespace headcrash::states {
namespace {

constexpr std::uint64_t kDeviceKey = 0x2545f4914f6cdd1dU;

}  // namespace

std::uint64_t share_of(model::DeviceId device, std::uint64_t digest) {
  return mix(digest ^ kDeviceKey, device + kDeviceKey);
}

Result<std::uint64_t> SourceContext::others_at(std::uint64_t event) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < media.size(); ++i) {
    const model::DeviceId device = media[i];
    if (std::find(chosen.begin(), chosen.end(), device) != chosen.end()) continue;
    const auto digest =
        by_media ? Result<std::uint64_t>(by_media->digest(device, event)) : others[i]->all(event);
    if (!digest) return digest;
    sum += share_of(device, *digest);
  }
  return sum;
}

Result<std::uint64_t> SourceContext::everything_at(std::uint64_t event) const {
  if (!of_all_disks()) return written.front()->all(event);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto digest = written[i]->all(event);
    if (!digest) return digest;
    sum += share_of(chosen[i], *digest);
  }
  return sum;
}

Result<Candidate> SourceContext::candidate(CrashState state, Result<std::uint64_t> digest) const {
  if (!digest) return forward_error(digest);
  TRY(const auto rest, others_at(state.event));
  return Candidate{std::move(state), *digest, *digest + rest};
}

std::vector<std::size_t> spread(std::size_t n) {
  std::vector<std::size_t> order;
  order.reserve(n);
  const int bits = static_cast<int>(std::bit_width(n == 0 ? 0 : n - 1));
  for (std::size_t i = 0; i < std::size_t{1} << bits && order.size() < n; ++i) {
    std::size_t reversed = 0;
    for (int bit = 0; bit < bits; ++bit) reversed |= (i >> bit & 1U) << (bits - 1 - bit);
    if (reversed < n) order.push_back(reversed);
  }
  return order;
}

Cuts::Cuts(const SourceContext& context) {
  const RunHistory& run = *context.run;
  const bool over_power_cuts =
      run.has_media_events() && run.header().devices[context.chosen.front()].medium;
  const auto add = [&](std::vector<std::uint64_t>& cuts, std::uint64_t event) {
    if (!context.in_range(event)) return;
    if (!over_power_cuts && run.power_cycle_begin(event) != 0) {
      left_out =
          "cuts after a power failure in the recording, because the device's contents are unknown";
      return;
    }
    cuts.push_back(event);
  };
  for (const RecordedMark& mark : run.marks()) add(after_marks, mark.event + 1);
  for (const model::DeviceId device : context.chosen) {
    for (const RecordedFlush& flush : run.flushes(device)) {
      add(flush_submitted, flush.submitted_event);
      if (flush.acked_event) add(promise_kept, *flush.acked_event);
    }
    for (const RecordedWrite& write : run.writes(device)) {
      add(after_writes, write.submitted_event + 1);
      if (write.fua) add(after_fua_submitted, write.submitted_event + 1);
      if (write.fua && write.acked_event) add(promise_kept, *write.acked_event);
    }
  }
  for (auto* cuts : {&flush_submitted, &promise_kept, &after_fua_submitted, &after_writes})
    std::sort(cuts->begin(), cuts->end());
  const std::uint64_t end = context.options.to_event.value_or(run.events());
  for (const std::uint64_t begin : run.power_cycles())
    if (begin > 0 && begin <= end) {
      add(last, begin - 1);
      add(power_lost, begin);
    }
  add(last, end);
}

void CutOrder::add(const std::vector<std::uint64_t>& cuts, std::uint64_t offset) {
  for (const std::size_t i : spread(cuts.size()))
    if (!std::binary_search(known_.begin(), known_.end(), cuts[i] + offset))
      cuts_.push_back(cuts[i] + offset);
  known_ = cuts_;
  std::sort(known_.begin(), known_.end());
}

}  // namespace headcrash::states
