#pragma once
// The image of a used disk (record/used_disk.h) before anything was recorded.

#include "plugin/states/state_image.h"

namespace headcrash::states {

/// StateImage::visit_written() leaves out what it holds; read() and digest() do not.
StateImage used_image(std::uint64_t sectors);

}  // namespace headcrash::states
