#pragma once
// What a driver talks to: an emulated device in virtual time, or a real one in a guest.

#include <cstddef>
#include <cstdint>
#include <span>

#include "plugin/model/core/device.h"

namespace headcrash::os {

struct BlockRequest {
  model::Op op = model::Op::read;
  std::uint64_t lba = 0;  ///< sectors of 512 bytes
  std::uint32_t sectors = 0;
  std::span<std::byte> into;        ///< read; valid until the completion
  std::span<const std::byte> data;  ///< write; valid until the completion
  /// Of a write: what it holds, as its file system numbers it
  /// (adapters::FileSystemType::block_kinds()); 0: other. For who looks on (DiskTracer::issued): no
  /// device sees it.
  std::uint8_t kind = 0;
};

/// Who waits for a request; outlives it.
class BlockDone {
 public:
  virtual ~BlockDone() = default;
  /// On the executor's thread, between fibers: it must not wait.
  virtual void done(model::Status status) = 0;
};

/// Durability, overlapping requests and TRIM are as at model::Device. Failure is the status given
/// to done(). Calls come from the executor's thread; a real device may do its work on others, but
/// answers on this one.
class BlockDevice {
 public:
  virtual ~BlockDevice() = default;
  virtual std::uint64_t sectors() const = 0;
  virtual bool volatile_cache() const = 0;  ///< a flush is needed for durability
  /// Calls `done` once, after it has returned. Buffers stay valid until then. Any number of
  /// requests may be outstanding; their order is the caller's business (disk_queue.h).
  virtual void start(const BlockRequest& request, BlockDone& done) = 0;
};

}  // namespace headcrash::os
