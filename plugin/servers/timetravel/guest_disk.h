#pragma once
// A disk of a guest in virtual time, over vhost-user: the client, the commands in progress, and the
// commands that have ended. The calendar decides when time advances; this class never waits.
//
//   the guest kicks     its chains become commands, whose requests are served before the kick is
//                       acknowledged, so nothing depends on the speed of host and guest
//   serve completes     the command's next request is submitted, or the command has ended
//   hand_back()         commands are returned in the order in which they ended; the guest is
//                       notified
//
// One thread makes all calls. `completed` is called from within serve or the simulation's step, or
// by the thread that cuts the power.

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "plugin/base/descriptor.h"
#include "plugin/base/listening_socket.h"
#include "plugin/servers/vhost/backend.h"

namespace headcrash::timetravel {

class GuestDisk {
 public:
  /// A disk as one client sees it during its connection.
  struct Served {
    vhost::Disk shape;  ///< name, size and properties of the disk; its functions are empty
    /// Serves a request. Returns 0 or an errno, or nullopt if `initiator` will be completed later,
    /// exactly once. `request` and `initiator` must stay valid until then.
    std::function<std::optional<int>(const model::Request& request, model::Initiator& initiator)>
        serve;
    /// Accounts for a completed request for which serve() returned nullopt. Returns 0 or an errno
    /// for the guest. May be empty if serve() never returns nullopt.
    std::function<int(const model::Request& request, const model::Completion& completion)> account;
  };
  /// Returns the disk for a new client. Fails if no disk is available; the client is then rejected.
  using Connect = std::function<Result<Served>()>;

  /// Callbacks through which the clock's owner handles a kick. With our kernels (scripts/build-uml,
  /// kick-with-time), the number written by a kick is 1 plus twice the nanoseconds since the guest
  /// last reported its time. Such a guest examines its ring once the kick has been acknowledged.
  struct Kick {
    std::function<void(std::uint32_t untold_ns)> reported;  ///< called before the ring is examined
    /// Called when the commands have been submitted, but before the kick is acknowledged.
    std::function<void(GuestDisk&)> submitted;
  };
  /// When the descriptor `stop` becomes readable, the wait for the remaining bytes of a message is
  /// aborted.
  GuestDisk(base::ListeningSocket listener, Connect connect, Kick kick, int stop);
  ~GuestDisk();
  GuestDisk(const GuestDisk&) = delete;
  GuestDisk& operator=(const GuestDisk&) = delete;

  /// Returns the name of the client's disk.
  std::string name() const { return served_ ? served_->shape.name : std::string(); }
  int listener() const { return listener_.get(); }

  // Only one client is served at a time. Other clients wait until the current client has
  // disconnected.
  bool has_client() const { return client_.is_open(); }
  Result<void> accept();
  void disconnect();  ///< requests in flight remain until they complete, but are not answered
  int socket() const { return client_.get(); }
  int channel() const { return backend_ ? backend_->channel() : -1; }

  /// Handles the next message of the client. Returns false if the client has disconnected. Errors
  /// describe how the client violated the protocol.
  Result<bool> on_message();
  /// Handles input on the channel (see Backend::channel).
  Result<void> on_channel() { return backend_->take_ack(); }
  /// Returns true if the guest has not yet acknowledged a notification.
  bool awaits_guest() const { return backend_ && backend_->acks_due() != 0; }

  bool has_ended() const {
    const std::lock_guard lock(completed_mutex_);
    return !completed_.empty();
  }
  /// Hands back the commands that have ended, and notifies the guest. During a kick (`submitted`),
  /// no notification is needed if the guest examines its ring when the kick is acknowledged. Errors
  /// describe how the client violated the protocol.
  Result<void> hand_back();
  std::size_t inside() const { return inside_.size(); }
  /// Drops the requests in flight. REQUIRES: no request will be completed afterwards.
  void forget_inside() {
    const std::lock_guard lock(completed_mutex_);
    completed_.clear();
    inside_.clear();
  }

 private:
  struct PendingRequest : model::Initiator {
    PendingRequest(GuestDisk& its_disk, vhost::Command its_command, vhost::Ring& its_ring)
        : disk(its_disk),
          command(std::move(its_command)),
          served(its_disk.served_),
          memory_of(its_disk.client_number_),
          ring(&its_ring) {}
    void completed(const model::Completion& done_with) override {
      completion = done_with;
      disk.note_completed(*this);
    }
    GuestDisk& disk;
    vhost::Command command;
    std::shared_ptr<const Served> served;
    std::uint64_t memory_of;  ///< number of the client that owns the memory
    vhost::Ring* ring;        ///< the client's ring from which the command was taken
    std::shared_ptr<const vhost::GuestMemory> memory;
    std::optional<model::Completion> completion;
    std::list<PendingRequest>::iterator at;
  };

  void note_completed(PendingRequest& inside) {
    const std::lock_guard lock(completed_mutex_);
    completed_.push_back(&inside);
  }
  std::vector<PendingRequest*> take_completed() {
    const std::lock_guard lock(completed_mutex_);
    return std::exchange(completed_, {});
  }
  Result<void> take_chains();
  /// Submits the command's next request. Returns true if the command has ended.
  bool submit_next(PendingRequest& inside);
  static Result<bool> give_back(PendingRequest& inside);

  base::ListeningSocket listener_;
  Connect connect_;
  Kick kick_;
  /// the guest examines its ring after this kick, so it needs no notification
  bool examines_ring_ = false;
  std::shared_ptr<const Served> served_;  ///< the client's disk
  int stop_;
  base::Descriptor client_;
  std::uint64_t client_number_ = 0;
  std::optional<vhost::Connection> connection_;
  std::optional<vhost::Backend> backend_;
  std::list<PendingRequest> inside_;
  mutable std::mutex completed_mutex_;
  /// Commands that must be continued or handed back, because their current request has completed or
  /// because they have ended.
  std::vector<PendingRequest*> completed_;
};

}  // namespace headcrash::timetravel
