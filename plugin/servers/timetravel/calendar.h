#pragma once
// Serves a machine's hardware to one guest in virtual time, and owns the clock of both.
//
// A guest (user-mode Linux with time-travel=ext:SOCKET) computes in zero time. When it is idle, it
// reports its next timer and waits. Then the machine's events run one by one, up to the time of the
// timer. If an event completes a request, the completion is handed to the guest, which may then
// run. Otherwise time advances to the timer, and the guest runs. Guest and machine never run at the
// same time, so the same guest on the same machine gives the same run, to the nanosecond.
//
// A guest that reads its clock advances time by the cost of the read. To avoid a message for each
// read, the reply contains the time before which the machine has no event (`free_until`). When the
// guest notifies a disk, it also reports its time. The new requests may make free_until earlier.
//
//   SOCKET          the machine's first disk (vhost-user-blk)   SOCKET.NAME    each other disk
//   SOCKET.mark     a 4 KiB disk that accepts marks             SOCKET.port    the agent's disk
//   SOCKET.time     the guest's clock (message.h)               SOCKET.agent   lines of the agent
//
// Optionally, processor time is charged (CalendarOptions::charge). Whenever the guest kicks a disk
// or waits, the machine's clock then advances by the host processor time that the guest has used,
// times a factor. The guest's requests are delayed by this time, and completions during this time
// are handed over when the guest has stopped computing. The guest's own clock follows the
// machine's. A waiting kernel accepts only the time of its next timer or, with an interrupt, the
// machine's time. Timers that became due while the guest was computing therefore fire first, each
// at its own instant. Then an interrupt sets the guest to the machine's time. These results are not
// reproducible, because processor time is measured on the host.
//
// Time stops while the agent is waiting for the host, so the host's work takes no model time. The
// agent's text is held back until the agent waits, so the host cannot react earlier. Time also
// stops while the power is off. A guest whose power was cut never runs again, even after a
// power-on.
//
// A single thread serves all sockets, so that there is one order of all events.

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
  /// Maximum host time for which a guest may compute at one instant of model time. A guest that
  /// exceeds this limit is assumed to be in an endless loop, and is disconnected. This is a last
  /// resort, since the harness has a shorter limit for each step. A program that neither sleeps nor
  /// waits for a disk can take minutes on a busy host.
  std::chrono::milliseconds compute_limit{600'000};
  /// Maximum depth of nested kicks, that is, of kicks that are sent before the previous one is
  /// acknowledged. Each nested kick takes a stack frame. A guest that exceeds the limit is
  /// disconnected.
  std::size_t nested_kicks_most = 64;
  std::int64_t time_of_day_ns = virtual_guest::kTimeOfDayNs;
  /// Nanoseconds of model time that are charged for each nanosecond that the guest computes; 0 if
  /// computing takes no model time.
  double charge = 0;
  /// Returns the processor time in nanoseconds that the guest has used since the last call. If this
  /// function is empty, the calendar measures the guest's processes instead.
  std::function<std::int64_t()> processor_ns;
};

class Calendar {
 public:
  /// Receives, on the calendar's thread, log lines about disconnected guests.
  using Log = std::function<void(const std::string&)>;

  /// Listens for disks with these names. REQUIRES: the process has no other threads yet.
  static Result<std::unique_ptr<Calendar>> listen(const std::filesystem::path& socket,
                                                  const std::vector<std::string>& disks);
  ~Calendar();
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;

  /// Serves `hardware`, which must have the disks passed to listen() and outlive this object. Fails
  /// if no thread can be started.
  Result<void> start(Hardware& hardware, const CalendarOptions& options, Log log);
  /// Disconnects the guest. The guest's requests still complete in the machine. Removes the socket
  /// files.
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
  bool can_advance();
  bool flush_host_and_stop();
  void advance();
  void run_guest(model::TimeNs time);
  /// Adds the charge for the guest's processor time to the machine's clock.
  void charge();
  bool charges() const { return options_.charge > 0; }
  /// Returns true if the guest's time is behind the machine's, because the guest has been charged
  /// for computing.
  bool is_behind() const { return charges() && !waiting_ && guest_time_ < hardware_->now(); }
  /// Returns the time up to which the guest may run before it must contact the calendar again.
  model::TimeNs horizon() const;
  void submitted(GuestDisk& disk);
  void shorten_horizon();
  void accept_guest();
  void end_guest();
  void give_up(const Error& why);

  void on_time();
  void on_message(const Message& message);
  bool advance_guest_to(std::uint64_t time);
  void answer(std::uint32_t sequence, std::uint64_t time);
  /// Sends several messages to the guest's clock at once.
  void send_all(std::initializer_list<std::pair<Op, model::TimeNs>> messages);
  void send(std::span<const std::byte> bytes);
  void on_disk(GuestDisk& disk);
  void on_channel(GuestDisk& disk);
  void on_host();
  void send_to_host();

  std::vector<std::filesystem::path> disk_paths_;
  std::filesystem::path mark_path_, port_path_, time_path_, agent_path_;
  /// Sockets of the disks, the mark disk and the agent's disk, in this order. Empty after start().
  std::vector<base::ListeningSocket> sockets_;
  base::ListeningSocket time_listener_, agent_listener_;
  base::Descriptor stop_;
  Hardware* hardware_ = nullptr;
  CalendarOptions options_;
  Log log_;
  std::thread thread_;

  // ---- used only by the thread
  std::vector<std::unique_ptr<GuestDisk>> disks_;
  AgentDisk agent_;
  base::Descriptor time_, host_;
  base::ProcessorClaim processor_;  ///< shared by the guest and this thread, which take turns
  std::array<std::byte, kMessageBytes> pending_ = {};
  std::size_t pending_bytes_ = 0;
  bool waiting_ = false;  ///< the guest has nothing to do before `requested_`
  model::TimeNs requested_ = model::kNever;
  model::TimeNs free_until_ = 0;     ///< the time in the last free_until message
  std::uint64_t reported_time_ = 0;  ///< the latest time that the guest has reported
  /// model time that the guest has reached, as far as the calendar knows
  model::TimeNs guest_time_ = 0;
  std::optional<ProcessorTime> processor_time_;
  std::uint32_t sequence_ = 0;  ///< sequence number of the calendar's messages
  /// Number of the calendar's latest messages that the guest has not acknowledged yet.
  std::uint32_t unanswered_ = 0;
  bool stopping_ = false;
  std::size_t waiting_within_ = 0;  ///< nesting depth of wait_for_input()
  bool sleeps_forever_ = false;     ///< the log already says that the guest sleeps forever
  /// Number of power cuts when the guest connected. If the current number differs, the guest's
  /// power has been cut.
  std::uint64_t cuts_ = 0;
  std::string for_host_;
};

}  // namespace headcrash::timetravel
