#pragma once
// Starts a machine in virtual time with a crash state of a recording: the media of a guest's trial,
// under the same hardware. Recovery times in virtual time can then be compared with those in the
// guest.
//
// The recording also contains the contents of battery-backed caches. A cache in front of a drive is
// written back before the array starts. Dirty data of one above the first device is written through
// it again, since the cache keeps exactly this data over a cut.

#include "harness/papers/modelled_machine.h"
#include "plugin/states/run_history.h"

namespace headcrash::experiment {

/// `run` must outlive the result and the machines created from it. Fails for a state that the
/// recording lacks, and for a cache in front of an array inside another one.
Result<CutMachine> cut_machine_of(const std::shared_ptr<const states::RunHistory>& run,
                                  const states::CrashState& state);

/// Returns profile and size of the first device, from the header of the recording.
ModelledMachineOptions machine_of(const states::RunHistory& run);

}  // namespace headcrash::experiment
