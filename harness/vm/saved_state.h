#pragma once
// Booted guests, saved as files.
//
// A state is a folder CACHE/states/HASH with `state` (QEMU's migration stream) and `key` (all that
// the state depends on, in full; the hash serves only for look-up). It is created under a lock in a
// folder with another name, which is then renamed. A state is therefore complete or absent; the
// next run removes the folder of a killed run. The least recently used states are pruned. A QEMU
// that is reading one is not affected, since it has the file open.

#include <filesystem>

#include "harness/vm/guest.h"
#include "plugin/base/descriptor.h"

namespace headcrash::vm {

struct SavedState {
  base::Descriptor file;  ///< positioned at its start
  std::filesystem::path folder;
  bool fresh = false;  ///< created by this call
};

/// Opens the state for this spec. Boots a guest with blank disks and saves it if the cache has none.
Result<SavedState> open_saved_state(const GuestSpec& spec, const std::filesystem::path& cache);

/// Removes a state that QEMU could not load.
void discard_saved_state(const SavedState& state);

}  // namespace headcrash::vm
