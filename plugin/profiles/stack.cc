// Reads stacks: each file names the profiles below it, down to drives.
//
//   netra-raid5-presto.toml          kind = "nvram"
//     over ->  [over]                kind = "array"    a profile may also be a table here
//                member -> "sun-4.2g"  kind = "disk"   or named: built-in, or a path from this file
//
// A file that contains itself, possibly through other files, is rejected, and the error shows the
// cycle. The depth and the number of files are limited. If an array names one profile for all
// members, that profile is read once and shared.
#include "plugin/profiles/stack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "plugin/model/array/array.h"
#include "plugin/profiles/profile_reader.h"

namespace headcrash::profiles {
namespace {

namespace fs = std::filesystem;
using base::StrictTable;
using model::ArrayProfile;
using StackPtr = std::shared_ptr<const Stack>;

constexpr std::size_t kDepthMax = 8;
constexpr std::size_t kFilesMax = 1000;
enum class Kind : std::uint8_t { disk, flash, array, nvram };
constexpr std::array<Choice<Kind>, 4> kKinds = {
    {{"disk", Kind::disk}, {"flash", Kind::flash}, {"array", Kind::array}, {"nvram", Kind::nvram}}};

class StackLoader {
 public:
  /// Loads a stack. `above` is the array of which the stack is a member, either directly or below
  /// caches; null if there is no such array.
  Result<StackPtr> load(std::string_view name_or_path, const fs::path& folder,
                        const ArrayProfile* above) {
    TRY(const auto found, find_profile(name_or_path, folder));
    if (const auto ring = std::find(chain_.begin(), chain_.end(), found.identity);
        ring != chain_.end()) {
      return fail(found.file,
                  fmt::format("contains itself: {} -> {}", fmt::join(ring, chain_.end(), " -> "),
                              found.identity),
                  "remove one of these references");
    }
    if (++files_ > kFilesMax)
      return fail(found.file, "this profile contains too many profiles", "use a smaller machine");
    chain_.push_back(found.identity);
    Result<StackPtr> stack = parse(found.text, found.file, found.folder, found.variant, above);
    chain_.pop_back();
    return stack;
  }

  Result<StackPtr> parse(std::string_view text, std::string_view file, const fs::path& folder,
                         const std::string& variant, const ArrayProfile* above) {
    TRY(const auto root, StrictTable::parse(text, std::string(file)));
    if (!variant.empty()) return read_variant(root, variant, folder, above);
    TRY(const auto plain, in_variant(root, variant));
    Result<StackPtr> stack = read(plain, folder, above);
    if (!stack) return stack;
    // An invalid variant makes the profile invalid, even if no variant is requested.
    const auto variants = variants_of(root);
    for (const std::string& each : *variants) {
      TRY(read_variant(root, each, folder, above));
    }
    return stack;
  }

 private:
  Result<StackPtr> read_variant(const StrictTable& root, const std::string& variant,
                                const fs::path& folder, const ArrayProfile* above) {
    TRY(const auto changed, in_variant(root, variant));
    const Result<StackPtr> stack = read(changed, folder, above);
    if (!stack) return stack;
    auto named = std::make_shared<Stack>(**stack);
    named->name += "+" + variant;
    named->title += ", " + variant;
    std::visit([&](auto& profile) { profile.name = named->name, profile.title = named->title; },
               named->profile);
    return named;
  }

  Result<StackPtr> read(const StrictTable& root, const fs::path& folder,
                        const ArrayProfile* above) {
    if (depth_ == kDepthMax) {
      return fail(root.subject("kind"), fmt::format("more than {} levels of profiles", kDepthMax),
                  "use fewer levels");
    }
    ++depth_;
    Result<StackPtr> stack = read_kind(root, folder, above);
    --depth_;
    return stack;
  }

  Result<StackPtr> read_kind(const StrictTable& root, const fs::path& folder,
                             const ArrayProfile* above) {
    ReadErrors errors;
    errors.place = root.subject("");
    ProfileTable top(root, errors);
    const Kind kind = top.has("kind") ? top.one_of("kind", kKinds) : Kind::disk;
    if (errors.first) return tl::unexpected<Error>(*errors.first);
    if (kind == Kind::array) return read_array_over(top, folder, errors);
    if (kind == Kind::nvram) return read_nvram_over(top, folder, above, errors);
    auto stack = std::make_shared<Stack>();
    if (kind == Kind::flash) {
      TRY(auto flash, read_flash(root));
      fill(*stack, std::move(flash.profile), std::move(flash.origins));
    } else {
      TRY(auto drive, read_drive(root));
      stack->nominal_rpm = drive.nominal_rpm;
      fill(*stack, std::move(drive.profile), std::move(drive.origins));
    }
    return stack;
  }

  template <typename Profile>
  static void fill(Stack& stack, Profile profile, std::vector<Origin> origins) {
    stack.name = profile.name;
    stack.title = profile.title;
    stack.profile = std::move(profile);
    stack.origins = std::move(origins);
  }

