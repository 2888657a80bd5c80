#pragma once
// Traces the kernel's requests to disks, with the stack of the function that submitted each.
//
//   block_bio_queue        a file system submits a write or a flush     with stack
//   block_dirty_buffer     a block of a disk becomes dirty in memory    with stack
//   block_rq_issue         a request is sent to the disk's driver
//
// The following events are traced if the kernel has them. They show which thread dirtied file data,
// or dirtied metadata that is not in the disk's buffer cache:
//
//   xfs_trans_log_buf      a transaction changes a metadata block       with stack
//   xfs_map_blocks_found   writeback has found the place of file data
//   xfs_iext_insert, xfs_bmap_post_update
//                          file data has been allocated
//   ext4_es_insert_extent  the place of file data is known
//   writeback_dirty_folio  a page of a file becomes dirty               with stack
//   f2fs_set_page_dirty    a page of data or metadata becomes dirty     with stack
//   f2fs_submit_page_write, f2fs_submit_folio_write
//                          a page is written to a block
//
// Each event has a sequence number instead of a time, because reading a clock takes time in a
// virtual guest. The text is that of the kernel's file `trace`
// (Documentation/trace/events.rst); harness/explorer/guests/block_trace_text.h parses it.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

inline constexpr const char* kTraceFolder = "/sys/kernel/tracing";

/// Starts tracing, with a buffer of `buffer_kib` for each processor. Discards earlier events.
/// Returns ENOTSUP if the kernel has no block events or cannot record stacks. `folder` is the
/// tracing file system, which is mounted if necessary.
VfsResult<void> start_block_trace(std::size_t buffer_kib, const std::string& folder = kTraceFolder);

/// Stops tracing and passes the text to `receive`, in pieces that end with a complete line.
/// Unprintable characters are replaced with '?'. Frees the buffer.
VfsResult<void> stop_block_trace(const std::function<void(std::string_view piece)>& receive,
                                 const std::string& folder = kTraceFolder);

struct BlockDeviceNumber {
  std::string number;  ///< "254,0", as in the events
  std::string name;    ///< "vda"
};
std::vector<BlockDeviceNumber> block_device_numbers(const std::string& folder = "/sys/class/block");

}  // namespace headcrash::guest
