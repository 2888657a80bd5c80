#include "plugin/servers/emulation/mark_disk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace headcrash::emulation {

Answer serve_mark_disk(const model::Request& request, const std::string& text,
                       const std::function<Answer(std::string_view)>& mark) {
  if (request.op == model::Op::read) {
    const std::size_t offset = request.lba * model::kSectorBytes;
    std::memset(request.into.data(), 0, request.into.size());
    if (offset < text.size())
      std::memcpy(request.into.data(), text.data() + offset,
                  std::min(request.into.size(), text.size() - offset));
    return {};
  }
  if (request.op != model::Op::write) return {};
  const auto* bytes = reinterpret_cast<const char*>(request.data.data());
  const std::size_t length = strnlen(bytes, request.data.size());
  if (length == 0 || length > kMarkBytesMax)
    return {EINVAL, "a mark must be 1 to 511 bytes of text and a NUL"};
  return mark({bytes, length});
}

Answer serve_mark_disk(const model::Request& request, stages::Stage& stage) {
  return serve_mark_disk(request, stage.nonce(), [&stage](std::string_view text) {
    return stage.mark(text) ? Answer{}
                            : Answer{EIO, "no state is loaded, or its recording has failed"};
  });
}

}  // namespace headcrash::emulation
