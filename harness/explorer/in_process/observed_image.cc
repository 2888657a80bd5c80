// Converts inodes to observed objects, and blocks of 512 bytes to runs of stamps
// (observed_image.h).
#include "harness/explorer/in_process/observed_image.h"

#include <algorithm>
#include <cerrno>

#include "harness/workload/operation.h"
#include "harness/workload/stamp.h"

namespace headcrash::in_process {
namespace {

using oracle::ContentRun;
using workload::kStampBytes;

constexpr std::size_t kRunsMax = 8192;

bool joins(const ContentRun& last, const ContentRun& next) {
  return last.kind == next.kind && last.kind != ContentRun::Kind::moved && last.file == next.file &&
         last.version == next.version && last.digest == next.digest;
}

}  // namespace

workload::BlockContent Observer::content_at(std::uint64_t sector, std::size_t bytes) {
  const auto block = disk_->content(sector, bytes);
  const auto written = disk_->written_sector(sector);
  if (!written || bytes != kStampBytes) return workload::read_stamp(block);
  std::optional<workload::BlockContent>& known = known_[*written];
  if (!known) known = workload::read_stamp(block);
  return *known;
}

void Observer::read_content(const adapters::ImageReader& reader, const adapters::ImageInode& inode,
                            oracle::ObservedObject& object, std::vector<std::uint32_t>* data) {
  if (inode.size_bytes > workload::kLargestFileBytes) {
    object.error = EFBIG;
    return;
  }
  const auto extents = reader.content(inode.number);
  if (!extents) {
    object.error = EIO;
    return;
  }
  std::size_t extent = 0;
  std::uint64_t extent_from = 0;  // first sector of the extent, counted from the start of the file
  for (std::uint64_t offset = 0; offset < object.size_bytes; offset += kStampBytes) {
    const std::uint64_t number = offset / kStampBytes;
    while (extent < extents->size() && number >= extent_from + (*extents)[extent].sectors)
      extent_from += (*extents)[extent++].sectors;
    if (extent == extents->size()) {
      object.error = EIO;
      return;
    }
    const bool hole = (*extents)[extent].lba == adapters::ContentExtent::kHole;
    const std::uint64_t sector = (*extents)[extent].lba + (number - extent_from);
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(kStampBytes, object.size_bytes - offset));
    ContentRun run{.first_block = number, .blocks = 1};
    if (!hole && data != nullptr) data->push_back(static_cast<std::uint32_t>(sector));
    if (!hole)
      run = oracle::run_of(content_at(sector, bytes), disk_->content(sector, bytes), number);
    if (!object.runs.empty() && joins(object.runs.back(), run)) {
      ++object.runs.back().blocks;
    } else if (object.runs.size() < kRunsMax) {
      object.runs.push_back(std::move(run));
    } else {
      object.error = EFBIG;
      return;
    }
  }
}

oracle::ObservedObject Observer::describe(const adapters::ImageReader& reader,
                                          const std::string& path,
                                          const adapters::ImageInode& inode,
                                          std::vector<std::uint32_t>* data) {
  oracle::ObservedObject object;
  object.path = path;
  object.type = inode.type;
  object.inode = inode.number;
  object.links = inode.links;
  object.size_bytes = inode.size_bytes;
  if (aspects_.modes) object.mode = inode.mode;
  if (aspects_.owners) object.user = inode.user, object.group = inode.group;
  if (aspects_.times) object.modified_seconds = inode.modified_seconds;
  if (aspects_.allocation) object.allocated_bytes = inode.allocated_bytes;
  if (object.type == FileType::symlink) {
    if (auto target = reader.readlink(inode.number)) {
      object.link_target = std::move(*target);
    } else {
      object.error = EIO;
    }
  }
  if (object.type == FileType::regular) read_content(reader, inode, object, data);
  return object;
}

Result<std::vector<oracle::ObservedObject>> Observer::observe() {
  TRY(const auto reader, type_->open_image(*disk_));
  std::vector<oracle::ObservedObject> tree;
  TRY(reader->walk([&](const std::string& path, const adapters::ImageInode& inode) {
    tree.push_back(describe(*reader, path, inode));
  }));
  return tree;
}

}  // namespace headcrash::in_process
