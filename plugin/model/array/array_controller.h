#pragma once
// The implementation of an Array. Each part of the class has its own file:
//
//   array_controller.cc host requests and their completion, power
//   array_members.cc    states of members and consequences of their failures
//   array_metadata.cc   superblocks, dirty flag, assembly at power-on
//   array_regions.cc    the map of dirty regions
//   array_read.cc       reads, including reconstruction of lost data
//   array_write.cc      writes of stripes
//   array_prewrite.cc   logging an update, rolling forward
//   array_background.cc rebuild, scrub, resync
//
// A host request is a coroutine (array_task.h). It waits with co_await and is resumed by its runner
// (array_runner.h). member_commands.h sends commands to members. power_cut() destroys all
// coroutines.

#include <deque>
#include <map>
#include <vector>

#include "plugin/model/array/array.h"
#include "plugin/model/array/array_runner.h"
#include "plugin/model/array/dirty_regions.h"
#include "plugin/model/array/member_commands.h"
#include "plugin/model/array/member_runs.h"
#include "plugin/model/array/prewrite_log.h"
#include "plugin/model/array/raid_layout.h"
#include "plugin/model/array/stripe_cache.h"
#include "plugin/model/array/stripe_locks.h"
#include "plugin/model/array/stripe_plan.h"
#include "plugin/model/array/superblock.h"
#include "plugin/model/core/aligned_buffer.h"
#include "plugin/model/core/busy_time.h"
#include "plugin/model/core/request_intake.h"

namespace headcrash::model {

class ArrayController final : private EventTarget, private FinishedRequests {
 public:
  ArrayController(ArrayOptions options, const RaidLayout& layout);
  ~ArrayController() override;
  /// Member functions are coroutines that this runner executes.
  operator CoroutineScope&() { return runner_; }  // NOLINT(google-explicit-constructor)

  /// Reads the superblocks, or writes them to blank members. Runs the simulation until the array is
  /// assembled.
  Result<void> assemble_now();

  void submit(const Request& request, Initiator& initiator);
  void power_cut();
  void power_on();
  void shut_down();

  ArrayStatus status() const;
  Result<void> fail_member(std::size_t index);
  Result<void> rebuild(std::size_t index);
  Result<void> scrub(bool repair);
  Result<void> accept_dirty_degraded();

  DeviceCounters counters() const;
  std::optional<TimeNs> quiet_since() const;

  const ArrayProfile profile;
  const RaidLayout layout;
  Characteristics characteristics;
  ArrayCounters array_counters;
  std::vector<std::unique_ptr<Device>> members;
  std::uint64_t rebuild_bytes_per_second = 0;

 private:
  // ---- array_controller.cc: host requests and waiting
  struct HostRequest : HostCommand {
    bool inside = false;
    Status status = Status::ok;
  };
  using Wait = ArrayRunner::Wait;
  using Join = ArrayRunner::Join;
  struct Lock {
    ArrayController& array;
    std::uint64_t first, last;
    bool await_ready() const { return array.locks_.try_lock(first, last); }
    void await_suspend(std::coroutine_handle<> waiter) { array.locks_.wait(first, last, waiter); }
    void await_resume() const {}
  };
  enum class Tag : std::uint64_t { idle, age };

  void on_event(std::uint64_t tag) override;
  void schedule(TimeNs at, Tag tag);
  void unlock(std::uint64_t first);
  bool any_finished() const override { return !finished_.empty(); }
  void deliver_finished() override;
  HostRequest& acquire_request(const HostCommand& command);
  void release_request(HostRequest& host);
  void finish(HostRequest& host, Status status);
  void update_busy();
  Detached serve(HostRequest& host);
  Task flush(HostRequest& host);
  static Breakdown sum_of(const Breakdown& a, const Breakdown& b);
  AlignedBuffer take_buffer(std::uint64_t sectors);

  // ---- array_members.cc
  using Batch = MemberCommands::Batch;
  void members_failed(std::uint64_t mask);
  bool alive(std::uint32_t member, std::uint64_t stripe) const {
    return states_[member] == MemberState::active ||
           (states_[member] == MemberState::rebuilding && stripe < rebuilt_stripes_);
  }
  std::uint64_t alive_members(std::uint64_t stripe) const;  ///< bit mask
  std::uint64_t lost_roles(std::uint64_t stripe) const;
  bool any_lost() const { return lost_members_ > 0; }
  bool broken() const;  ///< true if more members are lost than the RAID level tolerates
  std::string member_name(std::size_t index) const;
  void incident(const std::string& text);

