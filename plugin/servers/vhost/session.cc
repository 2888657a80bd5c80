#include "plugin/servers/vhost/session.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "plugin/base/errno_text.h"
#include "plugin/servers/vhost/backend.h"

namespace headcrash::vhost {
namespace {

using base::Descriptor;

struct Work {
  std::size_t ring = 0;
  Chain chain;
  std::shared_ptr<const GuestMemory> memory;
};

class Session {
 public:
  Session(int socket, int stop, const Disk& disk, const SessionOptions& options)
      : connection_(socket, stop),
        disk_(disk),
        failed_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        workers_max_(options.workers),
        backend_(connection_, disk, options.queues) {}

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
    // A call descriptor may be a pipe that has no reader, and SIGPIPE must not kill this process.
    // Workers inherit the signal mask.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    while (true) {
      std::vector<pollfd> watched = {{connection_.socket(), POLLIN, 0},
                                     {connection_.stop(), POLLIN, 0},
                                     {failed_event_.get(), POLLIN, 0},
                                     {backend_.channel(), POLLIN, 0}};
      const std::size_t rings_at = watched.size();
      std::vector<std::size_t> which;
      bool look = false;
      for (std::size_t i = 0; i < backend_.rings().size(); ++i) {
        const Ring& ring = backend_.rings()[i];
        if (!ring.runs()) continue;
        watched.push_back({ring.kick.get(), POLLIN, 0});
        which.push_back(i);
        look = look || ring.look;
      }
      if (::poll(watched.data(), watched.size(), look ? 0 : -1) < 0) {
        if (errno == EINTR) continue;
        return fail("vhost-user", base::errno_text(errno));
      }
      if (watched[2].revents != 0) return error();
      if (watched[1].revents != 0) return {};
      if (watched[3].revents != 0) TRY(take_ack());
      for (std::size_t i = 0; i < which.size(); ++i)
        if (watched[rings_at + i].revents != 0 || backend_.rings()[which[i]].look)
          TRY(on_kick(which[i]));
      if (watched[0].revents == 0) continue;
      TRY(auto received, connection_.receive());
      if (!received) return {};  // the client has disconnected
      TRY(handle(*received));
    }
  }

 private:
  Result<void> handle(Received& received) {
    std::unique_lock lock(mutex_);
    if (received.header.verb == Verb::get_vring_base) {
      TRY(auto ring, backend_.halt(std::get<RingState>(received.payload).ring));
      given_back_.wait(lock, [&] { return ring->split.in_flight() == 0 || error_.has_value(); });
      if (error_) return tl::unexpected<Error>(*error_);
    }
    return backend_.handle(received);
  }

  Result<void> take_ack() {
    const std::lock_guard lock(mutex_);
    return backend_.take_ack();
  }

  Result<void> on_kick(std::size_t index) {
    Ring& ring = backend_.rings()[index];
    TRY(Backend::take_kick(ring));
    if (!ring.look) return {};
    ring.look = false;
    if (!backend_.memory())
      return fail("vhost-user", "the client kicked a ring before it shared memory");
    return disk_.answers_at_once && disk_.answers_at_once() ? serve_here(ring) : hand_out(index);
  }

  Result<void> hand_out(std::size_t index) {
    Ring& ring = backend_.rings()[index];
    if (ring.quiet) TRY(want_kicks(ring, true));
    while (true) {
      const std::lock_guard lock(mutex_);
      TRY(auto chain, backend_.take(ring));
      if (!chain) return {};
      work_.push_back({index, std::move(*chain), backend_.memory()});
      TRY(see_to_workers());
      work_there_.notify_one();
    }
  }

  /// Starts a worker, unless there are enough idle workers or the maximum number of workers has
  /// been reached. REQUIRES: the mutex is held.
  Result<void> see_to_workers() {
    if (work_.size() <= idle_ || workers_.size() >= workers_max_) return {};
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      // The existing workers, if any, serve the requests.
      if (workers_.empty()) return fail("vhost-user", "cannot start a thread", error.what());
    }
    return {};
  }

  /// Serves the ring for at most one round, because other rings and messages may be waiting.
  Result<void> serve_here(Ring& ring) {
    if (!ring.quiet) TRY(want_kicks(ring, false));
    bool tell = false;
    ring.look = true;  // more chains may be waiting; cleared below if there are no more
    for (std::uint32_t i = 0; i < ring.split.size(); ++i) {
      auto chain = take(ring);
      if (chain && !*chain) {
        TRY(want_kicks(ring, true));
        chain = take(ring);
      }
      if (!chain) return forward_error(chain);
      if (!*chain) {
        ring.look = false;
        break;
      }
      const std::uint16_t head = (*chain)->head;
      TRY(const auto written, execute(backend_.memory(), std::move(**chain), disk_));
      const std::lock_guard lock(mutex_);
      TRY(const auto told, ring.split.give_back(*backend_.memory(), head, written));
      tell = tell || told;
    }
    const std::lock_guard lock(mutex_);
    return tell ? backend_.interrupt(ring) : Result<void>();
  }

  Result<std::optional<Chain>> take(Ring& ring) {
    const std::lock_guard lock(mutex_);
    return backend_.take(ring);
  }

  Result<void> want_kicks(Ring& ring, bool wanted) {
    const std::lock_guard lock(mutex_);
    return backend_.want_kicks(ring, wanted);
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      work_there_.wait(lock, [this] { return ending_ || !work_.empty(); });
      --idle_;
      if (ending_) return;
      Work item = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      const std::uint16_t head = item.chain.head;
      const auto written = execute(item.memory, std::move(item.chain), disk_);
      lock.lock();
      if (auto finished = finish(backend_.rings()[item.ring], *item.memory, head, written);
          !finished)
        fail_session(finished.error());
      given_back_.notify_all();
    }
  }

  /// REQUIRES: the mutex is held.
  Result<void> finish(Ring& ring, const GuestMemory& memory, std::uint16_t head,
                      const Result<std::uint32_t>& written) {
    if (!written) return forward_error(written);
    TRY(const auto tell, ring.split.give_back(memory, head, *written));
    return tell ? backend_.interrupt(ring) : Result<void>();
  }

  /// Records an error and makes the session's thread stop. REQUIRES: the mutex is held.
  void fail_session(Error error) {
    if (!error_) error_ = std::move(error);
    const std::uint64_t one = 1;
    static_cast<void>(::write(failed_event_.get(), &one, sizeof one) == sizeof one);
  }

  Result<void> error() {
    const std::lock_guard lock(mutex_);
    return tl::unexpected<Error>(*error_);
  }

  const Connection connection_;
  const Disk& disk_;
  const Descriptor failed_event_;
  const std::size_t workers_max_;

  std::mutex mutex_;  ///< guards the following members, and the rings while workers use them
  Backend backend_;
  std::deque<Work> work_;
  std::optional<Error> error_;
  bool ending_ = false;
  std::size_t idle_ = 0;  ///< idle workers
  std::condition_variable work_there_, given_back_;
  std::vector<std::thread> workers_;
};

}  // namespace

Result<void> serve_client(int socket, int stop, const Disk& disk, const SessionOptions& options) {
  return Session(socket, stop, disk, options).run();
}

}  // namespace headcrash::vhost
