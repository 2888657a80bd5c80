#pragma once
// Marks through a disk of 4 KiB: reading gives a text and NULs, writing a text that ends with a NUL
// puts a mark.

#include <functional>
#include <string>
#include <string_view>

#include "plugin/model/core/device.h"
#include "plugin/servers/emulation/answer.h"
#include "plugin/stages/stage.h"

namespace headcrash::emulation {

inline constexpr const char* kMarkDiskName = "mark";
inline constexpr std::uint32_t kMarkDiskBytes = 4096;
/// Text of a mark, and what such a disk can carry in a sector with its NUL.
inline constexpr std::size_t kMarkBytesMax = 511;

/// Whole sectors within the disk. `mark` gets 1 to kMarkBytesMax bytes.
Answer serve_mark_disk(const model::Request& request, const std::string& text,
                       const std::function<Answer(std::string_view)>& mark);
/// Marks for the stage's recording; reading gives its nonce.
Answer serve_mark_disk(const model::Request& request, stages::Stage& stage);

}  // namespace headcrash::emulation
