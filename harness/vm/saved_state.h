#pragma once
// States of booted guests, saved as files.
//
// A state is a directory CACHE/states/HASH with two files: `state` is QEMU's migration stream, and
// `key` is the full text of everything on which the state depends. The hash serves only to find the
// directory. A state is created in a temporary directory, under a lock, and the directory is then
// renamed, so a state is either complete or absent. If a run is killed, the next run removes the
// temporary directory. The states that have not been used for the longest time are deleted. A QEMU
// that is reading such a state is not affected, because it has the file open.

#include <filesystem>

#include "harness/vm/guest.h"
#include "plugin/base/descriptor.h"

namespace headcrash::vm {

struct SavedState {
  base::Descriptor file;  ///< QEMU's migration stream, positioned at its start
  std::filesystem::path folder;
  bool fresh = false;  ///< the state was created by this call
};

/// Opens the saved state for this spec. If the cache has no such state, boots a guest with blank
/// disks and saves its state.
Result<SavedState> open_saved_state(const GuestSpec& spec, const std::filesystem::path& cache);

/// Removes a state that QEMU could not load.
void discard_saved_state(const SavedState& state);

}  // namespace headcrash::vm
