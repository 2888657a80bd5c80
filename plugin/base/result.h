#pragma once
// Expected failures are returned as values. An Error names its subject (a file, a socket, a key)
// and suggests what the user can do. The command line prints the error on one line and exits with
// 2.

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace headcrash {

struct Error {
  /// For example "drive.toml: seek.average-ms" or "/tmp/hc.sock"; may be empty.
  std::string subject;
  std::string problem;  ///< what is wrong, without a full stop
  std::string hint;     ///< the user's remedy; may be empty

  /// Returns one line: "subject: problem; hint".
  std::string message() const {
    std::string line = subject.empty() ? problem : subject + ": " + problem;
    return hint.empty() ? line : line + "; " + hint;
  }
};

template <typename T>
using Result = tl::expected<T, Error>;

/// Example: `return fail("drive.toml: rpm", "must be positive", "give the spindle speed in
/// rev/min");`
inline tl::unexpected<Error> fail(std::string subject, std::string problem, std::string hint = {}) {
  return tl::unexpected<Error>(Error{std::move(subject), std::move(problem), std::move(hint)});
}

/// Converts a failed Result to a failed Result of another type. Prefer TRY where it suffices.
template <typename T>
tl::unexpected<Error> forward_error(const Result<T>& result) {
  return tl::unexpected<Error>(result.error());
}

}  // namespace headcrash

// Returns the error of a Result (or of any other tl::expected) from the calling function, or
// continues:
//
//   TRY(store.flush());                        // discards the value, if there is one
//   TRY(const auto size, parse_size(text));    // declares `size` as the value
//
// The declaration must not contain a comma. This is the only macro for control flow.
#define TRY(...)                                                                         \
  HEADCRASH_TRY_FORM(__VA_ARGS__, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VOID) \
  (HEADCRASH_TRY_JOIN(try_result_, __COUNTER__), __VA_ARGS__)
#define HEADCRASH_TRY_FORM(a, b, c, d, e, f, g, h, form, ...) HEADCRASH_TRY_##form
#define HEADCRASH_TRY_JOIN(a, b) HEADCRASH_TRY_PASTE(a, b)
#define HEADCRASH_TRY_PASTE(a, b) a##b
#define HEADCRASH_TRY_VOID(result, expression)                                                 \
  do {                                                                                         \
    if (auto result = (expression); !result) return tl::unexpected(std::move(result).error()); \
  } while (false)
#define HEADCRASH_TRY_VALUE(result, declaration, ...)            \
  auto result = (__VA_ARGS__);                                   \
  if (!result) return tl::unexpected(std::move(result).error()); \
  declaration = *std::move(result)
