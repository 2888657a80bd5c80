#pragma once
// Who audits the checker: an image that fsck calls right, or has put right, is counted again here,
// by code that shares nothing with it but the format. Inodes and what they lead to, names, maps and
// counts must agree in everything; a contradiction means that fsck has not found, or has left, or
// has made damage.
//
// An image is read wholly each time. Memory is kept between images.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/system_under_test.h"
#include "fs-adapters/ufs/format/image_reader.h"

namespace headcrash::ufs::damage {

class Audit final : public adapters::ImageAudit {
 public:
  /// The first contradiction, in words; empty: there is none.
  std::string contradiction_in(std::span<const std::byte> image) override;
  /// The same where a repair had to leave something: it has to say "not clean", and files and
  /// directories may be without a name.
  std::string contradiction_in_counts(std::span<const std::byte> image);
  /// Of the last image: how many are allocated.
  std::uint32_t files() const { return files_; }
  std::uint32_t directories() const { return total_.directories; }
  const ufs::Summary& totals() const { return total_; }

 private:
  struct Counted {
    std::uint16_t mode = 0;
    std::uint32_t links = 0;  ///< as the inode says
    std::uint32_t names = 0;  ///< "." and ".." as well
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
  ufs::BmapCache bmap_;        ///< of the inode that is being counted
  bool bmap_reached_ = false;  ///< its indirect block is there
  std::vector<bool> taken_;    ///< fragments that are data and somebody's
  std::vector<Counted> inodes_;
  ufs::Summary total_;
  std::uint32_t files_ = 0;
};

}  // namespace headcrash::ufs::damage
