#pragma once
// Serves a machine's hardware to one guest in virtual time, and owns the clock of both.
//
// A guest (user-mode Linux with time-travel=ext:SOCKET) computes in no time at all. When it has
// nothing left to do it says until when it would sleep, and waits. Then the machine's events happen
// one after the other, up to that instant: what they complete is handed to the guest, which may
// want to run now; otherwise time is what it wanted, and it runs. Guest and machine never run
// together, so that the same guest on the same machine does the same, to the nanosecond.
//
// A guest that reads its clock lets time pass, by as much as reading it takes. So that it does not
// have to ask each time, it is told how long nothing will happen in the machine (`free_until`);
// when it notifies a disk it says what time it has come to, and what it has begun may shorten that.
//
//   SOCKET          the machine's first disk (vhost-user-blk)     SOCKET.NAME    each of the others
//   SOCKET.mark     4 KiB that take marks                         SOCKET.port    the agent's disk (agent_disk.h)
//   SOCKET.time     the guest's clock (message.h)                 SOCKET.agent   the agent, for the host: its lines
//
// With a charge the processor's time counts, too: the machine's clock goes on by what the guest has
// used of the host's processor, times a factor, whenever it kicks a disk or waits. What it sends is
// sent that much later, and what completes meanwhile is handed to it when it has stopped computing.
// The guest's own clock follows: a kernel accepts no other time than that of its next timer while
// it waits, and the machine's with an interrupt. So timers that became due while the guest computed
// happen first, each at its own instant, and then an interrupt brings the guest to the machine's
// time. What depends on the host's processor is not the same twice.
//
// Time stands still while the agent waits for the host: what the host does in between takes no
// time. What the agent says is held back until then, so that the host does nothing about it
// earlier. Time stands still while the power is off, too; and a guest whose power has gone does
// nothing any more, also when it is on again.
//
// One thread serves all of it, since all of it has to happen in one order.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "plugin/base/descriptor.h"
#include "plugin/base/listening_socket.h"
#include "plugin/base/processor_claim.h"
#include "plugin/base/result.h"
#include "plugin/base/virtual_guest.h"
#include "plugin/servers/timetravel/agent_disk.h"
#include "plugin/servers/timetravel/guest_disk.h"
#include "plugin/servers/timetravel/hardware.h"
#include "plugin/servers/timetravel/message.h"
#include "plugin/servers/timetravel/processor_time.h"

namespace headcrash::timetravel {

struct CalendarOptions {
  /// Of the host's time, that a guest may compute in one instant of its own: then it loops, and is
  /// given up.
  std::chrono::milliseconds compute_limit{120'000};
  /// Kicks that a guest may send within kicks that are not acknowledged yet; each takes a frame of
  /// the stack. One more ends the guest.
  std::size_t nested_kicks_most = 64;
  std::int64_t time_of_day_ns = virtual_guest::kTimeOfDayNs;
  /// Nanoseconds for each that the guest computes; 0: computing takes no time.
  double charge = 0;
  /// Instead of the guest's processes: nanoseconds that it has computed since the last call.
  std::function<std::int64_t()> processor_ns;
};

class Calendar {
 public:
  /// Lines about guests that were given up; from the calendar's thread.
  using Log = std::function<void(const std::string&)>;

  /// Listens for the disks of these names. REQUIRES: there are no other threads yet.
  static Result<std::unique_ptr<Calendar>> listen(const std::filesystem::path& socket,
                                                  const std::vector<std::string>& disks);
  ~Calendar();
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;

  /// Serves `hardware`, which has those disks and must outlive this. Error: no thread can be
  /// started.
  Result<void> start(Hardware& hardware, const CalendarOptions& options, Log log);
  /// The guest is disconnected, its requests end in the machine. The sockets' files are gone then.
  void stop();

  const std::vector<std::filesystem::path>& disk_sockets() const { return disk_paths_; }
  const std::filesystem::path& mark_socket() const { return mark_path_; }
  const std::filesystem::path& port_socket() const { return port_path_; }
  const std::filesystem::path& time_socket() const { return time_path_; }
  const std::filesystem::path& agent_socket() const { return agent_path_; }

 private:
  Calendar() = default;
  void make_disks();
  void run();
  void wait_for_input();
  void take_input();
  void give_back(GuestDisk& disk);
  bool can_go_on();
  bool tell_host_and_stop();
  void go_on();
  void run_guest(model::TimeNs time);
  /// What the guest has computed takes its time in the machine.
  void charge();
  bool charges() const { return options_.charge > 0; }
  /// It runs, at a time before the machine's: it has computed since then.
  bool is_behind() const { return charges() && !waiting_ && guest_time_ < hardware_->now(); }
  /// Until when the guest may run by itself.
  model::TimeNs horizon() const;
  void submitted(GuestDisk& disk);
  void shorten_horizon();
  void accept_guest();
  void end_guest();
  void give_up(const Error& why);

  void on_time();
  void on_message(const Message& message);
  bool pass_to(std::uint64_t time);
  void answer(std::uint32_t sequence, std::uint64_t time);
  /// Messages of our own, together.
  void tell(std::initializer_list<std::pair<Op, model::TimeNs>> messages);
  void send(std::span<const std::byte> bytes);
  void on_disk(GuestDisk& disk);
  void on_channel(GuestDisk& disk);
  void on_host();
  void send_to_host();

  std::vector<std::filesystem::path> disk_paths_;
  std::filesystem::path mark_path_, port_path_, time_path_, agent_path_;
  std::vector<base::ListeningSocket> sockets_;  ///< of disks, marks, the port; until start()
  base::ListeningSocket time_listener_, agent_listener_;
  base::Descriptor stop_;
  Hardware* hardware_ = nullptr;
  CalendarOptions options_;
  Log log_;
  std::thread thread_;

  // The thread's own:
  std::vector<std::unique_ptr<GuestDisk>> disks_;
  AgentDisk agent_;
  base::Descriptor time_, host_;
  base::ProcessorClaim processor_;  ///< of guest and thread, which take turns
  std::array<std::byte, kMessageBytes> pending_ = {};
  std::size_t pending_bytes_ = 0;
  bool waiting_ = false;  ///< the guest has nothing to do before `requested_`
  model::TimeNs requested_ = model::kNever;
  model::TimeNs free_until_ = 0;  ///< what the guest was told last
  std::uint64_t told_ = 0;        ///< its time, which the guest has said last
  model::TimeNs guest_time_ = 0;  ///< at which it runs, as far as it is known here
  std::optional<ProcessorTime> processor_time_;
  std::uint32_t sequence_ = 0;    ///< of our own messages
  std::uint32_t unanswered_ = 0;  ///< so many of them, the last ones
  bool stopping_ = false;
  std::size_t waiting_within_ = 0;  ///< calls of wait_for_input() that have not returned
  bool sleeps_forever_ = false;     ///< it was said
  std::uint64_t cuts_ = 0;          ///< of the power, when the guest came: one more, and it is dead
  std::string for_host_;
};

}  // namespace headcrash::timetravel
