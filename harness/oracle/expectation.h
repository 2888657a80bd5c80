#pragma once
// The expectation that a finding violates, both as data and as text (Finding::expected).
//
// A database stores only the text. Because this file converts in both directions, code that reads
// findings from a database (explorer/reproduce/plain_checks.cc) can distinguish the kinds of
// expectations.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "fs-adapters/vfs.h"
#include "harness/oracle/verdict.h"

namespace headcrash::oracle {

struct Expectation {
  enum class Kind : std::uint8_t {
    other,  ///< `text` is the complete text
    name,
    no_name,
    regular,
    directory,
    symlink,
    readable_directory,
    readable_content,
    target,    ///< `text` is the target of a symbolic link
    one_name,  ///< `text` is the other name under which the object was found; empty if unknown
    links,     ///< the object has `least` names
    size,      ///< from `least` to `most` bytes
    version,   ///< version `least` or a newer one in block `block`
    zeroes,    ///< in `block`
    zeroes_or_version_in_flight,  ///< in `block`
  };
  static constexpr std::uint64_t kOpen = std::numeric_limits<std::uint64_t>::max();

  Kind kind = Kind::other;
  std::string text = {};
  std::uint64_t least = 0, most = 0;  ///< `most` may be kOpen, which means no upper bound
  std::uint64_t block = 0;            ///< number of a 512-byte block
  bool operator==(const Expectation&) const = default;
};

/// Returns the expectation as text, for example "at least 4096 bytes" or "zeroes". The text does
/// not include the block number.
std::string words(const Expectation& expectation);
/// Returns text such as "zeroes in block 5".
std::string words_in_block(std::string_view words, std::uint64_t block);
/// Parses the text of a finding. This is the inverse of words(). For an unknown text, the kind is
/// Kind::other.
Expectation expectation_of(const Finding& finding);

/// Returns the type with its article, for example "a file", "a directory" or "a fifo".
std::string_view kind_of(FileType type);
/// Returns the text of Finding::found for an object that must have only one name, but was also
/// found as `name`.
std::string also_found_as(std::string_view name);

}  // namespace headcrash::oracle
