#pragma once
// The implementation of a battery-backed cache, shared by nvram.cc (requests) and
// nvram_write_back.cc (write-back, battery, power).

#include <deque>
#include <optional>
#include <vector>

#include "plugin/base/random.h"
#include "plugin/model/core/busy_time.h"
#include "plugin/model/core/request_intake.h"
#include "plugin/model/nvram/nvram.h"
#include "plugin/model/nvram/nvram_blocks.h"

namespace headcrash::model {

struct Nvram::State final : EventTarget {
  enum class Event : std::uint64_t { serviced, idle };
  static constexpr unsigned kEventBits = 1;
  struct Command : HostCommand {
    bool decoded = false;  ///< command_ns has passed for the command
    bool waited = false;
  };
  enum class Route : std::uint8_t { nothing, cache, through, read, outside, flush };
  enum class Job : std::uint8_t { destage, read, through, pass };
  /// A request to the device below. The device uses the request's buffers until completion, so
  /// requests are pooled and never move.
  struct BackendRequest final : Initiator {
    explicit BackendRequest(State& owner) : state(owner) {}
    void completed(const Completion& completion) override {
      state.backend_request_done(*this, completion);
    }
    State& state;
    Job job = Job::pass;
    bool busy = false;
    bool flushing = false;  ///< the request is the flush that follows a trim
    std::uint64_t generation = 0;
    Command command;    ///< unset for a destage
    SectorRange range;  ///< the part of the cached range that the request affects
    SectorRange hull;   ///< read: the range that is requested from the device below
    /// For a read: the cached parts of `hull`. Their data is in `bytes`.
    std::vector<SectorRange> kept;
    bool in_pieces = false;  ///< read: reading the whole hull failed with medium_error
    /// If in_pieces: the uncached parts of `hull` that have not been read yet.
    std::deque<SectorRange> gaps;
    std::vector<std::byte> bytes;
  };

  explicit State(NvramOptions&& options);

  // ---- nvram.cc: requests
  void submit(const Request& request, Initiator& initiator);
  Route route(const Request& request) const;
  SectorRange inside(const Request& request) const;
  bool may_start(const Command& command) const;
  void begin_next();
  void serviced();
  void serve(Command command);
  void copy_in(Command& command, std::uint32_t sectors);
  void wait(Command command, bool first);
  void read(Command command);
  bool read_goes_on(BackendRequest& backend, Status status);
  void lay_kept_over(const BackendRequest& backend) const;
  void send_through(Command command);
  void send_flush(Command command);
  void pass(Command command);
  void retry_waiting();
  void finish(const Command& command, Status status);
  void pump();

  // ---- nvram.cc: requests to the device below
  BackendRequest& take_backend_request(Job job);
  void send(BackendRequest& backend, const Request& request);
  void backend_request_done(BackendRequest& backend, const Completion& completion);
  void through_done(BackendRequest& backend, Status status);
  bool locked(const SectorRange& range) const;

  // ---- nvram_write_back.cc: write-back
  bool destage_wanted();
  void consider_destage();
  std::optional<SectorRange> next_destage() const;
  SectorRange joined(SectorRange run) const;
  void destage_done(const SectorRange& range, Status status);

  // ---- nvram_write_back.cc: battery, power, events
  void refresh_battery();
  void power_cut();
  void power_on();
  void keep_part_of_copy();
  void lose_contents(const char* why);
  void schedule(TimeNs at, Event event);
  void on_event(std::uint64_t tag) override;
  void update_busy();

  const NvramProfile profile;
  Simulation& simulation;
  Observer& observer;
  const std::unique_ptr<Device> below;
  const bool has_bytes;
  const DeviceId device;
  RequestIntake intake;
  DeviceFaults* const faults;
  SectorRange range;
  bool below_volatile = false;
  Characteristics characteristics;
  NvramCounters nvram_counters;
  NvramKindOf kind_of;  ///< empty if kinds are not counted
  NvramKinds kinds = {};
  NvramBlocks blocks;

  std::deque<Command> queue;
  std::optional<Command> current;  ///< the command in the copy engine
  TimeNs copy_from = 0;            ///< time at which the copying of `current` begins
  std::deque<Command> waiting;     ///< waiting writes, in arrival order
  std::deque<Command> flushes;     ///< flushes that wait until the cache is empty (battery dead)
  std::deque<BackendRequest> backend_requests;
  std::vector<BackendRequest*> free_backend_requests;
  /// Requests in flight that bypass the cache and lock their range.
  std::vector<BackendRequest*> through;
  std::uint32_t destages_in_flight = 0;

  BatteryState battery = BatteryState::ok;
  /// True if write-back has begun at the high-water mark. It then continues down to the low-water
  /// mark.
  bool draining = false;
  bool idle_draining = false;  ///< write-back is running because the host is idle
  bool shutting_down = false;  ///< a shutdown requires write-back until nothing is dirty
  bool store_failed = false;
  TimeNs off_since = 0;
  std::uint64_t idle_epoch = 0;
  Random random;
  BusyTime busy;
};

}  // namespace headcrash::model
