#pragma once
// Expected failures are values, everywhere in headcrash. An Error names the thing it is about (a file, a
// socket, a key) and what the user can do, so that the command line can print one line and exit with 2.

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace headcrash {

struct Error {
  std::string subject;  ///< what it is about: "drive.toml: seek.average-ms", "/tmp/hc.sock"; may be empty
  std::string problem;  ///< what is wrong, without a full stop
  std::string remedy;   ///< what the user can do; may be empty

  /// One line for people: "subject: problem; remedy".
  std::string message() const {
    std::string line = subject.empty() ? problem : subject + ": " + problem;
    return remedy.empty() ? line : line + "; " + remedy;
  }
};

template <typename T>
using Result = tl::expected<T, Error>;

/// `return fail("drive.toml: rpm", "must be positive", "give the spindle speed in rev/min");`
inline tl::unexpected<Error> fail(std::string subject, std::string problem, std::string remedy = {}) {
  return tl::unexpected<Error>(Error{std::move(subject), std::move(problem), std::move(remedy)});
}

/// Hands an error on from a Result of another type: `if (!r) return pass_on(r);`
template <typename T>
tl::unexpected<Error> pass_on(const Result<T>& result) {
  return tl::unexpected<Error>(result.error());
}

}  // namespace headcrash
