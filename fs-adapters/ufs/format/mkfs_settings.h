#pragma once
// Parses the options of mkfs.headcrash-ufs.

#include <span>
#include <string_view>

#include "fs-adapters/system_under_test.h"
#include "fs-adapters/ufs/format/mkfs.h"

namespace headcrash::ufs {

std::span<const adapters::MkfsOption> mkfs_options();
/// Fails if an option is unknown, or if its value is neither a number nor a UUID. mkfs() checks the
/// ranges of numbers.
Result<MkfsOptions> mkfs_options_of(const adapters::Settings& settings);

/// Options that switch a feature on or off, with value 1 or 0.
struct FeatureOption {
  std::string_view name;
  bool Features::* feature;
};
std::span<const FeatureOption> feature_options();

}  // namespace headcrash::ufs
