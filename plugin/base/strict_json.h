#pragma once
// Strict parsing of JSON requests: an unexpected key is an error that names the key, as in
// configuration files.

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
/// Returns an integer from 0 to `most`.
Result<std::uint64_t> number_of(const nlohmann::json& object, const char* key, std::uint64_t most);

}  // namespace headcrash::base
