#pragma once
// The tree of an image as the oracle wants it, read by the reader that shares no code with the mounted file
// system (fs-adapters/ufs/image_reader.h).

#include <vector>

#include "fs-adapters/ufs/image_reader.h"
#include "harness/crash/observed_tree.h"

namespace headcrash::in_process {

/// Everything but the root. Errors: an image that makes no sense, after a check that found nothing.
Result<std::vector<crash::ObservedObject>> observe(const model::SectorStore& store);

}  // namespace headcrash::in_process
