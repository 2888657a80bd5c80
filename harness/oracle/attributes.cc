// Tracks the effects of operations on extended attributes (follower.h). An operation may set a
// value explicitly. A new object may inherit a value from its directory. Some operations remove an
// attribute as a side effect.
#include <fmt/format.h>

#include <utility>

#include "harness/oracle/follower.h"
#include "harness/oracle/posix_acl.h"
#include "harness/workload/attribute_value.h"

namespace headcrash::oracle {
namespace {

using workload::Operation;
using Kind = Operation::Kind;

// The modes that execute.cc gives to new directories and files.
constexpr std::uint32_t kModeOfDirectories = 0755, kModeOfFiles = 0644;

std::optional<PosixAcl> list_of(const ObjectHistory& object, std::string_view name) {
  const auto at = object.attributes.find(std::string(name));
  if (at == object.attributes.end() || at->second.empty() || !at->second.back().second)
    return std::nullopt;
  return PosixAcl::parse(*at->second.back().second);
}

}  // namespace

void Follower::set_mode(ObjectHistory& of, std::uint32_t mode) {
  if (!promises_.keeps_modes) return;
  of.modes.emplace_back(index_, mode);
  history_.judged.modes = true;
}

void Follower::set_owner(ObjectHistory& of, std::uint32_t user, std::uint32_t group) {
  if (!promises_.keeps_modes) return;
  of.owners.emplace_back(index_, std::pair(user, group));
  history_.judged.owners = true;
}

/// Sets the expected mode and owner of a new object. The owner is root, because execute.cc runs as
/// root. Symbolic links and whiteouts have no mode. Sets nothing for a new subvolume, because the
/// mode of a subvolume depends on the kernel.
void Follower::set_created(ObjectHistory& of) {
  const bool directory = of.type == FileType::directory;
  const bool has_mode = directory || of.type == FileType::regular || of.type == FileType::fifo;
  if (of.subvolume) return;
  if (has_mode) set_mode(of, directory ? kModeOfDirectories : kModeOfFiles);
  set_owner(of, 0, 0);
}

/// Sets an attribute. If `value` is nullopt, removes it.
void Follower::set_attribute(ObjectHistory& of, std::string_view name,
                             std::optional<std::string> value) {
  of.attributes[std::string(name)].emplace_back(index_, std::move(value));
}

/// Sets the access control list. If the list is equivalent to a mode, it is not stored, and only
/// the mode changes.
void Follower::set_access_list(ObjectHistory& of, const PosixAcl& acl) {
  set_attribute(of, kAccessAcl,
                acl.empty() || acl.is_a_mode() ? std::nullopt : std::optional(acl.value()));
  if (!acl.empty()) set_mode(of, acl.mode());
}

/// Updates the access control list after chmod.
void Follower::change_access_list(ObjectHistory& of, std::uint32_t mode) {
  if (const auto acl = list_of(of, kAccessAcl))
    set_attribute(of, kAccessAcl, acl->with_mode(mode).value());
}

void Follower::inherit_attributes(ObjectId directory, TokenId token) {
  const auto inherited = list_of(history_.objects[directory], kDefaultAcl);
  ObjectHistory& made = object(token);
  if (!inherited || made.type == FileType::symlink || made.type == FileType::whiteout) return;
  if (made.subvolume) return;  // the attributes that a new subvolume inherits depend on the kernel
  const bool is_directory = made.type == FileType::directory;
  set_access_list(made, inherited->inherited(is_directory ? kModeOfDirectories : kModeOfFiles));
  if (is_directory) set_attribute(made, kDefaultAcl, inherited->value());
}

/// From now on, permits the object both with and without its capability. A write, or a change of
/// the size or owner, removes the capability, but file systems differ in when they do so.
void Follower::lose_capability(ObjectHistory& of) {
  if (of.attributes.erase(std::string(kCapability)) > 0) of.unclear_attributes.emplace(kCapability);
}

Result<void> Follower::change_attribute(const Operation& operation) {
  ObjectId id = kRoot;
  if (!operation.path.empty()) {
    const auto token = find(operation.path);
    if (!token) return missing(operation.path);
    id = history_.tokens[*token].object;
  }
  need(owners_.claim(id), operation.path);
  ObjectHistory& holder = history_.objects[id];
  const std::string& name = operation.attribute;
  const bool file_or_directory =
      holder.type == FileType::regular || holder.type == FileType::directory;
  const bool for_all = name.starts_with("trusted.") || name.starts_with("security.");
  if (!file_or_directory && !for_all)
    return wrong(fmt::format("only files and directories have attributes such as \"{}\"", name));
  const bool access = name == kAccessAcl, inherited = name == kDefaultAcl;
  if (operation.kind == Kind::removexattr) return remove_attribute(operation, holder);
  TRY(check_attributes_are_reported(operation, holder.reported_attributes));
  if (!access && !inherited) {
    holder.unclear_attributes.erase(name);
    set_attribute(holder, name,
                  name == kCapability ? capability_as_read(operation.value) : operation.value);
    return {};
  }
  const auto acl = PosixAcl::parse(operation.value);
  if (!acl) return wrong(fmt::format("the value of \"{}\" is not an access control list", name));
  if (inherited && holder.type != FileType::directory)
    return wrong(
        fmt::format("\"{}\" is not a directory, so it cannot have a default access control list",
                    operation.path));
  if (access) set_access_list(holder, *acl);
  if (inherited)
    set_attribute(holder, name, acl->empty() ? std::nullopt : std::optional(acl->value()));
  return {};
}

/// Fails if a dump could not report all attributes of the object, because a loss would then remain
/// undetected.
Result<void> Follower::check_attributes_are_reported(const Operation& operation,
                                                     ReportedAttributes& reported) const {
  const std::string value = workload::reported_attribute_value(operation.value);
  const std::size_t bytes = workload::reported_attribute_bytes(operation.attribute, value);
  const auto [at, is_new] = reported.longest.try_emplace(operation.attribute, 0);
  if (is_new) reported.name_bytes += operation.attribute.size() + 1;
  if (bytes > at->second) reported.bytes += bytes - std::exchange(at->second, bytes);
  constexpr std::size_t kMost =
      workload::kReportedAttributesMost - workload::kKernelsAttributesMost;
  constexpr std::size_t kBytesMost =
      workload::kReportedAttributeBytesMost - workload::kKernelsAttributeBytesMost;
  constexpr std::size_t kNamesMost =
      workload::kAttributeNamesMost - workload::kKernelsAttributeBytesMost;
  if (reported.longest.size() <= kMost && reported.bytes <= kBytesMost &&
      reported.name_bytes <= kNamesMost)
    return {};
  return fail(
      subject(),
      fmt::format("\"{}\" would have more attributes than a dump can report", operation.path),
      fmt::format("set at most {} attributes on each object; names and values may take up to "
                  "{} KiB (a value over 1 KiB counts as a short checksum), names alone {} KiB",
                  kMost, kBytesMost >> 10, kNamesMost >> 10));
}

Result<void> Follower::remove_attribute(const Operation& operation, ObjectHistory& holder) {
  const std::string& name = operation.attribute;
  const auto states = holder.attributes.find(name);
  const bool has_none =
      states == holder.attributes.end() || states->second.empty() || !states->second.back().second;
  const bool may_be_absent =
      name == kAccessAcl || name == kDefaultAcl || holder.unclear_attributes.contains(name);
  // The attribute may never have been set, because the operation that sets it may be skipped if the
  // file system does not support extended attributes. In this case, the removal is skipped, too.
  if (has_none && (disturbed_ || may_be_absent)) return {};
  if (has_none) return wrong(fmt::format("\"{}\" has no attribute \"{}\"", operation.path, name));
  set_attribute(holder, name, std::nullopt);
  return {};
}

}  // namespace headcrash::oracle
