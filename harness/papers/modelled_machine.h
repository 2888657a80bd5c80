#pragma once
// A complete machine: emulated devices, a driver's queue, a processor with a cost table, a buffer
// cache, a syncer, and one of our file systems, which is mounted. The machine runs in virtual time
// on one thread, and equal options yield equal runs.
//
//   start()      mkfs and optionally a populated image, both outside of model time; power on; mount
//   cut()        power cut: users' calls fail, memory is lost, the content of the media remains
//   recover()    power on, a fresh system, repair if needed, mount: in model time, with CPU time
//
// The defaults are those of Ganger and Patt 1994, section 2, for every cell of that paper:
//
//   drive          hp-c2447, its write cache off: completion means durable; one request at a time
//   driver         C-LOOK. Adjacent blocks are concatenated up to a page of 4 KiB: table 1 counts
//                  31 574 requests for 4 x 14.3 MB read and written, that is, 3.6 KiB and 10 ms per
//                  request. SVR4 moves file data by pages, and its ufs leaves a gap of half a
//                  rotation after each block, so blocks of a file are rarely adjacent on its disk.
//                  Our ufs allocates without gaps; a driver with requests of 64 KiB would differ
//                  from the paper's. The part `gap` of the experiment has gaps and such a driver
//   memory         44 MB for the system: 8 MB for kernel and processes, and 36 MB for the buffer
//                  cache, of which copies (-CB) use at most 9.6 MB. SVR4 keeps file data in the
//                  virtual memory system, and metadata in a buffer cache with a limit (bufhwm). In
//                  its descendant Solaris, the maximum is a fifth of memory (Solaris Tunable
//                  Parameters Reference Manual); NCR's setting is unknown
//   syncer         every second it marks a thirtieth of the cache; the marked buffers are written
//                  at the next pass

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/os/model_disk.h"
#include "fs-adapters/system_under_test.h"
#include "harness/papers/i486_33.h"
#include "plugin/media/packed_store.h"
#include "plugin/model/core/null_observer.h"
#include "plugin/model/disk/disk_profile.h"
#include "plugin/model/faults/faults.h"
#include "plugin/profiles/build.h"

