#pragma once
// The options of mkfs by name, as users and the lab write them.

#include <span>
#include <string_view>

#include "fs-adapters/system_under_test.h"
#include "fs-adapters/ufs/format/mkfs.h"

namespace headcrash::ufs {

std::span<const adapters::MkfsOption> mkfs_options();
/// Errors: a name that is unknown, a value that is neither a number nor a UUID. What the numbers
/// have to be, mkfs says.
Result<MkfsOptions> mkfs_options_of(const adapters::Settings& settings);

/// Those that give a file system a feature, by 0 or 1.
struct FeatureOption {
  std::string_view name;
  bool Features::* feature;
};
std::span<const FeatureOption> feature_options();

}  // namespace headcrash::ufs
