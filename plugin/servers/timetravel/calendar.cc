#include "plugin/servers/timetravel/calendar.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <exception>
#include <system_error>
#include <utility>

#include "plugin/base/errno_text.h"
#include "plugin/base/invariant.h"
#include "plugin/servers/vhost/machine_server.h"

namespace headcrash::timetravel {
namespace {

using model::TimeNs;

/// Maximum number of connections that wait to be accepted.
constexpr int kClients = 4;
/// Maximum size of the text that the host has not read yet.
constexpr std::size_t kHostTextMax = 16 << 20;
constexpr std::size_t kHostReadBytes = 64 << 10;
constexpr TimeNs kLatest = model::kNever / 4;  ///< 73 years; a longer sleep is treated as infinite
/// Maximum time for which a guest may run without sending a message. If the guest's next timer is
/// later than that, the guest must ask again when this time has passed.
constexpr TimeNs kHorizonNs = 60 * model::kSecondNs;
/// Maximum time for which a guest may run without sending a message, if its processor time is
/// charged. During this time, a guest can read its clock a thousand times. A guest that sleeps
/// longer must ask the calendar.
constexpr TimeNs kChargedHorizonNs = model::kMicrosecondNs;

}  // namespace

Result<std::unique_ptr<Calendar>> Calendar::listen(const std::filesystem::path& socket,
                                                   const std::vector<std::string>& disks) {
  std::unique_ptr<Calendar> self(new Calendar());
  self->disk_paths_ = vhost::disk_sockets_of(socket, disks);
  self->mark_path_ = base::socket_beside(socket, virtual_guest::kMarkSuffix);
  self->port_path_ = base::socket_beside(socket, virtual_guest::kPortSuffix);
  self->time_path_ = base::socket_beside(socket, virtual_guest::kTimeSuffix);
  self->agent_path_ = base::socket_beside(socket, virtual_guest::kAgentSuffix);
  std::vector<std::filesystem::path> all = self->disk_paths_;
  all.insert(all.end(), {self->mark_path_, self->port_path_, self->time_path_, self->agent_path_});
  std::vector<base::ListeningSocket> sockets;
  for (const std::filesystem::path& path : all) {
    TRY(auto listening, base::ListeningSocket::listen(path, kClients));
    sockets.push_back(std::move(listening));
  }
  self->agent_listener_ = std::move(sockets.back());
  sockets.pop_back();
  self->time_listener_ = std::move(sockets.back());
  sockets.pop_back();
  self->sockets_ = std::move(sockets);
  return self;
}

Calendar::~Calendar() {
  stop();
}

Result<void> Calendar::start(Hardware& hardware, const CalendarOptions& options, Log log) {
  invariant(sockets_.size() == hardware.disk_count() + 2,
            "there must be one socket for each disk, one for marks and one for the agent");
  hardware_ = &hardware;
  options_ = options;
  log_ = std::move(log);
  stop_ = base::Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (!stop_.is_open())
    return fail(time_path_, base::errno_text(errno), "raise the limit on open files (ulimit -n)");
  make_disks();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return fail(time_path_, "cannot start a thread", error.what());
  }
  return {};
}

void Calendar::stop() {
  const std::uint64_t one = 1;
  if (stop_.is_open()) static_cast<void>(::write(stop_.get(), &one, sizeof one) == sizeof one);
  if (thread_.joinable()) thread_.join();
  disks_.clear();
  sockets_.clear();
  time_listener_ = {};
  agent_listener_ = {};
}

void Calendar::make_disks() {
  const auto add = [this](GuestDisk::Connect connect) {
    disks_.push_back(std::make_unique<GuestDisk>(
        std::move(sockets_[disks_.size()]), std::move(connect),
        GuestDisk::Kick{
            .reported =
                [this](std::uint32_t untold_ns) { advance_guest_to(reported_time_ + untold_ns); },
            .submitted = [this](GuestDisk& disk) { submitted(disk); }},
        stop_.get()));
  };
  for (std::size_t i = 0; i < hardware_->disk_count(); ++i) add(hardware_->disk(i));
  add(hardware_->marks());
  const GuestDisk::Served agent{
      .shape = {.name = AgentDisk::kName, .sectors = AgentDisk::kSectors},
      .serve = [this](const model::Request& request,
                      model::Initiator& initiator) { return agent_.serve(request, initiator); },
      .account = [](const model::Request&, const model::Completion&) { return 0; }};
  add([agent] { return agent; });
}

