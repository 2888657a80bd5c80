#pragma once
// One machine of the past, whole: an emulated drive, a driver's queue, a processor with a cost table, a
// buffer cache, a syncer, and a freshly made ufs mounted with one ordering scheme. All of it in virtual time,
// on one thread, and the same from the same options.
//
// The defaults are those of Ganger and Patt 1994, section 2, the same in every cell:
//
//   drive          hp-c2447, its write cache off: completion means durable; one request at a time
//   driver         C-LOOK. It concatenates what is adjacent up to a page, 4 KiB: table 1 counts 31 574
//   requests
//                  for 4 x 14.3 MB read and written, 3.6 KiB each, and 10 ms each; SVR4 moves file data by
//                  pages and its ufs puts a gap of half a rotation behind each block, so that blocks of a
//                  file are seldom adjacent on its disk. Ours allocates without gaps; a driver that made 64
//                  KiB of them would not be the paper's (the experiment shows what it would do).
//   file system    blocks of 4 KiB for the same reason (and table 1 has 51 419 - 36 075 requests that
//                  initialise 2 140 files: 7.2 for a file of 26.7 KB), fragments of 1 KiB, the whole drive
//   last write     of a series of updates, on which nothing depends: asynchronous. Section 6.1 leaves it open
//                  ("asynchronous or delayed"); table 1 does not: Conventional has 36 075 - 31 574 = 4 501
//                  requests more than No Order, 2.0 for each of the 2 140 files and 108 folders that are
//                  made: the inode's and the directory's block
//   memory         44 MB for the system: 8 MB are kernel and processes, 36 MB the buffer cache; copies (-CB)
//   take
//                  9.6 MB of it at most. SVR4 keeps file data with the virtual memory system and metadata in
//                  a buffer cache with a limit (bufhwm), which in its descendant Solaris can be set to a
//                  fifth of memory and no more (Solaris Tunable Parameters Reference Manual); what NCR's was
//                  is not known
//   syncer         each second a thirtieth of the cache, marked at one pass and written at the next

#include <functional>
#include <memory>

#include "fs-adapters/os/model_disk.h"
#include "fs-adapters/ufs/file_system.h"
#include "harness/experiment/i486_33.h"
#include "plugin/media/memory_store.h"
#include "plugin/model/null_witness.h"
#include "plugin/profiles/build.h"

namespace headcrash::experiment {

struct ModelledMachineOptions {
  std::string profile = "hp-c2447";  ///< a drive, or NVRAM over one
  ufs::SchemeKind scheme = ufs::SchemeKind::no_order;
  ufs::SchemeOptions scheme_options = {.last_write = ufs::LastWrite::asynchronous};
  os::Schedule schedule = os::Schedule::c_look;
  os::FlagMeaning flag = os::FlagMeaning::ignore;
  bool reads_bypass = false;  ///< -NR
  bool block_copy = false;    ///< -CB
  std::uint32_t concatenated_sectors = 8;
  std::uint32_t block_bytes = 4096;
  std::uint32_t fragment_bytes = 1024;
  std::uint64_t cache_bytes = 36 << 20;
  std::uint64_t copies_bytes = (48 << 20) / 5;  ///< BufferCacheOptions::copies_bytes
  os::SyncerOptions syncer = {};
  os::CpuCosts costs = kI486At33Mhz;
  std::uint64_t seed = 1;  ///< of the drive; the workload has its own
};

class ModelledMachine : private os::DiskTracer {
 public:
  /// Errors: mkfs's and mount's, among them a scheme that does not exist (is_missing_scheme).
  static Result<std::unique_ptr<ModelledMachine>> start(const ModelledMachineOptions& options);
  ~ModelledMachine() override;
  ModelledMachine(const ModelledMachine&) = delete;
  ModelledMachine& operator=(const ModelledMachine&) = delete;

  /// Lets daemons work until nothing is dirty, put off or under way, for `most_ns` at most. When the last
  /// request was complete, or now() if nothing has been written since the call; an Error when it is never
  /// quiet.
  Result<os::TimeNs> become_quiet(os::TimeNs most_ns = 600 * model::kSecondNs);

  os::TimeNs now() const { return system_->executor.now(); }
  os::System& system() { return *system_; }
  ufs::FileSystem& file_system() { return *file_system_; }
  const model::SectorStore& medium() const { return *store_; }
  model::DeviceCounters device_counters() const;  ///< the drive's, whatever is in front of it

  /// What the driver's trace said since the last clear_trace(): each request issued, the paper's way.
  struct Trace {
    std::uint64_t completed = 0;
    os::TimeNs response_ns = 0;  ///< sum over what was issued: queue and access
    os::TimeNs last_completed_at = 0;
  };
  const Trace& trace() const { return trace_; }
  void clear_trace();  ///< and the queue's counters

 private:
  ModelledMachine() = default;
  Result<void> assemble(const ModelledMachineOptions& options);
  void completed(const os::DiskTrace& request) override;

  // From the bottom up; what is below outlives what is above.
  model::NullWitness witness_;
  std::unique_ptr<media::MemoryStore> store_;
  profiles::BuiltMachine built_;
  std::size_t drive_ = 0;  ///< its place among the built devices
  std::unique_ptr<os::VirtualClock> clock_;
  std::unique_ptr<os::ModelDisk> device_;
  std::unique_ptr<os::System> system_;
  std::unique_ptr<ufs::FileSystem> file_system_;
  os::Account operator_{.name = "operator"};
  Trace trace_;
  std::uint64_t under_way_before_ = 0;  ///< issued before the last clear_trace(), complete after it
};

/// The scheme has a name and no code yet: a cell of it is "not built", which is no failure.
bool is_missing_scheme(const Error& error);

}  // namespace headcrash::experiment
