#pragma once
// A write that the journal issues itself: a write to the ring, or a write of an image in place.

#include <span>

#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/core/write_kind.h"
#include "fs-adapters/ufs/schemes/journal.h"

namespace headcrash::ufs {

/// The constructor issues the write; wait() must be called before destruction. The bytes must stay
/// valid until then.
class Journal::LogWrite final : private os::DiskDone {
 public:
  /// Maximum size of a write; the same as the driver's limit for concatenation.
  static constexpr std::uint32_t kBytesMax = 65536;

  LogWrite(Volume& volume, std::uint64_t lba, std::span<const std::byte> bytes,
           WriteKind kind = WriteKind::log)
      : volume_(volume) {
    volume.cpu.charge(os::Cost::request_issued);
    const os::BlockRequest request{
        .op = model::Op::write,
        .lba = lba,
        .sectors = static_cast<std::uint32_t>(bytes.size() / kSectorBytes),
        .into = {},
        .data = bytes,
        .kind = static_cast<std::uint8_t>(kind)};
    id_ = volume.disk.issue(request, {}, *this);
  }
  LogWrite(const LogWrite&) = delete;
  LogWrite& operator=(const LogWrite&) = delete;
  ~LogWrite() override = default;

  bool wait() {
    volume_.disk.wait_for(id_);
    return status_ == model::Status::ok;
  }

 private:
  void done(os::RequestId, model::Status status) override { status_ = status; }

  Volume& volume_;
  os::RequestId id_ = 0;
  model::Status status_ = model::Status::power_lost;
};

}  // namespace headcrash::ufs
