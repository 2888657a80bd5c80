// Marks through a disk of 4 KiB (export.h).
#include <cerrno>
#include <cstring>

#include "plugin/nbd/export.h"

namespace headcrash::nbd {

using model::kSectorBytes;

MarkExport::MarkExport() {
  traits_ = {.bytes = kBytes, .preferred_bytes = kSectorBytes, .maximum_bytes = kBytes};
  traits_.zero = traits_.cache = false;
}

emulation::Answer MarkExport::serve(const model::Request& request) {
  if (request.op == model::Op::read) {
    const std::string all = text();
    const std::size_t offset = request.lba * kSectorBytes;
    std::memset(request.into.data(), 0, request.into.size());
    if (offset < all.size())
      std::memcpy(request.into.data(), all.data() + offset,
                  std::min(request.into.size(), all.size() - offset));
    return {};
  }
  if (request.op != model::Op::write) return {};
  const auto* bytes = reinterpret_cast<const char*>(request.data.data());
  const std::size_t length = strnlen(bytes, request.data.size());
  if (length == 0 || length > kTextBytesMax) return {EINVAL, "a mark is 1 to 511 bytes of text and a NUL"};
  return mark({bytes, length});
}

}  // namespace headcrash::nbd
