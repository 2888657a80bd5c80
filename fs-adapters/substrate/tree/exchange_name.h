#pragma once
// The temporary third name used by an exchange (rename.cc). It refers to the target's inode while
// neither of the two exchanged names does. A power cut may leave it on the disk. The name contains
// the inode number, so that fsck removes it only if the inode has another name, and never removes a
// user's name. A name in an unreachable directory does not count as another name, because the
// directory may already have been removed.

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "fs-adapters/substrate/tree/attributes.h"

namespace headcrash::tree {

inline constexpr std::string_view kExchangeNameStart = ".exchanged-";

/// Increment `attempt` if the name already exists.
inline std::string exchange_name(InodeNumber target, int attempt) {
  return fmt::format("{}{}-{}", kExchangeNameStart, target, attempt);
}

inline bool is_exchange_name(std::string_view name, InodeNumber target) {
  if (!name.starts_with(kExchangeNameStart)) return false;  // rejects nearly all names
  const std::string start = fmt::format("{}{}-", kExchangeNameStart, target);
  if (!name.starts_with(start)) return false;
  name.remove_prefix(start.size());
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace headcrash::tree
