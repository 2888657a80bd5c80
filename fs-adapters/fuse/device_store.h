#pragma once
// A device, or a file with an image, as a store for mkfs and fsck: through the page cache, and on
// the medium once sync() has returned; of a repair once write() has, since a repair that a power
// cut ends is begun again, and what may be left by then is told by the order of its writes.

#include <memory>
#include <string>

#include "fs-adapters/substrate/os/device_stores.h"
#include "plugin/model/core/store.h"

namespace headcrash::fuse {

class DeviceStore final : public model::SectorStore {
 public:
  enum class Access : std::uint8_t {
    read_only,
    alone,  ///< refused while it is mounted
    repair  ///< alone, and each write is on the medium when it returns
  };
  static Result<std::unique_ptr<DeviceStore>> open(const std::string& path, Access access);
  ~DeviceStore() override;
  DeviceStore(const DeviceStore&) = delete;
  DeviceStore& operator=(const DeviceStore&) = delete;

  std::uint64_t sectors() const override { return sectors_; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;
  Result<void> sync();
  std::uint64_t writes() const { return writes_; }

 private:
  DeviceStore(std::string path, int file, std::uint64_t sectors)
      : path_(std::move(path)), file_(file), sectors_(sectors) {}
  std::string path_;
  int file_;
  std::uint64_t sectors_;
  std::uint64_t writes_ = 0;
};

/// What mkfs and fsck are given: a device, or with its log's both, at a driver's addresses.
class OpenedDevices {
 public:
  /// `log` empty: there is none. Errors: as DeviceStore::open; both are one device.
  static Result<std::unique_ptr<OpenedDevices>> open(const std::string& path,
                                                     const std::string& log,
                                                     DeviceStore::Access access);
  model::SectorStore& store() { return log_ ? static_cast<model::SectorStore&>(both_) : *device_; }
  /// What was written is on both media. Errors: the devices'.
  Result<void> sync();
  std::uint64_t writes() const { return device_->writes() + (log_ ? log_->writes() : 0); }

 private:
  OpenedDevices(std::unique_ptr<DeviceStore> device, std::unique_ptr<DeviceStore> log);
  std::unique_ptr<DeviceStore> device_, log_;
  os::DeviceStores both_;
};

}  // namespace headcrash::fuse
