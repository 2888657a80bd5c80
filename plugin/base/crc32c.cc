// CRC-32C (crc32c.h). By definition, the register is inverted before and after the computation.
// ISA-L's function omits the two inversions, so this file performs them.
#include "plugin/base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace headcrash {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) {
  constexpr std::size_t kStepBytes = 1U << 30;  // below INT_MAX, because the library takes an int
  crc = ~crc;
  while (!bytes.empty()) {
    const auto step = bytes.first(std::min(bytes.size(), kStepBytes));
    // The library does not modify the buffer, although its parameter is not const.
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(step.data()));
    crc = crc32_iscsi(data, static_cast<int>(step.size()), crc);
    bytes = bytes.subspan(step.size());
  }
  return ~crc;
}

}  // namespace headcrash
