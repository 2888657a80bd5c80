#include "plugin/base/strict_json.h"

#include <fmt/core.h>

#include <algorithm>

namespace headcrash::base {

using nlohmann::json;

Result<void> only_keys(const json& object, std::initializer_list<const char*> allowed,
                       const char* hint) {
  for (const auto& [key, value] : object.items())
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      return fail(key.substr(0, 64), "unknown key", hint);
  return {};
}

Result<std::string> text_of(const json& object, const char* key, const char* hint) {
  const auto found = object.find(key);
  if (found == object.end()) return fail(key, "is missing", hint);
  if (!found->is_string()) return fail(key, "must be a string", hint);
  return found->get<std::string>();
}

Result<std::optional<std::string>> optional_text(const json& object, const char* key,
                                                 const char* hint) {
  if (!object.contains(key)) return std::nullopt;
  TRY(auto text, text_of(object, key, hint));
  return std::optional(std::move(text));
}

Result<std::uint64_t> number_of(const json& object, const char* key, std::uint64_t most) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > most)
    return fail(key, "is missing or not an integer in range", fmt::format("use 0 to {}", most));
  return found->get<std::uint64_t>();
}

}  // namespace headcrash::base
