#pragma once
// Remembers the outcomes of a step that examines the current state of a disk.
//
//   sectors that the step has ever read        12 13 40 41 97
//   sum of the digests of their contents       0x51e2...  -> outcome
//
// A step is deterministic, so its outcome is the same whenever these sectors have the same
// contents. Most states of a run differ only in sectors that a step never reads. The disk keeps the
// sum up to date while it shows other states (StateDisk::watch), so that a known outcome is found
// without a read. If the step reads a sector that is new to it, the sums of all earlier outcomes
// lack that sector, and the outcomes are forgotten. This happens a few times at the start of a run.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "harness/explorer/in_process/state_disk.h"

namespace headcrash::in_process {

/// The sectors of a disk that a step has read. Reads other than through StateDisk::read(),
/// content() and digests() are not noticed, and are not permitted.
class StepReads {
 public:
  explicit StepReads(StateDisk& disk);
  ~StepReads();
  StepReads(const StepReads&) = delete;
  StepReads& operator=(const StepReads&) = delete;

  /// Returns a number that is the same whenever all these sectors have the same contents and `also`
  /// is the same.
  std::uint64_t key(std::uint64_t also) const;
  void begin();
  /// Returns true if the step has read sectors that it had not read before begin().
  bool end();

 private:
  StateDisk* disk_;
  model::ReadSectors read_;
};

/// One step of a check. `Outcome` must not depend on anything except the disk's contents, the
/// number passed to find(), and constants.
template <typename Outcome>
class RememberedStep {
 public:
  /// `disk` must outlive this object.
  explicit RememberedStep(StateDisk& disk) : reads_(disk) {}

  /// Returns the outcome for the disk's current contents, or null if it is not known. The pointer
  /// is valid until the next call of run() or keep(). `also` is a further number on which the
  /// outcome depends.
  const Outcome* find(std::uint64_t also = 0) {
    key_ = reads_.key(also);
    const auto known = outcomes_.find(key_);
    return known == outcomes_.end() ? nullptr : &known->second;
  }

  /// Runs the step and notes the sectors that it reads. Must be called after find().
  template <typename Step>
  auto run(Step step) {
    reads_.begin();
    auto outcome = step();
    has_grown_ = reads_.end();
    if (has_grown_) outcomes_.clear();
    return outcome;
  }

  /// Keeps the outcome of run() for the contents that the disk had at the last find(), unless the
  /// step has read new sectors. The reference is valid until the next call.
  const Outcome& keep(Outcome outcome) {
    if (has_grown_) return last_.emplace(std::move(outcome));
    if (outcomes_.size() >= kOutcomesMost) outcomes_.clear();
    return outcomes_.insert_or_assign(key_, std::move(outcome)).first->second;
  }

  void forget() { outcomes_.clear(); }

 private:
  static constexpr std::size_t kOutcomesMost = 20'000;  ///< bounds the memory

  StepReads reads_;
  std::unordered_map<std::uint64_t, Outcome> outcomes_;
  std::uint64_t key_ = 0;
  bool has_grown_ = false;
  std::optional<Outcome> last_;
};

}  // namespace headcrash::in_process
