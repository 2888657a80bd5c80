#include "plugin/servers/timetravel/guest_disk.h"

#include <sys/socket.h>

#include <utility>

namespace headcrash::timetravel {

using vhost::Ring;

namespace {

/// A flag in the number that a kick writes: the guest examines its ring after the kick. The other
/// bits are the time.
constexpr std::uint32_t kExaminesRing = 1;

}  // namespace

GuestDisk::GuestDisk(base::ListeningSocket listener, Connect connect, Kick kick, int stop)
    : listener_(std::move(listener)),
      connect_(std::move(connect)),
      kick_(std::move(kick)),
      stop_(stop) {}

GuestDisk::~GuestDisk() = default;

Result<void> GuestDisk::accept() {
  base::Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client.is_open()) return {};
  TRY(auto served, connect_());
  served_ = std::make_shared<const Served>(std::move(served));
  client_ = std::move(client);
  ++client_number_;
  connection_.emplace(client_.get(), stop_);
  backend_.emplace(*connection_, served_->shape, std::uint16_t{1});
  return {};
}

void GuestDisk::disconnect() {
  backend_.reset();
  connection_.reset();
  client_.reset();
  served_.reset();
  ++client_number_;
}

Result<bool> GuestDisk::on_message() {
  TRY(auto received, connection_->receive());
  if (!received) return false;
  if (received->header.verb != vhost::Verb::vring_kick) {
    TRY(backend_->handle(*received));
    return true;
  }
  TRY(backend_->obey(*received));
  const std::uint32_t number = std::get<vhost::RingState>(received->payload).value;
  kick_.reported(number / 2);
  if (!backend_) return false;  // the guest has been disconnected
  TRY(take_chains());
  examines_ring_ = (number & kExaminesRing) != 0;
  kick_.submitted(*this);
  examines_ring_ = false;
  if (!backend_) return false;  // the callback has disconnected the guest
  TRY(backend_->acknowledge(*received));
  return true;
}

Result<void> GuestDisk::take_chains() {
  for (Ring& ring : backend_->rings()) {
    if (!ring.runs() || !ring.look) continue;
    ring.look = false;
    if (!backend_->memory())
      return fail("vhost-user", "the client kicked a ring before it shared memory");
    while (true) {
      TRY(auto chain, backend_->take(ring));
      if (!chain) break;
      TRY(auto command,
          vhost::Command::begin(backend_->memory(), std::move(*chain), served_->shape));
      inside_.emplace_back(*this, std::move(command), ring);
      PendingRequest& added = inside_.back();
      added.at = std::prev(inside_.end());
      added.memory = backend_->memory();
      if (submit_next(added)) note_completed(added);
    }
  }
  return {};
}

bool GuestDisk::submit_next(PendingRequest& inside) {
  while (const model::Request* request = inside.command.next()) {
    const std::optional<int> error = inside.served->serve(*request, inside);
    if (!error) return false;
    inside.command.answered(*error);
  }
  return true;
}

Result<void> GuestDisk::hand_back() {
  Result<void> result;
  const std::vector<PendingRequest*> completed = take_completed();
  std::vector<Ring*> reported;
  for (PendingRequest* one : completed) {
    if (one->completion) {
      const model::Completion completion = *std::exchange(one->completion, std::nullopt);
      one->command.answered(one->served->account(*one->command.next(), completion));
      if (!submit_next(*one)) continue;
    }
    if (one->memory_of == client_number_ && backend_ && result) {
      const auto wanted = give_back(*one);
      if (!wanted) result = forward_error(wanted);
      if (wanted && *wanted && (reported.empty() || reported.back() != one->ring))
        reported.push_back(one->ring);
    }
    inside_.erase(one->at);
  }
  if (!result) return result;
  if (examines_ring_) return {};
  for (const Ring* ring : reported) TRY(backend_->interrupt(*ring));
  return {};
}

/// Hands a command back to the driver. Returns true if the driver wants an interrupt.
Result<bool> GuestDisk::give_back(PendingRequest& inside) {
  TRY(const auto written, inside.command.finish());
  return inside.ring->split.give_back(*inside.memory, inside.command.head(), written);
}

}  // namespace headcrash::timetravel
