// Visits directories from the root down, then removes everything from the leaves up (use.h).
#include "harness/guest/use.h"

#include <linux/fs.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

namespace headcrash::guest {
namespace {

constexpr std::size_t kObjectsMost = 4096;  // a larger tree is not tested
// Maximum number of directories in which names are created.
constexpr std::size_t kDirectoriesUsed = 8;
constexpr std::uint32_t kFileMode = 0644, kDirectoryMode = 0755;
constexpr std::string_view kLostAndFound = "lost+found";

struct Object {
  std::string path;
  bool directory = false;
};

class UsabilityTest {
 public:
  explicit UsabilityTest(Vfs& vfs) : vfs_(vfs) {}

  std::string all() {
    if (!gather()) return refused_;
    std::size_t used = 0;
    make_in("");
    for (const Object& each : objects_)
      if (each.directory && ++used < kDirectoriesUsed) make_in(each.path);
    for (auto each = objects_.rbegin(); each != objects_.rend(); ++each) remove(*each);
    for (const DirectoryEntry& left : list(""))
      if (left.name != kLostAndFound) note("listing of the root", left.name + " is left");
    return refused_;
  }

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
  static std::string below(const std::string& directory, std::string_view name) {
    return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
  }
  std::vector<DirectoryEntry> list(const std::string& directory) {
    auto entries = vfs_.list(directory);
    return done("list of " + (directory.empty() ? "the root" : directory), entries)
               ? std::move(*entries)
               : std::vector<DirectoryEntry>();
  }

  /// Lists the tree. Returns false if the tree is too large or contains objects that cannot be
  /// removed.
  bool gather() {
    for (std::size_t next = 0; next <= objects_.size(); ++next) {
      if (next > 0 && !objects_[next - 1].directory) continue;
      const std::string directory = next == 0 ? "" : objects_[next - 1].path;
      for (const DirectoryEntry& entry : list(directory)) {
        if (directory.empty() && entry.name == kLostAndFound) continue;
        const std::string path = below(directory, entry.name);
        const bool is_directory = entry.type == FileType::directory;
        if (is_directory || entry.type == FileType::regular) {
          const auto flags = vfs_.flags(path);
          if (flags && (*flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)) != 0) return false;
        }
        objects_.push_back({path, is_directory});
        if (objects_.size() > kObjectsMost) return false;
      }
    }
    return refused_.empty();
  }

  void make_in(const std::string& directory) {
    const std::string file = below(directory, "headcrash-use-file");
    const std::string folder = below(directory, "headcrash-use-directory");
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

  void remove(const Object& object) {
    if (object.directory)
      done("rmdir of " + object.path, vfs_.rmdir(object.path));
    else
      done("unlink of " + object.path, vfs_.unlink(object.path));
  }

  Vfs& vfs_;
  std::vector<Object> objects_;  ///< each directory precedes its contents
  std::string refused_;          ///< the first error
};

}  // namespace

std::string use_and_empty(Vfs& vfs) {
  return UsabilityTest(vfs).all();
}

}  // namespace headcrash::guest
