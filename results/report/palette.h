#pragma once
// One palette for page and plots. Hues follow Okabe and Ito's colour-blind safe set, each in a tone for light
// and one for dark paper; the plots are drawn in the light tone and the page turns it into the CSS variable
// of the same place (svg.cc), so that one SVG is right in both.

#include <array>
#include <string>
#include <string_view>

namespace headcrash::report {

struct Tone {
  std::string_view variable, light, dark;
};

inline constexpr std::array<Tone, 10> kFilesystemColours = {{
    {"--fs0", "#0072b2", "#4aa8e0"},  // blue
    {"--fs1", "#d55e00", "#ff8c42"},  // vermillion
    {"--fs2", "#00875f", "#2fc49a"},  // bluish green
    {"--fs3", "#b8568f", "#e59ac6"},  // reddish purple
    {"--fs4", "#c98a00", "#f2b632"},  // orange
    {"--fs5", "#3a8fc2", "#8fd0f7"},  // sky
    {"--fs6", "#7a5c2e", "#c7a878"},  // brown
    {"--fs7", "#4b4fa8", "#a3a6f0"},  // indigo
    {"--fs8", "#6b7378", "#b4bcc1"},  // grey
    {"--fs9", "#8a1c3c", "#ee7f98"},  // wine
}};

inline constexpr Tone kRead = {"--read", "#0173b3", "#58b4e8"};
inline constexpr Tone kWrite = {"--write", "#de7a05", "#ffab4d"};
inline constexpr Tone kMedia = {"--media", "#7f868c", "#868e94"};
inline constexpr Tone kAxis = {"--axis", "#808081", "#808081"};
inline constexpr Tone kGrid = {"--grid", "#dcdfe1", "#343a3f"};
inline constexpr Tone kCut = {"--cut", "#b3261e", "#ff7a70"};
inline constexpr Tone kMark = {"--mark", "#23292d", "#e0e5e7"};

/// Every tone, file systems first.
std::array<Tone, kFilesystemColours.size() + 7> all_tones();

/// The custom properties of the page, light, and dark under prefers-color-scheme.
std::string palette_css();

}  // namespace headcrash::report
