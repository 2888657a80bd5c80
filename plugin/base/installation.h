#pragma once
// Locations of the files that the `headcrash` command uses. An installed command uses the files
// installed with it (PREFIX/lib/headcrash, PREFIX/libexec/headcrash). A program in a build
// directory uses the files in that directory and the script in the source tree.

#include <filesystem>

namespace headcrash::base {

struct Installation {
  std::filesystem::path plugin;       ///< the nbdkit plugin; overridden by $HEADCRASH_PLUGIN
  std::filesystem::path agent;        ///< the program that runs in the guest
  std::filesystem::path tracer;       ///< the program that lists flush calls (harness/audit)
  std::filesystem::path command;      ///< the `headcrash` program
  std::filesystem::path build_guest;  ///< the script that builds the guest image
};

/// Returns the locations for the running program. The files may be missing; no fallback location is
/// tried.
Installation installation();

Installation installation_of(const std::filesystem::path& program_folder);

}  // namespace headcrash::base
