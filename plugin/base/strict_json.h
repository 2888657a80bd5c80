#pragma once
// Requests in JSON, read as strictly as configuration files: what is not expected is refused by
// name.

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Refuses keys beyond `allowed`.
Result<void> only_keys(const nlohmann::json& object, std::initializer_list<const char*> allowed,
                       const char* hint);
Result<std::string> text_of(const nlohmann::json& object, const char* key, const char* hint);
/// Nothing when the key is not there.
Result<std::optional<std::string>> optional_text(const nlohmann::json& object, const char* key,
                                                 const char* hint);
/// A whole number from 0 to `most`.
Result<std::uint64_t> number_of(const nlohmann::json& object, const char* key, std::uint64_t most);

}  // namespace headcrash::base
