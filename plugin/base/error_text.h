#pragma once
// Errors of another process, which come as text.

#include <string>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Takes "problem; hint" apart again, as Error::message() has put it together.
inline Error error_of(std::string subject, std::string_view text) {
  constexpr std::string_view kBetween = "; ";
  const std::size_t at = text.find(kBetween);
  if (at == std::string_view::npos) return {std::move(subject), std::string(text), {}};
  return {std::move(subject), std::string(text.substr(0, at)),
          std::string(text.substr(at + kBetween.size()))};
}

/// An error that is part of a larger subject: its own subject begins the problem, its hint stays
/// one.
inline Error within(std::string subject, const Error& error) {
  return {std::move(subject),
          error.subject.empty() ? error.problem : error.subject + ": " + error.problem, error.hint};
}

}  // namespace headcrash::base
