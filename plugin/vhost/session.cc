// Messages, rings and workers of one client (session.h).
#include "plugin/vhost/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "plugin/base/descriptor.h"
#include "plugin/base/errno_text.h"
#include "plugin/vhost/message.h"

namespace headcrash::vhost {
namespace {

using base::Descriptor;

constexpr std::uint64_t kProtocolFeatures = std::uint64_t{1} << 30;  ///< among the device's features
constexpr std::uint64_t kIndirectFeature = std::uint64_t{1} << 28;
constexpr std::uint64_t kMqFeature = 1U << 0, kReplyAck = 1U << 3, kBackendRequests = 1U << 5,
                        kConfigFeature = 1U << 9,
                        kInBand = 1U << 14;  ///< among the protocol's
constexpr std::uint64_t kSupported = kMqFeature | kReplyAck | kBackendRequests | kConfigFeature | kInBand;

struct Queue {
  SplitRing ring;
  RingPlace place;
  bool started = false, enabled = false;
  bool look = false;   ///< chains may wait of which no kick will tell
  bool quiet = false;  ///< the driver was asked for no kicks
  Descriptor kick;
  std::shared_ptr<const Descriptor> call;
};

struct Work {
  std::size_t queue = 0;
  Chain chain;
  std::shared_ptr<const GuestMemory> memory;
};

struct Received {
  Header header;
  Payload payload;
  std::vector<Descriptor> files;
};

class Session {
 public:
  Session(int socket, int stop, const Disk& disk, const SessionOptions& options)
      : socket_(socket),
        stop_(stop),
        disk_(disk),
        features_(device_features(disk) | kProtocolFeatures),
        failed_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        workers_max_(options.workers),
        queues_(options.queues) {}

  ~Session() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      work_.clear();
    }
    work_there_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Result<void> run() {
    // A call descriptor may be a pipe that nobody reads: that is the client's loss and not our end. The workers
    // take the mask over.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    while (true) {
      std::vector<pollfd> watched = {{socket_, POLLIN, 0},
                                     {stop_, POLLIN, 0},
                                     {failed_event_.get(), POLLIN, 0},
                                     {backend_.get(), POLLIN, 0}};
      const std::size_t rings_at = watched.size();
      std::vector<std::size_t> which;
      bool look = false;
      for (std::size_t i = 0; i < queues_.size(); ++i) {
        if (!queues_[i].started || !queues_[i].enabled) continue;
        watched.push_back({queues_[i].kick.get(), POLLIN, 0});
        which.push_back(i);
        look = look || queues_[i].look;
      }
      if (::poll(watched.data(), watched.size(), look ? 0 : -1) < 0) {
        if (errno == EINTR) continue;
        return fail("vhost-user", base::errno_text(errno));
      }
      if (watched[2].revents != 0) return error();
      if (watched[1].revents != 0) return {};
      if (watched[3].revents != 0)
        if (auto told = receive_ack(); !told) return told;
      for (std::size_t i = 0; i < which.size(); ++i)
        if (watched[rings_at + i].revents != 0 || queues_[which[i]].look)
          if (auto kicked = on_kick(which[i]); !kicked) return kicked;
      if (watched[0].revents == 0) continue;
      auto received = receive();
      if (!received) return pass_on(received);
      if (!*received) return {};  // the client is gone
      if (auto handled = handle(**received); !handled) return handled;
    }
  }

 private:
  // ---- bytes

  enum class Bytes : std::uint8_t { all, none };
  /// `none`: the client has closed before the first byte, or it is time to stop.
  Result<Bytes> receive_bytes(std::span<std::byte> into, std::vector<Descriptor>& files) const {
    std::size_t got = 0;
    while (got < into.size()) {
      pollfd watched[2] = {{socket_, POLLIN, 0}, {stop_, POLLIN, 0}};
      if (::poll(watched, 2, -1) < 0 && errno != EINTR) return fail("vhost-user", base::errno_text(errno));
      if (watched[1].revents != 0) return Bytes::none;
      if (watched[0].revents == 0) continue;
      alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kRegionsMax)> control = {};
      iovec part{into.data() + got, into.size() - got};
      msghdr message = {};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      const ssize_t bytes = ::recvmsg(socket_, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
      if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (bytes < 0 && errno != ECONNRESET) return fail("vhost-user", base::errno_text(errno));
      take_files(message, files);
      if ((message.msg_flags & MSG_CTRUNC) != 0 || files.size() > kRegionsMax)
        return fail("vhost-user message", "comes with too many descriptors");
      if (bytes <= 0) {
        if (got == 0) return Bytes::none;
        return fail("vhost-user message", "the connection ends in its middle");
      }
      got += static_cast<std::size_t>(bytes);
    }
    return Bytes::all;
  }

