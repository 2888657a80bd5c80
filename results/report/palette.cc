#include "results/report/palette.h"

#include <fmt/format.h>

#include <algorithm>

namespace headcrash::report {

std::array<Tone, kFilesystemColours.size() + 7> all_tones() {
  std::array<Tone, kFilesystemColours.size() + 7> all;
  auto* next = std::ranges::copy(kFilesystemColours, all.begin()).out;
  for (const auto& tone : {kRead, kWrite, kMedia, kAxis, kGrid, kCut, kMark}) *next++ = tone;
  return all;
}

std::string palette_css() {
  std::string light, dark, classes;
  for (const auto& tone : all_tones()) {
    light += fmt::format("{}:{};", tone.variable, tone.light);
    dark += fmt::format("{}:{};", tone.variable, tone.dark);
  }
  for (std::size_t i = 0; i < kFilesystemColours.size(); ++i) {
    classes += fmt::format(".c{}{{background:var({})}}\n", i, kFilesystemColours.at(i).variable);
  }
  return fmt::format(":root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n{}", light,
                     dark, classes);
}

}  // namespace headcrash::report
