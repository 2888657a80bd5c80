#pragma once
// One machine, whole: emulated devices, a driver's queue, a processor with a cost table, a buffer
// cache, a syncer, and a file system of ours mounted on it. All of it in virtual time, on one
// thread, and the same from the same options.
//
//   start()      mkfs and, if wanted, a populated image, both outside of model time; power on; mount
//   cut()        the power goes: users' calls fail, memory is gone, what is on the media stays
//   recover()    power on, a fresh system, repair if it is needed, mount: in model time, with its CPU time
//
// The defaults are those of Ganger and Patt 1994, section 2, the same in every cell of that paper:
//
//   drive          hp-c2447, its write cache off: completion means durable; one request at a time
//   driver         C-LOOK. It concatenates what is adjacent up to a page, 4 KiB: table 1 counts 31 574 requests
//                  for 4 x 14.3 MB read and written, 3.6 KiB each, and 10 ms each; SVR4 moves file
//                  data by pages and its ufs puts a gap of half a rotation behind each block, so
//                  that blocks of a file are seldom adjacent on its disk. Ours allocates without
//                  gaps; a driver that made 64 KiB of them would not be the paper's (the experiment
//                  shows what it would do).
//   memory         44 MB for the system: 8 MB are kernel and processes, 36 MB the buffer cache; copies (-CB) take
//                  9.6 MB of it at most. SVR4 keeps file data with the virtual memory system and
//                  metadata in a buffer cache with a limit (bufhwm), which in its descendant
//                  Solaris can be set to a fifth of memory and no more (Solaris Tunable Parameters
//                  Reference Manual); what NCR's was is not known
//   syncer         each second a thirtieth of the cache, marked at one pass and written at the next

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

/// A device beside the first one. That of a log, where the system wants one
/// (SystemDescription::devices), is the first of them; all others are blank at the start.
struct MachineDisk {
  std::string profile;
  std::optional<std::uint64_t> size_bytes = {};  ///< nothing: all of it
  bool write_cache = false;
};

/// The media of a machine that was made, populated and shut down: machines with the same drives in
/// the same array, with or without NVRAM, may begin with copies of them, each of which costs what
/// it writes.
struct MachineImage {
  std::vector<std::shared_ptr<const model::SectorStore>> leaves;  ///< in the order of their ids
  // Of those made by image_of():
  std::vector<std::shared_ptr<const media::PackedStore>>
      arrays;               ///< of each device that is an array: what its host sees
  std::uint64_t bytes = 0;  ///< of memory, without what it shares with `grown_from`
  std::shared_ptr<const MachineImage> grown_from;
};

/// What a power cut has left of a machine that was another process's, for found_cut().
struct CutMachine {
  /// Of each drive, in the order of their ids. What a battery-backed cache in front of a drive had
  /// kept is in it.
  MachineImage media = {};
  /// Writes again what the battery-backed cache above the first device had kept; empty: there is
  /// none. Requests take no time that counts.
  std::function<Result<void>(model::SectorStore& device)> write_back = {};
  os::TimeNs start_ns =
      0;  ///< from then to recover(): what a cache writes back meanwhile is not the recovery's
};

