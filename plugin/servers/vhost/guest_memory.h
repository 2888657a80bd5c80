#pragma once
// The memory that a vhost-user client shares: files that it has sent, mapped here. Every address is
// the client's and believed only as far as a region goes.
//
// A client can shrink a file while it is mapped, and whoever then touches the page gets SIGBUS. The
// first mapping installs a handler that puts an empty page range in place of the region and notes
// it: the access continues with zeroes, and intact() says that nothing read since can be believed.
// Other bus errors go to the handler that was there before.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"

namespace headcrash::vhost {

inline constexpr std::size_t kRegionsMax = 8;

/// As VHOST_USER_SET_MEM_TABLE has it, in bytes.
struct MemoryRegion {
  std::uint64_t guest_address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t user_address = 0;  ///< where the client itself has it
  std::uint64_t file_offset = 0;   ///< of its first byte
};

class GuestMemory {
 public:
  /// Maps files[i] for regions[i]; the descriptors can be closed afterwards. Errors: a region is
  /// empty, overflows, overlaps another, or reaches beyond its file.
  static Result<std::shared_ptr<const GuestMemory>> map(std::span<const MemoryRegion> regions,
                                                        std::span<const base::Descriptor> files);
  ~GuestMemory();
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  /// Null unless one region holds all of it.
  std::byte* at_guest(std::uint64_t address, std::uint64_t bytes) const;
  std::byte* at_user(std::uint64_t address, std::uint64_t bytes) const;
  /// Error: a file was shrunk below what was accessed.
  Result<void> intact() const;

 private:
  struct Mapping {
    MemoryRegion region;
    std::byte* base = nullptr;  ///< of the mapping, page aligned
    std::size_t length = 0;
    std::byte* first = nullptr;  ///< the region's first byte
    std::size_t slot = 0;        ///< in the handler's table
  };
  GuestMemory() = default;
  std::byte* at(std::uint64_t MemoryRegion::* begin, std::uint64_t address,
                std::uint64_t bytes) const;
  std::vector<Mapping> mappings_;
};

}  // namespace headcrash::vhost
