// Identifies the structures that each file system writes (io_errors_faults.h). The formats are
// described in the kernel's headers (jbd2.h, ext4.h, xfs_format.h, btrfs_tree.h, f2fs_fs.h) and in
// fs-adapters/ufs/FORMAT.md.
#include "harness/campaign/surveys/io_errors_faults.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "harness/workload/stamp.h"

namespace headcrash::campaign {
namespace {

using Files = IoErrorFiles;

constexpr std::uint64_t kAppendedBytes =
    (Files::kBlocksOfA + Files::kWrittenBlocks) * workload::kStampBytes;

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

std::string little_hex(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i, value >>= 8) text += fmt::format("{:02x}", value & 0xff);
  return text;
}

/// Returns the beginning of the stamp of block `block` in the write that is to fail, in
/// hexadecimal.
std::string data_hex(std::uint64_t block) {
  std::array<std::byte, workload::kStampBytes> bytes{};
  workload::write_stamp({Files::kFileA, Files::kFailedVersion, block}, bytes);
  return hex(std::span(bytes).first(32));
}

struct Block {
  std::string data;   ///< hexadecimal bytes that the payload of the write must contain
  std::string range;  ///< sectors for the option lba=; if not empty, replaces `data`
  bool late = false;
  std::string_view what;
};

/// The mode of file `a` (regular, 0644) as stored in its inode. The patterns below also contain the
/// size of `a`, which no other file has.
constexpr std::string_view kModeOfA = "a481";

Block metadata_block(std::string_view type, std::string_view filesystem, std::uint64_t inode) {
  if (type == "ext4")
    return {fmt::format("{}0000{}", kModeOfA, little_hex(kAppendedBytes, 4)), "", true,
            "the inode table's block, in place"};
  if (type == "xfs") return {"494e81a40302", "", true, "the inode cluster, in place"};
  if (type == "btrfs")  // the key of the inode's item in a leaf: (inode, INODE_ITEM, 0)
    return {little_hex(inode, 8) + "01" + little_hex(0, 8), "", true,
            "the leaf of the file system tree"};
  if (type == "f2fs")  // the footer of a node that holds an inode has the inode number twice
    return {little_hex(inode, 4) + little_hex(inode, 4), "", false, "the inode's node block"};
  const std::string dinode =
      fmt::format("{}0100{}{}", kModeOfA, little_hex(0, 4), little_hex(kAppendedBytes, 8));
  return {dinode, "", filesystem == "ufs-journal", "the inode's block, in place"};
}

Block journal_block(std::string_view type) {
  if (type == "ext4") return {"c03b399800000001", "", false, "a descriptor block of the journal"};
  if (type == "xfs") return {"feedbabe", "", false, "a record of the log"};
  if (type == "btrfs")  // the owner in the header, BTRFS_TREE_LOG_OBJECTID (-6)
    return {"faffffffffffffff", "", false, "a node of the log tree"};
  // A segment has 2 MiB. The first segment holds the superblock, and the next two hold the
  // checkpoint packs.
  if (type == "f2fs") return {"", "4096+8192", false, "a block of the checkpoint area"};
  return {hex(std::as_bytes(std::span("HCJD", 4))), "", false, "a descriptor of the journal"};
}

Block block_of(const IoErrorCell& cell, std::string_view type, std::uint64_t inode) {
  switch (cell.failed) {
    case FailedRequest::data_overwrite:
      return {data_hex(Files::kOverwrittenFrom), "", false, "the data of an overwritten block"};
    case FailedRequest::data_append:
      return {data_hex(Files::kBlocksOfA), "", false, "the data of a new block"};
    case FailedRequest::metadata:
    case FailedRequest::metadata_copy:
      return metadata_block(type, cell.adapter(), inode);
    default:
      return journal_block(type);
  }
}

}  // namespace

ArmedFaults faults_of(const IoErrorCell& cell, std::string_view type, std::uint64_t inode) {
  const std::string times = cell.lasting ? "" : ",times=1";
  if (cell.failed == FailedRequest::none) return {};
  if (cell.failed == FailedRequest::flush) return {{"flush-error:hd0" + times}, false, "a flush"};
  const Block block = block_of(cell, type, inode);
  const std::string spec =
      fmt::format("write-error:hd0,{}={}{}", block.range.empty() ? "data" : "lba",
                  block.range.empty() ? block.data : block.range, times);
  ArmedFaults armed{{spec}, block.late, std::string(block.what)};
  // btrfs writes two copies of each node. Add a second fault, so that both writes fail.
  const bool is_node =
      cell.failed == FailedRequest::metadata || cell.failed == FailedRequest::journal;
  if (type == "btrfs" && is_node) {
    armed.specs.push_back(spec);
    armed.what += ", both copies";
  }
  if (cell.failed == FailedRequest::metadata_copy) armed.what += ", one of two copies";
  return armed;
}

}  // namespace headcrash::campaign
