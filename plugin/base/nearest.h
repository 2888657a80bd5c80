#pragma once
// Suggestions for misspelt words ("did you mean ...?").

#include <span>
#include <string>
#include <string_view>

namespace headcrash::base {

/// Returns the only word in `known` that begins with `word`, if `word` has at least 3 letters.
/// Otherwise returns the nearest word by edit distance, or "" if more than a third of its letters
/// differ.
std::string nearest(std::string_view word, std::span<const std::string> known);

/// Returns a hint for an unknown word: `did you mean "x"? known: a, b, x`.
std::string suggest(std::string_view word, std::span<const std::string> known);

}  // namespace headcrash::base