struct ModelledMachineOptions {
  /// Where the file system is: a drive, flash, an array, or NVRAM over one.
  std::string profile = "hp-c2447";
  std::optional<std::uint64_t> size_bytes = {};  ///< nothing: all of it
  /// Of its drives. When on, a write is complete for the driver only after a flush, which it sends
  /// itself.
  bool write_cache = false;
  /// Off: neither the driver nor the file system sends flushes, as in Linux 2.4, and completion is
  /// believed. What a write cache holds is then lost in a cut, whatever was promised.
  bool flushes = true;
  std::vector<MachineDisk> more_disks = {};
  /// What is mounted. The order that it relies on in the driver, and block_copy, are its own
  /// description's.
  std::shared_ptr<const adapters::SystemUnderTest> system = {};
  adapters::Settings mkfs = {};  ///< on top of what the system's description asks for
  /// What users call instead of the mounted file system: something that stands before it. Nothing:
  /// itself.
  std::function<std::unique_ptr<Vfs>(Vfs&)> front = {};
  /// Fills the file system before the machine is there: on a processor and a disk that take no
  /// time. What it leaves is unmounted as clean. An error ends start().
  std::function<VfsResult<void>(Vfs&)> populate = {};
  /// Instead, for files that hold zeroes only: `forget_data`, called now and then, keeps their data
  /// from being written to a disk that has them already. Not for soft updates, which would wait for
  /// these writes.
  std::function<VfsResult<void>(Vfs&, const std::function<void()>& forget_data)>
      populate_with_zeroes = {};
  /// Made by ModelledMachine::image_of(). start(): then neither mkfs nor `populate` is run;
  /// image_of(): mkfs is not, and `populate` adds to what is there.
  std::shared_ptr<const MachineImage> image = {};
  os::Schedule schedule = os::Schedule::c_look;
  std::uint32_t outstanding = 1;  ///< requests at each device at a time: more than one for an array
  std::vector<model::FaultSpec> faults = {};  ///< there before the first power-on
  /// Of all its drives, instead of their profiles': below an array it is the driver's queue that
  /// orders them.
  std::optional<model::QueueProfile> drive_queue = {};
  std::uint32_t concatenated_sectors = 8;
  std::uint64_t cache_bytes = 36 << 20;
  /// While an image is made: a small one is faster, since the host's own caches hold it. Nothing:
  /// cache_bytes.
  std::optional<std::uint64_t> image_cache_bytes = {};
  std::uint64_t copies_bytes = (48 << 20) / 5;  ///< BufferCacheOptions::copies_bytes
  std::uint64_t metadata_bytes = 0;             ///< BufferCacheOptions::metadata_bytes
  bool structures_count = false;                ///< BufferCacheOptions::structures_count
  os::SyncerOptions syncer = {};                ///< unless the system's description has its own
  std::uint32_t check_sectors =
      128;  ///< the longest request of a repair, and of mkfs in model time
  os::CpuCosts costs = kI486At33Mhz;
  std::uint64_t seed = 1;  ///< of the devices; the workload has its own
};

/// Options with a system of the registry (fs-adapters/registry.h). Errors name all there are.
Result<ModelledMachineOptions> machine_with(std::string_view type, std::string_view system);

/// When a file system is checked and repaired before it is mounted again.
enum class Repair : std::uint8_t {
  as_needed,  ///< when the mount refuses it: a journal that recovers at the mount is not checked
  always,     ///< to full consistency, whatever the mount would say
  fast,  ///< always, by a check of what the image says was busy; all of it where that is not enough
};

/// One step of a recovery.
struct RecoveryStep {
  bool done = false;  ///< false: it was not needed, and the rest is 0
  os::TimeNs elapsed_ns = 0, cpu_ns = 0, device_busy_ns = 0;
  std::uint64_t requests = 0, sectors = 0;  ///< as the disk saw them, after concatenation
};
struct Recovery {
  RecoveryStep repair, mount;  ///< a mount that was refused, a look at a few blocks, is in neither
  std::uint64_t findings = 0;  ///< of the repair
};

/// Blocks written in NVRAM, of one kind. A write counts once for each of the cache's blocks that it
/// touches.
struct WriteHits {
  std::string_view kind;  ///< of adapters::FileSystemType::block_kinds()
  std::uint64_t writes = 0;
  std::uint64_t block_hits = 0;  ///< of them: to a block that was there, and dirty
  std::uint64_t dirty_hits =
      0;  ///< ... and in what was written: less to be written back. A log that continues in a
          ///< block hits the block, and not what it writes
};

/// Where NVRAM is: between the host and a device, or between an array and its members.
enum class NvramPlace : std::uint8_t { above, below };

inline double seconds_of(os::TimeNs ns) {
  return static_cast<double>(ns) / static_cast<double>(model::kSecondNs);
}

class ModelledMachine : private os::DiskTracer {
 public:
  /// `options.system` must be there. Errors: the profile's, mkfs's, populate's and mount's.
  static Result<std::unique_ptr<ModelledMachine>> start(const ModelledMachineOptions& options);
  /// Made, populated, and shut down. With an `image`, which has what the device and the file system
  /// say, it is grown: what differs costs memory, and the other image lives as long. Errors: as
  /// start()'s, but for the mount's.
  static Result<std::shared_ptr<const MachineImage>> image_of(
      const ModelledMachineOptions& options);
  /// Powered on over these media, with nothing mounted: recover() is to follow. Options as for
  /// start(), without `image`. Errors: the profile's; a drive of another size; an array that does
  /// not start.
  static Result<std::unique_ptr<ModelledMachine>> found_cut(const ModelledMachineOptions& options,
                                                            const CutMachine& found);
  /// What mkfs takes on the machine's blank devices, in model time, charged as a repair.
  static Result<RecoveryStep> time_of_mkfs(const ModelledMachineOptions& options);
  ~ModelledMachine() override;
  ModelledMachine(const ModelledMachine&) = delete;
  ModelledMachine& operator=(const ModelledMachine&) = delete;

