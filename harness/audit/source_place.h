#pragma once
// The place in the source of a stack frame: file and line where debug information exists, else the
// function, else the object and the offset.

#include <filesystem>
#include <string>

#include "harness/audit/tracer/stack.h"

namespace headcrash::audit {

struct SourcePlace {
  std::string file;  ///< as the compiler recorded it; empty if unknown
  int line = 0;
  std::string function;  ///< without arguments; empty if unknown
  std::string object;    ///< file name of the program or library, with the offset

  /// Returns "store.c:212", or "commit+0x1f (store)", or "store+0x1199".
  std::string text() const;
};

/// Looks the frame up in its object, which is below `root` on this host, and with addr2line(1) if
/// it is installed. An object that cannot be read gives its name and offset.
SourcePlace source_place(const Frame& frame, const std::filesystem::path& root = "/");

}  // namespace headcrash::audit
