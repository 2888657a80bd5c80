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
  /// How the arguments of the call identify the object that the call flushes. `unknown` if they do
  /// not identify any object.
  enum class Object : std::uint8_t { descriptor, path, mapping, everything, unknown };
  Object object = Object::descriptor;
  /// Used if `object` is `path`: index of the argument with the descriptor of the directory to
  /// which a relative path refers.
  std::size_t folder = 0;
  std::size_t argument = 0;  ///< index of the argument that names the object
  /// To skip the flush, the tracer clears the bits `flags` in this argument. If `flags` is 0, the
  /// tracer skips the whole call.
  std::size_t flags_argument = 0;
  std::uint64_t flags = 0;
  bool can_skip = true;
};

/// Returns nullopt if the call flushes nothing. `open_flags` are the flags of openat2(2), which the
/// caller has read from the program's memory.
std::optional<FlushCall> flush_call(const SystemCall& call, std::uint64_t open_flags = 0);

/// A call that changes the content of a file or the names in a directory.
struct ChangeCall {
  std::string_view name;  ///< "write", "rename"
  enum class Object : std::uint8_t { descriptor, path, mapping };
  Object object = Object::descriptor;
  /// The call creates, removes or renames an entry, so it changes the directory that contains the
  /// entry.
  bool names = false;
  /// The call changes the directory only if the path does not exist yet.
  bool only_creates = false;
  bool moves = false;                        ///< the object moves from the path to `to_path`
  bool removes = false;                      ///< the path no longer exists after the call
  std::size_t folder = kNone, path = kNone;  ///< indexes of arguments; `path` may be a descriptor
  /// As `folder` and `path`, for the second path.
  std::size_t to_folder = kNone, to_path = kNone;
  /// Index of an argument that the call does not have. If `folder` is kNone, relative paths are
  /// resolved against the working directory.
  static constexpr std::size_t kNone = 6;
};

std::optional<ChangeCall> change_call(const SystemCall& call, std::uint64_t open_flags = 0);

/// Returns the number of a system call that does nothing and returns 0. To skip a call, the tracer
/// replaces the call's number with this one.
std::uint64_t call_without_effect();

}  // namespace headcrash::audit
