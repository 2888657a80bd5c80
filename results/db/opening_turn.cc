#include "results/db/opening_turn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <thread>

namespace headcrash::db {
namespace {

constexpr auto kBetweenTries = std::chrono::milliseconds(20);

/// Returns the owner of the directory's lock, such as "process 123 (nbdkit)", from the kernel's
/// list of locks. A line in that list is "2: FLOCK  ADVISORY  WRITE 123 08:01:4711 0 EOF".
std::string holder_of(int folder) {
  struct stat status = {};
  if (fstat(folder, &status) != 0) return "another process";
  const std::string inode = fmt::format(":{}", status.st_ino);
  std::ifstream locks("/proc/locks");
  std::string number, kind, mode, access, pid, place, rest;
  while (locks >> number >> kind >> mode >> access >> pid >> place && std::getline(locks, rest)) {
    if (kind != "FLOCK" || !place.ends_with(inode)) continue;
    std::string name;
    std::getline(std::ifstream("/proc/" + pid + "/comm"), name);
    return name.empty() ? "process " + pid : fmt::format("process {} ({})", pid, name);
  }
  return "another process";
}

}  // namespace

Result<OpeningTurn> OpeningTurn::take(const std::filesystem::path& database,
                                      std::chrono::milliseconds patience) {
  const auto path = std::filesystem::absolute(database).parent_path();
  OpeningTurn turn(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (turn.folder_ >= 0 && ::flock(turn.folder_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR && errno != EWOULDBLOCK) break;
    if (std::chrono::steady_clock::now() >= deadline)
      return fail(database.string(),
                  fmt::format("the folder {} has been locked by {} for {:.1f} s", path.string(),
                              holder_of(turn.folder_), static_cast<double>(patience.count()) / 1e3),
                  "end that process, or use a folder that is not the store of a server");
    std::this_thread::sleep_for(kBetweenTries);
  }
  return turn;
}

OpeningTurn::~OpeningTurn() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace headcrash::db
