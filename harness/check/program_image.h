#pragma once
// The root file system that a guest runs a program in: a squashfs image of files of this host, or
// of a tar archive or folder that the user gives.

#include <filesystem>
#include <set>

#include "plugin/base/result.h"

namespace headcrash::check {

/// Packs these paths, the symbolic links that they go through, and the folders above them. Files
/// keep their names and modes, and belong to root. Equal files make equal images. Fails if
/// sqfstar(1) or tar(1) is missing or a file cannot be read.
Result<void> pack_paths(const std::set<std::filesystem::path>& paths,
                        const std::filesystem::path& image);

/// Packs a folder, or a tar archive (plain or compressed as tar(1) knows it).
Result<void> pack_rootfs(const std::filesystem::path& rootfs, const std::filesystem::path& image);

/// Returns `paths` with everything that a lookup of them passes: folders, symbolic links and what
/// the links lead to. What does not exist is left out.
std::set<std::filesystem::path> with_lookups(const std::set<std::filesystem::path>& paths);

}  // namespace headcrash::check
