// Reads both recordings in parallel (same_requests.h).
#include "plugin/record/same_requests.h"

#include "plugin/record/recording.h"

namespace headcrash::record {
namespace {

Result<std::optional<Event>> next_change(RecordingReader& reader) {
  for (;;) {
    TRY(auto event, reader.next());
    if (!event || event->kind == Kind::mark ||
        (event->kind == Kind::submit && event->op != model::Op::read))
      return event;
  }
}

bool same(const Event& one, const Event& other) {
  return one.kind == other.kind && one.device == other.device && one.op == other.op &&
         one.fua == other.fua && one.lba == other.lba && one.sectors == other.sectors &&
         one.payload == other.payload;
}

}  // namespace

Result<bool> same_requests(const std::filesystem::path& one, const std::filesystem::path& other) {
  TRY(auto first, RecordingReader::open(one));
  TRY(auto second, RecordingReader::open(other));
  for (;;) {
    TRY(const auto left, next_change(first));
    TRY(const auto right, next_change(second));
    if (!left || !right) return !left && !right;
    if (!same(*left, *right)) return false;
  }
}

}  // namespace headcrash::record
