#pragma once
// The temporary name that an exchange uses (rename.cc). The name refers to the target's inode
// during the steps in which neither of the two exchanged names does.
//
// A power cut may leave this name on the disk. fsck then removes it, unless the inode has no other
// name. (A name in an unreachable directory does not count, because that directory may already have
// been removed.) The temporary name contains its inode's number. fsck recognizes the name by this
// number, so it never removes a user's name.

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "fs-adapters/substrate/tree/attributes.h"

namespace headcrash::tree {

inline constexpr std::string_view kExchangeNameStart = ".exchanged-";

/// Returns the temporary name for this inode. If the name exists already, the caller tries again
/// with a higher `attempt`.
inline std::string exchange_name(InodeNumber target, int attempt) {
  return fmt::format("{}{}-{}", kExchangeNameStart, target, attempt);
}

inline bool is_exchange_name(std::string_view name, InodeNumber target) {
  if (!name.starts_with(kExchangeNameStart)) return false;
  const std::string start = fmt::format("{}{}-", kExchangeNameStart, target);
  if (!name.starts_with(start)) return false;
  name.remove_prefix(start.size());
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace headcrash::tree
