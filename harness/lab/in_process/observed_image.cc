// Inodes become observed objects, blocks of 512 bytes runs of stamps (observed_image.h).
#include "harness/lab/in_process/observed_image.h"

#include <algorithm>
#include <cerrno>

#include "harness/workload/stamp.h"

namespace headcrash::in_process {
namespace {

using crash::ContentRun;
using workload::kStampBytes;

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kForeignBytes = 32;
constexpr std::size_t kRunsMax = 8192;

ContentRun describe(std::span<const std::byte> block, std::uint64_t number) {
  ContentRun run{.first_block = number, .blocks = 1};
  const workload::BlockContent content = workload::read_stamp(block);
  if (const auto* stamp = std::get_if<workload::Stamp>(&content)) {
    run.kind = stamp->block == number ? ContentRun::Kind::stamp : ContentRun::Kind::moved;
    run.file = stamp->file;
    run.version = stamp->version;
    if (run.kind == ContentRun::Kind::moved) run.stamped_block = stamp->block;
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

void read_content(const ufs::ImageReader& reader, ufs::InodeNumber number, std::vector<std::byte>& buffer,
                  crash::ObservedObject& object) {
  for (std::uint64_t offset = 0; offset < object.size_bytes;) {
    const auto got = reader.read(number, offset, buffer);
    if (!got || *got == 0) {
      object.error = EIO;
      return;
    }
    const auto data = std::span(buffer).first(*got);
    for (std::size_t at = 0; at < data.size(); at += kStampBytes) {
      const auto block = data.subspan(at, std::min(kStampBytes, data.size() - at));
      ContentRun run = describe(block, (offset + at) / kStampBytes);
      if (!object.runs.empty() && joins(object.runs.back(), run)) {
        ++object.runs.back().blocks;
      } else if (object.runs.size() < kRunsMax) {
        object.runs.push_back(std::move(run));
      } else {
        object.error = EFBIG;
        return;
      }
    }
    offset += *got;
  }
}

FileType type_of(const ufs::Inode& inode) {
  if (inode.is_directory()) return FileType::directory;
  if (inode.is_regular()) return FileType::regular;
  return inode.is_symlink() ? FileType::symlink : FileType::other;
}

}  // namespace

Result<std::vector<crash::ObservedObject>> observe(const model::SectorStore& store) {
  const auto reader = ufs::ImageReader::open(store);
  if (!reader) return pass_on(reader);
  std::vector<crash::ObservedObject> tree;
  std::vector<std::byte> buffer(kReadBytes);
  const auto walked = reader->walk([&](const ufs::ImageReader::Found& found) {
    crash::ObservedObject& object = tree.emplace_back();
    object.path = found.path;
    object.type = type_of(found.inode);
    object.inode = found.number;
    object.links = found.inode.links;
    object.size_bytes = found.inode.size_bytes;
    if (object.type == FileType::symlink) {
      if (auto target = reader->readlink(found.number)) {
        object.link_target = std::move(*target);
      } else {
        object.error = EIO;
      }
    }
    if (object.type == FileType::regular) read_content(*reader, found.number, buffer, object);
  });
  if (!walked) return pass_on(walked);
  return tree;
}

}  // namespace headcrash::in_process