// ---- scheduling

void Calendar::run() {
  while (!stopping_) {
    try {
      if (can_advance()) {
        advance();
      } else {
        wait_for_input();
      }
    } catch (const std::exception& error) {  // out of memory
      give_up({"guest", error.what(), ""});
    }
  }
  end_guest();
}

bool Calendar::can_advance() {
  if (!time_.is_open() || !waiting_ || unanswered_ != 0) return false;
  if (!hardware_->has_power() || hardware_->power_cuts() != cuts_) return flush_host_and_stop();
  if (std::ranges::any_of(disks_, [](const auto& disk) { return disk->has_ended(); })) return true;
  if (agent_.has_answer() || requested_ <= hardware_->now()) return true;
  if (agent_.is_idle()) return flush_host_and_stop();
  if (requested_ != model::kNever || hardware_->next_event()) return true;
  if (!std::exchange(sleeps_forever_, true)) log_("guest: it sleeps, and no event will wake it up");
  return false;
}

/// Delivers the agent's text to the host, and returns false to stop model time. The host's response
/// then takes no model time, however long it takes on the host.
bool Calendar::flush_host_and_stop() {
  send_to_host();
  return false;
}

void Calendar::advance() {
  if (charges() && requested_ < hardware_->now()) return run_guest(requested_);
  for (const auto& disk : disks_) {
    if (disk->has_ended()) return give_back(*disk);
  }
  if (agent_.has_answer()) return agent_.answer_read();
  const TimeNs now = hardware_->now();
  if (requested_ <= now) return run_guest(now);
  const TimeNs until = requested_ == model::kNever ? *hardware_->next_event() : requested_;
  if (!hardware_->step(until) && until == requested_) run_guest(until);
}

/// Hands back ended commands until the guest has seen all of them. The guest's reaction is then
/// known before time advances.
void Calendar::give_back(GuestDisk& disk) {
  if (const auto handed = disk.hand_back(); !handed) return give_up(handed.error());
  while (!stopping_ && disk.awaits_guest()) wait_for_input();
}

void Calendar::run_guest(TimeNs time) {
  waiting_ = false;
  guest_time_ = time;
  requested_ = model::kNever;
  sleeps_forever_ = false;
  free_until_ = horizon();
  send_all({{Op::free_until, free_until_}, {Op::run, time}});
}

TimeNs Calendar::horizon() const {
  const TimeNs now = hardware_->now();
  // Ended commands and the host's text must be delivered before time advances.
  if (agent_.waits() ||
      std::ranges::any_of(disks_, [](const auto& disk) { return disk->has_ended(); }))
    return now;
  return std::min(now + (charges() ? kChargedHorizonNs : kHorizonNs),
                  hardware_->next_event().value_or(model::kNever));
}

/// Called before the kick is acknowledged, because the guest continues after the acknowledgement.
/// Commands that have ended are handed back at once, so the guest need not wait for them and needs
/// no run message. There is one exception: if the guest's time is behind the machine's, the guest
/// must wait, so that its time becomes the machine's.
void Calendar::submitted(GuestDisk& disk) {
  if (disk.has_ended() && !is_behind()) give_back(disk);
  shorten_horizon();
}

void Calendar::shorten_horizon() {
  if (!time_.is_open() || waiting_) return;
  const TimeNs until = horizon();
  if (until >= free_until_) return;
  free_until_ = until;
  send_all({{Op::free_until, until}});
  while (!stopping_ && time_.is_open() && unanswered_ != 0) wait_for_input();
}

/// Disconnects the guest. Its requests complete first, because the machine may use their buffers
/// until then.
void Calendar::end_guest() {
  time_.reset();
  processor_ = {};
  processor_time_.reset();
  reported_time_ = 0;
  pending_bytes_ = 0;
  waiting_ = sleeps_forever_ = false;
  requested_ = model::kNever;
  unanswered_ = 0;
  free_until_ = 0;
  send_to_host();
  agent_.guest_left();
  for (const auto& disk : disks_) disk->disconnect();
  // The agent's disk will never complete the agent's read, so drop the read. The loop below
  // completes the requests of the other disks.
  disks_.back()->forget_inside();
  const auto inside = [this] {
    return std::ranges::any_of(disks_, [](const auto& disk) { return disk->inside() != 0; });
  };
  while (inside()) {
    for (const auto& disk : disks_) static_cast<void>(disk->hand_back());
    if (!inside()) break;
    const auto next = hardware_->next_event();
    invariant(next.has_value(), "a request in the device must still have a scheduled event");
    hardware_->step(*next);
  }
}

