#pragma once
// The implementation of a flash device, shared by flash.cc (commands) and flash_nand.cc (LUNs,
// programs, power).

#include <deque>
#include <optional>
#include <vector>

#include "plugin/model/core/busy_time.h"
#include "plugin/model/core/platter.h"
#include "plugin/model/core/request_intake.h"
#include "plugin/model/flash/flash.h"
#include "plugin/model/flash/flash_buffer.h"

namespace headcrash::model {

struct Flash::State final : EventTarget {
  enum class Event : std::uint64_t {
    begin,
    arrived,
    sensed,
    sent,
    delivered,
    finish,
    programmed,
    trimmed,
    idle
  };
  struct Command : HostCommand {
    bool active = false;
    Status status = Status::ok;
    bool lies = false;  ///< a flush or FUA is acknowledged but not executed
    /// Read: number of parts (pages, and ranges in the buffer) that have not been delivered yet.
    std::uint32_t parts_left = 0;
    std::uint32_t admitted = 0;  ///< write: number of sectors that are in the buffer
    /// A write or flush waits for all units with sequence numbers up to this one.
    std::uint64_t sequence = 0;
  };
  /// The read of one page, for one command.
  struct PageRead {
    std::uint32_t command = 0;
    std::uint32_t lun = 0;
    std::uint32_t sectors = 0;
  };
  struct Lun {
    static constexpr std::uint32_t kProgram = ~std::uint32_t{0};
    bool busy = false;
    std::deque<std::uint32_t> queue;  ///< indices of page reads; kProgram for a program
    std::optional<FlashProgram> program;
    TimeNs program_begins = kNever;  ///< time at which the data to be programmed is in the register
  };

  explicit State(const FlashOptions& options);

  // ---- flash.cc: commands
  void submit(const Request& request, Initiator& initiator);
  void start_commands();
  void start(std::uint32_t index);
  void begin(std::uint32_t index);
  void begin_read(std::uint32_t index);
  void delivered(std::uint32_t index);
  void admit_all();
  bool admit(std::uint32_t index);
  void trim(std::uint32_t index);
  void wait_for_programs(std::uint32_t index);
  void finish(std::uint32_t index);
  Status read_medium(const Request& request);
  bool is_trim(const Request& request) const;
  bool must_be_programmed(const Request& request) const;
  Extent extent_of(const Request& request) const;
  TimeNs over_host_link(std::uint64_t sectors);

  // ---- flash_nand.cc: LUNs, programs, power
  void start_lun(std::uint32_t index);
  void sensed(std::uint32_t read);
  void sent(std::uint32_t read);
  TimeNs over_channel(std::uint32_t lun, std::uint32_t sectors);
  bool program_wanted() const;
  bool is_dead();
  void consider_programs();
  std::optional<std::uint32_t> lun_for_program();
  void programmed(std::uint32_t lun);
  void buffer_emptied();
  std::uint64_t oldest() const;
  void power_cut();
  void cut_short(const FlashProgram& program);
  void power_on();

  void schedule(TimeNs at, Event event, std::uint64_t index = 0);
  void on_event(std::uint64_t tag) override;
  void update_busy();

  const FlashProfile profile;
  Simulation& simulation;
  Observer& observer;
  const DeviceId device;
  RequestIntake intake;
  const bool cache_on;
  DeviceFaults* const faults;
  const TimeNs program_ns;  ///< time for one page, including its share of the block's erase time
  Characteristics characteristics;
  FlashBuffer buffer;
  Platter platter;

  std::deque<Command> queue;  ///< commands that have not been started
  std::vector<Command> commands;
  std::vector<std::uint32_t> free_commands;
  std::vector<PageRead> reads;
  std::vector<std::uint32_t> free_reads;
  std::deque<std::uint32_t> room_waiting, program_waiting, trim_waiting;
  std::vector<Lun> luns;
  std::vector<TimeNs> channel_free_at;
  TimeNs host_free_at = 0;
  std::uint32_t next_lun = 0;  ///< where the round-robin search for a LUN to program continues
  std::uint32_t programs = 0;  ///< number of programs that are running or queued on LUNs

  /// True after some time without a write. Partial pages are then programmed, as well as full ones.
  bool quiet = false;
  std::uint64_t idle_epoch = 0;  ///< increases with each write, which invalidates older idle timers
  std::uint64_t armed_for = ~std::uint64_t{0};
  BusyTime busy;
};

}  // namespace headcrash::model
