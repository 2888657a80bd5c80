#pragma once
// Creates the root file system in which a guest runs a program: a squashfs image of files from the
// host, or of a directory or tar archive that the user specifies.

#include <filesystem>
#include <set>

#include "plugin/base/result.h"

namespace headcrash::check {

/// Packs the paths and all their parent directories. Also packs the symbolic links through which
/// the paths are reached. Files keep their names and modes, but are owned by root. Equal files give
/// equal images. Fails if sqfstar(1) or tar(1) is missing, or if a file cannot be read.
Result<void> pack_paths(const std::set<std::filesystem::path>& paths,
                        const std::filesystem::path& image);

/// Packs a directory or a tar archive. The archive may be compressed in any way that tar(1)
/// recognises.
Result<void> pack_rootfs(const std::filesystem::path& rootfs, const std::filesystem::path& image);

/// Returns `paths` and everything through which a lookup of these paths passes: directories,
/// symbolic links and their targets. Omits paths that do not exist.
std::set<std::filesystem::path> with_lookups(const std::set<std::filesystem::path>& paths);

}  // namespace headcrash::check
