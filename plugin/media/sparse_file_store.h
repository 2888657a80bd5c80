#pragma once
// Media in files: a folder that belongs to one machine.
//
//   DIR/store.json
//   {"format":"headcrash-store","version":1,"devices":[{"name":"hd0","profile":..,"sectors":..},..]}
//   DIR/hd0.img      the medium of hd0, raw and sparse: `qemu-img info DIR/hd0.img` works, so does mounting a
//   copy
//
// store.json is written last and by rename: a folder with it is complete. A folder is in use while
// some process holds flock(2) on the folder itself, so a killed server leaves no lock behind. Bytes
// go through the page cache: they survive the death of the server, not a power failure of the host.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::media {

struct StoredDevice {
  std::string name;  ///< letters, digits, '-', '_' and, inside, '.'; names the image
  std::string profile;
  std::uint64_t sectors = 0;
};

/// One raw image file. write_zeroes punches holes where the file system can. Errors carry the
/// host's reason (no space, I/O error). Calls may overlap: they are pread(2) and pwrite(2).
class SparseFileStore : public model::SectorStore {
 public:
  /// Makes the file with `sectors` when it does not exist, else refuses any other length.
  static Result<std::unique_ptr<SparseFileStore>> open(const std::filesystem::path& path,
                                                       std::uint64_t sectors);
  /// The whole sectors of a file that exists. `read_only`: writes fail.
  enum class Access : std::uint8_t { read_only, read_write };
  static Result<std::unique_ptr<SparseFileStore>> open_existing(const std::filesystem::path& path,
                                                                Access access);
  ~SparseFileStore() override;
  SparseFileStore(const SparseFileStore&) = delete;
  SparseFileStore& operator=(const SparseFileStore&) = delete;

  std::uint64_t sectors() const override { return sectors_; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

 private:
  SparseFileStore(std::string path, int fd, std::uint64_t sectors)
      : path_(std::move(path)), fd_(fd), sectors_(sectors) {}

  std::string path_;
  int fd_;
  std::uint64_t sectors_;
};

/// The folder: locked from open() until it is destroyed.
class StoreFolder {
 public:
  /// Makes the folder (not its parents) when there is none. Refuses a folder that belongs to other
  /// devices, profiles or sizes, one that another process uses, and one with other files in it but
  /// no store.json.
  static Result<std::unique_ptr<StoreFolder>> open(const std::filesystem::path& folder,
                                                   const std::vector<StoredDevice>& devices);
  ~StoreFolder();
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;

  /// In the order of `devices`; valid as long as the folder.
  SparseFileStore& store(std::size_t index) { return *stores_.at(index); }

 private:
  explicit StoreFolder(int lock_fd) : lock_fd_(lock_fd) {}

  int lock_fd_;
  std::vector<std::unique_ptr<SparseFileStore>> stores_;
};

}  // namespace headcrash::media
