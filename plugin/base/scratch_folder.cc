#include "plugin/base/scratch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>

#include "plugin/base/file_lock.h"

namespace headcrash::base {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "headcrash-";

Descriptor open_folder(const fs::path& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make() {
  for (;;) {
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    std::string pattern = (temporary / fmt::format("{}{}-XXXXXX", kPrefix, ::getpid())).string();
    if (error || ::mkdtemp(pattern.data()) == nullptr) {
      return fail(pattern,
                  "cannot create a scratch folder: " +
                      std::error_code(errno, std::generic_category()).message(),
                  "set TMPDIR to a writable folder");
    }
    // Another process may have removed the directory before this process locked it. On file systems
    // without flock(2), the PID in the name protects the directory.
    Descriptor lock = open_folder(pattern);
    if (!lock.is_open() || (!try_flock(lock) && errno == EWOULDBLOCK) || !is_at(lock, pattern))
      continue;
    return ScratchFolder(pattern, std::move(lock));
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

void sweep_scratch_folders() {
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::temp_directory_path(error), error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    pid_t owner = 0;
    const auto parsed =
        std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), owner);
    if (parsed.ec != std::errc{} || owner <= 0) continue;
    if (::kill(owner, 0) == 0 || errno != ESRCH) continue;
    const Descriptor folder = open_folder(entry.path());
    if (folder.is_open() && try_flock(folder)) fs::remove_all(entry.path(), error);
  }
}

}  // namespace headcrash::base
