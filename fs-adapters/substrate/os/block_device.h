#pragma once
// The device below a driver: an emulated device in virtual time, or a real device in a guest.

#include <cstddef>
#include <cstdint>
#include <span>

#include "plugin/model/core/device.h"

namespace headcrash::os {

struct BlockRequest {
  model::Op op = model::Op::read;
  std::uint64_t lba = 0;  ///< in sectors of 512 bytes
  std::uint32_t sectors = 0;
  std::span<std::byte> into;        ///< destination of a read; valid until completion
  std::span<const std::byte> data;  ///< source of a write; valid until completion
  /// For a write, the kind of data that it contains. The file system defines the numbers
  /// (adapters::FileSystemType::block_kinds()); 0 means any other kind. Only tracers use the kind
  /// (DiskTracer::issued); devices do not.
  std::uint8_t kind = 0;
};

/// Receives the completion of a request. Must outlive the request.
class BlockDone {
 public:
  virtual ~BlockDone() = default;
  /// Called on the executor's thread, between fibers. Must not wait.
  virtual void done(model::Status status) = 0;
};

/// The driver's interface to a disk. Durability, overlapping requests and TRIM behave as in
/// model::Device. Errors are reported through the status passed to done(). All calls come from the
/// executor's thread. A real device may use other threads internally, but completes requests on
/// this one.
class BlockDevice {
 public:
  virtual ~BlockDevice() = default;
  virtual std::uint64_t sectors() const = 0;
  virtual bool volatile_cache() const = 0;  ///< true if durability requires a flush
  /// Starts a request. Calls `done` exactly once, after start() has returned. Buffers must stay
  /// valid until `done` is called. Any number of requests may be outstanding, and the device may
  /// complete them in any order. If the order of two requests matters, the caller must start the
  /// second one only when that is safe (disk_queue.h).
  virtual void start(const BlockRequest& request, BlockDone& done) = 0;
};

}  // namespace headcrash::os
