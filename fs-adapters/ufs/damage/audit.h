#pragma once
// Verifies the checker: recounts everything in an image that fsck reports as correct or has
// repaired. It shares only the format with fsck. Inodes, pointers, names, maps and counts must all
// agree. A contradiction means that fsck has missed, left or caused damage.
//
// The whole image is read each time. Memory is kept between images.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/system_under_test.h"
#include "fs-adapters/ufs/format/image_reader.h"

namespace headcrash::ufs::damage {

class Audit final : public adapters::ImageAudit {
 public:
  /// Returns the first contradiction as text; empty if there are no contradictions.
  std::string contradiction_in(std::span<const std::byte> image) override;
  /// Like contradiction_in(), but for an incomplete repair: the image must not be marked clean, and
  /// files and directories may lack a name.
  std::string contradiction_in_counts(std::span<const std::byte> image);
  /// Number of allocated files and directories in the last image.
  std::uint32_t files() const { return files_; }
  std::uint32_t directories() const { return total_.directories; }
  const ufs::Summary& totals() const { return total_; }

 private:
  struct Counted {
    std::uint16_t mode = 0;
    std::uint32_t links = 0;  ///< link count stored in the inode
    std::uint32_t names = 0;  ///< number of names found, including "." and ".."
  };
  enum class Names : std::uint8_t { all, not_all };
  std::string contradiction_in(std::span<const std::byte> image, Names names);
  std::string count_inode(const ufs::ImageReader& reader, ufs::InodeNumber number);
  std::string count_pointer(const ufs::ImageReader& reader, ufs::FragmentAddress at,
                            std::uint32_t level, std::uint64_t& first_block,
                            const ufs::Inode& inode, std::uint64_t& fragments);
  std::string take(const ufs::ImageReader& reader, ufs::FragmentAddress at,
                   std::uint32_t fragments);
  std::string count_names(const ufs::ImageReader& reader);
  std::string compare_links(const ufs::ImageReader& reader) const;
  std::string compare_group(const ufs::ImageReader& reader, std::uint32_t group);

  std::span<const std::byte> image_;
  ufs::BmapCache bmap_;        ///< bmap cache of the current inode
  bool bmap_reached_ = false;  ///< the indirect block of `bmap_` exists
  std::vector<bool> taken_;    ///< data fragments that have an owner
  std::vector<Counted> inodes_;
  ufs::Summary total_;
  std::uint32_t files_ = 0;
};

}  // namespace headcrash::ufs::damage
