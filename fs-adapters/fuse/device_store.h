#pragma once
// A device or an image file as a store for mkfs and fsck. Accesses go through the page cache;
// sync() makes writes durable. During a repair, each write() is durable on return. If a repair is
// interrupted and run again, it may therefore assume that its earlier writes reached the device in
// order.

#include <memory>
#include <string>

#include "fs-adapters/substrate/os/device_stores.h"
#include "plugin/model/core/store.h"

namespace headcrash::fuse {

class DeviceStore final : public model::SectorStore {
 public:
  enum class Access : std::uint8_t {
    read_only,
    alone,  ///< open() fails while the device is mounted
    repair  ///< like `alone`, with durable writes
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

/// Presents a file system's devices to mkfs and fsck as one store (os/device_address.h): the main
/// device and, if there is one, the external log.
class OpenedDevices {
 public:
  /// If `log` is empty, there is no log. Fails if DeviceStore::open() fails, or if the two paths
  /// name the same device.
  static Result<std::unique_ptr<OpenedDevices>> open(const std::string& path,
                                                     const std::string& log,
                                                     DeviceStore::Access access);
  model::SectorStore& store() { return log_ ? static_cast<model::SectorStore&>(both_) : *device_; }
  /// Makes all writes durable on both devices.
  Result<void> sync();
  std::uint64_t writes() const { return device_->writes() + (log_ ? log_->writes() : 0); }

 private:
  OpenedDevices(std::unique_ptr<DeviceStore> device, std::unique_ptr<DeviceStore> log);
  std::unique_ptr<DeviceStore> device_, log_;
  os::DeviceStores both_;
};

}  // namespace headcrash::fuse
