#pragma once
// One palette for page and plots. A hue is a file system, the same in every report; what came out
// is told by shapes, greys and the one red, which no file system has. Each hue has a tone for light
// and one for dark paper; plots are drawn in the light tone and the page turns it into the CSS
// variable of the same place (svg.cc), so that one SVG is right in both.

#include <array>
#include <string>
#include <string_view>

namespace headcrash::report {

struct Tone {
  std::string_view variable, light, dark;
};

inline constexpr std::array<Tone, 12> kFilesystemColours = {{
    {"--fs0", "#0072b2", "#4aa8e0"},   // blue
    {"--fs1", "#00875f", "#2fc49a"},   // bluish green
    {"--fs2", "#c98a00", "#f2b632"},   // amber
    {"--fs3", "#b8568f", "#e59ac6"},   // reddish purple
    {"--fs4", "#4b4fa8", "#a3a6f0"},   // indigo
    {"--fs5", "#3a8fc2", "#8fd0f7"},   // sky
    {"--fs6", "#7a5c2e", "#c7a878"},   // brown
    {"--fs7", "#0f7f86", "#4fd0d6"},   // teal
    {"--fs8", "#76802a", "#c2cc62"},   // olive
    {"--fs9", "#7d3fb0", "#c694f0"},   // violet
    {"--fs10", "#b0541f", "#f0a06c"},  // rust
    {"--fs11", "#3f6b3a", "#9bcf94"},  // moss
}};

/// The place of a file system's colour. "ext4-nobarrier" has ext4's: the mount modes of a file
/// system share its hue and differ by shape (is_mode()); a name that nobody knows has one of the
/// twelve by its own letters, in every report the same.
std::size_t filesystem_colour(std::string_view name);
/// Whether the name, or what it begins with, is one that has a colour of its own.
bool is_known_filesystem(std::string_view name);
/// Whether the name is that of a mode of a file system that has a name of its own: drawn hollow or
/// dashed.
bool is_mode(std::string_view name);

inline constexpr Tone kMark = {"--mark", "#23292d", "#e0e5e7"};
inline constexpr Tone kMedia = {"--media", "#7f868c", "#868e94"};
inline constexpr Tone kAxis = {"--axis", "#63666b", "#a3a6ab"};
inline constexpr Tone kGrid = {"--grid", "#dcdfe1", "#343a3f"};
inline constexpr Tone kCut = {"--cut", "#b3261e", "#ff7a70"};

/// Every tone, file systems first.
std::array<Tone, kFilesystemColours.size() + 5> all_tones();

/// The custom properties of the page, light, and dark under prefers-color-scheme.
std::string palette_css();

}  // namespace headcrash::report
