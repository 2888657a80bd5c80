#pragma once
// A disk of a guest in virtual time, over vhost-user: who comes to its socket, which commands are
// inside, which have ended. The calendar decides when time passes; this one never waits.
//
//   the guest kicks     its chains become commands, their requests go to whoever serves (`serve`): before the kick is
//                       acknowledged, so that none of it depends on how fast host and guest are
//   serve completes     the command's next request is submitted, or the command has ended
//   hand_back()         commands that have ended are given back, in the order in which they did, and the guest is told
//
// Everything is called by one thread; `completed` from within serve or the simulation's step, or by
// whoever cuts the power.

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
  /// A disk as one client has it, from its connection to its end.
  struct Served {
    vhost::Disk shape;  ///< without its functions
    /// An errno or 0, or none: `initiator` is told later, once. Both arguments last until then.
    std::function<std::optional<int>(const model::Request& request, model::Initiator& initiator)>
        serve;
    /// What a completion that came later is for the guest: an errno or 0. Absent where serve()
    /// always answers.
    std::function<int(const model::Request& request, const model::Completion& completion)> account;
  };
  /// Error: there is no disk now, and the client is turned away.
  using Connect = std::function<Result<Served>()>;

  /// Of whoever owns the clock, for a kick. A kick of our kernels (scripts/build-uml,
  /// kick-with-time) has as its number 1 and twice the nanoseconds since the guest last told its
  /// time; it looks at its ring when the kick has been acknowledged.
  struct Kick {
    std::function<void(std::uint32_t untold_ns)> told;  ///< before the ring is looked at
    std::function<void(GuestDisk&)>
        submitted;  ///< the commands have been; it is not acknowledged yet
  };
  /// `stop` ends a wait for the rest of a message.
  GuestDisk(base::ListeningSocket listener, Connect connect, Kick kick, int stop);
  ~GuestDisk();
  GuestDisk(const GuestDisk&) = delete;
  GuestDisk& operator=(const GuestDisk&) = delete;

  std::string name() const {
    return served_ ? served_->shape.name : std::string();
  }  ///< of what the client has
  int listener() const { return listener_.get(); }

  // One client at a time: who comes while another is there waits until that one has gone.
  bool has_client() const { return client_.is_open(); }
  Result<void> accept();
  void disconnect();  ///< requests that are inside stay there until they complete; nobody is told
  int socket() const { return client_.get(); }
  int channel() const { return backend_ ? backend_->channel() : -1; }

  /// A message waits. False: the client has gone. Error: what it did wrong.
  Result<bool> on_message();
  /// Something waits in the channel.
  Result<void> on_channel() { return backend_->take_ack(); }
  /// The guest has been told of something and has not said yet that it has seen it.
  bool awaits_guest() const { return backend_ && backend_->acks_due() != 0; }

  bool has_ended() const {
    const std::lock_guard lock(completed_mutex_);
    return !completed_.empty();
  }
  /// Gives back what has ended, and calls the guest. During a kick (`submitted`) no call is due
  /// where the guest looks at its ring when the kick has been acknowledged. Error: what the client
  /// did wrong.
  Result<void> hand_back();
  std::size_t inside() const { return inside_.size(); }
  /// REQUIRES: nobody will complete them.
  void forget_inside() {
    const std::lock_guard lock(completed_mutex_);
    completed_.clear();
    inside_.clear();
  }

 private:
  struct Inside : model::Initiator {
    Inside(GuestDisk& its_disk, vhost::Command its_command, vhost::Ring& its_ring)
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
    std::uint64_t memory_of;  ///< which client's it is
    vhost::Ring* ring;        ///< that client's
    std::shared_ptr<const vhost::GuestMemory> memory;
    std::optional<model::Completion> completion;
    std::list<Inside>::iterator at;
  };

  void note_completed(Inside& inside) {
    const std::lock_guard lock(completed_mutex_);
    completed_.push_back(&inside);
  }
  std::vector<Inside*> take_completed() {
    const std::lock_guard lock(completed_mutex_);
    return std::exchange(completed_, {});
  }
  Result<void> take_chains();
  /// Submits what the command asks for next; true: it has ended.
  bool submit_next(Inside& inside);
  static Result<bool> give_back(Inside& inside);

  base::ListeningSocket listener_;
  Connect connect_;
  Kick kick_;
  bool looks_ = false;                    ///< the guest at its ring, after this kick
  std::shared_ptr<const Served> served_;  ///< the client's
  int stop_;
  base::Descriptor client_;
  std::uint64_t client_number_ = 0;
  std::optional<vhost::Connection> connection_;
  std::optional<vhost::Backend> backend_;
  std::list<Inside> inside_;
  mutable std::mutex completed_mutex_;
  std::vector<Inside*> completed_;  ///< their request has, and those that have ended
};

}  // namespace headcrash::timetravel
