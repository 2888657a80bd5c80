#pragma once
// Memory that a vhost-user client shares: files that the client has sent, mapped into this process.
// Addresses come from the client and are valid only within a region.
//
// A client can truncate a mapped file. Accessing a page that was lost in this way raises SIGBUS.
// The first mapping installs a handler that replaces the region with zero pages and marks the
// region as lost. The access continues with zeroes, and intact() reports that data read since then
// is invalid. Other bus errors are passed to the previous handler.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"

namespace headcrash::vhost {

inline constexpr std::size_t kRegionsMax = 8;

/// A region, as in VHOST_USER_SET_MEM_TABLE. Lengths are in bytes.
struct MemoryRegion {
  std::uint64_t guest_address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t user_address = 0;  ///< address in the client's address space
  std::uint64_t file_offset = 0;   ///< file offset of the region's first byte
};

class GuestMemory {
 public:
  /// Maps files[i] for regions[i]; the descriptors may be closed afterwards. Fails if a region is
  /// empty, overflows, overlaps another region or exceeds its file.
  static Result<std::shared_ptr<const GuestMemory>> map(std::span<const MemoryRegion> regions,
                                                        std::span<const base::Descriptor> files);
  ~GuestMemory();
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  /// Returns the mapped address; null unless a single region contains the whole range.
  std::byte* at_guest(std::uint64_t address, std::uint64_t bytes) const;
  std::byte* at_user(std::uint64_t address, std::uint64_t bytes) const;
  /// Fails if the client truncated a mapped file and this process then accessed the missing part.
  Result<void> intact() const;

 private:
  struct Mapping {
    MemoryRegion region;
    std::byte* base = nullptr;  ///< page-aligned start of the mapping
    std::size_t length = 0;
    std::byte* first = nullptr;  ///< the region's first byte
    std::size_t slot = 0;        ///< index in the signal handler's table
  };
  GuestMemory() = default;
  std::byte* at(std::uint64_t MemoryRegion::* begin, std::uint64_t address,
                std::uint64_t bytes) const;
  std::vector<Mapping> mappings_;
};

}  // namespace headcrash::vhost
