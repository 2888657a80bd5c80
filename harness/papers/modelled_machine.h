#pragma once
// A complete machine: emulated devices, a driver's queue, a processor with a cost table, a buffer
// cache, a syncer, and one of our file systems mounted on it. It runs in virtual time on one
// thread, and equal options give equal runs.
//
//   start()      mkfs and optionally a populated image, both outside of model time; power on; mount
//   cut()        power cut: users' calls fail, memory is lost, the content of the media remains
//   recover()    power on, a fresh system, repair if needed, mount: in model time, with CPU time
//
// The defaults are those of Ganger and Patt 1994, section 2, for every cell of that paper:
//
//   drive          hp-c2447, its write cache off: completion means durable; one request at a time
//   driver         C-LOOK. Adjacent blocks are concatenated up to a page, 4 KiB: table 1 counts 31
//                  574 requests for 4 x 14.3 MB read and written, 3.6 KiB each, and 10 ms each.
//                  SVR4 moves file data by pages, and its ufs leaves a gap of half a rotation after
//                  each block, so blocks of a file are rarely adjacent on its disk. Ours allocates
//                  without gaps; a driver with requests of 64 KiB would differ from the paper's
//                  (the experiment shows the effect).
//   memory         44 MB for the system: 8 MB for kernel and processes, 36 MB for the buffer cache;
//                  copies (-CB) take at most 9.6 MB of it. SVR4 keeps file data in the virtual
//                  memory system and metadata in a buffer cache with a limit (bufhwm). In its
//                  descendant Solaris, the maximum is a fifth of memory (Solaris Tunable Parameters
//                  Reference Manual); NCR's setting is unknown
//   syncer         every second it marks a thirtieth of the cache, which it writes at the next pass

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

/// A device in addition to the first one. A log device, if the system has one
/// (SystemDescription::devices), is the first of them; all others are blank at the start.
struct MachineDisk {
  std::string profile;
  std::optional<std::uint64_t> size_bytes = {};  ///< nullopt for the whole device
  bool write_cache = false;
};

/// The media of a machine that was formatted, populated and shut down. Machines with the same
/// drives in the same array, with or without NVRAM, may start with copies; each copy costs memory
/// only for its writes.
struct MachineImage {
  std::vector<std::shared_ptr<const model::SectorStore>> leaves;  ///< in the order of their ids
  // Only in images created by image_of():
  /// Content of each array, as its host sees it.
  std::vector<std::shared_ptr<const media::PackedStore>> arrays;
  std::uint64_t bytes = 0;  ///< in memory, without parts shared with `grown_from`
  std::shared_ptr<const MachineImage> grown_from;
};

/// The state left by a power cut on another process's machine, for found_cut().
struct CutMachine {
  /// One medium per drive, in the order of their ids. Includes the content of a battery-backed
  /// cache in front of a drive.
  MachineImage media = {};
  /// Rewrites the content of the battery-backed cache above the first device; empty if none. The
  /// time of its requests is not counted.
  std::function<Result<void>(model::SectorStore& device)> write_back = {};
  /// Model time until recover(). Write-back during this time is not part of the recovery.
  os::TimeNs start_ns = 0;
};

