#pragma once
// Starts a machine in virtual time from a crash state recorded in a guest's trial. The machine has
// the same hardware as the trial and the same contents on its media, so recovery times in virtual
// time can be compared with those in the guest.
//
// The recording also contains the contents of battery-backed caches. A cache in front of a drive is
// written back before the array starts. If a cache is above the first device, its dirty data is
// written through the cache again, because the cache keeps exactly this data during a power cut.

#include "harness/papers/modelled_machine.h"
#include "plugin/states/run_history.h"

namespace headcrash::experiment {

/// Returns the contents of the media and of the caches in this state. `run` must outlive the result
/// and all machines that are created from it. Fails if the recording does not contain the state, or
/// if an array that is a member of another array has a cache in front of it.
Result<CutMachine> cut_machine_of(const std::shared_ptr<const states::RunHistory>& run,
                                  const states::CrashState& state);

/// Returns the options that the recording's header specifies: profile and size of the first device.
ModelledMachineOptions machine_of(const states::RunHistory& run);

}  // namespace headcrash::experiment