  /// Lets daemons work until nothing is dirty, put off or under way, for `most_ns` at most. When
  /// the last request was complete, or now() if nothing has been written since the call; an Error
  /// when it is never quiet.
  Result<os::TimeNs> become_quiet(os::TimeNs most_ns = 600 * model::kSecondNs);

  // Power. Not from a fiber; users that are still at work have seen their calls fail.
  /// The cut comes so much later, while users are at work: what they ask for fails from then on.
  void cut_after(os::TimeNs delay_ns);
  /// The power goes now, if it has not gone. Nobody is at work any more, nothing is mounted.
  void cut();
  bool has_power() const {
    return system_ != nullptr && built_.machine->power() == model::PowerState::on;
  }
  /// After cut(). Charged as the machine's: each request of a repair, and a look at every byte that
  /// it reads or writes (CpuCosts::clear_per_kib for each KiB: an estimate of a pass over memory).
  /// An Error: it cannot be repaired or mounted, and the machine is of no more use.
  Result<Recovery> recover(Repair repair);

  os::TimeNs now() const { return built_.machine->simulation().now(); }
  // While it has power.
  os::System& system() { return *system_; }
  Vfs& vfs() { return front_ ? *front_ : mounted_->vfs(); }
  /// Of a device beside the first one, from 1, in the order of more_disks.
  os::BlockDevice& disk(std::size_t index) { return *disks_.at(index); }

  /// The first device's bytes as a host would read them from a drive; null for an array, whose
  /// bytes are on its members.
  const model::SectorStore* medium() const;
  /// Sums over all drives and flash devices, whatever is in front of them.
  model::DeviceCounters device_counters() const;

  /// Sums over all NVRAM at that place, since the start.
  model::NvramCounters nvram_counters(NvramPlace place) const;
  /// Sums over all NVRAM above devices, since the file system was first mounted: one for each kind,
  /// in the order of block_kinds(). What is in the cache is known by the last write to that place,
  /// of the file system at work; a repair's and a populated image's are `other`.
  std::vector<WriteHits> write_hits() const;
  /// The first device, or what is below its NVRAM; null: no array.
  const model::Array* array() const;

  /// What the driver's trace said since the last clear_trace(): each request issued, the paper's
  /// way.
  struct Trace {
    std::uint64_t completed = 0;
    os::TimeNs response_ns = 0;  ///< sum over what was issued: queue and access
    os::TimeNs last_completed_at = 0;
  };
  const Trace& trace() const { return trace_; }
  void clear_trace();  ///< and the queue's counters

 private:
  explicit ModelledMachine(ModelledMachineOptions options) : options_(std::move(options)) {}
  enum class Contents : std::uint8_t {
    image,  ///< the options' image, or one that is made
    grown,  ///< one that is made, of the options' image if there is one
    blank,
  };
  Result<void> assemble(Contents contents = Contents::image);
  Result<void> open_stores(const profiles::Plan& plan);
  Result<void> make_image(model::SectorStore& image, std::uint64_t second_sectors);
  Result<void> load(std::size_t device, const media::PackedStore& image);
  /// `write` on the device, by requests whose time does not count.
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

  // From the bottom up; what is below outlives what is above.
  ModelledMachineOptions options_;
  model::NullObserver observer_;
  std::map<model::DeviceId, std::unique_ptr<model::SectorStore>> stores_;  ///< of each leaf
  std::vector<std::vector<model::DeviceId>> leaves_;  ///< those below each device
  std::vector<std::shared_ptr<const media::PackedStore>>
      arrays_;  ///< MachineImage::arrays, of an image made here
  profiles::BuiltMachine built_;
  std::vector<model::DeviceId> host_devices_;  ///< those that the driver sees: disk(i)
  /// Of each of them with NVRAM above: what was last written, by kPlaceSectors.
  std::vector<std::vector<std::uint8_t>> kinds_;
  std::unique_ptr<os::VirtualClock> clock_;
  std::vector<std::unique_ptr<os::ModelDisk>> disks_;
  std::unique_ptr<os::System> system_;
  std::unique_ptr<adapters::MountedSystem> mounted_;
  std::unique_ptr<Vfs> front_;
  os::Account operator_{.name = "operator"};
  Trace trace_;
  std::uint64_t under_way_before_ = 0;  ///< issued before the last clear_trace(), complete after it
};

}  // namespace headcrash::experiment
