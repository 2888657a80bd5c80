#pragma once
// The expectation of a finding, as data and as the words of Finding::expected.
//
// A database stores the words only. Both directions are in one file, so that code which needs a
// part of an expectation (explorer/reproduce/plain_checks.cc) decides by its kind.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "fs-adapters/vfs.h"
#include "harness/oracle/verdict.h"

namespace headcrash::oracle {

struct Expectation {
  enum class Kind : std::uint8_t {
    other,  ///< `text` has the words
    name,
    no_name,
    regular,
    directory,
    symlink,
    readable_directory,
    readable_content,
    target,                       ///< of a symbolic link: `text`
    one_name,                     ///< `text`: the other name that was found; empty if unknown
    links,                        ///< `least` names
    size,                         ///< `least` to `most` bytes
    version,                      ///< `least` or a newer one, in `block`
    zeroes,                       ///< in `block`
    zeroes_or_version_in_flight,  ///< in `block`
  };
  static constexpr std::uint64_t kOpen = std::numeric_limits<std::uint64_t>::max();

  Kind kind = Kind::other;
  std::string text = {};
  std::uint64_t least = 0, most = 0;  ///< kOpen: no upper bound
  std::uint64_t block = 0;            ///< of 512 bytes
  bool operator==(const Expectation&) const = default;
};

/// "at least 4096 bytes", "zeroes"; for a block without its number.
std::string words(const Expectation& expectation);
/// "zeroes in block 5"
std::string words_in_block(std::string_view words, std::uint64_t block);
/// The inverse. Kind::other for words that no Expectation has.
Expectation expectation_of(const Finding& finding);

/// "a file", "a directory", "a fifo".
std::string_view kind_of(FileType type);
/// For Finding::found, where one name was expected.
std::string also_found_as(std::string_view name);

}  // namespace headcrash::oracle
