// Reads an image (image.h).
#include "fs-adapters/examples/shadow/image.h"

#include <fmt/format.h>

#include <algorithm>

#include "fs-adapters/image_tree.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/substrate/tree/inode_store.h"

namespace headcrash::shadow {
namespace {

tl::unexpected<Error> wrong(std::uint64_t number, std::string_view what) {
  return fail(fmt::format("inode {}", number), std::string(what), "check the image");
}

std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) {
  digest = (digest ^ value) * 0x9e3779b97f4a7c15U;
  return digest ^ (digest >> 31U);
}

}  // namespace

Result<Image> Image::open(const model::SectorStore& store) {
  TRY(auto state, read_state([&](std::uint64_t lba,
                                 std::span<std::byte> into) { return store.read(lba, into); },
                             store.sectors()));
  return Image(store, std::move(state));
}

const Record* Image::find(std::uint64_t number) const {
  const auto found = std::ranges::lower_bound(state_.records, number, {}, &Record::number);
  return found != state_.records.end() && found->number == number ? &*found : nullptr;
}

std::uint64_t Image::layout() const {
  const Geometry& its = state_.header.geometry;
  return adapters::layout_digest(its.id, {its.block_bytes, its.blocks, its.inodes});
}

/// Returns a digest of the inode's record, including the addresses of all its blocks.
std::uint64_t Image::place_of(std::uint64_t inode) const {
  const Record* const record = find(inode);
  if (record == nullptr) return 0;
  std::vector<std::byte> bytes;
  append(*record, bytes);
  std::uint64_t digest = 0;
  for (const std::byte byte : bytes) digest = mixed(digest, static_cast<std::uint64_t>(byte));
  return digest;
}

Result<adapters::ImageInode> Image::inode(std::uint64_t number) const {
  const Record* const record = find(number);
  if (record == nullptr) return adapters::ImageInode{.number = number};
  return adapters::image_inode(number, record->attributes,
                               record->blocks.size() * state_.header.geometry.block_bytes);
}

Result<std::vector<std::byte>> Image::directory_bytes(const Record& record) const {
  const Geometry& geometry = state_.header.geometry;
  const std::uint64_t blocks = record.attributes.size_bytes / geometry.block_bytes;
  if (record.attributes.size_bytes % geometry.block_bytes != 0 || blocks == 0 ||
      blocks != record.blocks.size())
    return wrong(record.number, "is a directory, but has a hole");
  std::vector<std::byte> bytes(record.attributes.size_bytes);
  TRY(read(record.number, 0, bytes));
  return bytes;
}

Result<std::vector<adapters::ImageName>> Image::list(std::uint64_t directory) const {
  const Record* const record = find(directory);
  if (record == nullptr || !record->attributes.is_directory())
    return wrong(directory, "is not a directory");
  TRY(const auto bytes, directory_bytes(*record));
  std::vector<adapters::ImageName> names;
  tree::DirectoryCursor cursor(bytes);
  while (const auto entry = cursor.next())
    if (entry->inode != 0 && !entry->is_dot() && !entry->is_dot_dot())
      names.push_back({.name = std::string(entry->name), .inode = entry->inode});
  if (cursor.damage()) return wrong(directory, "is a directory, but has an invalid block");
  return names;
}

Result<std::string> Image::readlink(std::uint64_t number) const {
  const Record* const record = find(number);
  if (record == nullptr || !record->attributes.is_symlink())
    return wrong(number, "is not a symbolic link");
  if (record->attributes.size_bytes > tree::kPathBytesMax)
    return wrong(number, "has a target that is too long");
  std::string target(record->attributes.size_bytes, '\0');
  TRY(read(number, 0, std::as_writable_bytes(std::span(target.data(), target.size()))));
  return target;
}

Result<std::vector<adapters::ContentExtent>> Image::content(std::uint64_t number) const {
  const Record* const record = find(number);
  if (record == nullptr) return wrong(number, "is not allocated");
  const Geometry& geometry = state_.header.geometry;
  const auto blocks = static_cast<std::int64_t>(
      (record->attributes.size_bytes + geometry.block_bytes - 1) / geometry.block_bytes);
  std::vector<adapters::ContentExtent> extents;
  std::int64_t done = 0;
  const auto hole_up_to = [&](std::int64_t block) {
    if (block > done)
      extents.push_back(
          {.lba = adapters::ContentExtent::kHole,
           .sectors = static_cast<std::uint64_t>(block - done) * geometry.block_sectors()});
    done = block;
  };
  for (const auto& [block, address] : record->blocks) {
    if (block >= blocks) break;
    hole_up_to(block);
    extents.push_back({.lba = geometry.lba_of(address), .sectors = geometry.block_sectors()});
    ++done;
  }
  hole_up_to(blocks);
  return extents;
}

Result<std::size_t> Image::read(std::uint64_t number, std::uint64_t offset,
                                std::span<std::byte> into) const {
  const Record* const record = find(number);
  if (record == nullptr) return wrong(number, "is not allocated");
  const std::uint64_t size = record->attributes.size_bytes;
  if (offset >= size) return std::size_t{0};
  const Geometry& geometry = state_.header.geometry;
  const std::size_t length = std::min<std::uint64_t>(into.size(), size - offset);
  std::vector<std::byte> block(geometry.block_bytes);
  for (std::size_t done = 0; done < length;) {
    const std::uint64_t at = offset + done;
    const std::size_t start = at % geometry.block_bytes;
    const std::size_t count = std::min<std::size_t>(geometry.block_bytes - start, length - done);
    const auto found = record->blocks.find(static_cast<std::int64_t>(at / geometry.block_bytes));
    if (found == record->blocks.end()) {
      std::ranges::fill(into.subspan(done, count), std::byte{0});
    } else {
      TRY(store_->read(geometry.lba_of(found->second), block));
      std::ranges::copy(std::span(block).subspan(start, count),
                        into.begin() + static_cast<std::ptrdiff_t>(done));
    }
    done += count;
  }
  return length;
}

}  // namespace headcrash::shadow
