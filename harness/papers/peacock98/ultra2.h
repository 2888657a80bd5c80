#pragma once
// The server of Peacock, Kamaraju and Agrawal 1998, section 6.1: an Ultra-2 with two UltraSPARC-II
// at 300 MHz, 1 GB, 32 MB of NVRAM, eleven drives of 4.2 GB, Solaris 2.5.1.
//
//   processor   the paper does not give costs of single operations. The table is that of the i486
//               at 33 MHz (../i486_33.h), divided by a factor of 40 for all cells. This is an
//               estimate: a 300 MHz UltraSPARC-II is about 20 times as fast as that i486 on SPEC's
//               integer programs, and the two processors are modelled as one of twice the speed. A
//               request costs an additional 100 us (60 000 cycles of one processor for RPC, XDR,
//               UDP and driver), which is also an estimate. A counterfactual varies both estimates
//               by a factor of two
//   memory      900 MB of the 1 GB are for files, which is an estimate
//   arrays      netra-raid0 and netra-raid5, with and without Presto (plugin/profiles/arrays). They
//               use the whole drives (44 and 40 GB) or only 5 GB (section 6.4)
//   requests    the array accepts any number of requests; each drive serves its requests in C-LOOK
//               order, like sd's disksort (tagged queueing, which would also consider the angle, is
//               not modelled); clusters of 56 KiB, which is ufs's maxcontig of 7 blocks of 8 KiB
//   fsck, mkfs  one request after another, of at most 56 KiB: the INOBUFSIZE of BSD's fsck, which
//               we also assume for mkfs
//   format      blocks of 8 KiB, fragments of 1 KiB, groups of 16 MB (section 5.1), and one inode
//               per 2 KiB. This is newfs's default in Solaris 2.5.1, and agrees with the 136 ms per
//               group of a full check (382 s / 2 816 groups, each with a megabyte of inodes)
//
// The systems, all on ufs:
//
//   UFS            Conventional, where the last write of a series is synchronous; the files of a
//                  directory are in its group; fsflush is modelled as a sweep of 30 s
//   bmap           like UFS, with the bmap cache
//   fast fsck      netra: busy marks, link tags, hot spot, flusher, lazy inodes. Only the flusher
//                  writes by age: "periodic cache flushing disabled" (section 5.2)
//   bmap + fast fsck    combines the two: the commercial product
//   VxFS           a data journal with group commits on the file system's device. Its groups are as
//                  large as their headers permit, because the log must fit into one group. VxLD has
//                  its log of 16 MB on the twelfth drive, with an eighth of the NVRAM (an
//                  estimate). Veritas' layout (extents) is not modelled: the policies are compared
//                  on one format
//
// A system that ufs does not implement is "not built" in every cell.
//
// The paper does not say where the systems without fast fsck allocate. Two readings are therefore
// run and judged:
//
//   by directory   UFS and bmap allocate like the Berkeley fast file system. Section 6.2 calls
//                  UFS the "Solaris baseline"
//   hot spot       UFS and bmap allocate from the hot spot, like fast fsck (part `hot-spot`). The
//                  server had the Netra kernel module instead of Solaris' UFS (section 6.1), whose
//                  rotors are modified (section 3.4), and section 6 lists RAID, Presto, the bmap
//                  cache, fast fsck and Veritas as the elements that were varied, but no allocator

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/papers/cells.h"
#include "harness/workload/timed/laddis_mix.h"