  // ---- array_metadata.cc
  Task assemble();
  using Slots = std::vector<std::optional<Superblock>>;
  Task read_superblocks(Slots& found, std::uint64_t& dead);
  std::optional<Error> disagreement(const Slots& found, std::uint64_t dead,
                                    const Superblock& newest) const;
  void adopt(const Slots& found, std::uint64_t dead, const Superblock& newest);
  void make_new(std::uint64_t dead);
  Superblock superblock(std::uint32_t member) const;
  bool metadata_settled() const { return metadata_written_ >= metadata_wanted_; }
  void write_metadata_soon();
  Detached write_metadata();
  Task settle_metadata();
  Task make_dirty(std::uint64_t first, std::uint64_t last);
  bool is_marked_dirty() const { return want_dirty_ && dirty_durable_; }
  void consider_idle();
  Detached make_clean();
  Task recover();
  void refuse(const std::string& why);
  void begin_update();
  void start();
  Detached start_up();

  // ---- array_regions.cc
  Task mark_regions(std::uint64_t first, std::uint64_t last);
  void unmark_regions(std::uint64_t first, std::uint64_t last);
  void write_regions_soon();
  Detached write_regions();
  Task read_regions();
  void age_regions_later();
  Detached age_regions();

  // ---- array_read.cc
  Task read(HostRequest& host);
  std::uint32_t choose_mirror(std::uint64_t stripe, std::uint64_t lba) const;
  Detached read_lost(Join& join, std::uint64_t stripe, std::uint32_t role, RowRange rows,
                     std::byte* into);
  Task reconstruct(std::uint64_t stripe, std::uint32_t role, RowRange rows, std::byte* into);
  using UnknownRows = std::vector<bool>;  ///< one flag for each row of a stripe unit
  Task repair(std::uint64_t stripe, std::uint32_t role, RowRange rows, std::byte* into,
              UnknownRows* unknown);
  Task read_pieces(HostRequest& host);
  Task read_computed(HostRequest& host, std::uint64_t failed_members);

  // ---- array_write.cc
  struct Segment {
    std::uint64_t stripe = 0;
    std::uint32_t stripes = 0;
    /// Range of data sectors in the stripe; the whole stripe if stripes > 1.
    std::uint32_t lo = 0, hi = 0;
    std::uint64_t offset = 0;  ///< number of sectors of the request that precede the segment
  };
  Task write(HostRequest& host);
  Task write_striped(HostRequest& host);
  Task write_mirrors(HostRequest& host);
  Task write_stripes(HostRequest& host);
  void expect_marked(const Request& request) const;
  bool next_segment(const Request& request, std::uint64_t& done, Segment& segment) const;
  Detached write_full(Join& join, Request request, Segment segment);
  Detached write_partial(Join& join, Request request, Segment segment);
  void gather_full(const Request& request, const Segment& segment, std::byte* bytes) const;
  Task read_for_plan(std::uint64_t stripe, const StripePlan& plan, std::byte* bytes,
                     Breakdown& breakdown);
  void apply_plan(const Request& request, const Segment& segment, const StripePlan& plan,
                  std::uint64_t lost, std::byte* bytes) const;
  Status write_outcome(const Batch& batch, std::uint64_t stripe);
  void count_method(const StripePlan& plan);
  void remember(std::uint64_t stripe, const StripePlan& plan, const std::byte* bytes);
  Task trim(HostRequest& host);
  Task zero_edges(Request request);
  TimeNs parity_ns(std::uint64_t data_sectors) const;
  std::uint32_t full_run_max() const;
  void end_update();

  // ---- array_prewrite.cc
  bool logs() const {
    return profile.recovery == ArrayRecovery::prewrite && layout.parity > 0 && !layout.mirrored();
  }
  struct LogPart {
    std::uint64_t home = 0;
    std::uint32_t sectors = 0;
    const std::byte* bytes = nullptr;
  };
  using LogParts = std::array<LogPart, kArrayMembersMax>;
  Task log_update(const LogParts& parts, std::uint64_t stripe, std::uint64_t& sequence,
                  Breakdown& breakdown);
  void update_is_home(std::uint64_t sequence);
  /// An update that was found in the members' logs. FoundUpdates maps sequence numbers to updates.
  struct FoundUpdate {
    std::uint64_t seen = 0;   ///< mask of members that have a record of the update
    std::uint64_t whole = 0;  ///< mask of members whose record is intact
    std::uint64_t parts = 0;
    std::array<PrewriteHeader, kArrayMembersMax> records{};
  };
  using FoundUpdates = std::map<std::uint64_t, FoundUpdate>;
  Task scan_log(std::uint32_t member, FoundUpdates& found, std::uint64_t& tail);
  Task read_log(std::uint32_t member, std::byte* bytes, std::vector<bool>& unreadable);
  std::uint64_t stripe_of(const FoundUpdate& update) const;
  Task write_home(const FoundUpdate& update);
  Task roll_forward();

