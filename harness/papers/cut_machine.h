#pragma once
// A crash state of a recording, as a machine in virtual time begins with it: the same media, of a
// guest's trial, under the same hardware. What a recovery takes there can then be set beside what
// it took in the guest.
//
// Beside the media the recording tells what battery-backed caches had kept. One in front of a drive
// is written back before the array starts. What was dirty in one above the first device is written
// through it again, since it keeps that over a cut, and nothing else.

#include "harness/papers/modelled_machine.h"
#include "plugin/states/run_history.h"

namespace headcrash::experiment {

/// `run` must outlive the result and the machines made of it. Errors: a state that the recording
/// does not have; a cache in front of an array that is part of another one.
Result<CutMachine> cut_machine_of(const std::shared_ptr<const states::RunHistory>& run,
                                  const states::CrashState& state);

/// Profile and size of the first device, as the header of the recording tells them.
ModelledMachineOptions machine_of(const states::RunHistory& run);

}  // namespace headcrash::experiment
