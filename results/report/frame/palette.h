#pragma once
// The palette of the page and its plots. A hue identifies a file system in every report. Shapes,
// greys and a reserved red identify outcomes. Each hue has one tone for light paper and one for
// dark paper. Plots are drawn in the light tones. svg.cc replaces these tones with the
// corresponding CSS variables, so that the same SVG is suitable for light and dark paper.

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

/// Returns the index of a file system's colour. Mount modes such as "ext4-nobarrier" have the
/// colour of their file system and differ in shape (is_mode()). For an unknown name, a hash selects
/// one of the twelve colours, so that the name has the same colour in every report.
std::size_t filesystem_colour(std::string_view name);
/// Returns true if the palette has a colour for the name or for the name's prefix.
bool is_known_filesystem(std::string_view name);
/// Returns true if the name is a mode of a known file system. Such entrants are drawn with hollow
/// or dashed shapes.
bool is_mode(std::string_view name);

inline constexpr Tone kMark = {"--mark", "#23292d", "#e0e5e7"};
inline constexpr Tone kMedia = {"--media", "#7f868c", "#868e94"};
inline constexpr Tone kAxis = {"--axis", "#63666b", "#a3a6ab"};
inline constexpr Tone kGrid = {"--grid", "#dcdfe1", "#343a3f"};
inline constexpr Tone kCut = {"--cut", "#b3261e", "#ff7a70"};

/// Returns all tones, beginning with the tones of file systems.
std::array<Tone, kFilesystemColours.size() + 5> all_tones();

/// Returns the page's CSS custom properties, for light mode and (under prefers-color-scheme) for
/// dark mode.
std::string palette_css();

}  // namespace headcrash::report
