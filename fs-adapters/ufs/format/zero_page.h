#pragma once
// Initialises newly allocated blocks without copying. A shared block of zeroes is the source of all
// initialising writes (Ganger and Patt 1994, section 3.3: "we reserve a zero-filled memory block").

#include <cstddef>
#include <vector>

#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/core/write_kind.h"

namespace headcrash::ufs {

class ZeroPage : private os::DiskDone {
 public:
  explicit ZeroPage(Volume& volume) : volume_(volume), zeroes_(volume.geometry.block_bytes()) {}

  /// Issues a write of zeroes to the extent, and does not wait. The caller is charged for the
  /// processor time of issuing a request. If the write fails, the volume stops, because pointers to
  /// the extent depend on it.
  os::RequestId issue(const Extent& extent, const os::Ordering& ordering) {
    volume_.cpu.charge(os::Cost::request_issued);
    return volume_.disk.issue(request(extent), ordering, *this);
  }
  VfsResult<void> write(const Extent& extent) {
    return as_result(volume_.disk.transfer(request(extent)));
  }

  /// Returns the extent that must be initialised: the whole allocation or, if a run of fragments
  /// has grown in place, only the added fragments.
  static Extent new_part(const BlockAllocation& allocation) {
    const std::uint32_t kept = allocation.old_at == allocation.at ? allocation.old_fragments : 0;
    return {.at = allocation.at + kept, .fragments = allocation.fragments - kept};
  }

 private:
  os::BlockRequest request(const Extent& extent) const {
    const std::size_t length = volume_.bytes(extent.fragments);
    return {.op = model::Op::write,
            .lba = volume_.lba(extent.at),
            .sectors = static_cast<std::uint32_t>(length / kSectorBytes),
            .data = std::span<const std::byte>(zeroes_).first(length),
            .kind = static_cast<std::uint8_t>(WriteKind::data)};
  }
  void done(os::RequestId id, model::Status status) override;

  Volume& volume_;
  std::vector<std::byte> zeroes_;
};

}  // namespace headcrash::ufs