namespace headcrash::experiment {

/// A device in addition to the first one. If the system needs a log device
/// (SystemDescription::devices), the first additional device is the log. All other additional
/// devices are blank at the start.
struct MachineDisk {
  std::string profile;
  std::optional<std::uint64_t> size_bytes = {};  ///< nullopt to use the whole device
  bool write_cache = false;
};

/// The media of a machine that was formatted, populated and shut down. Other machines can start
/// from copies of these media if they have the same drives in the same array. NVRAM may differ. A
/// copy uses memory only for the sectors that the machine overwrites.
struct MachineImage {
  /// The media of all drives and flash devices, in the order of the devices' ids.
  std::vector<std::shared_ptr<const model::SectorStore>> leaves;
  // Set only in images created by image_of(): the sectors of each array, as its host reads them.
  std::vector<std::shared_ptr<const media::PackedStore>> arrays;
  std::uint64_t bytes = 0;  ///< size in memory, excluding parts shared with `grown_from`
  std::shared_ptr<const MachineImage> grown_from;
};

/// The media of a machine after a power cut. found_cut() starts a new machine from them.
struct CutMachine {
  /// One medium per drive, in the order of the drives' ids. If a drive has a battery-backed cache
  /// in front of it, the medium includes the cache's content.
  MachineImage media = {};
  /// Writes the contents of the battery-backed cache above the first device to `device`, at no cost
  /// in model time. Null if there is no such cache.
  std::function<Result<void>(model::SectorStore& device)> write_back = {};
  /// Model time between power-on and recover(). Data written back during this time is not part of
  /// the recovery.
  os::TimeNs start_ns = 0;
};

struct ModelledMachineOptions {
  /// The device of the file system: a drive, flash, an array, or NVRAM above one of these.
  std::string profile = "hp-c2447";
  std::optional<std::uint64_t> size_bytes = {};  ///< nullopt to use the whole device
  /// State of the drives' write caches. If the caches are on, the driver sends a flush after each
  /// write, and completes the write only after the flush.
  bool write_cache = false;
  /// If false, neither the driver nor the file system sends flushes, as in Linux 2.4, so a
  /// completed write may exist only in a volatile cache. A power cut then loses the cache's
  /// contents, including promised data.
  bool flushes = true;
  std::vector<MachineDisk> more_disks = {};
  /// The system to mount. The driver uses the ordering and the `block_copy` in the system's
  /// description.
  std::shared_ptr<const adapters::SystemUnderTest> system = {};
  adapters::Settings mkfs = {};  ///< override the mkfs settings in the system's description
  /// Creates a file system that wraps the mounted one and receives the users' calls. If this
  /// function is empty, users call the mounted file system directly.
  std::function<std::unique_ptr<Vfs>(Vfs&)> front = {};
  /// Fills the file system before the machine starts, without using processor or disk time. The
  /// file system is then cleanly unmounted. An error makes start() fail.
  std::function<VfsResult<void>(Vfs&)> populate = {};
  /// Alternative to `populate` for files that contain only zeroes. The callback periodically calls
  /// `forget_data`, which discards the dirty data of files, because the disk already contains
  /// zeroes. Must not be used with soft updates, which would wait for the discarded writes.
  std::function<VfsResult<void>(Vfs&, const std::function<void()>& forget_data)>
      populate_with_zeroes = {};
  /// An image created by image_of(). If it is set, start() runs neither mkfs nor `populate`, and
  /// image_of() runs only `populate` and returns an extension of this image.
  std::shared_ptr<const MachineImage> image = {};
  os::Schedule schedule = os::Schedule::c_look;
  /// Maximum number of requests that the driver keeps in flight at each device. Usually larger than
  /// 1 for an array.
  std::uint32_t outstanding = 1;
  std::vector<model::FaultSpec> faults = {};  ///< faults that exist before the first power-on
  /// Overrides the queue in every drive profile. The drives of an array also use this queue.
  std::optional<model::QueueProfile> drive_queue = {};
  /// Overrides ReadBufferProfile::write_segments of every drive.
  std::optional<std::uint32_t> write_segments = {};
  bool reads_first = false;  ///< DiskQueueOptions::reads_first, without a limit on reads in a row
  std::uint32_t concatenated_sectors = 8;
  std::uint64_t cache_bytes = 36 << 20;
  /// Cache size while an image is created. A small cache makes this faster, because it fits into
  /// the host's processor caches. nullopt selects `cache_bytes`.
  std::optional<std::uint64_t> image_cache_bytes = {};
  std::uint64_t copies_bytes = (48 << 20) / 5;  ///< BufferCacheOptions::copies_bytes
  std::uint64_t metadata_bytes = 0;             ///< BufferCacheOptions::metadata_bytes
  bool structures_count = false;                ///< BufferCacheOptions::structures_count
  bool lock_data = false;                       ///< BufferCacheOptions::lock_data
  os::SyncerOptions syncer = {};  ///< ignored if the system's description specifies its own
  /// Maximum request size, in sectors, of a repair and of mkfs in time_of_mkfs().
  std::uint32_t check_sectors = 128;
  os::CpuCosts costs = kI486At33Mhz;
  std::uint64_t seed = 1;  ///< seed for the devices; the workload has a separate seed
};

/// Returns options for a system in the registry (fs-adapters/registry.h). If the name is unknown,
/// the error lists all systems.
Result<ModelledMachineOptions> machine_with(std::string_view type, std::string_view system);

/// Conditions under which a file system is checked and repaired before it is mounted.
enum class Repair : std::uint8_t {
  /// Repair only if the mount fails. File systems that replay a journal during the mount are thus
  /// not checked.
  as_needed,
  always,  ///< check everything, even if the file system is mountable
  fast,    ///< check the parts that are marked busy; check everything if this is not sufficient
};

struct RecoveryStep {
  bool done = false;  ///< false if the step was unnecessary; the other members are then 0
  os::TimeNs elapsed_ns = 0, cpu_ns = 0, device_busy_ns = 0;
  std::uint64_t requests = 0, sectors = 0;  ///< counted at the disk, after concatenation
};
struct Recovery {
  /// If the first mount fails and a repair follows, `mount` contains only the second mount. The
  /// failed mount reads only a few blocks.
  RecoveryStep repair, mount;
  std::uint64_t findings = 0;  ///< number of findings that the repair reported
};

/// Counters for blocks of one kind that are written to NVRAM. A write that overlaps several cache
/// blocks counts once for each of them.
struct WriteHits {
  std::string_view kind;  ///< one of adapters::FileSystemType::block_kinds()
  std::uint64_t writes = 0;
  std::uint64_t block_hits = 0;  ///< writes to a block that was present and dirty
  /// Number of writes in `block_hits` that overlap the block's dirty range. They replace data that
  /// would otherwise have been written back. An append to a log hits the block, but not its dirty
  /// range.
  std::uint64_t dirty_hits = 0;
};

/// Position of the NVRAM: between the host and a device, or between an array and its members.
enum class NvramPlace : std::uint8_t { above, below };

inline double seconds_of(os::TimeNs ns) {
  return static_cast<double>(ns) / static_cast<double>(model::kSecondNs);
}

class ModelledMachine : private os::DiskTracer {
 public:
  /// Starts a machine. `options.system` must be set. Fails if the profile is invalid, or if mkfs,
  /// `populate` or the mount fails.
  static Result<std::unique_ptr<ModelledMachine>> start(const ModelledMachineOptions& options);
  /// Creates and populates a machine, shuts it down, and returns its image. If `options.image`
  /// matches the device and file system, this function extends that image: the result stores only
  /// the differences and keeps the other image alive. Fails if the profile is invalid, or if mkfs
  /// or `populate` fails.
  static Result<std::shared_ptr<const MachineImage>> image_of(
      const ModelledMachineOptions& options);
  /// Powers on a machine with these media, without mounting a file system. Call recover() next.
  /// Takes the same options as start(), except `image`. Fails if the profile is invalid, a drive
  /// has a different size, or an array does not start.
  static Result<std::unique_ptr<ModelledMachine>> found_cut(const ModelledMachineOptions& options,
                                                            const CutMachine& found);
  /// Returns the model time that mkfs takes on the machine's blank devices. Processor time is
  /// charged in the same way as for a repair.
  static Result<RecoveryStep> time_of_mkfs(const ModelledMachineOptions& options);
  ~ModelledMachine() override;
  ModelledMachine(const ModelledMachine&) = delete;
  ModelledMachine& operator=(const ModelledMachine&) = delete;

