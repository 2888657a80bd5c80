#pragma once
// POSIX access control lists in the format that the kernel uses for "system.posix_acl_access" and
// "..._default" (linux/posix_acl_xattr.h): a header of 4 bytes, followed by 8 bytes for each entry,
// all little-endian. The kernel returns the value that was set, except that it changes unused
// identifiers. The kernel does not store a list that is equivalent to the mode.

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
  /// Parses the value of an extended attribute that contains an access control list. Returns
  /// nullopt if the kernel would reject the value with EINVAL.
  static std::optional<PosixAcl> parse(std::string_view value);
  std::string value() const;

  bool empty() const { return entries_.empty(); }
  /// Returns true if the list has only the three entries that a mode can express.
  bool is_a_mode() const;
  /// Returns the permission bits in the mode of a file that has this access control list.
  std::uint32_t mode() const;
  /// Returns the list that results from chmod to `mode`.
  PosixAcl with_mode(std::uint32_t mode) const;
  /// Returns the list that a new object inherits from a default list if it is created with `mode`.
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

/// Returns a capability in the form in which the kernel reports it. The kernel reports version 2 if
/// the capability belongs to the root user of the initial namespace.
std::string capability_as_read(std::string value);

}  // namespace headcrash::oracle
