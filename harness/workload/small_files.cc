// Generates the small-file workload (small_files.h).
//
// The generator tracks which names exist at each point of the list, so that every operation
// succeeds on a correct file system with enough space. Random numbers come from std::mt19937_64,
// whose sequence the C++ standard defines. The library's distributions are not used, because they
// differ between implementations.
#include "harness/workload/small_files.h"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "harness/workload/stamp.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

struct LiveFile {
  std::string path;
  std::string folder;
  std::uint32_t number = 0;
  std::uint64_t blocks = 0;
};

class OfficeWorker {
 public:
  explicit OfficeWorker(const SmallFilesOptions& options)
      : options_(options), random_(options.seed) {}

  std::vector<Operation> work() {
    for (std::uint32_t i = 0; i < options_.folders; ++i)
      add({.kind = Kind::mkdir, .path = folder(i)});
    add({.kind = Kind::sync});
    for (std::uint32_t round = 0; round < options_.rounds; ++round) change();
    return std::move(operations_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  static std::string folder(std::uint64_t index) { return fmt::format("folder{}", index); }
  std::string new_name(const std::string& in) { return fmt::format("{}/file{}", in, next_name_++); }
  void add(Operation operation) { operations_.push_back(std::move(operation)); }

  void write(LiveFile& file, std::uint64_t block, std::uint64_t blocks) {
    add({.kind = Kind::write,
         .path = file.path,
         .offset = block * kStampBytes,
         .length = blocks * kStampBytes,
         .file = file.number,
         .version = next_version_++});
    file.blocks = std::max(file.blocks, block + blocks);
  }

  LiveFile make(const std::string& in) {
    LiveFile file{.path = new_name(in), .folder = in, .number = next_file_++};
    add({.kind = Kind::create, .path = file.path});
    write(file, 0, 1 + below(options_.largest_blocks));
    return file;
  }

  void change() {
    const std::uint64_t dice = below(10);
    if (files_.size() < 4 || dice < 3) return create();
    if (dice < 6) return overwrite();
    if (dice < 8) return replace();
    if (dice < 9) return rename();
    remove();
  }

  void create() {
    files_.push_back(make(folder(below(options_.folders))));
    persist(files_.back());
  }

  void overwrite() {
    LiveFile& file = files_[below(files_.size())];
    const std::uint64_t block = below(file.blocks);
    write(file, block, 1 + below(options_.largest_blocks / 2));
    persist(file);
  }

  /// Replaces a file as editors and package managers do: writes a new file, syncs it and renames it
  /// over the old one.
  void replace() {
    LiveFile& old = files_[below(files_.size())];
    LiveFile fresh = make(old.folder);
    add({.kind = Kind::fsync, .path = fresh.path});
    add({.kind = Kind::rename, .path = fresh.path, .target = old.path});
    fresh.path = old.path;
    old = fresh;
    if (below(2) == 0) add({.kind = Kind::fsync_directory, .path = old.folder});
  }

  void rename() {
    LiveFile& file = files_[below(files_.size())];
    const std::string from_folder = file.folder;
    const std::string from = file.path;
    file.folder = folder(below(options_.folders));
    file.path = new_name(file.folder);
    add({.kind = Kind::rename, .path = from, .target = file.path});
    if (below(2) == 0) {
      add({.kind = Kind::fsync_directory, .path = file.folder});
      if (from_folder != file.folder) add({.kind = Kind::fsync_directory, .path = from_folder});
    }
  }

  void remove() {
    const std::uint64_t index = below(files_.size());
    const LiveFile gone = files_[index];
    files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(index));
    add({.kind = Kind::unlink, .path = gone.path});
    if (below(2) == 0) add({.kind = Kind::fsync_directory, .path = gone.folder});
  }

  void persist(const LiveFile& file) {
    switch (below(8)) {
      case 0:
      case 1:
        return;
      case 2:
        return add({.kind = Kind::sync});
      case 3:
      case 4:
        return add({.kind = Kind::fsync, .path = file.path});
      default:
        add({.kind = Kind::fsync, .path = file.path});
        add({.kind = Kind::fsync_directory, .path = file.folder});
    }
  }

  SmallFilesOptions options_;
  std::mt19937_64 random_;
  std::vector<Operation> operations_;
  std::vector<LiveFile> files_;
  std::uint32_t next_file_ = 1, next_version_ = 1, next_name_ = 0;
};

}  // namespace

std::vector<Operation> small_files(const SmallFilesOptions& options) {
  return OfficeWorker(options).work();
}

}  // namespace headcrash::workload