  // ---- array_background.cc
  enum class Background : std::uint8_t { none, rebuild, resync, scrub };
  Detached rebuild_member(std::uint32_t member, std::uint64_t from);
  Task note_progress(std::uint32_t member);
  void resume_background();
  Detached check_stripes(Background kind, bool repair_it);
  Task check_chunk(std::uint64_t stripe, std::uint32_t stripes, bool repair_it);
  /// A chunk of stripes that is locked and in memory during a parity check.
  struct CheckedChunk {
    std::uint64_t stripe = 0;
    std::uint32_t stripes = 0;
    AlignedBuffer bytes;  ///< the members' data, one member after the other
    AlignedBuffer right;  ///< the correct parity, one unit for each parity role
    /// For each stripe: the rows that are lost and cannot be reconstructed.
    std::vector<UnknownRows> unknown;
  };
  std::byte* place_in(CheckedChunk& chunk, std::uint32_t member, std::uint32_t i) const;
  Task read_chunk(CheckedChunk& chunk);
  bool check_rows(CheckedChunk& chunk, std::uint32_t i, RowRange rows, Batch* repairs);
  Task rebuild_chunk(std::uint32_t member, std::uint64_t stripe, std::uint32_t stripes);
  std::uint32_t chunk_stripes() const;
  TimeNs chunk_ns(std::uint64_t sectors) const;
  void background_ended(const std::string& text);

  Simulation& simulation_;
  Observer& observer_;
  const bool bytes_;
  const DeviceId device_;
  RequestIntake intake_;
  ArrayRunner runner_;
  MemberCommands commands_;
  const std::uint64_t seed_;
  bool volatile_ = false;    ///< at least one member has a volatile cache
  std::uint32_t align_ = 1;  ///< the largest physical sector size among the members

  BufferPool buffers_;
  std::deque<HostRequest> requests_;
  std::vector<HostRequest*> free_requests_;
  std::deque<HostRequest*> finished_;
  std::size_t inside_ = 0;
  bool started_ = false;  ///< recovery has progressed far enough to serve requests
  bool refusing_ = false;
  std::string refusal_;
  ArrayRunner::Waiters start_waiters_;
  BusyTime busy_;

  std::vector<MemberState> states_;
  std::uint32_t lost_members_ = 0;  ///< number of members that are not active
  /// On a member that is being rebuilt, only the stripes before this one are valid.
  std::uint64_t rebuilt_stripes_ = 0;
  /// Number of rebuilt stripes that the superblocks record. The data of these stripes is on the
  /// medium.
  std::uint64_t noted_stripes_ = 0;
  StripeLocks locks_;
  StripeCache cache_;

  std::uint64_t array_id_ = 0, events_ = 0, settled_events_ = 0;
  std::vector<std::uint32_t> next_slot_;  ///< next superblock slot of each member
  bool want_dirty_ = false, dirty_durable_ = false;
  bool unclean_ = false;  ///< parity may be inconsistent until a resync ends
  std::uint64_t metadata_wanted_ = 0, metadata_written_ = 0;
  bool metadata_busy_ = false;
  ArrayRunner::Waiters metadata_waiters_;
  DirtyRegions regions_;
  bool regions_busy_ = false;
  std::uint64_t regions_wanted_ = 0, regions_written_ = 0;
  ArrayRunner::Waiters region_waiters_;
  bool age_scheduled_ = false, ageing_ = false;
  std::uint64_t updates_inside_ = 0;  ///< number of writes in flight
  std::uint64_t updates_begun_ = 0;
  TimeNs last_update_at_ = 0;
  bool idle_scheduled_ = false, cleaning_ = false;
  std::optional<Error> assembly_error_;

  PrewriteLog log_;
  std::uint64_t adopted_tail_ = 0;  ///< log tail recorded in the superblocks at power-on
  /// True until the roll-forward is complete. Until then, superblocks must contain adopted_tail_ as
  /// the log's tail.
  bool before_roll_forward_ = false;
  ArrayRunner::Waiters log_waiters_;

  Background background_ = Background::none;
  std::uint64_t background_done_ = 0, background_total_ = 0;
  std::uint64_t mismatches_ = 0;  ///< stripes
  /// Number of rows that the last scrub or resync could not reconstruct.
  std::uint64_t unknown_rows_ = 0;
  bool abort_background_ = false;
};

}  // namespace headcrash::model