namespace headcrash::experiment::peacock98 {

inline constexpr double kUltra2FasterThanI486 = 40;
inline constexpr os::TimeNs kRequestCpuNs = 100 * model::kMicrosecondNs;
inline constexpr std::uint32_t kClusterSectors = 112;  // 56 KiB
inline constexpr std::uint64_t kMib = 1 << 20, kGib = 1 << 30;
inline constexpr std::uint64_t kFileMemoryBytes = 900 * kMib;
inline constexpr std::uint64_t kImageCacheBytes = 16 * kMib;

enum class Tuning : std::uint8_t { ufs, bmap, fast_fsck, bmap_fast_fsck, vxfs, vxld };
inline constexpr Tuning kTunings[] = {Tuning::ufs,       Tuning::bmap,
                                      Tuning::fast_fsck, Tuning::bmap_fast_fsck,
                                      Tuning::vxfs,      Tuning::vxld};
const char* name(Tuning tuning);

/// The two readings of where UFS and bmap allocate, as described above.
enum class Reading : std::uint8_t { by_directory, hot_spot };

enum class Raid : std::uint8_t { raid0, raid5 };
enum class Presto : std::uint8_t { none, both, upper };

/// Settings of the group flusher used in figures 8 and 9.
struct FlusherSetting {
  const char* name;
  std::uint32_t interval_s, percent;
};
inline constexpr std::array kFlusherSettings{
    FlusherSetting{"30 s, 10 %", 30, 10}, FlusherSetting{"10 s, 10 %", 10, 10},
    FlusherSetting{"1 s, 10 %", 1, 10}, FlusherSetting{"1 s, 40 %", 1, 40}};

struct ServerChoice {
  Raid raid = Raid::raid0;
  Presto presto = Presto::none;
  Tuning tuning = Tuning::ufs;
  std::optional<std::uint64_t> size_bytes = {};  ///< nullopt to use the whole drives
  std::uint32_t flush_interval_s = 30, flush_percent = 10;
  bool flushes_by_age = false;  ///< only with fast fsck: fsflush also writes blocks by age
  /// Name of another ufs scheme in scheme_variants.h; empty to use the scheme of `tuning`.
  std::string scheme = {};
  /// True to use a map of busy groups (only with fast fsck). The paper considers such a map but
  /// does not implement it.
  bool busy_map = false;
  /// True to allocate from a hot spot (Reading::hot_spot). Only with UFS and bmap; fast fsck always
  /// does.
  bool hot_spot = false;
  // The following members are only for counterfactuals.
  bool marks_alone = false;  ///< only with fast fsck: the mark of each inode is a separate write
  /// Drives serve requests in order of arrival instead of C-LOOK order.
  bool drives_in_order = false;
  double processor = 1;                   ///< speed relative to the assumed processor
  std::optional<std::size_t> nfsds = {};  ///< nullopt selects the value of the parameter
  std::string group_size = "16M";
  /// Maximum request size of fsck or mkfs, in sectors.
  std::uint32_t check_sectors = kClusterSectors;
  /// Percentage of the load's writes that append.
  std::uint64_t append_percent = timed::laddis_load::kAppendPercent;
  std::string log_size = "0";  ///< size of the log of VxFS; "0" selects the default of mkfs
};

/// Returns the choice in this reading. Only UFS and bmap differ between the readings.
ServerChoice in_reading(ServerChoice choice, Reading reading);
ServerChoice with_flusher(ServerChoice choice, const FlusherSetting& setting);

/// Returns the name of the server, for example "RAID-5, Presto; fast fsck".
std::string name(const ServerChoice& choice);
/// Returns the options of the machine. Fails with Cell::kNotBuilt if the system is not implemented.
Result<ModelledMachineOptions> machine_of(const ServerChoice& choice);
os::TimeNs request_cpu_ns(const ServerChoice& choice);

/// Returns a key that identifies drives and format. Machines with the same key can start from the
/// same image.
std::string image_of(const ServerChoice& choice);

/// The images of file systems with file sets. Each image is created only once for all machines with
/// the same drives and format. It is kept as long as all images fit into kKeptBytes. Thread-safe:
/// if another thread is creating the image, callers wait for it. Sets exist only for a few loads
/// (kSets). A run gets the next larger set, and uses only the part that it needs. Each set extends
/// the next smaller one, so the image for a set does not depend on earlier requests.
class Images {
 public:
  static constexpr double kSets[] = {25, 100, 800, 1600, 3200};
  /// Returns options for the machine, including an image with a file set. By default, the set is
  /// the smallest one in kSets that suffices for this request rate, so that several rates share an
  /// image. If `exactly` is true, it is the set for exactly this rate. For a rate of 0, the file
  /// system is empty. Fails if the system is not built, or if mkfs or the file system fails.
  Result<ModelledMachineOptions> with_set(const ServerChoice& choice, double operations_per_s,
                                          bool exactly = false);

 private:
  static constexpr std::uint64_t kKeptBytes = 640 * kMib;
  using Image = std::shared_ptr<const MachineImage>;
  /// Returns the image with the file set for the rate `set`. If `set` is 0, the file system is
  /// empty.
  Result<Image> get(const ServerChoice& choice, double set);
  struct Kept {
    std::string key;
    Image image;  ///< null while a thread creates the image
  };
  /// Returns the image. If the result is null, the caller must create the image and then call
  /// keep() or give_up().
  Image find(const std::string& key);
  void keep(const std::string& key, Image image);
  void give_up(const std::string& key);
  /// Returns the amount of memory that the kept images use, including the images that they extend.
  std::uint64_t bytes_kept() const;

  std::mutex mutex_;
  std::condition_variable made_;
  std::deque<Kept> kept_;  ///< ordered from the most recently to the least recently used
};

}  // namespace headcrash::experiment::peacock98