void Calendar::give_up(const Error& why) {
  log_(why.message());
  end_guest();
}

// ---- input

/// Handles messages that the guest sends while the calendar is waiting for an acknowledgement. A
/// guest that nests such messages too deeply is disconnected.
void Calendar::wait_for_input() {
  if (waiting_within_ > options_.nested_kicks_most)
    return give_up({"guest", "it never stops: it submits new requests as its earlier ones complete",
                    "check its console"});
  ++waiting_within_;
  take_input();
  --waiting_within_;
}

void Calendar::take_input() {
  enum class Kind : std::uint8_t { stop, time, host, disk, channel, new_time, new_host, new_disk };
  struct Source {
    Kind kind;
    GuestDisk* disk = nullptr;
  };
  std::vector<pollfd> watched;
  std::vector<Source> sources;
  watched.reserve(disks_.size() * 2 + 5);
  sources.reserve(watched.capacity());
  const auto watch = [&](int fd, Source source, short events = POLLIN) {
    watched.push_back({fd, events, 0});
    sources.push_back(source);
  };
  watch(stop_.get(), {Kind::stop});
  for (const auto& disk : disks_) {
    if (disk->has_client()) {
      watch(disk->socket(), {Kind::disk, disk.get()});
      watch(disk->channel(), {Kind::channel, disk.get()});
    } else {
      watch(disk->listener(), {Kind::new_disk, disk.get()});
    }
  }
  if (time_.is_open()) {
    watch(time_.get(), {Kind::time});
  } else {
    watch(time_listener_.get(), {Kind::new_time});
  }
  if (host_.is_open()) {
    const bool reads = agent_.host_bytes() < kHostTextMax;
    watch(host_.get(), {Kind::host},
          static_cast<short>((reads ? POLLIN : 0) | (for_host_.empty() ? 0 : POLLOUT)));
  } else {
    watch(agent_listener_.get(), {Kind::new_host});
  }
  const bool computes = time_.is_open() && !waiting_;
  const int limit = computes ? static_cast<int>(options_.compute_limit.count()) : -1;
  const int ready = ::poll(watched.data(), watched.size(), limit);
  if (ready < 0) return;  // EINTR
  if (ready == 0)
    return give_up({"guest",
                    fmt::format("it has computed for {} s without advancing time",
                                options_.compute_limit.count() / 1000),
                    "check its console: the guest is in a loop, or the host is too slow"});
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (watched[i].revents == 0) continue;
    GuestDisk* const disk = sources[i].disk;
    switch (sources[i].kind) {
      case Kind::stop:
        stopping_ = true;
        return;
      case Kind::time:
        on_time();
        break;
      case Kind::host:
        if ((watched[i].revents & POLLOUT) != 0) send_to_host();
        if ((watched[i].revents & ~POLLOUT) != 0) on_host();
        break;
      case Kind::disk:
        if (disk->has_client()) on_disk(*disk);
        break;
      case Kind::channel:
        if (disk->has_client()) on_channel(*disk);
        break;
      case Kind::new_time:
        accept_guest();
        break;
      case Kind::new_host:
        host_ = base::Descriptor(::accept4(agent_listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        for_host_.clear();
        break;
      case Kind::new_disk:
        if (const auto accepted = disk->accept(); !accepted) log_(accepted.error().message());
        break;
    }
  }
}

void Calendar::accept_guest() {
  time_ = base::Descriptor(::accept4(time_listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  cuts_ = hardware_->power_cuts();
  guest_time_ = hardware_->now();
  ucred peer = {};
  socklen_t length = sizeof peer;
  const bool known = ::getsockopt(time_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
  if (charges() && !options_.processor_ns) {
    auto time = ProcessorTime::of(known ? peer.pid : 0);
    if (!time) return give_up(time.error());
    processor_time_ = std::move(*time);
  }
  if (!known || peer.pid == ::getpid()) return;
  processor_ = base::ProcessorClaim::take();
  processor_.move(0);
  // the guest consists only of this process so far, so the whole guest moves
  processor_.move(peer.pid);
}

void Calendar::on_time() {
  if (!time_.is_open()) return;
  const ssize_t got = ::recv(time_.get(), pending_.data() + pending_bytes_,
                             pending_.size() - pending_bytes_, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end_guest();
  pending_bytes_ += static_cast<std::size_t>(got);
  if (pending_bytes_ < pending_.size()) return;
  pending_bytes_ = 0;
  const auto message = parse_message(pending_);
  if (!message) return give_up(message.error());
  on_message(*message);
}

void Calendar::on_message(const Message& message) {
  const TimeNs now = hardware_->now();
  const bool beyond = message.time > static_cast<std::uint64_t>(kLatest);
  std::uint64_t answer = 0;
  switch (message.op) {
    case Op::ack:
      if (unanswered_ == 0 || message.sequence != sequence_ - unanswered_ + 1)
        return give_up({"guest", "it acknowledged a message that was not sent", ""});
      --unanswered_;
      return;
    case Op::request:
      requested_ = beyond ? model::kNever : static_cast<TimeNs>(message.time);
      break;
    case Op::wait:
      if (waiting_)
        return give_up({"guest", "it sent a second wait before the first one had ended", ""});
      charge();
      waiting_ = true;
      break;
    // A guest that runs behind model time may have a timer before `now` that the calendar does not
    // know. Such a guest gets its own time.
    case Op::get:
      answer = static_cast<std::uint64_t>(is_behind() ? guest_time_ : now);
      break;
    case Op::get_tod:
      answer =
          static_cast<std::uint64_t>((is_behind() ? guest_time_ : now) + options_.time_of_day_ns);
      break;
    case Op::update:
      if (!advance_guest_to(message.time)) return;
      break;
    default:  // start
      break;
  }
  this->answer(message.sequence, answer);
}

/// Advances to the time that the guest has reported. Returns false if the guest has been
/// disconnected.
bool Calendar::advance_guest_to(std::uint64_t time) {
  if (time > static_cast<std::uint64_t>(kLatest)) {
    give_up({"guest", "its clock is past the limit of 73 years", ""});
    return false;
  }
  reported_time_ = time;
  guest_time_ = static_cast<TimeNs>(time);
  while (hardware_->step(guest_time_)) {
  }
  charge();
  return true;
}

void Calendar::charge() {
  if (!charges() || !hardware_->has_power() || hardware_->power_cuts() != cuts_) return;
  const std::int64_t used_ns =
      options_.processor_ns ? options_.processor_ns() : processor_time_->take_ns();
  const TimeNs until =
      hardware_->now() + std::llround(static_cast<double>(used_ns) * options_.charge);
  while (hardware_->has_power() && hardware_->step(until)) {
  }
}

void Calendar::answer(std::uint32_t sequence, std::uint64_t time) {
  send(bytes_of({Op::ack, sequence, time}));
}

void Calendar::send_all(std::initializer_list<std::pair<Op, TimeNs>> messages) {
  std::vector<std::byte> all;
  all.reserve(messages.size() * kMessageBytes);
  for (const auto& [op, time] : messages) {
    const auto bytes = bytes_of({op, ++sequence_, static_cast<std::uint64_t>(time)});
    all.insert(all.end(), bytes.begin(), bytes.end());
    ++unanswered_;
  }
  send(all);
}

/// Sends bytes to the guest's clock. Drops them if the guest has disconnected; on_time() will
/// detect the disconnection.
void Calendar::send(std::span<const std::byte> bytes) {
  const ssize_t sent = ::send(time_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return;
  if (sent != static_cast<ssize_t>(bytes.size()))
    give_up({"guest", "it stopped reading messages", ""});
}

void Calendar::on_disk(GuestDisk& disk) {
  const auto there = disk.on_message();
  if (!there) return give_up({disk.name(), there.error().message(), ""});
  if (!*there) disk.disconnect();
}

void Calendar::on_channel(GuestDisk& disk) {
  if (const auto heard = disk.on_channel(); !heard)
    give_up({disk.name(), heard.error().message(), ""});
}

void Calendar::on_host() {
  std::array<char, kHostReadBytes> text;
  const ssize_t got = ::recv(host_.get(), text.data(), text.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) return agent_.from_host({text.data(), static_cast<std::size_t>(got)});
  agent_.host_left();
  host_.reset();
}

void Calendar::send_to_host() {
  for_host_ += agent_.take_for_host();
  if (!host_.is_open() || for_host_.size() > kHostTextMax) return for_host_.clear();
  const ssize_t sent =
      ::send(host_.get(), for_host_.data(), for_host_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) for_host_.erase(0, static_cast<std::size_t>(sent));
}

}  // namespace headcrash::timetravel
