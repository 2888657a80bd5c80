#pragma once
// Images of all registered file systems, damaged on purpose: one target for the fuzzer
// (image_fuzz.cc) and for the suite of crafted images (damaged_images_test.cc).
//
//   image_formats()   the ways in which mkfs makes the lab disks of the registered systems
//   ImageTarget       an image of one format, used and cut; damages copies of it, then checks,
//                     repairs, reads and mounts them
//
// Edits are those of plugin/base/testing/image_edits.h. They meet the sectors that a check and a
// walk read.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/registry.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::adapters::damaged {

struct ImageFormat {
  /// Of the first system, and of the disk unless that is a small one: "ufs-netra-bmap",
  /// "lfs-roll-forward@plain".
  std::string name;
  std::vector<const SystemUnderTest*> systems;  ///< all that mount it; the first makes the image
  LabDisk disk;
  const SystemUnderTest& maker() const { return *systems.front(); }
  const FileSystemType& type() const { return maker().type(); }
};
/// A small disk of each system ("deep" of the lab), and a "plain" one of each type's usual system,
/// with large blocks. Systems that have the same disk share a format.
std::vector<ImageFormat> image_formats();

inline constexpr std::size_t kEditsMax = 100;
/// Most requests for one damaged image, whatever is done to it, for each sector of the device.
inline constexpr std::uint64_t kRequestsPerSector = 100;

class ImageTarget {
 public:
  explicit ImageTarget(ImageFormat format);
  ~ImageTarget();

  const std::string& name() const { return format_.name; }
  const std::vector<const SystemUnderTest*>& systems() const { return format_.systems; }
  /// First bytes of the sectors that lead to others, at most 256 of them.
  const std::vector<std::uint64_t>& areas() const { return areas_; }
  /// Programs of edits, as many of each kind, at places all over the image: words that lead to
  /// themselves, to each other, to nothing or beyond the end; sizes without bound; trees as deep as
  /// there can be.
  std::vector<std::string> crafted(std::size_t count) const;
  /// A program that follows from the number.
  std::string random(std::uint64_t number) const;

  /// Checks, repairs and reads a damaged copy, mounts it as `system` (number in systems(), modulo
  /// their count) and uses the files. Fails the test if a repaired image is not sound. Returns a
  /// number that differs between outcomes (fuzz::run).
  std::uint64_t run(std::string_view program, std::uint64_t system) const;

 private:
  class Stores;

  void make();
  void find_areas();
  void use(const SystemUnderTest& system, Stores& stores, bool& mounted) const;
  std::uint64_t check(Stores& stores) const;
  void repair(Stores& stores, bool fast) const;
  void read_all(Stores& stores) const;
  void edit(std::span<std::byte> image, std::string_view program) const;
  std::vector<std::string> all_crafted() const;

  ImageFormat format_;
  std::vector<std::byte> image_;  ///< of the first device, and behind it of the second
  std::vector<std::uint64_t> areas_;
};

/// Makes the checksums of structures right again, where they would keep all damage from being
/// followed. `type`: its name; types that are not known here have no checksums. `sound`: the image
/// before the damage.
void seal(std::string_view type, std::span<const std::byte> sound, std::span<std::byte> image);

/// False if a mount has changed what no mount of the type changes: with lfs all but checkpoint
/// regions and segments.
bool is_in_place(std::string_view type, std::span<const std::byte> before,
                 std::span<const std::byte> after);

}  // namespace headcrash::adapters::damaged
