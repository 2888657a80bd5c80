#pragma once
// An anonymous file in memory (memfd) that nobody else sees and that goes with its descriptor, even when
// headcrash is killed.

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/process/descriptor.h"
#include "plugin/model/result.h"

namespace headcrash::lab {

Result<process::Descriptor> make_sparse_file(std::uint64_t bytes);

/// Into a file that holds zeroes there: blocks of zeroes stay holes.
Result<void> put_sparse(const process::Descriptor& file, std::uint64_t offset,
                        std::span<const std::byte> bytes);

}  // namespace headcrash::lab
