#pragma once
// Booted guests, saved as files.
//
// A state is a folder CACHE/states/HASH with `state` (QEMU's migration stream) and `key`
// (everything on which the state depends, in full; the hash serves only for look-up). It is created
// under a lock in a temporary folder, which is then renamed, so a state is either complete or
// absent. If a run is killed, the next run removes its temporary folder. The least recently used
// states are deleted. This does not affect a QEMU that is reading a state, because it has the file
// open.

#include <filesystem>

#include "harness/vm/guest.h"
#include "plugin/base/descriptor.h"

namespace headcrash::vm {

struct SavedState {
  base::Descriptor file;  ///< positioned at its start
  std::filesystem::path folder;
  bool fresh = false;  ///< created by this call
};

/// Opens the state for this spec. If the cache has none, boots a guest with blank disks and saves
/// its state.
Result<SavedState> open_saved_state(const GuestSpec& spec, const std::filesystem::path& cache);

/// Removes a state that QEMU could not load.
void discard_saved_state(const SavedState& state);

}  // namespace headcrash::vm
