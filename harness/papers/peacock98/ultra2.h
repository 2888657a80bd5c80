#pragma once
// The server of Peacock, Kamaraju and Agrawal 1998, section 6.1: an Ultra-2 with two UltraSPARC-II
// at 300 MHz, 1 GB, 32 MB of NVRAM, eleven drives of 4.2 GB, Solaris 2.5.1.
//
//   processor   no cost of a single thing is printed. The table is that of the i486 at 33 MHz (../i486_33.h) divided by one
//               factor, the same in every cell: 40, an estimate: a 300 MHz UltraSPARC-II does about
//               20 times the work of that i486 on SPEC's integer programs, and there are two, here
//               as one processor of twice the speed. A request costs 100 us beside the file
//               system's own calls (RPC, XDR, UDP, driver; 60 000 cycles of one of them): an
//               estimate. A counterfactual has both moved by two
//   memory      900 MB for files of 1 GB: an estimate
//   arrays      netra-raid0, netra-raid5, with and without Presto (plugin/profiles/arrays); the whole of the drives, 44 and 40
//               GB, or 5 GB of them (section 6.4)
//   requests    as many at the array as there are; each drive takes its own in the order of C-LOOK, as sd's disksort does
//               (tagged queueing would choose by the angle, too: not modelled); clusters of 56 KiB,
//               ufs' maxcontig of 7 blocks of 8 KiB
//   fsck, mkfs one request after the other, of 56 KiB at most: INOBUFSIZE of BSD's fsck; for mkfs
//   the same is assumed
//   format      blocks of 8 KiB, fragments of 1 KiB, groups of 16 MB (section 5.1), an inode for each 2 KiB: newfs' default
//               in Solaris 2.5.1, and what 136 ms a group of a full check need (382 s / 2 816
//               groups: a megabyte of inodes)
//
// The systems, all on ufs:
//
//   UFS            Conventional, the last write of a series synchronous; a directory's files in its group; fsflush as a
//                  sweep of 30 s
//   bmap           that with the bmap cache
//   fast fsck      netra: busy marks, link tags, hot spot, flusher, lazy inodes. Nothing is written by its age but by the
//                  flusher: "periodic cache flushing disabled" (section 5.2)
//   bmap + fast fsck    both: what was sold
//   VxFS           a journal with data, commits in groups, in the file system's own device, in groups as large as their
//                  headers allow, since a log is in one of them; VxLD: on the twelfth drive, 16 MB,
//                  with an eighth of the NVRAM (an estimate). Veritas' own layout (extents) is not
//                  ours: peers of policy, on one format
//
// A system that ufs does not have is "not built" in every cell.

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

enum class Raid : std::uint8_t { raid0, raid5 };
enum class Presto : std::uint8_t { none, both, upper };

/// Of the group flusher, as figures 8 and 9 have them.
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
  std::optional<std::uint64_t> size_bytes = {};  ///< nothing: all of the drives
  std::uint32_t flush_interval_s = 30, flush_percent = 10;
  bool flushes_by_age = false;  ///< fast fsck: fsflush is on, too
  std::string scheme = {};      ///< not empty: another one of ufs' (scheme_variants.h)
  bool busy_map = false;        ///< fast fsck: a map of busy groups, which the paper only thinks of
  // Of counterfactuals.
  bool marks_alone = false;               ///< fast fsck: each inode's mark is a write of its own
  bool drives_in_order = false;           ///< no elevator: first come, first served
  double processor = 1;                   ///< times as fast
  std::optional<std::size_t> nfsds = {};  ///< nothing: as the parameter says
  std::string group_size = "16M";
  std::uint32_t check_sectors = kClusterSectors;  ///< of the longest request of fsck and mkfs
  std::uint64_t append_percent = timed::laddis_load::kAppendPercent;  ///< of the load's writes
  std::string log_size = "0";                                         ///< of VxFS; 0: mkfs' default
};

ServerChoice with_flusher(ServerChoice choice, const FlusherSetting& setting);

/// "RAID-5, Presto; fast fsck".
std::string name(const ServerChoice& choice);
/// An error: not built (Cell::kNotBuilt).
Result<ModelledMachineOptions> machine_of(const ServerChoice& choice);
/// Of a request, on that processor.
os::TimeNs request_cpu_ns(const ServerChoice& choice);

/// Of the drives and the format: machines with equal ones begin with the same image.
std::string image_of(const ServerChoice& choice);

/// Images of file systems with a set, each made once for all machines with the same drives and
/// format, and kept as long as they fit in kKeptBytes. From several threads: who asks for one that
/// another makes waits for it. A set is for the next of a few loads (kSets), of which a run uses
/// its share; each is grown from that for the load before, so that equal sets are equal images
/// whatever else was asked for.
class Images {
 public:
  static constexpr double kSets[] = {25, 100, 800, 1600, 3200};
  /// The machine's options with an image that has the set for so many requests a second at least;
  /// 0: nothing but the root. `exactly`: for so many. Errors: not built; what mkfs or the file
  /// system said.
  Result<ModelledMachineOptions> with_set(const ServerChoice& choice, double operations_per_s,
                                          bool exactly = false);

 private:
  static constexpr std::uint64_t kKeptBytes = 640 * kMib;
  using Image = std::shared_ptr<const MachineImage>;
  /// With the set for so many requests a second; 0: none.
  Result<Image> get(const ServerChoice& choice, double set);
  struct Kept {
    std::string key;
    Image image;  ///< null: being made
  };
  /// Null: it is the caller's to make, and to keep() or to give_up().
  Image find(const std::string& key);
  void keep(const std::string& key, Image image);
  void give_up(const std::string& key);
  /// Of memory, with the images that those kept are grown from.
  std::uint64_t bytes_kept() const;

  std::mutex mutex_;
  std::condition_variable made_;
  std::deque<Kept> kept_;  ///< the one asked for last is the first
};

}  // namespace headcrash::experiment::peacock98
