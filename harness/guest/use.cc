// Visits directories from the root down, and then removes all objects from the leaves up (use.h).
#include "harness/guest/use.h"

#include <linux/fs.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace headcrash::guest {
namespace {

// Maximum number of directories in which names are created.
constexpr std::size_t kDirectoriesUsed = 8;
constexpr std::uint32_t kFileMode = 0644, kDirectoryMode = 0755;
constexpr std::string_view kLostAndFound = "lost+found";

/// Makes calls, and records the first error.
class Calls {
 public:
  explicit Calls(Vfs& vfs) : vfs_(vfs) {}

  void make_in(const std::string& directory) {
    const std::string prefix = directory.empty() ? "" : directory + "/";
    const std::string file = prefix + "headcrash-use-file";
    const std::string folder = prefix + "headcrash-use-directory";
    const auto made = vfs_.open(file, {.create = true, .exclusive = true, .mode = kFileMode});
    if (done("create of " + file, made)) {
      done("write to " + file, vfs_.pwrite(*made, 0, std::as_bytes(std::span(file))));
      done("fsync of " + file, vfs_.fsync(*made));
      done("close of " + file, vfs_.close(*made));
      done("unlink of " + file, vfs_.unlink(file));
    }
    if (done("mkdir of " + folder, vfs_.mkdir(folder, kDirectoryMode)))
      done("rmdir of " + folder, vfs_.rmdir(folder));
  }

  void remove(const std::string& path, bool directory) {
    if (directory)
      done("rmdir of " + path, vfs_.rmdir(path));
    else
      done("unlink of " + path, vfs_.unlink(path));
  }

  void expect_empty_root() {
    const auto left = vfs_.list("");
    if (!done("listing the root directory", left)) return;
    for (const DirectoryEntry& each : *left)
      if (each.name != kLostAndFound) note("listing the root directory", each.name + " is left");
  }

  const std::string& refused() const { return refused_; }

 private:
  void note(const std::string& call, const std::string& why) {
    if (refused_.empty()) refused_ = call + ": " + why;
  }
  template <typename T>
  bool done(const std::string& call, const VfsResult<T>& result) {
    if (result) return true;
    const int error = result.error().value;
    if (error != ENOSPC && error != EDQUOT && error != EOPNOTSUPP)
      note(call, std::error_code(error, std::generic_category()).message());
    return false;
  }

  Vfs& vfs_;
  std::string refused_;
};

}  // namespace

void UsabilityTest::add(const nlohmann::json& entry) {
  if (objects_.size() > kObjectsMost) return;
  const auto path = entry.at("path").get<std::string>();
  if (path == kLostAndFound || path.starts_with(std::string(kLostAndFound) + "/")) return;
  if ((entry.value("flags", 0U) & (FS_IMMUTABLE_FL | FS_APPEND_FL)) != 0) removable_ = false;
  objects_.push_back({path, entry.at("type") == "directory"});
}

std::string UsabilityTest::use_and_empty(Vfs& vfs) const {
  if (!removable_ || objects_.size() > kObjectsMost) return {};
  Calls calls(vfs);
  calls.make_in("");
  std::size_t used = 0;
  for (const Object& each : objects_)
    if (each.directory && ++used < kDirectoriesUsed) calls.make_in(each.path);
  for (auto each = objects_.rbegin(); each != objects_.rend(); ++each)
    calls.remove(each->path, each->directory);
  calls.expect_empty_root();
  return calls.refused();
}

}  // namespace headcrash::guest
