#pragma once
// Remembers the outcomes of a step that examines the current state of a disk.
//
//   sectors that any run of the step has read   12 13 40 41 97
//   sum of the digests of their contents        0x51e2...  -> outcome
//
// A step is deterministic, so its outcome is the same whenever these sectors have the same
// contents. Most states of a run differ only in sectors that a step never reads. The disk updates
// the sum when it shows another state (StateDisk::watch), so a known outcome is found without any
// read. If the step reads a further sector, the sums of all earlier outcomes lack this sector, and
// these outcomes are discarded. This happens a few times at the start of a run.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "harness/explorer/in_process/state_disk.h"

namespace headcrash::in_process {

/// The sectors of a disk that a step has read. Only reads through StateDisk::read(), content() and
/// digests() are recorded, so a step must not read in any other way.
class StepReads {
 public:
  explicit StepReads(StateDisk& disk);
  ~StepReads();
  StepReads(const StepReads&) = delete;
  StepReads& operator=(const StepReads&) = delete;

  /// Returns a digest of the contents of all these sectors and of `also`.
  std::uint64_t key(std::uint64_t also) const;
  void begin();
  /// Returns true if this run of the step has read a sector that the step had never read before.
  bool end();

 private:
  StateDisk* disk_;
  model::ReadSectors read_;
};

/// One step of a check. Its outcome must depend only on the disk's contents, on the number passed
/// to find(), and on constants.
template <typename Outcome>
class RememberedStep {
 public:
  /// `disk` must outlive this object.
  explicit RememberedStep(StateDisk& disk) : reads_(disk) {}

  /// Returns the outcome for the disk's current contents, or null if it is not known. The outcome
  /// may also depend on the number `also`. The pointer is valid until the next call of run() or
  /// keep().
  const Outcome* find(std::uint64_t also = 0) {
    key_ = reads_.key(also);
    const auto known = outcomes_.find(key_);
    return known == outcomes_.end() ? nullptr : &known->second;
  }

  /// Runs the step and records the sectors that it reads. Must be called after find().
  template <typename Step>
  auto run(Step step) {
    reads_.begin();
    auto outcome = step();
    has_grown_ = reads_.end();
    if (has_grown_) outcomes_.clear();
    return outcome;
  }

  /// Stores the outcome of run() for the contents that the disk had at the last find(). Stores
  /// nothing if the step has read new sectors. The reference is valid until the next call.
  const Outcome& keep(Outcome outcome) {
    if (has_grown_) return last_.emplace(std::move(outcome));
    if (outcomes_.size() >= kOutcomesMost) outcomes_.clear();
    return outcomes_.insert_or_assign(key_, std::move(outcome)).first->second;
  }

  void forget() { outcomes_.clear(); }

 private:
  static constexpr std::size_t kOutcomesMost = 20'000;  ///< limits the memory used

  StepReads reads_;
  std::unordered_map<std::uint64_t, Outcome> outcomes_;
  std::uint64_t key_ = 0;
  bool has_grown_ = false;
  std::optional<Outcome> last_;
};

}  // namespace headcrash::in_process
