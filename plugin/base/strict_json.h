#pragma once
// Strict parsing of JSON requests: as in configuration files, an unexpected key is an error, and
// the error names the key.

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Fails if `object` has a key that is not in `allowed`.
Result<void> only_keys(const nlohmann::json& object, std::initializer_list<const char*> allowed,
                       const char* hint);
Result<std::string> text_of(const nlohmann::json& object, const char* key, const char* hint);
/// Returns nullopt if the key is absent.
Result<std::optional<std::string>> optional_text(const nlohmann::json& object, const char* key,
                                                 const char* hint);
/// Returns the key's value. Fails unless it is an integer from 0 to `most`.
Result<std::uint64_t> number_of(const nlohmann::json& object, const char* key, std::uint64_t most);

}  // namespace headcrash::base
