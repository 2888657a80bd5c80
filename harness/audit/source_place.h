#pragma once
// Finds the source line of a stack frame. Without debug information, finds the function; otherwise,
// only the object and the offset.

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/audit/tracer/stack.h"
#include "plugin/base/result.h"

namespace headcrash::audit {

struct SourcePlace {
  std::string file;  ///< as the compiler recorded it; empty if unknown
  int line = 0;
  std::string function;  ///< without arguments; empty if unknown
  /// File name of the program or library, followed by the offset if the function is unknown.
  std::string object;

  /// Returns "store.c:212", or "commit+0x1f (store)", or "store+0x1199".
  std::string text() const;
};

/// Finds the source place of a frame. Reads the frame's object file below `root` on this host, and
/// runs addr2line(1) if it is installed. If the object file cannot be read, the place has only the
/// file's name and the offset.
SourcePlace source_place(const Frame& frame, const std::filesystem::path& root = "/");

/// Returns the source lines, such as "commit.c:412", of frames of a kernel's stacks, which have the
/// form "FUNCTION+0xOFFSET/0xSIZE [MODULE]". `files` are the images of this kernel and its modules,
/// with debug information. Frames whose lines they do not have are omitted. Fails if a file has no
/// symbols.
Result<std::map<std::string, std::string>> kernel_source_lines(
    const std::set<std::string>& frames, const std::vector<std::string>& files);

}  // namespace headcrash::audit
