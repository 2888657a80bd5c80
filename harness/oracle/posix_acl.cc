// Implements access control lists with the rules of fs/posix_acl.c in the kernel.
#include "harness/oracle/posix_acl.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headcrash::oracle {
namespace {

constexpr std::uint32_t kAclVersion = 2, kUndefined = 0xffffffff;
constexpr std::size_t kHeaderBytes = 4, kEntryBytes = 8;
constexpr std::uint16_t kUserObject = 1, kUser = 2, kGroupObject = 4, kGroup = 8, kMask = 16,
                        kOther = 32;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i)
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return number;
}

void append(std::string& bytes, std::uint32_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xffU);
}

}  // namespace

std::optional<PosixAcl> PosixAcl::parse(std::string_view value) {
  if (value.size() < kHeaderBytes || (value.size() - kHeaderBytes) % kEntryBytes != 0)
    return std::nullopt;
  if (number_at(value, 0, kHeaderBytes) != kAclVersion) return std::nullopt;
  PosixAcl acl;
  for (std::size_t at = kHeaderBytes; at < value.size(); at += kEntryBytes) {
    Entry entry{static_cast<std::uint16_t>(number_at(value, at, 2)),
                static_cast<std::uint16_t>(number_at(value, at + 2, 2)),
                number_at(value, at + 4, 4)};
    if (entry.tag != kUser && entry.tag != kGroup) entry.id = kUndefined;
    acl.entries_.push_back(entry);
  }
  if (!acl.empty() && !acl.valid()) return std::nullopt;
  return acl;
}

/// Returns true if the kernel would accept the list. Entries must be sorted by kind. Each kind may
/// occur only once, except users and groups, and these require a mask.
bool PosixAcl::valid() const {
  std::set<std::pair<std::uint16_t, std::uint32_t>> seen;
  std::uint16_t before = 0;
  bool named = false;
  for (const Entry& entry : entries_) {
    const bool known = entry.tag == kUserObject || entry.tag == kUser ||
                       entry.tag == kGroupObject || entry.tag == kGroup || entry.tag == kMask ||
                       entry.tag == kOther;
    if (!known || entry.permissions > 7 || entry.tag < before) return false;
    if (!seen.emplace(entry.tag, entry.id).second) return false;
    if ((entry.tag == kUser || entry.tag == kGroup) && entry.id == kUndefined) return false;
    named |= entry.tag == kUser || entry.tag == kGroup;
    before = entry.tag;
  }
  return find(kUserObject) != nullptr && find(kGroupObject) != nullptr && find(kOther) != nullptr &&
         (!named || find(kMask) != nullptr);
}

std::string PosixAcl::value() const {
  std::string bytes;
  append(bytes, kAclVersion, kHeaderBytes);
  for (const Entry& entry : entries_) {
    append(bytes, entry.tag, 2);
    append(bytes, entry.permissions, 2);
    append(bytes, entry.id, 4);
  }
  return bytes;
}

const PosixAcl::Entry* PosixAcl::find(std::uint16_t tag) const {
  const auto at = std::ranges::find(entries_, tag, &Entry::tag);
  return at == entries_.end() ? nullptr : &*at;
}

bool PosixAcl::is_a_mode() const {
  return std::ranges::all_of(entries_, [](const Entry& entry) {
    return entry.tag == kUserObject || entry.tag == kGroupObject || entry.tag == kOther;
  });
}

std::uint32_t PosixAcl::mode() const {
  const Entry* const mask = find(kMask);
  const Entry* const group_class = mask != nullptr ? mask : find(kGroupObject);
  return static_cast<std::uint32_t>(find(kUserObject)->permissions) << 6U |
         static_cast<std::uint32_t>(group_class->permissions) << 3U | find(kOther)->permissions;
}

/// Returns the entry that the group bits of the mode represent: the mask if there is one, otherwise
/// the group.
PosixAcl::Entry* PosixAcl::group() {
  const auto mask = std::ranges::find(entries_, kMask, &Entry::tag);
  return mask != entries_.end() ? &*mask : &*std::ranges::find(entries_, kGroupObject, &Entry::tag);
}

PosixAcl PosixAcl::with_mode(std::uint32_t mode) const {
  PosixAcl changed = *this;
  std::ranges::find(changed.entries_, kUserObject, &Entry::tag)->permissions =
      static_cast<std::uint16_t>(mode >> 6U & 7U);
  changed.group()->permissions = static_cast<std::uint16_t>(mode >> 3U & 7U);
  std::ranges::find(changed.entries_, kOther, &Entry::tag)->permissions =
      static_cast<std::uint16_t>(mode & 7U);
  return changed;
}

PosixAcl PosixAcl::inherited(std::uint32_t mode) const {
  return with_mode(this->mode() & mode);
}

std::string capability_as_read(std::string value) {
  constexpr std::uint32_t kRevisionMask = 0xff000000, kRevision2 = 0x02000000,
                          kRevision3 = 0x03000000;
  constexpr std::size_t kBytes2 = 20, kBytes3 = 24;
  if (value.size() != kBytes3) return value;
  const std::uint32_t magic = number_at(value, 0, 4);
  if ((magic & kRevisionMask) != kRevision3 || number_at(value, kBytes2, 4) != 0) return value;
  std::string read;
  append(read, (magic & ~kRevisionMask) | kRevision2, 4);
  return read + value.substr(4, kBytes2 - 4);
}

}  // namespace headcrash::oracle
