#pragma once
// Unwinds the stack of a stopped thread of another process, using the program's unwind tables
// (libunwind).
//
// A stack's key is equal in all runs of the same program: it is a hash of the first frames outside
// the C library, each given by object and file offset.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headcrash::audit {

struct Frame {
  std::string object;        ///< path of the program or library; empty for generated code
  std::uint64_t offset = 0;  ///< offset in the object's file
};

inline constexpr std::size_t kFramesInKey = 6;

class StackReader {
 public:
  StackReader();
  ~StackReader();
  StackReader(const StackReader&) = delete;
  StackReader& operator=(const StackReader&) = delete;

  /// Returns a key that consists of `kind` and the thread's call stack. The thread must be stopped
  /// by ptrace(2). stacks() returns the frames of each key.
  std::string key_of(pid_t thread, std::string_view kind);
  const std::map<std::string, std::vector<Frame>>& stacks() const { return stacks_; }

 private:
  struct Impl;
  Impl* impl_;
  std::map<std::string, std::vector<Frame>> stacks_;
};

/// Returns true if the object is the C library or the dynamic loader.
bool is_c_library(std::string_view object);

}  // namespace headcrash::audit
