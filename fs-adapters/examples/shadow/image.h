#pragma once
// Reader and checker for an unmounted image. They share only the format with the mounted file
// system.

#include "fs-adapters/examples/shadow/format.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::shadow {

class Image final : public adapters::ImageReader {
 public:
  /// The store must outlive the image. Fails in the same cases as read_state().
  static Result<Image> open(const model::SectorStore& store);

  const Header& header() const { return state_.header; }
  const std::vector<Record>& records() const { return state_.records; }
  /// Returns null if the inode is not allocated.
  const Record* find(std::uint64_t number) const;
  /// Returns the contents of all blocks of a directory. Fails if it has holes.
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

/// Every kind of finding is damage. A power cut alone causes no findings, so each finding is the
/// result of a defect or of a broken disk.
enum class FindingKind : std::uint8_t {
  block,      ///< a block has two owners, or is beyond the end of its file
  directory,  ///< a directory has an invalid or missing block
  /// A name refers to a free inode, has the wrong type, or is the second name of a directory.
  name,
  links,        ///< an inode's link count is wrong
  unreachable,  ///< an inode has no name
};
adapters::FindingKind kind_of(FindingKind kind);

/// Returns a checker that cannot repair damage, because the disk has no redundant data. Its
/// repair() reports each finding as `unrepaired`.
std::unique_ptr<adapters::ImageChecker> make_checker();

}  // namespace headcrash::shadow
