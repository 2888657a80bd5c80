// Merges the tables of a variant into those of its profile (profile.h).
#include <fmt/format.h>

#include "plugin/base/nearest.h"
#include "plugin/profiles/profile_reader.h"

namespace headcrash::profiles {

using base::StrictTable;

Result<std::vector<std::string>> variants_of(const StrictTable& root) {
  TRY(const auto table, root.table("variant"));
  return table ? table->keys() : std::vector<std::string>();
}

Result<StrictTable> in_variant(const StrictTable& root, const std::string& variant) {
  TRY(const auto known, variants_of(root));
  if (variant.empty()) return root.without("variant");
  TRY(const auto all, root.table("variant"));
  TRY(auto own, all ? all->table(variant) : Result<std::optional<StrictTable>>(std::nullopt));
  if (!own) {
    return fail(
        root.subject("variant"), fmt::format("no variant '{}'", variant),
        known.empty() ? "omit it: the profile has no variants" : base::suggest(variant, known));
  }
  if (own->keys().empty())
    return fail(root.subject("variant." + variant), "has no effect", "add the tables that differ");
  return own->over(root.without("variant"));
}

}  // namespace headcrash::profiles
