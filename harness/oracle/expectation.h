#pragma once
// A finding's expectation, as data and as the text of Finding::expected.
//
// A database stores only the text. This file converts in both directions, so that code that reads
// findings from a database (explorer/reproduce/plain_checks.cc) can branch on an expectation's
// kind.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "fs-adapters/vfs.h"
#include "harness/oracle/verdict.h"

namespace headcrash::oracle {

struct Expectation {
  enum class Kind : std::uint8_t {
    other,  ///< `text` holds the complete text
    name,
    no_name,
    regular,
    directory,
    symlink,
    readable_directory,
    readable_content,
    target,    ///< a symbolic link's target, in `text`
    one_name,  ///< `text` is the other name under which the object was found; empty if unknown
    links,     ///< `least` is the number of names
    size,      ///< from `least` to `most` bytes
    version,   ///< version `least` or newer, in `block`
    zeroes,    ///< in `block`
    zeroes_or_version_in_flight,  ///< in `block`
  };
  static constexpr std::uint64_t kOpen = std::numeric_limits<std::uint64_t>::max();

  Kind kind = Kind::other;
  std::string text = {};
  std::uint64_t least = 0, most = 0;  ///< kOpen for no upper bound
  std::uint64_t block = 0;            ///< number of a 512-byte block
  bool operator==(const Expectation&) const = default;
};

/// Returns the expectation as text, for example "at least 4096 bytes" or "zeroes". The text does
/// not contain the block's number.
std::string words(const Expectation& expectation);
/// Returns, for example, "zeroes in block 5".
std::string words_in_block(std::string_view words, std::uint64_t block);
/// Parses the text from a finding; the inverse of words(). Returns Kind::other for an unknown text.
Expectation expectation_of(const Finding& finding);

/// Returns the type as words, for example "a file", "a directory" or "a fifo".
std::string_view kind_of(FileType type);
/// Returns the text of Finding::found for an object that must have only one name, but also has this
/// one.
std::string also_found_as(std::string_view name);

}  // namespace headcrash::oracle
