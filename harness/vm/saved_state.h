#pragma once
// Booted guests, kept as files.
//
// A state is a folder CACHE/states/HASH with `state` (QEMU's migration stream) and `key`
// (everything the state depends on, in full: the hash only finds it). It is made under a lock in a
// folder with another name and renamed, so a state is whole or absent; a run that was killed leaves
// a folder that the next one removes. The ones used least recently are pruned; a QEMU that reads
// one has it open and is not disturbed.

#include <filesystem>

#include "harness/vm/guest.h"
#include "plugin/base/descriptor.h"

namespace headcrash::vm {

struct SavedState {
  base::Descriptor file;  ///< positioned at the start
  std::filesystem::path folder;
  bool fresh = false;  ///< made by this call
};

/// Opens the state for this spec; boots a guest with blank disks and saves it when there is none.
Result<SavedState> open_saved_state(const GuestSpec& spec, const std::filesystem::path& cache);

/// A state that QEMU would not load is no use to anybody.
void discard_saved_state(const SavedState& state);

}  // namespace headcrash::vm