  /// Runs the daemons for at most `most_ns`, until nothing is dirty, delayed or in flight. Returns
  /// the time at which the last request completed, or now() if nothing was written. Fails if the
  /// machine does not become idle in time.
  Result<os::TimeNs> become_quiet(os::TimeNs most_ns = 600 * model::kSecondNs);

  // The following functions control the power. They must not be called on a fiber. Pending calls by
  // users fail.
  //
  // Cuts the power after `delay_ns`, while users work. Their calls fail from then on.
  void cut_after(os::TimeNs delay_ns);
  /// Cuts the power immediately, if it is on. Afterwards no user is active and no file system is
  /// mounted.
  void cut();
  bool has_power() const {
    return system_ != nullptr && built_.machine->power() == model::PowerState::on;
  }
  /// Recovers after cut(). The processor is charged for each request of a repair, and for each byte
  /// that the repair reads or writes (CpuCosts::clear_per_kib, an estimate for one pass over
  /// memory). Fails if the file system cannot be repaired or mounted; the machine is then unusable.
  Result<Recovery> recover(Repair repair);

  os::TimeNs now() const { return built_.machine->simulation().now(); }
  // The following functions require power.
  os::System& system() { return *system_; }
  Vfs& vfs() { return front_ ? *front_ : mounted_->vfs(); }
  /// Returns an additional device. Numbers start at 1 and follow the order of more_disks.
  os::BlockDevice& disk(std::size_t index) { return *disks_.at(index); }

