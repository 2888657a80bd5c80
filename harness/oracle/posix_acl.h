#pragma once
// POSIX access control lists in the kernel's format for "system.posix_acl_access" and "..._default"
// (linux/posix_acl_xattr.h): a header of 4 bytes and 8 bytes per entry, little-endian. The kernel
// returns the value that was set, except for unused identifiers. It does not store a list that is
// equivalent to the mode.

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
  /// Returns nullopt if the kernel rejects the value (EINVAL).
  static std::optional<PosixAcl> parse(std::string_view value);
  std::string value() const;

  bool empty() const { return entries_.empty(); }
  /// Returns true if the list has only the three entries that a mode can express.
  bool is_a_mode() const;
  /// Returns the permission bits of a file with this list.
  std::uint32_t mode() const;
  /// Returns the list after chmod to `mode`.
  PosixAcl with_mode(std::uint32_t mode) const;
  /// Returns the list that an object created with `mode` inherits from a default list.
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

/// Returns a capability as the kernel reports it. One that belongs to the root user of the initial
/// namespace reads as version 2.
std::string capability_as_read(std::string value);

}  // namespace headcrash::oracle
