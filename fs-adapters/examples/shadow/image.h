#pragma once
// An image that is not mounted: its reader, and its checker. They share the format with the mounted
// file system and nothing else.

#include "fs-adapters/examples/shadow/format.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::shadow {

class Image final : public adapters::ImageReader {
 public:
  /// The store must outlive it. Errors: those of read_state().
  static Result<Image> open(const model::SectorStore& store);

  const Header& header() const { return state_.header; }
  const std::vector<Record>& records() const { return state_.records; }
  /// Null: it is not allocated.
  const Record* find(std::uint64_t number) const;
  /// Of a directory's blocks, which has no holes.
  Result<std::vector<std::byte>> directory_bytes(const Record& record) const;

  std::uint64_t root() const override { return kRootInode; }
  std::uint64_t layout() const override;
  std::uint64_t place_of(std::uint64_t inode) const override;
  Result<adapters::ImageInode> inode(std::uint64_t number) const override;
  Result<std::vector<adapters::ImageName>> list(std::uint64_t directory) const override;
  Result<std::string> readlink(std::uint64_t number) const override;
  Result<std::vector<adapters::ContentExtent>> content(std::uint64_t number) const override;
  Result<std::size_t> read(std::uint64_t number, std::uint64_t offset,
                           std::span<std::byte> into) const override;

 private:
  Image(const model::SectorStore& store, State state) : store_(&store), state_(std::move(state)) {}

  const model::SectorStore* store_;
  State state_;
};

/// Every kind is damage: no cut leaves anything, so that what is found is a defect's or a broken
/// disk's.
enum class FindingKind : std::uint8_t {
  block,        ///< two owners, or behind its file's end
  directory,    ///< a block that is invalid, or is missing
  name,         ///< leads to nothing, to another type, or to a directory that has a name already
  links,        ///< a count
  unreachable,  ///< no name leads there
};
adapters::FindingKind kind_of(FindingKind kind);

/// Repairs nothing: what was there before is not there twice. A repair that finds something leaves
/// it.
std::unique_ptr<adapters::ImageChecker> make_checker();

}  // namespace headcrash::shadow