  Result<StackPtr> read_array_over(ProfileTable& top, const fs::path& folder, ReadErrors& errors) {
    auto stack = std::make_shared<Stack>();
    const std::string name = top.text("name"), title = top.text("title");
    ArrayBox box = read_array(top, errors);
    top.require("member");
    top.finish();
    if (errors.first) return tl::unexpected<Error>(*errors.first);
    box.profile.name = name;
    box.profile.title = title;

    TRY(std::vector<StackPtr> members, read_members(top.values(), folder, box.profile));
    const std::uint64_t size = capacity_sectors(*members.front());
    for (std::size_t i = 1; i < members.size(); ++i) {
      const std::uint64_t other = capacity_sectors(*members[i]);
      if (other == size) continue;
      return fail(top.values().subject("member"),
                  fmt::format("members have different sizes: {} has {} sectors, {} has {}",
                              members.front()->name, size, members[i]->name, other),
                  "use drives of equal size");
    }
    check_array(box.profile, size, physical_sector_sectors(*members.front()), errors);
    if (errors.first) return tl::unexpected<Error>(*errors.first);
    fill(*stack, std::move(box.profile), std::move(box.origins));
    stack->below = std::move(members);
    return stack;
  }

  /// Reads one profile for all members, or a list with one profile for each member.
  Result<std::vector<StackPtr>> read_members(const StrictTable& top, const fs::path& folder,
                                             const ArrayProfile& array) {
    std::vector<StackPtr> members;
    if (top.type("member") != StrictTable::Type::list) {
      TRY(const auto member, read_below(top, "member", folder, &array));
      members.assign(array.members, member);
      return members;
    }
    const StrictTable list = top.elements("member");
    if (list.keys().size() != array.members) {
      return fail(top.subject("member"),
                  fmt::format("lists {} profiles, but layout.members is {}", list.keys().size(),
                              array.members),
                  "list one profile for all members, or one for each member");
    }
    for (std::size_t i = 0; i < array.members; ++i) {
      TRY(const auto member, read_below(list, fmt::format("member[{}]", i), folder, &array));
      members.push_back(member);
    }
    return members;
  }

  Result<StackPtr> read_nvram_over(ProfileTable& top, const fs::path& folder,
                                   const ArrayProfile* above, ReadErrors& errors) {
    auto stack = std::make_shared<Stack>();
    const std::string name = top.text("name"), title = top.text("title");
    CacheBox box = read_nvram(top, above, errors);
    top.require("over");
    top.finish();
    if (errors.first) return tl::unexpected<Error>(*errors.first);
    box.profile.name = name;
    box.profile.title = title;
    TRY(const auto below, read_below(top.values(), "over", folder, above));
    check_nvram(box.profile, capacity_sectors(*below), errors);
    if (errors.first) return tl::unexpected<Error>(*errors.first);
    fill(*stack, std::move(box.profile), std::move(box.origins));
    stack->below = {below};
    return stack;
  }

  Result<StackPtr> read_below(const StrictTable& top, const std::string& key,
                              const fs::path& folder, const ArrayProfile* above) {
    if (const auto table = top.table(key); table && *table) return read(**table, folder, above);
    std::string name;
    if (!top.take(key, name) || name.empty()) {
      return fail(top.subject(key), "must name a profile, or be a table that names one",
                  "for example \"hp-c2447\"");
    }
    Result<StackPtr> stack = load(name, folder, above);
    // An unknown name is reported as an error in the file that contains the name.
    if (!stack && stack.error().subject == fmt::format("profile '{}'", name)) {
      stack.error().problem = fmt::format("no built-in profile '{}'", name);
      stack.error().subject = top.subject(key);
    } else if (!stack && stack.error().subject == (folder / name).string()) {
      stack.error().problem = fmt::format("{} {}", stack.error().subject, stack.error().problem);
      stack.error().subject = top.subject(key);
    }
    return stack;
  }

  std::vector<std::string> chain_;  ///< identities of the files being read
  std::size_t depth_ = 0, files_ = 0;
};

}  // namespace

const Stack& lowest(const Stack& stack) {
  return stack.below.empty() ? stack : lowest(*stack.below.front());
}

std::uint64_t capacity_sectors(const Stack& stack) {
  if (const auto* disk = std::get_if<model::DiskProfile>(&stack.profile))
    return disk->capacity_sectors;
  if (const auto* flash = std::get_if<model::FlashProfile>(&stack.profile))
    return flash->capacity_sectors;
  const std::uint64_t below = capacity_sectors(*stack.below.front());
  const auto* array = std::get_if<model::ArrayProfile>(&stack.profile);
  return array == nullptr ? below : model::Array::data_sectors(*array, below);
}

std::uint32_t physical_sector_sectors(const Stack& stack) {
  const Stack& leaf = lowest(stack);
  if (const auto* disk = std::get_if<model::DiskProfile>(&leaf.profile))
    return disk->physical_sector_sectors;
  return std::get<model::FlashProfile>(leaf.profile).physical_sector_sectors;
}

Result<std::shared_ptr<const Stack>> load_stack(std::string_view name_or_path,
                                                const fs::path& folder) {
  return StackLoader().load(name_or_path, folder, nullptr);
}

Result<std::shared_ptr<const Stack>> parse_stack(std::string_view text, std::string_view file) {
  return StackLoader().parse(text, file, {}, "", nullptr);
}

}  // namespace headcrash::profiles
