#pragma once
// A 4 KiB disk that accepts marks. Reads return a NUL-padded string; writing a NUL-terminated
// string records it as a mark.

#include <functional>
#include <string>
#include <string_view>

#include "plugin/model/core/device.h"
#include "plugin/servers/emulation/answer.h"
#include "plugin/stages/stage.h"

namespace headcrash::emulation {

inline constexpr const char* kMarkDiskName = "mark";
inline constexpr std::uint32_t kMarkDiskBytes = 4096;
/// Maximum length of a mark. The mark and its terminating NUL must fit into a sector.
inline constexpr std::size_t kMarkBytesMax = 511;

/// Serves a request to a mark disk. A read returns `text`. A write calls `mark` with 1 to
/// kMarkBytesMax bytes. REQUIRES: the request consists of whole sectors within the disk.
Answer serve_mark_disk(const model::Request& request, const std::string& text,
                       const std::function<Answer(std::string_view)>& mark);
/// Serves a request to a stage's mark disk. Marks are added to the stage's recording; reads return
/// the stage's nonce.
Answer serve_mark_disk(const model::Request& request, stages::Stage& stage);

}  // namespace headcrash::emulation
