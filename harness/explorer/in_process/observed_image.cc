// Inodes become observed objects, blocks of 512 bytes runs of stamps (observed_image.h).
#include "harness/explorer/in_process/observed_image.h"

#include <algorithm>
#include <cerrno>

#include "harness/workload/operation.h"
#include "harness/workload/stamp.h"

namespace headcrash::in_process {
namespace {

using oracle::ContentRun;
using workload::kStampBytes;

constexpr std::size_t kForeignBytes = 32;
constexpr std::size_t kRunsMax = 8192;

ContentRun run_of(const workload::BlockContent& content, std::span<const std::byte> block,
                  std::uint64_t number) {
  ContentRun run{.first_block = number, .blocks = 1};
  if (const auto* stamp = std::get_if<workload::Stamp>(&content)) {
    run.kind = stamp->block == number ? ContentRun::Kind::stamp : ContentRun::Kind::moved;
    run.file = stamp->file;
    run.version = stamp->version;
    if (run.kind == ContentRun::Kind::moved) run.stamped_block = stamp->block;
  } else if (std::holds_alternative<workload::BeforeMkfs>(content)) {
    run.kind = ContentRun::Kind::before_mkfs;
  } else if (std::holds_alternative<workload::Foreign>(content)) {
    run.kind = ContentRun::Kind::foreign;
    const auto head = block.first(std::min(block.size(), kForeignBytes));
    run.head.assign(head.begin(), head.end());
  }
  return run;
}

bool joins(const ContentRun& last, const ContentRun& next) {
  return last.kind == next.kind && last.kind != ContentRun::Kind::moved && last.file == next.file &&
         last.version == next.version && last.head == next.head;
}

FileType type_of(const ufs::Inode& inode) {
  if (inode.is_directory()) return FileType::directory;
  if (inode.is_regular()) return FileType::regular;
  return inode.is_symlink() ? FileType::symlink : FileType::other;
}

}  // namespace

workload::BlockContent Observer::content_at(std::uint64_t sector, std::size_t bytes) {
  const auto block = disk_->bytes().subspan(sector * kStampBytes, bytes);
  const auto written = disk_->written_sector(sector);
  if (!written || bytes != kStampBytes) return workload::read_stamp(block);
  std::optional<workload::BlockContent>& known = known_[*written];
  if (!known) known = workload::read_stamp(block);
  return *known;
}

void Observer::read_content(const ufs::ImageReader& reader, const ufs::Inode& inode,
                            oracle::ObservedObject& object, std::vector<std::uint32_t>* data) {
  if (inode.size_bytes > workload::kLargestFileBytes) {
    object.error = EFBIG;
    return;
  }
  const auto& geometry = reader.geometry();
  const auto addresses = reader.blocks(inode, geometry.blocks_of_size(inode.size_bytes));
  if (!addresses) {
    object.error = EIO;
    return;
  }
  const std::uint64_t sectors_per_block = geometry.block_bytes() / kStampBytes;
  for (std::uint64_t offset = 0; offset < object.size_bytes; offset += kStampBytes) {
    const std::uint64_t number = offset / kStampBytes;
    const ufs::FragmentAddress at = addresses->at(number / sectors_per_block);
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(kStampBytes, object.size_bytes - offset));
    const std::uint64_t sector = geometry.lba_of(at) + number % sectors_per_block;
    ContentRun run{.first_block = number, .blocks = 1};
    if (at != 0 && data != nullptr) data->push_back(static_cast<std::uint32_t>(sector));
    if (at != 0)
      run = run_of(content_at(sector, bytes), disk_->bytes().subspan(sector * kStampBytes, bytes), number);
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

oracle::ObservedObject Observer::describe(const ufs::ImageReader& reader,
                                          const ufs::ImageReader::Found& found,
                                          std::vector<std::uint32_t>* data) {
  oracle::ObservedObject object;
  object.path = found.path;
  object.type = type_of(found.inode);
  object.inode = found.number;
  object.links = found.inode.links;
  object.size_bytes = found.inode.size_bytes;
  if (aspects_.modes) object.mode = found.inode.mode & 0777U;
  if (aspects_.owners) object.user = found.inode.user, object.group = found.inode.group;
  if (aspects_.times) object.modified_seconds = found.inode.modified.seconds;
  if (aspects_.allocation) object.allocated_bytes = std::uint64_t{found.inode.sectors} * kStampBytes;
  if (object.type == FileType::symlink) {
    if (auto target = reader.readlink(found.number)) {
      object.link_target = std::move(*target);
    } else {
      object.error = EIO;
    }
  }
  if (object.type == FileType::regular) read_content(reader, found.inode, object, data);
  return object;
}

Result<std::vector<oracle::ObservedObject>> Observer::observe() {
  const auto reader = ufs::ImageReader::open(*disk_);
  if (!reader) return pass_on(reader);
  std::vector<oracle::ObservedObject> tree;
  const auto walked =
      reader->walk([&](const ufs::ImageReader::Found& found) { tree.push_back(describe(*reader, found)); });
  if (!walked) return pass_on(walked);
  return tree;
}

}  // namespace headcrash::in_process
