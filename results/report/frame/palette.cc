#include "results/report/frame/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>

namespace headcrash::report {
namespace {

struct Known {
  std::string_view name;
  std::size_t colour;
};

// Hues are unique among the kernel's file systems, and among our own. The two groups share hues,
// because they are seldom shown together.
constexpr Known kKnown[] = {
    {"ext4", 0},
    {"xfs", 1},
    {"btrfs", 2},
    {"f2fs", 3},
    {"nilfs2", 4},
    {"ext2", 5},
    {"jfs", 6},
    {"reiserfs", 7},
    {"vfat", 8},
    {"ext3", 9},
    {"minix", 10},
    {"kfs", 11},
    // Our file systems. In the names of schemes, the prefix "ufs-" is omitted.
    {"conventional", 6},
    {"flag", 2},
    {"chains", 3},
    {"soft-updates", 1},
    {"no-order", 5},
    {"journal", 0},
    {"netra", 11},
    {"lfs", 4},
    {"snapfs", 9},
    {"shadow", 10},
    {"log-structured", 4},
};

/// Normalises a name: "UFS Soft Updates +init" and "ufs-soft-updates +init" become
/// "soft-updates-+init".
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name)
    out += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view before : {"ufs-", "scheduler-"})
    if (out.starts_with(before)) out.erase(0, before.size());
  return out;
}

/// Returns the longest known name that equals `name`, or that precedes a non-alphanumeric character
/// in it.
std::optional<Known> known(const std::string& name) {
  std::optional<Known> found;
  for (const Known& each : kKnown) {
    const bool fits = name.starts_with(each.name) &&
                      (name.size() == each.name.size() ||
                       std::isalnum(static_cast<unsigned char>(name[each.name.size()])) == 0);
    if (fits && (!found || found->name.size() < each.name.size())) found = each;
  }
  return found;
}

/// Computes the FNV-1a hash.
std::uint32_t digest(std::string_view text) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return hash;
}

}  // namespace

std::size_t filesystem_colour(std::string_view name) {
  const std::string text = plain(name);
  if (const auto found = known(text)) return found->colour;
  return digest(text) % kFilesystemColours.size();
}

bool is_known_filesystem(std::string_view name) {
  return known(plain(name)).has_value();
}

bool is_mode(std::string_view name) {
  const std::string text = plain(name);
  const auto found = known(text);
  return found && found->name.size() < text.size();
}

std::array<Tone, kFilesystemColours.size() + 5> all_tones() {
  std::array<Tone, kFilesystemColours.size() + 5> all;
  auto* next = std::ranges::copy(kFilesystemColours, all.begin()).out;
  for (const auto& tone : {kMark, kMedia, kAxis, kGrid, kCut}) *next++ = tone;
  return all;
}

std::string palette_css() {
  std::string light, dark, classes;
  for (const auto& tone : all_tones()) {
    light += fmt::format("{}:{};", tone.variable, tone.light);
    dark += fmt::format("{}:{};", tone.variable, tone.dark);
  }
  for (std::size_t i = 0; i < kFilesystemColours.size(); ++i) {
    classes += fmt::format(".c{0}{{background:var({1});border-color:var({1});stroke:var({1})}}\n",
                           i, kFilesystemColours.at(i).variable);
  }
  return fmt::format(
      ":root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n{}", light, dark,
      classes);
}

}  // namespace headcrash::report