  static void take_files(msghdr& message, std::vector<Descriptor>& files) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
      if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
        files.emplace_back(fd);
      }
    }
  }

  Result<std::optional<Received>> receive() const {
    std::array<std::byte, kMessageHeaderBytes> bytes = {};
    Received received;
    const auto begun = receive_bytes(bytes, received.files);
    if (!begun) return pass_on(begun);
    if (*begun == Bytes::none) return std::nullopt;
    const auto header = parse_header(bytes);
    if (!header) return pass_on(header);
    received.header = *header;
    std::vector<std::byte> rest(header->payload_bytes);
    const auto got = receive_bytes(rest, received.files);
    if (!got) return pass_on(got);
    if (*got == Bytes::none) return std::nullopt;
    auto payload = parse_payload(header->verb, rest);
    if (!payload) return pass_on(payload);
    received.payload = std::move(*payload);
    return std::optional<Received>(std::move(received));
  }

  /// A client that does not read its replies would stop this thread: what does not fit is an error.
  Result<void> answer(Verb verb, std::span<const std::byte> payload) const {
    const std::vector<std::byte> bytes = reply(verb, payload);
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(bytes.size())) return {};
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return {};  // its end is seen by receive()
    return fail("vhost-user", "the client does not read its replies");
  }
  template <typename T>
  Result<void> answer_value(Verb verb, const T& value) const {
    return answer(verb, std::as_bytes(std::span(&value, 1)));
  }

  // ---- messages

  Result<void> handle(Received& received) {
    const Verb verb = received.header.verb;
    switch (verb) {
      case Verb::get_features:
        return answer_value(verb, features_);
      case Verb::get_protocol_features:
        return answer_value(verb, kSupported);
      case Verb::get_queue_num:
        return answer_value(verb, std::uint64_t{queues_.size()});
      case Verb::get_config:
        return tell_config(std::get<ConfigPart>(received.payload));
      case Verb::get_vring_base:
        return stop_ring(std::get<RingState>(received.payload).ring);
      default:
        break;
    }
    if (auto done = obey(received); !done) return done;
    if (received.header.needs_reply && (protocol_ & kReplyAck) != 0)
      return answer_value(verb, std::uint64_t{0});
    return {};
  }

  Result<void> obey(Received& received) {
    switch (received.header.verb) {
      case Verb::set_features:
        return set_features(std::get<Number>(received.payload).value);
      case Verb::set_protocol_features:
        protocol_ = std::get<Number>(received.payload).value;
        if ((protocol_ & ~kSupported) != 0) return fail("vhost-user", "a feature was not offered");
        return {};
      case Verb::set_mem_table: {
        auto memory = GuestMemory::map(std::get<std::vector<MemoryRegion>>(received.payload), received.files);
        if (!memory) return pass_on(memory);
        memory_ = std::move(*memory);
        return {};
      }
      case Verb::set_vring_num:
      case Verb::set_vring_base:
      case Verb::set_vring_enable:
        return set_state(received.header.verb, std::get<RingState>(received.payload));
      case Verb::vring_kick:
        return kick_in_band(std::get<RingState>(received.payload).ring);
      case Verb::set_backend_req_fd:
        return set_backend(received.files);
      case Verb::set_vring_addr:
        return set_address(std::get<RingAddress>(received.payload));
      case Verb::set_vring_kick:
      case Verb::set_vring_call:
      case Verb::set_vring_err:
        return set_descriptor(received);
      default:  // set_owner, reset_owner; set_config: nothing of it can be changed
        return {};
    }
  }

  Result<void> set_features(std::uint64_t chosen) {
    if ((chosen & ~features_) != 0)
      return fail("vhost-user", fmt::format("features {:#x} were not offered", chosen & ~features_));
    const std::lock_guard lock(mutex_);
    for (Queue& queue : queues_) {
      queue.ring.set_indirect((chosen & kIndirectFeature) != 0);
      if ((chosen & kProtocolFeatures) == 0) queue.enabled = true;
    }
    return {};
  }

  Result<void> tell_config(const ConfigPart& part) {
    const auto config = device_config(disk_, static_cast<std::uint16_t>(queues_.size()));
    const std::uint32_t head[3] = {part.offset, part.bytes, 0};
    std::vector<std::byte> payload(sizeof head + part.bytes);
    std::memcpy(payload.data(), head, sizeof head);
    for (std::size_t i = 0; i < part.bytes && part.offset + i < config.size(); ++i)
      payload[sizeof head + i] = config[part.offset + i];
    return answer(Verb::get_config, payload);
  }

  Result<Queue*> find(std::uint32_t ring) {
    if (ring >= queues_.size()) return fail("vhost-user", fmt::format("there is no ring {}", ring));
    return &queues_[ring];
  }

  /// Ring parameters change only while it stands still.
  Result<Queue*> find_stopped(std::uint32_t ring) {
    auto queue = find(ring);
    if (queue && (*queue)->started) return fail("vhost-user", fmt::format("ring {} is in use", ring));
    return queue;
  }

  Result<void> set_state(Verb verb, const RingState& state) {
    auto queue = verb == Verb::set_vring_enable ? find(state.ring) : find_stopped(state.ring);
    if (!queue) return pass_on(queue);
    if (verb == Verb::set_vring_enable) {
      (*queue)->enabled = state.value != 0;
      return {};
    }
    const std::lock_guard lock(mutex_);
    if (verb == Verb::set_vring_base) {
      if (state.value > 0xffff) return fail("ring", fmt::format("{} is not an index", state.value));
      (*queue)->ring.set_base(static_cast<std::uint16_t>(state.value));
      return {};
    }
    if (!SplitRing::is_size(state.value))
      return fail("ring", fmt::format("{} is not a size of a queue", state.value),
                  fmt::format("use a power of two up to {}", kRingSizeMax));
    (*queue)->place.size = state.value;
    return {};
  }

  Result<void> set_address(const RingAddress& address) {
    auto queue = find_stopped(address.ring);
    if (!queue) return pass_on(queue);
    (*queue)->place.descriptors = address.descriptors;
    (*queue)->place.available = address.available;
    (*queue)->place.used = address.used;
    return {};
  }

  Result<void> set_descriptor(Received& received) {
    const RingDescriptor& what = std::get<RingDescriptor>(received.payload);
    auto queue = find(what.ring);
    if (!queue) return pass_on(queue);
    if (received.files.size() != (what.comes ? 1 : 0))
      return fail("vhost-user message", fmt::format("{} comes with {} descriptors",
                                                    verb_name(received.header.verb), received.files.size()));
    Descriptor file = what.comes ? std::move(received.files.front()) : Descriptor();
    if (received.header.verb == Verb::set_vring_err) return {};
    // A read or write of what is not an eventfd must not stop a thread.
    if (file.is_open()) {
      const int flags = ::fcntl(file.get(), F_GETFL);
      if (flags < 0 || ::fcntl(file.get(), F_SETFL, flags | O_NONBLOCK) != 0)
        return fail("vhost-user", "a descriptor cannot be made non-blocking");
    }
    if (received.header.verb == Verb::set_vring_call) {
      const std::lock_guard lock(mutex_);
      (*queue)->call = std::make_shared<const Descriptor>(std::move(file));
      return {};
    }
    if (!file.is_open() && (protocol_ & kInBand) == 0)
      return fail("vhost-user", "a ring without a kick descriptor is to be polled, which is not supported");
    (*queue)->kick = std::move(file);
    return start_ring(**queue, what.ring);
  }

  Result<void> start_ring(Queue& queue, std::uint32_t ring) {
    if (queue.started) return {};
    if (queue.place.size == 0) return fail("ring", fmt::format("ring {} has no size yet", ring));
    const std::lock_guard lock(mutex_);
    if (auto placed = queue.ring.place(queue.place); !placed) return placed;
    queue.started = true;
    queue.look = memory_ != nullptr;  // what was offered while it stood still
    return {};
  }

  Result<void> stop_ring(std::uint32_t ring) {
    auto queue = find(ring);
    if (!queue) return pass_on(queue);
    std::unique_lock lock(mutex_);
    (*queue)->started = (*queue)->look = false;
    given_back_.wait(lock, [&] { return (*queue)->ring.in_flight() == 0 || error_.has_value(); });
    if (error_) return tl::unexpected<Error>(*error_);
    (*queue)->kick.reset();
    const RingState state{ring, (*queue)->ring.base()};
    lock.unlock();
    return answer_value(Verb::get_vring_base, state);
  }

  // ---- notifications without descriptors: messages on the socket, and on a channel of our own requests

  /// What is offered on a ring that stands still is looked at when it is started.
  Result<void> kick_in_band(std::uint32_t ring) {
    if ((protocol_ & kInBand) == 0) return fail("vhost-user", "VRING_KICK was not negotiated");
    auto queue = find(ring);
    if (!queue) return pass_on(queue);
    if ((*queue)->started) (*queue)->look = true;
    return {};
  }

  Result<void> set_backend(std::vector<Descriptor>& files) {
    if ((protocol_ & kBackendRequests) == 0 || files.size() != 1)
      return fail("vhost-user", "SET_BACKEND_REQ_FD was not negotiated, or has no descriptor");
    const std::lock_guard lock(mutex_);
    backend_ = std::move(files.front());
    ack_bytes_ = 0;
    acks_due_ = 0;
    return {};
  }

  /// Under the mutex. Waits for nobody: the client may be waiting for us.
  void call_in_band(std::uint32_t ring) {
    const bool wants_ack = (protocol_ & kReplyAck) != 0;
    const std::vector<std::byte> message = ring_call(ring, wants_ack);
    const ssize_t sent = ::send(backend_.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(message.size())) {
      acks_due_ += wants_ack ? 1 : 0;
    } else if (!(sent < 0 &&
                 (errno == EPIPE || errno == ECONNRESET))) {  // the end of the client is seen elsewhere
      fail_session({"vhost-user", "the client does not read what its back-end tells", ""});
    }
  }

  Result<void> receive_ack() {
    const std::lock_guard lock(mutex_);
    const ssize_t got =
        ::recv(backend_.get(), ack_.data() + ack_bytes_, ack_.size() - ack_bytes_, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (got <= 0) {
      backend_.reset();
      return {};
    }
    ack_bytes_ += static_cast<std::size_t>(got);
    if (ack_bytes_ < ack_.size()) return {};
    ack_bytes_ = 0;
    if (auto good = parse_ring_call_ack(ack_); !good) return good;
    if (acks_due_ == 0) return fail("vhost-user", "the client answers what was not asked");
    --acks_due_;
    return {};
  }

  // ---- requests

  Result<void> on_kick(std::size_t index) {
    Queue& queue = queues_[index];
    if (queue.kick.is_open()) {
      std::uint64_t count = 0;
      const ssize_t got = ::read(queue.kick.get(), &count, sizeof count);
      if (got != sizeof count && !(got < 0 && (errno == EAGAIN || errno == EINTR)))
        return fail("vhost-user", "a kick descriptor is not an eventfd");
      if (got == sizeof count) queue.look = true;
    }
    if (!queue.look) return {};
    queue.look = false;
    if (!memory_) return fail("vhost-user", "a ring is kicked before memory was shared");
    return disk_.answers_at_once && disk_.answers_at_once() ? serve_here(index) : hand_out(index);
  }

  Result<void> hand_out(std::size_t index) {
    Queue& queue = queues_[index];
    if (queue.quiet)
      if (auto asked = want_kicks(queue, true); !asked) return asked;
    while (true) {
      const std::lock_guard lock(mutex_);
      auto chain = queue.ring.take(*memory_);
      if (!chain) return pass_on(chain);
      if (!*chain) return {};
      work_.push_back({index, std::move(**chain), memory_});
      if (auto there = see_to_workers(); !there) return there;
      work_there_.notify_one();
    }
  }

  /// Under the mutex: one more, unless as many sleep as there is work, or there are as many as there may be.
  Result<void> see_to_workers() {
    if (work_.size() <= idle_ || workers_.size() >= workers_max_) return {};
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      // With those there are it takes longer.
      if (workers_.empty()) return fail("vhost-user", "no thread can be started", error.what());
    }
    return {};
  }

  /// One round through the ring at most: other rings and messages wait.
  Result<void> serve_here(std::size_t index) {
    Queue& queue = queues_[index];
    if (!queue.quiet)
      if (auto asked = want_kicks(queue, false); !asked) return asked;
    bool tell = false;
    queue.look = true;  // after a whole round more may have come
    for (std::uint32_t i = 0; i < queue.ring.size(); ++i) {
      auto chain = take(queue);
      if (chain && !*chain) {
        if (auto asked = want_kicks(queue, true); !asked) return asked;
        chain = take(queue);
      }
      if (!chain) return pass_on(chain);
      if (!*chain) {
        queue.look = false;
        break;
      }
      const auto written = execute(*memory_, **chain, disk_);
      if (!written) return pass_on(written);
      const std::lock_guard lock(mutex_);
      const auto told = queue.ring.give_back(*memory_, (*chain)->head, *written);
      if (!told) return pass_on(told);
      tell = tell || *told;
    }
    const std::lock_guard lock(mutex_);
    if (tell) interrupt(queue);
    return {};
  }

  Result<std::optional<Chain>> take(Queue& queue) {
    const std::lock_guard lock(mutex_);
    return queue.ring.take(*memory_);
  }

  Result<void> want_kicks(Queue& queue, bool wanted) {
    const std::lock_guard lock(mutex_);
    queue.quiet = !wanted;
    return queue.ring.want_kicks(*memory_, wanted);
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      work_there_.wait(lock, [this] { return ending_ || !work_.empty(); });
      --idle_;
      if (ending_) return;
      const Work item = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      const auto written = execute(*item.memory, item.chain, disk_);
      lock.lock();
      finish(item, written);
    }
  }

  /// Under the mutex.
  void finish(const Work& item, const Result<std::uint32_t>& written) {
    Queue& queue = queues_[item.queue];
    Result<bool> tell = false;
    if (written) tell = queue.ring.give_back(*item.memory, item.chain.head, *written);
    if (!written || !tell) {
      fail_session(written ? tell.error() : written.error());
    } else if (*tell) {
      interrupt(queue);
    }
    given_back_.notify_all();
  }

  /// Under the mutex. A counter at its limit has an interrupt that nobody has taken yet.
  void interrupt(const Queue& queue) {
    const std::uint64_t one = 1;
    if (queue.call && queue.call->is_open()) {
      static_cast<void>(::write(queue.call->get(), &one, sizeof one) == sizeof one);
    } else if ((protocol_ & kInBand) != 0 && backend_.is_open()) {
      call_in_band(static_cast<std::uint32_t>(&queue - queues_.data()));
    }
  }

  /// Under the mutex: the session's thread ends it.
  void fail_session(Error error) {
    if (!error_) error_ = std::move(error);
    const std::uint64_t one = 1;
    static_cast<void>(::write(failed_event_.get(), &one, sizeof one) == sizeof one);
  }

  Result<void> error() {
    const std::lock_guard lock(mutex_);
    return tl::unexpected<Error>(*error_);
  }

  const int socket_, stop_;
  const Disk& disk_;
  const std::uint64_t features_;
  const Descriptor failed_event_;
  const std::size_t workers_max_;
  std::atomic<std::uint64_t> protocol_ = 0;
  std::shared_ptr<const GuestMemory> memory_;  ///< the session's thread only; each work item keeps its own

  std::mutex mutex_;  ///< guards rings, call descriptors, and what follows
  std::vector<Queue> queues_;
  std::deque<Work> work_;
  std::optional<Error> error_;
  Descriptor backend_;  ///< on which we ask; replaced and closed by the session's thread only
  std::array<std::byte, kAckBytes> ack_ = {};
  std::size_t ack_bytes_ = 0;
  std::uint64_t acks_due_ = 0;
  bool ending_ = false;
  std::size_t idle_ = 0;  ///< workers that sleep
  std::condition_variable work_there_, given_back_;
  std::vector<std::thread> workers_;
};

}  // namespace

Result<void> serve_client(int socket, int stop, const Disk& disk, const SessionOptions& options) {
  return Session(socket, stop, disk, options).run();
}

}  // namespace headcrash::vhost