struct ModelledMachineOptions {
  /// The device of the file system: a drive, flash, an array, or NVRAM above one.
  std::string profile = "hp-c2447";
  std::optional<std::uint64_t> size_bytes = {};  ///< nullopt for the whole device
  /// Write cache of the drives. If on, the driver completes a write only after a flush, which it
  /// sends itself.
  bool write_cache = false;
  /// If false, neither the driver nor the file system sends flushes, as in Linux 2.4, and
  /// completion is trusted. A cut then loses the content of a write cache, whatever was promised.
  bool flushes = true;
  std::vector<MachineDisk> more_disks = {};
  /// The mounted system. Its description sets the driver's ordering and block_copy.
  std::shared_ptr<const adapters::SystemUnderTest> system = {};
  adapters::Settings mkfs = {};  ///< in addition to those of the system's description
  /// Wraps the mounted file system in another one that users call; empty for none.
  std::function<std::unique_ptr<Vfs>(Vfs&)> front = {};
  /// Fills the file system before the machine starts, on a processor and a disk that take no time.
  /// The file system is then cleanly unmounted. An error ends start().
  std::function<VfsResult<void>(Vfs&)> populate = {};
  /// Alternative for files of zeroes only. Occasional calls of `forget_data` prevent writing their
  /// data to a disk that already has it. Not for soft updates, which would wait for these writes.
  std::function<VfsResult<void>(Vfs&, const std::function<void()>& forget_data)>
      populate_with_zeroes = {};
  /// Image created by ModelledMachine::image_of(). With it, start() runs neither mkfs nor
  /// `populate`; image_of() skips mkfs, and `populate` adds to the content.
  std::shared_ptr<const MachineImage> image = {};
  os::Schedule schedule = os::Schedule::c_look;
  std::uint32_t outstanding = 1;  ///< requests at each device at a time; more than one for an array
  std::vector<model::FaultSpec> faults = {};  ///< present before the first power-on
  /// Overrides the queue of all drives' profiles. Below an array, the driver's queue orders
  /// requests.
  std::optional<model::QueueProfile> drive_queue = {};
  std::uint32_t concatenated_sectors = 8;
  std::uint64_t cache_bytes = 36 << 20;
  /// Cache size while an image is created; a small one is faster, because it fits the host's
  /// caches. nullopt for cache_bytes.
  std::optional<std::uint64_t> image_cache_bytes = {};
  std::uint64_t copies_bytes = (48 << 20) / 5;  ///< BufferCacheOptions::copies_bytes
  std::uint64_t metadata_bytes = 0;             ///< BufferCacheOptions::metadata_bytes
  bool structures_count = false;                ///< BufferCacheOptions::structures_count
  os::SyncerOptions syncer = {};                ///< unless the system's description sets its own
  std::uint32_t check_sectors = 128;  ///< Longest request of a repair, and of mkfs in model time.
  os::CpuCosts costs = kI486At33Mhz;
  std::uint64_t seed = 1;  ///< of the devices; the workload has its own
};

/// Returns options with a system of the registry (fs-adapters/registry.h). Errors list all systems.
Result<ModelledMachineOptions> machine_with(std::string_view type, std::string_view system);

/// When to check and repair a file system before the mount.
enum class Repair : std::uint8_t {
  as_needed,  ///< if the mount refuses it; a journal that recovers at mount is not checked
  always,     ///< to full consistency, even if mountable
  fast,       ///< always check the parts marked busy, and everything if that is insufficient
};

/// One step of a recovery.
struct RecoveryStep {
  bool done = false;  ///< false if not needed; the other members are then 0
  os::TimeNs elapsed_ns = 0, cpu_ns = 0, device_busy_ns = 0;
  std::uint64_t requests = 0, sectors = 0;  ///< at the disk, after concatenation
};
struct Recovery {
  RecoveryStep repair, mount;  ///< exclude a refused mount, which reads a few blocks
  std::uint64_t findings = 0;  ///< of the repair
};

/// Blocks of one kind written to NVRAM. A write counts once for each block of the cache that it
/// touches.
struct WriteHits {
  std::string_view kind;  ///< one of adapters::FileSystemType::block_kinds()
  std::uint64_t writes = 0;
  std::uint64_t block_hits = 0;  ///< of these, to a block that was present and dirty
  /// Writes of `block_hits` that are also within the dirty range, which reduces the write-back. A
  /// continued log hits the block, but not its written range.
  std::uint64_t dirty_hits = 0;
};

/// The place of NVRAM: between the host and a device, or between an array and its members.
enum class NvramPlace : std::uint8_t { above, below };

inline double seconds_of(os::TimeNs ns) {
  return static_cast<double>(ns) / static_cast<double>(model::kSecondNs);
}

class ModelledMachine : private os::DiskTracer {
 public:
  /// `options.system` is required. Fails like the profile, mkfs, populate and mount.
  static Result<std::unique_ptr<ModelledMachine>> start(const ModelledMachineOptions& options);
  /// Creates, populates and shuts down a machine, and returns its image. With an `image` that
  /// matches device and file system, the image is extended: only differences cost memory, and the
  /// other image stays alive. Fails like start(), except for the mount.
  static Result<std::shared_ptr<const MachineImage>> image_of(
      const ModelledMachineOptions& options);
  /// Powers on a machine over these media without mounting; call recover() next. Options are those
  /// of start() without `image`. Fails like the profile, for a drive of a different size, and for
  /// an array that does not start.
  static Result<std::unique_ptr<ModelledMachine>> found_cut(const ModelledMachineOptions& options,
                                                            const CutMachine& found);
  /// Returns the model time of mkfs on the machine's blank devices, charged like a repair.
  static Result<RecoveryStep> time_of_mkfs(const ModelledMachineOptions& options);
  ~ModelledMachine() override;
  ModelledMachine(const ModelledMachine&) = delete;
  ModelledMachine& operator=(const ModelledMachine&) = delete;

