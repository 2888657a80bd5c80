#pragma once
// POSIX access control lists as the kernel keeps them in "system.posix_acl_access" and
// "..._default" (linux/posix_acl_xattr.h): a header of 4 bytes and 8 bytes an entry, all
// little-endian. What a read returns is what was set, up to identifiers that mean nothing; a list
// that says no more than the mode is not kept.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headcrash::oracle {

inline constexpr std::string_view kAccessAcl = "system.posix_acl_access";
inline constexpr std::string_view kDefaultAcl = "system.posix_acl_default";
inline constexpr std::string_view kCapability = "security.capability";

class PosixAcl {
 public:
  /// Nothing: the kernel refuses it (EINVAL).
  static std::optional<PosixAcl> parse(std::string_view value);
  std::string value() const;

  bool empty() const { return entries_.empty(); }
  /// It has only the three entries that a mode has.
  bool is_a_mode() const;
  /// Permission bits of a file with this list.
  std::uint32_t mode() const;
  /// After chmod.
  PosixAcl with_mode(std::uint32_t mode) const;
  /// What an object made with `mode` inherits of a default list.
  PosixAcl inherited(std::uint32_t mode) const;

 private:
  struct Entry {
    std::uint16_t tag = 0, permissions = 0;
    std::uint32_t id = 0;
  };
  Entry* group();
  const Entry* find(std::uint16_t tag) const;
  bool valid() const;

  std::vector<Entry> entries_;
};

/// A capability of the root user of the initial namespace reads as version 2, whatever it was set
/// as.
std::string capability_as_read(std::string value);

}  // namespace headcrash::oracle
