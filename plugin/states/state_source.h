#pragma once
// Sources of crash states, one for each strategy (state_enumerator.h). Each source is finite. It
// begins with the states that are most likely to expose a bug.
//
// Cuts are taken in an order that spreads them over the run (first, middle, quarters, ...), so a
// small budget covers all parts of the run. A cut with many states yields one state at first, and
// is then moved to the end of the queue. On each later turn, it yields as many states as on all
// earlier turns together.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/states/content.h"
#include "plugin/states/state_enumerator.h"

namespace headcrash::states {

struct Candidate {
  CrashState state;
  std::uint64_t digest = 0;    ///< digest of the device's contents
  std::uint64_t identity = 0;  ///< identifies the contents of all media
};

class StateSource {
 public:
  virtual ~StateSource() = default;
  virtual Result<std::optional<Candidate>> next() = 0;
  virtual double space() const = 0;
  /// Describes the states omitted because of the source's limits.
  virtual std::string bound() const { return {}; }
};

/// Data shared by the sources of one enumeration.
struct SourceContext {
  std::shared_ptr<const RunHistory> run;
  ExploreOptions options;
  std::vector<model::DeviceId> media;  ///< media in which the states differ
  /// The devices in `media`, and an array's battery-backed caches. The contents of a state are the
  /// contents of all these devices.
  std::vector<model::DeviceId> contents;
  /// The devices whose writes the states keep or lose: one device, or all disks.
  std::vector<model::DeviceId> chosen;
  /// Contents of the chosen devices, computed from the host's writes.
  std::vector<std::unique_ptr<WrittenContent>> written;
  /// Contents computed from MEDIA events. Null if they are not needed, or if there are no MEDIA
  /// events.
  std::unique_ptr<MediaContent> by_media;
  /// Contents of the media that are not chosen, computed from the host's writes. Used if there are
  /// no MEDIA events.
  std::vector<std::unique_ptr<WrittenContent>> others;

  bool in_range(std::uint64_t event) const {
    return event >= options.from_event && event <= options.to_event.value_or(run->events());
  }
  bool of_all_disks() const { return chosen.size() > 1; }
  /// Returns the state at a cut in which the chosen devices have all writes submitted before the
  /// cut.
  CrashState state_at(std::uint64_t event) const {
    return {.device = of_all_disks() ? model::DeviceId{0} : chosen.front(),
            .all_disks = of_all_disks(),
            .event = event};
  }
  /// Returns the content digest of state_at(event), like JointCut::digest().
  Result<std::uint64_t> everything_at(std::uint64_t event) const;
  /// Returns the combined digest, at a cut, of the media that are not chosen.
  Result<std::uint64_t> others_at(std::uint64_t event) const;
  /// Returns the unflushed writes of the chosen devices at a cut, grouped by device.
  std::vector<UnflushedWrite> unflushed_at(std::uint64_t event) const {
    return run->unflushed_of(state_at(event));
  }
  Result<Candidate> candidate(CrashState state, Result<std::uint64_t> digest) const;
};

/// Returns the contribution of one medium's digest to the combined digest of several media.
std::uint64_t share_of(model::DeviceId device, std::uint64_t digest);

/// Returns the numbers below n in an order that spreads them: 0, n/2, n/4, 3n/4, ...
std::vector<std::size_t> spread(std::size_t n);

/// Cuts in the explored range at which durable or promised data changes on a chosen device. All
/// lists are ascending.
struct Cuts {
  explicit Cuts(const SourceContext& context);
  std::vector<std::uint64_t> after_marks;
  std::vector<std::uint64_t> flush_submitted;  ///< cuts just before a flush is submitted
  /// Cuts just before the ACK of a flush or of a FUA write, while the writes that this ACK makes
  /// durable are still unflushed.
  std::vector<std::uint64_t> promise_kept;
  std::vector<std::uint64_t> after_fua_submitted, after_writes;
  /// Cuts just after a power cut in the recording. The states at these cuts are the contents of the
  /// medium that the power cut left.
  std::vector<std::uint64_t> power_lost;
  /// cuts at the end of a power cycle: just before the power cut, or at the end of the run
  std::vector<std::uint64_t> last;
  std::string left_out;  ///< why some cuts cannot be used
};

/// Distinct cuts, in the order in which they are explored.
class CutOrder {
 public:
  void add(const std::vector<std::uint64_t>& cuts, std::uint64_t offset = 0);
  const std::vector<std::uint64_t>& cuts() const { return cuts_; }

 private:
  std::vector<std::uint64_t> cuts_;
  std::vector<std::uint64_t> known_;  ///< sorted
};

std::unique_ptr<StateSource> prefix_source(const SourceContext& context);
std::unique_ptr<StateSource> lose_all_source(const SourceContext& context);
std::unique_ptr<StateSource> reorder_source(const SourceContext& context);
std::unique_ptr<StateSource> torn_source(const SourceContext& context);
std::unique_ptr<StateSource> lying_flush_source(const SourceContext& context);
std::unique_ptr<StateSource> physical_source(const SourceContext& context);
std::unique_ptr<StateSource> member_source(const SourceContext& context);

}  // namespace headcrash::states
