#pragma once
// Classifies system calls: calls that make data durable, and calls that change files or names.
// Numbers and arguments are those of x86-64.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headcrash::audit {

struct SystemCall {
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> arguments{};
};

/// A call that makes data durable.
struct FlushCall {
  std::string_view kind;  ///< "fsync", "O_DSYNC", "RWF_SYNC"
  /// The object that is flushed: a descriptor, a path, a mapping, everything, or an object that the
  /// arguments do not name.
  enum class Object : std::uint8_t { descriptor, path, mapping, everything, unknown };
  Object object = Object::descriptor;
  std::size_t folder = 0;  ///< index of the argument with the folder of a relative path; for `path`
  std::size_t argument = 0;  ///< index of the argument that names the object
  /// To skip a flag, this argument loses these bits. 0 bits: the whole call is skipped.
  std::size_t flags_argument = 0;
  std::uint64_t flags = 0;
  bool can_skip = true;
};

/// Returns nullopt for calls that flush nothing. `open_flags` are those of openat2(2), whose flags
/// are in memory.
std::optional<FlushCall> flush_call(const SystemCall& call, std::uint64_t open_flags = 0);

/// A call that changes the content of a file, or names in folders.
struct ChangeCall {
  std::string_view name;  ///< "write", "rename"
  enum class Object : std::uint8_t { descriptor, path, mapping };
  Object object = Object::descriptor;
  bool names = false;                        ///< changes names, that is, the folder of the path
  bool only_creates = false;                 ///< changes names only if the path does not exist
  bool moves = false;                        ///< the object moves from the path to `to_path`
  bool removes = false;                      ///< the path does not exist afterwards
  std::size_t folder = kNone, path = kNone;  ///< argument indexes; or the descriptor
  std::size_t to_folder = kNone, to_path = kNone;  ///< the second path
  static constexpr std::size_t kNone = 6;          ///< absent; relative paths then are below cwd
};

std::optional<ChangeCall> change_call(const SystemCall& call, std::uint64_t open_flags = 0);

/// The number of a call that has no effect and returns 0. It replaces a skipped call.
std::uint64_t call_without_effect();

}  // namespace headcrash::audit
