#pragma once
// Media in files: a directory with the images of one machine.
//
//   DIR/store.json
//   {"format":"headcrash-store","version":1,"devices":[{"name":"hd0","profile":..,"sectors":..}]}
//   DIR/hd0.img      the medium of hd0, raw and sparse; usable with qemu-img; mount only a copy
//
// store.json is written last, by rename, so a directory that has it is complete. A process that
// uses the directory holds flock(2) on it; a killed server leaves no lock behind. Bytes go through
// the page cache: they survive the death of the server, but not a power failure of the host.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::media {

struct StoredDevice {
  std::string name;  ///< image name: letters, digits, '-', '_' and, except at either end, '.'
  std::string profile;
  std::uint64_t sectors = 0;
};

/// One raw image file. write_zeroes() punches holes where the file system supports it. Errors
/// include the host's reason (no space, I/O error). Calls may be concurrent, because they use
/// pread(2) and pwrite(2).
class SparseFileStore : public model::SectorStore {
 public:
  /// Opens the file. If the file does not exist, creates it with `sectors` sectors. Fails if an
  /// existing file has a different length.
  static Result<std::unique_ptr<SparseFileStore>> open(const std::filesystem::path& path,
                                                       std::uint64_t sectors);
  /// Opens an existing file that consists of whole sectors. With Access::read_only, writes fail.
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

/// The directory of a machine's images, locked from open() to destruction.
class StoreFolder {
 public:
  /// Opens the directory; creates it (but not its parents) if missing. Fails if the directory's
  /// store.json names other devices, profiles or sizes, if another process uses the directory, or
  /// if it contains files but no store.json.
  static Result<std::unique_ptr<StoreFolder>> open(const std::filesystem::path& folder,
                                                   const std::vector<StoredDevice>& devices);
  ~StoreFolder();
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;

  /// Returns the store of `devices[index]`. This object owns the store.
  SparseFileStore& store(std::size_t index) { return *stores_.at(index); }

 private:
  explicit StoreFolder(int lock_fd) : lock_fd_(lock_fd) {}

  int lock_fd_;
  std::vector<std::unique_ptr<SparseFileStore>> stores_;
};

}  // namespace headcrash::media