  /// Returns the medium of the first device if it is a drive; null if it is an array, which has no
  /// single medium.
  const model::SectorStore* medium() const;
  /// Returns the sums of the counters over all drives and flash devices. Requests that a
  /// battery-backed cache absorbs do not reach these devices and are not counted.
  model::DeviceCounters device_counters() const;

  /// Returns the counters of all NVRAMs in this position, summed since the start.
  model::NvramCounters nvram_counters(NvramPlace place) const;
  /// Returns the counts since the first mount, summed over the NVRAMs of all devices, with one
  /// element per kind in the order of block_kinds(). A cached block has the kind of the running
  /// file system's last write to it. Blocks written by a repair, or while an image is loaded, count
  /// as `other`.
  std::vector<WriteHits> write_hits() const;
  /// Returns the first device or, if that is an NVRAM, the device below it. Returns null if the
  /// result would not be an array.
  const model::Array* array() const;

  /// Counters of the driver's requests since the last clear_trace(), as defined by Ganger and Patt
  /// 1994.
  struct Trace {
    std::uint64_t completed = 0;
    /// Sum of the response times of all issued requests. A response time is the time in the queue
    /// plus the time at the device.
    os::TimeNs response_ns = 0;
    os::TimeNs last_completed_at = 0;
  };
  const Trace& trace() const { return trace_; }
  void clear_trace();  ///< also clears the queue's counters

 private:
  explicit ModelledMachine(ModelledMachineOptions options) : options_(std::move(options)) {}
  enum class Contents : std::uint8_t {
    image,  ///< start with the image in the options, or with a new one
    grown,  ///< create an image, as an extension of the image in the options if there is one
    blank,
  };
  Result<void> assemble(Contents contents = Contents::image);
  Result<void> open_stores(const profiles::Plan& plan);
  Result<void> make_image(model::SectorStore& image, std::uint64_t second_sectors);
  Result<void> load(std::size_t device, const media::PackedStore& image);
  /// Calls `write` with a store that accesses the device. The duration of these requests is not
  /// part of any result.
  Result<void> write_uncounted(std::size_t device,
                               const std::function<Result<void>(model::SectorStore&)>& write);
  os::SystemOptions system_options() const;
  bool has_write_cache() const;
  void start_system();
  void end_system();
  Result<void> mount();
  Result<std::uint64_t> repair(bool fast);
  template <typename Body>
  Result<void> as_step(RecoveryStep& step, const Body& body);
  void issued(os::RequestId id, const os::BlockRequest& request,
              const os::Ordering& ordering) override;
  void completed(const os::DiskTrace& request) override;
  void count_kinds();

  // The members are declared from the bottom layer to the top layer, because each layer must
  // outlive the layers above it.
  ModelledMachineOptions options_;
  model::NullObserver observer_;
  /// Indexed by the id of a drive or flash device.
  std::map<model::DeviceId, std::unique_ptr<model::SectorStore>> stores_;
  /// Indexed by device. Each element contains the ids of the drives and flash devices below that
  /// device.
  std::vector<std::vector<model::DeviceId>> leaves_;
  /// Contents of the arrays, collected while this object creates an image (MachineImage::arrays).
  std::vector<std::shared_ptr<const media::PackedStore>> arrays_;
  profiles::BuiltMachine built_;
  std::vector<model::DeviceId> host_devices_;  ///< devices that the driver uses; index i is disk(i)
  /// Indexed by host device. Contains the kind of the last write to each range of kPlaceSectors
  /// sectors. Empty for devices that have no NVRAM above them.
  std::vector<std::vector<std::uint8_t>> kinds_;
  std::unique_ptr<os::VirtualClock> clock_;
  std::vector<std::unique_ptr<os::ModelDisk>> disks_;
  std::unique_ptr<os::System> system_;
  std::unique_ptr<adapters::MountedSystem> mounted_;
  std::unique_ptr<Vfs> front_;
  os::Account operator_{.name = "operator"};
  Trace trace_;
  /// Number of requests that were pending at the last clear_trace().
  std::uint64_t under_way_before_ = 0;
};

}  // namespace headcrash::experiment
