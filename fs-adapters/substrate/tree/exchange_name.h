#pragma once
// The third name of an exchange (rename.cc): it stands for what was at the target while neither of
// the two names can, and a power cut may leave it on the disk. It tells whose it is, so that fsck
// takes it away when the file or directory has another name, and nobody else's name is ever
// mistaken for it. A name of a file in a directory that nothing leads to is none: the directory may
// have been removed before.

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "fs-adapters/substrate/tree/attributes.h"

namespace headcrash::tree {

inline constexpr std::string_view kExchangeNameStart = ".exchanged-";

/// `attempt`: when there is such a name already.
inline std::string exchange_name(InodeNumber target, int attempt) {
  return fmt::format("{}{}-{}", kExchangeNameStart, target, attempt);
}

inline bool is_exchange_name(std::string_view name, InodeNumber target) {
  if (!name.starts_with(kExchangeNameStart)) return false;  // of nearly all names
  const std::string start = fmt::format("{}{}-", kExchangeNameStart, target);
  if (!name.starts_with(start)) return false;
  name.remove_prefix(start.size());
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace headcrash::tree
