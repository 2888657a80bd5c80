#pragma once
// Where the states come from: one source for each strategy (state_enumerator.h), each gives its
// most telling states first and ends.
//
// Cuts are taken in an order that spreads: first, middle, quarters, ... so that a small budget sees
// every part of the run; and a cut with many states gives one, then comes again behind all others
// for one more, two, four, ...

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
  std::uint64_t digest = 0;    ///< of the device's content
  std::uint64_t identity = 0;  ///< of the content of all media
};

class StateSource {
 public:
  virtual ~StateSource() = default;
  virtual Result<std::optional<Candidate>> next() = 0;
  virtual double space() const = 0;
  /// What it leaves out by its own bounds, in words.
  virtual std::string bound() const { return {}; }
};

/// What the sources of one enumeration share.
struct SourceContext {
  std::shared_ptr<const RunHistory> run;
  ExploreOptions options;
  std::vector<model::DeviceId> media;  ///< that the states differ in
  /// These, and the battery-backed caches of an array: what they hold is there, too.
  std::vector<model::DeviceId> contents;
  std::vector<model::DeviceId> chosen;  ///< whose writes they choose among: one, or all disks
  std::vector<std::unique_ptr<WrittenContent>> written;  ///< of the chosen
  std::unique_ptr<MediaContent> by_media;                ///< null: not needed, or no MEDIA events
  std::vector<std::unique_ptr<WrittenContent>>
      others;  ///< of the other media, without MEDIA events

  bool in_range(std::uint64_t event) const {
    return event >= options.from_event && event <= options.to_event.value_or(run->events());
  }
  bool of_all_disks() const { return chosen.size() > 1; }
  /// All writes of the chosen devices up to a cut.
  CrashState state_at(std::uint64_t event) const {
    return {.device = of_all_disks() ? model::DeviceId{0} : chosen.front(),
            .all_disks = of_all_disks(),
            .event = event};
  }
  /// The content of such a state, as JointCut::digest() has it.
  Result<std::uint64_t> everything_at(std::uint64_t event) const;
  /// The media that are not chosen at a cut, as one number.
  Result<std::uint64_t> others_at(std::uint64_t event) const;
  /// Unflushed writes of the chosen devices at a cut, by device.
  std::vector<UnflushedWrite> unflushed_at(std::uint64_t event) const {
    return run->unflushed_of(state_at(event));
  }
  Result<Candidate> candidate(CrashState state, Result<std::uint64_t> digest) const;
};

/// What one of several media adds to the identity of their contents.
std::uint64_t share_of(model::DeviceId device, std::uint64_t digest);

/// Numbers below n, spread: 0, n/2, n/4, 3n/4, ...
std::vector<std::size_t> spread(std::size_t n);

/// Events of a run at which something happens to what is durable or promised on a chosen device, in
/// range, ascending.
struct Cuts {
  explicit Cuts(const SourceContext& context);
  std::vector<std::uint64_t> after_marks;
  std::vector<std::uint64_t> flush_submitted;  ///< before it
  std::vector<std::uint64_t>
      promise_kept;  ///< the ACK of a flush or FUA write: before it all it covers is unflushed
  std::vector<std::uint64_t> after_fua_submitted, after_writes;
  std::vector<std::uint64_t> power_lost;  ///< what the medium held when the power went
  std::vector<std::uint64_t> last;        ///< before the power went, and at the end of the run
  std::string left_out;                   ///< why some cuts cannot be used
};

/// Cuts in the order in which they are to be looked at; each once.
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
