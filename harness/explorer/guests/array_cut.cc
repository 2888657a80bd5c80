// Uses MEDIA events to find the members' writes around a power cut (array_cut.h).
#include "harness/explorer/guests/array_cut.h"

#include <algorithm>

namespace headcrash::explorer {

using states::CrashState;
using states::RunHistory;

Result<ArrayCut> array_cut(const RunHistory& run, const CrashState& state, std::size_t done_most) {
  TRY(auto reader, record::RecordingReader::open(run.path()));
  const auto& devices = run.header().devices;
  ArrayCut cut;
  for (std::uint64_t ordinal = 0; ordinal < state.event; ++ordinal) {
    TRY(const auto event, reader.next(record::PayloadUse::skip));
    if (!event) break;
    cut.cut_at = event->at;
    if (event->kind != record::Kind::media || event->device >= devices.size()) continue;
    const MemberWrite write{devices[event->device].name, ordinal, event->lba, event->sectors,
                            event->at};
    const bool stopped = std::ranges::any_of(state.stopped, [&](const auto& one) {
      return one.first == event->device && ordinal >= one.second;
    });
    if (stopped) {
      cut.lost.push_back(write);
      continue;
    }
    cut.done.push_back(write);
    if (cut.done.size() > done_most) cut.done.erase(cut.done.begin());
  }
  for (const states::RecordedWrite& write : run.writes(0)) {
    const bool answered = write.acked_event && *write.acked_event < state.event;
    if (write.submitted_event < state.event && !answered) cut.under_way.push_back(write);
  }
  return cut;
}

}  // namespace headcrash::explorer
