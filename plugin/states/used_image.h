#pragma once
// The image of a used disk (record/used_disk.h) before any recorded event.

#include "plugin/states/state_image.h"

namespace headcrash::states {

/// Returns an image that is full of prior contents. StateImage::visit_written() skips these
/// contents; read() and digest() include them.
StateImage used_image(std::uint64_t sectors);

}  // namespace headcrash::states
