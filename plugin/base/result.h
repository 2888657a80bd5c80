#pragma once
// Expected failures are returned as values. An Error names its subject (a file, a socket, a key)
// and suggests what the user can do. The command line prints the error on one line and exits with
// 2. Callers distinguish errors by their kind, never by their text.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "plugin/base/names.h"

namespace headcrash {

/// The kinds of errors that callers distinguish. All other errors are `other`.
enum class ErrorKind : std::uint8_t {
  other,           ///< invalid input, or a failure of the host or of headcrash
  busy,            ///< a request is in flight; the same call may succeed later
  does_not_start,  ///< an array refuses to start
  interrupted,     ///< the user ended the work
  damaged,         ///< a saved state cannot be loaded
  malformed,       ///< a peer violated its protocol
  refused,         ///< a peer rejected a valid request
  unsupported,     ///< the guest's kernel does not support the file system
  timeout,         ///< a step in the guest exceeded its time limit
  guest_died,      ///< the guest exited, or its kernel reported a bug
  workload,        ///< an operation failed, but would succeed on a correct file system
  unmountable,     ///< the file system could not be mounted after a cut
  not_repairable,  ///< after a cut, replaying the log or repairing the file system failed
  cannot_run,      ///< this host lacks something that the command always needs
};
/// The kinds' names, as used in protocols.
inline constexpr auto kErrorKinds =
    base::names<ErrorKind>({"other", "busy", "does-not-start", "interrupted", "damaged",
                            "malformed", "refused", "unsupported", "timeout", "guest-died",
                            "workload", "unmountable", "not-repairable", "cannot-run"});

struct Error {
  /// The file, key or object that the error is about, such as "drive.toml: seek.average-ms" or
  /// "/tmp/hc.sock"; may be empty.
  std::string subject;
  std::string problem;  ///< what is wrong, without a full stop
  std::string hint;     ///< suggests a remedy to the user; may be empty
  ErrorKind kind = ErrorKind::other;

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
/// A template, so that `fail({}, problem)`, which has an empty subject, does not select this
/// overload.
template <std::same_as<ErrorKind> Kind>
tl::unexpected<Error> fail(Kind kind, std::string subject, std::string problem,
                           std::string hint = {}) {
  return tl::unexpected<Error>(
      Error{std::move(subject), std::move(problem), std::move(hint), kind});
}

/// Converts a failed Result to a failed Result of another type. Prefer TRY where possible.
template <typename T>
tl::unexpected<Error> forward_error(const Result<T>& result) {
  return tl::unexpected<Error>(result.error());
}

namespace base {

/// Splits text of the form "problem; hint", which Error::message() returns. Used for errors
/// received from another process.
inline Error error_of(std::string subject, std::string_view text) {
  constexpr std::string_view kBetween = "; ";
  const std::size_t at = text.find(kBetween);
  if (at == std::string_view::npos) return {std::move(subject), std::string(text), {}};
  return {std::move(subject), std::string(text.substr(0, at)),
          std::string(text.substr(at + kBetween.size()))};
}

/// Wraps an error with an outer subject: the inner subject becomes part of the problem, and the
/// hint is kept.
inline Error within(std::string subject, const Error& error) {
  return {std::move(subject),
          error.subject.empty() ? error.problem : error.subject + ": " + error.problem, error.hint,
          error.kind};
}

}  // namespace base
}  // namespace headcrash

// Unwraps a Result (or any other tl::expected). If it has failed, returns its error from the
// enclosing function:
//
//   TRY(store.flush());                        // discards the value, if any
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
