#pragma once
// Where the files lie that the command needs beside itself. An installed command uses what was
// installed with it (PREFIX/lib/headcrash, PREFIX/libexec/headcrash); everything in a build folder
// uses that folder, and the script of the source tree.

#include <filesystem>

namespace headcrash::base {

struct Installation {
  std::filesystem::path plugin;       ///< for nbdkit; $HEADCRASH_PLUGIN names another one
  std::filesystem::path agent;        ///< what runs in the guest
  std::filesystem::path command;      ///< `headcrash` itself
  std::filesystem::path build_guest;  ///< the script that packs the guest's image
};

/// Of the running program. The files need not be there: a part that is missing is never taken from
/// elsewhere.
Installation installation();

/// Of the program in this folder.
Installation installation_of(const std::filesystem::path& program_folder);

}  // namespace headcrash::base