  /// Lets daemons run until nothing is dirty, delayed or in flight, for at most `most_ns`. Returns
  /// the completion time of the last request, or now() if nothing has been written since the call.
  /// Fails if the machine never becomes idle.
  Result<os::TimeNs> become_quiet(os::TimeNs most_ns = 600 * model::kSecondNs);

  // Power functions. Not callable from a fiber. The calls of active users fail.
  /// Cuts the power after this delay while users work. Their calls fail from then on.
  void cut_after(os::TimeNs delay_ns);
  /// Cuts the power now, if still on. No user is active afterwards, and nothing is mounted.
  void cut();
  bool has_power() const {
    return system_ != nullptr && built_.machine->power() == model::PowerState::on;
  }
  /// Recovers after cut(). Each request of a repair, and the processing of each byte that it reads
  /// or writes, is charged to the machine (CpuCosts::clear_per_kib per KiB: an estimate of one pass
  /// over memory). Fails if the file system cannot be repaired or mounted; the machine is then
  /// unusable.
  Result<Recovery> recover(Repair repair);

  os::TimeNs now() const { return built_.machine->simulation().now(); }
  // The following require power.
  os::System& system() { return *system_; }
  Vfs& vfs() { return front_ ? *front_ : mounted_->vfs(); }
  /// Returns an additional device, numbered from 1 in the order of more_disks.
  os::BlockDevice& disk(std::size_t index) { return *disks_.at(index); }

  /// Returns the bytes of the first device as a host would read them from a drive; null for an
  /// array, whose bytes are on its members.
  const model::SectorStore* medium() const;
  /// Returns sums over all drives and flash devices, below any cache.
  model::DeviceCounters device_counters() const;

  /// Returns sums over all NVRAM at that place since the start.
  model::NvramCounters nvram_counters(NvramPlace place) const;
  /// Returns sums over all NVRAM above devices since the first mount, one for each kind in the
  /// order of block_kinds(). The kind of cached data is that of the running file system's last
  /// write to its place. Writes of a repair or a populated image are `other`.
  std::vector<WriteHits> write_hits() const;
  /// Returns the first device, or the device below its NVRAM; null if it is not an array.
  const model::Array* array() const;

  /// The driver's trace since the last clear_trace(): each issued request, counted as in the paper.
  struct Trace {
    std::uint64_t completed = 0;
    os::TimeNs response_ns = 0;  ///< sum over issued requests: queue and access
    os::TimeNs last_completed_at = 0;
  };
  const Trace& trace() const { return trace_; }
  void clear_trace();  ///< also clears the queue's counters

 private:
  explicit ModelledMachine(ModelledMachineOptions options) : options_(std::move(options)) {}
  enum class Contents : std::uint8_t {
    image,  ///< the image in the options, or a new one
    grown,  ///< a new one, extending the image in the options if any
    blank,
  };
  Result<void> assemble(Contents contents = Contents::image);
  Result<void> open_stores(const profiles::Plan& plan);
  Result<void> make_image(model::SectorStore& image, std::uint64_t second_sectors);
  Result<void> load(std::size_t device, const media::PackedStore& image);
  /// Calls `write` on the device; the time of its requests is not counted.
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

  // From the bottom up; lower layers outlive higher ones.
  ModelledMachineOptions options_;
  model::NullObserver observer_;
  std::map<model::DeviceId, std::unique_ptr<model::SectorStore>> stores_;  ///< of each leaf
  std::vector<std::vector<model::DeviceId>> leaves_;  ///< those below each device
  /// MachineImage::arrays, of an image created here.
  std::vector<std::shared_ptr<const media::PackedStore>> arrays_;
  profiles::BuiltMachine built_;
  std::vector<model::DeviceId> host_devices_;  ///< those that the driver sees: disk(i)
  /// For each of these with NVRAM above: the kinds of the last writes, by kPlaceSectors.
  std::vector<std::vector<std::uint8_t>> kinds_;
  std::unique_ptr<os::VirtualClock> clock_;
  std::vector<std::unique_ptr<os::ModelDisk>> disks_;
  std::unique_ptr<os::System> system_;
  std::unique_ptr<adapters::MountedSystem> mounted_;
  std::unique_ptr<Vfs> front_;
  os::Account operator_{.name = "operator"};
  Trace trace_;
  std::uint64_t under_way_before_ = 0;  ///< pending at the last clear_trace()
};

}  // namespace headcrash::experiment
