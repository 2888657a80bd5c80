#pragma once
// "Did you mean ...?": the known word that a misspelt one probably was.

#include <span>
#include <string>
#include <string_view>

namespace headcrash::base {

/// The only one of `known` that begins with `word` (of three letters or more); else the nearest by
/// edit distance, if at most a third of its letters differ; empty otherwise.
std::string nearest(std::string_view word, std::span<const std::string> known);

/// A hint for an unknown word: `did you mean "x"? known: a, b, x`.
std::string suggest(std::string_view word, std::span<const std::string> known);

}  // namespace headcrash::base
