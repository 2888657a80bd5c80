#include "plugin/base/installation.h"

#include <cstdlib>

namespace headcrash::base {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlugin = "nbdkit-headcrash-plugin.so";
constexpr const char* kTracer = "headcrash-tracer";

}  // namespace

Installation installation_of(const fs::path& program_folder) {
  const fs::path prefix = program_folder.parent_path();
  const fs::path private_programs = prefix / "libexec" / "headcrash";
  std::error_code error;
  Installation found;
  if (fs::exists(private_programs, error)) {
    found = {.plugin = prefix / "lib" / "headcrash" / kPlugin,
             .agent = private_programs / "headcrash-agent",
             .tracer = private_programs / kTracer,
             .command = prefix / "bin" / "headcrash",
             .build_guest = private_programs / "build-guest"};
  } else {
    found = {.plugin = fs::path(HEADCRASH_BUILD_LIB) / kPlugin,
             .agent = fs::path(HEADCRASH_BUILD_BIN) / "headcrash-agent",
             .tracer = fs::path(HEADCRASH_BUILD_BIN) / kTracer,
             .command = fs::path(HEADCRASH_BUILD_BIN) / "headcrash",
             .build_guest = fs::path(HEADCRASH_SOURCE_DIR) / "scripts" / "build-guest"};
  }
  if (const char* plugin = std::getenv("HEADCRASH_PLUGIN"); plugin != nullptr && *plugin != '\0')
    found.plugin = plugin;
  return found;
}

Installation installation() {
  std::error_code error;
  return installation_of(fs::read_symlink("/proc/self/exe", error).parent_path());
}

}  // namespace headcrash::base
