#pragma once
// A disk drive: command overheads, a bus, a read buffer with read-ahead, a volatile write cache,
// and one mechanism. disk.cc has a diagram of a command's phases.

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/model/core/busy_time.h"
#include "plugin/model/core/device.h"
#include "plugin/model/core/platter.h"
#include "plugin/model/core/request_intake.h"
#include "plugin/model/disk/disk_profile.h"
#include "plugin/model/disk/drive_queue.h"
#include "plugin/model/disk/mechanism.h"
#include "plugin/model/disk/read_ahead.h"
#include "plugin/model/disk/read_segments.h"
#include "plugin/model/disk/write_cache.h"
#include "plugin/model/faults/faults.h"

namespace headcrash::model {

/// Options of a disk. The objects that they refer to must outlive the disk.
struct DiskOptions {
  const DiskProfile& profile;  ///< copied
  Simulation& simulation;
  Observer& observer;
  /// Null if only timing matters. Otherwise, the store must be at least as large as the disk.
  SectorStore* store = nullptr;
  DeviceId device = 0;
  std::uint64_t seed = 0;  ///< determines how sectors tear
  bool write_cache = false;
  /// If not 0, the disk has only its first `sectors` sectors.
  std::uint64_t sectors = 0;
  std::uint32_t spindle_phase_ppm = 0;  ///< angle at time 0, in millionths of a revolution
  DeviceFaults* faults = nullptr;       ///< null if there are no faults
  std::optional<Tear> tear = {};        ///< nullopt for the profile's value
};

class Disk final : public Device, private EventTarget {
 public:
  explicit Disk(const DiskOptions& options);

  const Characteristics& characteristics() const override { return characteristics_; }
  DeviceCounters counters() const override;
  void submit(const Request& request, Initiator& initiator) override;
  void power_cut() override;
  void power_on() override;
  bool watch_media(std::uint64_t lba, EventTarget& target, std::uint64_t tag) override;

  std::uint64_t cached_dirty_sectors() const { return cache_.held_sectors(); }
  /// Returns the time at which the disk became idle. A disk that is still writing back is not idle.
  /// Returns nullopt while it is busy.
  std::optional<TimeNs> quiet_since() const override {
    return cached_dirty_sectors() > 0 ? std::nullopt : busy_.idle_since();
  }

 private:
  struct Command : HostCommand {
    TimeNs begun_at = 0;  ///< time at which this command became the current one
    /// Time at which the scheduler accepted the command. From then on, the command is decoded while
    /// it waits.
    TimeNs accepted_at = kNever;
    bool after_write = false;  ///< the preceding command was a write
    Status status = Status::ok;
    bool lies = false;  ///< the flush is acknowledged but not executed
  };
  /// The event for which the current command waits.
  enum class Stage : std::uint8_t { idle, timed, mechanism, media, room, clean };
  enum class Tag : std::uint64_t { done, media_done, idle, begin };
  enum class MediaUser : std::uint8_t { none, host_read, host_write, destage };

  void on_event(std::uint64_t tag) override;
  void schedule(TimeNs at, Tag tag);

  void accept_commands(std::size_t served);
  void choose_next();
  void begin_next();
  void begin_command();
  void begin_read();
  void begin_write();
  void begin_flush();
  void begin_trim();
  bool meets_fault(Command& command);
  bool is_dead();
  Status read_medium(const Request& request);
  void schedule_watch();
  void finish_at(TimeNs at);
  TimeNs cost_of(const ByPrevious& cost) const;
  TimeNs write_command_ns() const;
  TimeNs bus_ns_of_write() const;
  bool received_in_queue() const;
  void finish();

  void use_mechanism();  ///< starts the host command's access; waits if a destage is in flight
  void stop_read_ahead();
  void cut_short_media_write();
  OffsetPs arm_ready_ps(TimeNs command_ns) const;
  void plan_access(const Transfer& transfer);
  void account(Command& command, TimeNs done, OffsetPs ready_ps, TimeNs command_ns) const;
  void start_media_read();
  void start_media_write();
  void media_done();
  std::span<const Extent> extents_in_flight() const;
  Extent extent_of(const Request& request) const;
  bool uses_cache(const Request& request) const;
  bool continues_stream(const Request& request) const;
  void consider_destage();
  std::uint64_t next_destage_lbn() const;
  void start_destage();
  void update_busy();

  const DiskProfile profile_;
  Simulation& simulation_;
  const bool write_cache_on_;
  RequestIntake intake_;
  DeviceFaults* const faults_;
  Characteristics characteristics_;

  Mechanism mechanism_;
  DriveScheduler scheduler_;
  ReadAhead read_ahead_;
  ReadSegments read_segments_;   ///< earlier reads
  ReadSegments write_segments_;  ///< earlier writes
  WriteCache cache_;
  Platter platter_;

  /// Holds the current command, then the commands from which the scheduler may choose (in the order
  /// of candidates_), then the commands that have not been accepted yet.
  std::list<Command> queue_;
  std::list<Command> free_commands_;  ///< reusable commands, to avoid allocations
  std::vector<Candidate> candidates_;
  /// Element i belongs to candidates_[i].
  std::vector<std::list<Command>::iterator> candidate_commands_;
  /// The oldest command that has not been accepted; end() if all have been accepted.
  std::list<Command>::iterator first_waiting_;
  Stage stage_ = Stage::idle;
  MediaUser media_user_ = MediaUser::none;
  MediaAccess planned_;  ///< the media operation in flight
  Extent through_;       ///< extent of a write in flight that bypasses the cache
  TimeNs arm_free_at_ = 0;
  /// Time from which the bus and a buffer segment are free for the data of a write in the queue.
  TimeNs bus_free_at_ = 0;
  std::uint64_t last_lbn_ = 0;  ///< C-LOOK continues upwards from this LBN
  bool last_was_write_ = false;

  /// The LBN after the last sector of the host's last write.
  std::uint64_t write_end_ = ~std::uint64_t{0};
  /// True if the host's last write began where the previous one ended.
  bool streaming_ = false;
  TimeNs media_write_ended_at_ = kNever;
  /// True while destaging continues until the cache is clean. A command that needs the mechanism
  /// takes precedence.
  bool destaging_ = false;
  /// Increases with each command, which invalidates older idle timers.
  std::uint64_t idle_epoch_ = 0;
  BusyTime busy_;

  struct Watch {
    std::uint64_t lba;
    EventTarget* target;
    std::uint64_t tag;
  };
  std::optional<Watch> watch_;
};

}  // namespace headcrash::model
