#pragma once
// Errors received as text from another process.

#include <string>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Splits "problem; hint", as joined by Error::message().
inline Error error_of(std::string subject, std::string_view text) {
  constexpr std::string_view kBetween = "; ";
  const std::size_t at = text.find(kBetween);
  if (at == std::string_view::npos) return {std::move(subject), std::string(text), {}};
  return {std::move(subject), std::string(text.substr(0, at)),
          std::string(text.substr(at + kBetween.size()))};
}

/// Wraps an error in a larger subject: the inner subject becomes part of the problem, and the hint
/// is kept.
inline Error within(std::string subject, const Error& error) {
  return {std::move(subject),
          error.subject.empty() ? error.problem : error.subject + ": " + error.problem, error.hint};
}

}  // namespace headcrash::base
