#pragma once
// Deliberately damaged images of all registered file systems, for the fuzzer (image_fuzz.cc) and
// for the tests with crafted images (damaged_images_test.cc).
//
//    image_formats()   the formats that mkfs creates for the lab disks of the registered systems
//    ImageTarget       an image of one format after use and a power cut; damages copies of it, then
//                      checks, repairs, reads and mounts them
//
// Edits are those of plugin/base/testing/image_edits.h. They change the sectors that a check and a
// tree walk read.

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
  /// The name of the first system, such as "ufs-netra-bmap". The name of the disk follows, as in
  /// "lfs-roll-forward@plain", unless it is "deep".
  std::string name;
  /// All systems that can mount the format. The first one has created the image.
  std::vector<const SystemUnderTest*> systems;
  LabDisk disk;
  const SystemUnderTest& maker() const { return *systems.front(); }
  const FileSystemType& type() const { return maker().type(); }
};
/// Returns a format for each system's small disk ("deep" in lab_disks.h). For the default system of
/// each type, also returns a format with large blocks, on a "plain" disk. Systems with identical
/// disks share a format.
std::vector<ImageFormat> image_formats();

inline constexpr std::size_t kEditsMax = 100;
/// Maximum number of requests that the test may make to one damaged image, per sector of the
/// device.
inline constexpr std::uint64_t kRequestsPerSector = 100;

class ImageTarget {
 public:
  explicit ImageTarget(ImageFormat format);
  ~ImageTarget();

  const std::string& name() const { return format_.name; }
  const std::vector<const SystemUnderTest*>& systems() const { return format_.systems; }
  /// Returns the positions of at most 256 sectors that contain pointers. A position is the offset
  /// of the sector's first byte.
  const std::vector<std::uint64_t>& areas() const { return areas_; }
  /// Returns `count` edit programs, equally distributed over the kinds of edits and over the
  /// positions in the image. The edits create cyclic pointers, pointers to unused blocks or past
  /// the end of the device, huge sizes, and trees of maximum depth.
  std::vector<std::string> crafted(std::size_t count) const;
  /// Returns an edit program that is derived from `number`.
  std::string random(std::uint64_t number) const;

  /// Checks, repairs and reads a damaged copy, mounts it as one of systems() (`system` modulo their
  /// number selects the system), and uses its files. Fails the test if a repaired image is not
  /// sound. Returns a number that differs between outcomes (fuzz::run).
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
  /// The first device's contents, followed by those of the second device.
  std::vector<std::byte> image_;
  std::vector<std::uint64_t> areas_;
};

/// Recomputes the checksums of damaged structures, because otherwise a checker would detect all
/// damage by wrong checksums alone. `type` is the type's name; types without checksums are left
/// unchanged. `sound` is the image before the damage.
void seal(std::string_view type, std::span<const std::byte> sound, std::span<std::byte> image);

/// Returns false if a mount has changed bytes that a mount of this type must never change. In lfs,
/// these are all bytes outside the checkpoint regions and the segments.
bool is_in_place(std::string_view type, std::span<const std::byte> before,
                 std::span<const std::byte> after);

}  // namespace headcrash::adapters::damaged
