#pragma once
// Commands from an array to its members. A batch is a set of commands that a coroutine awaits
// together:
//
//   Batch batch(commands_);
//   batch.read(0, ...);  batch.read(1, ...);
//   co_await batch;                          sets the masks batch.dead and batch.unreadable
//
// The consequences of a failure are decided in array_members.cc.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "plugin/model/array/array_runner.h"
#include "plugin/model/core/device.h"

namespace headcrash::model {

class MemberCommands {
 public:
  using Members = std::vector<std::unique_ptr<Device>>;
  /// The arguments must outlive this object.
  MemberCommands(Simulation& simulation, ArrayRunner& runner, Members& members)
      : simulation_(simulation),
        runner_(runner),
        members_(members),
        next_lba_(members.size()),
        in_flight_(members.size()) {}

  /// A set of commands, owned by a coroutine. Byte pointers may be null if only timing matters.
  class Batch {
   public:
    explicit Batch(MemberCommands& commands) : commands_(commands) {}
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    void read(std::uint32_t member, std::uint64_t lba, std::uint32_t sectors, std::byte* into);
    void write(std::uint32_t member, std::uint64_t lba, std::uint32_t sectors,
               const std::byte* from, bool fua);
    void other(Op op, std::uint32_t member, std::uint64_t lba, std::uint32_t sectors, bool fua);
    bool failed() const { return dead != 0 || unreadable != 0 || store_error; }
    bool await_ready() const { return pending == 0; }
    void await_suspend(std::coroutine_handle<> h) { waiter_ = h; }
    void await_resume() const {}

    std::uint32_t pending = 0;
    std::uint64_t dead = 0;        ///< mask of members that are dead, or on which a write failed
    std::uint64_t unreadable = 0;  ///< mask of members on which a read had a medium error
    bool store_error = false;
    Breakdown breakdown;  ///< of the last command

   private:
    friend class MemberCommands;
    void submit(std::uint32_t member, Request& request);
    void add(std::uint32_t member, Op op, const Completion& completion);

    MemberCommands& commands_;
    std::coroutine_handle<> waiter_;
  };

  /// Returns the LBA after the last sector of the last command to this member.
  std::uint64_t next_lba(std::uint32_t member) const { return next_lba_[member]; }
  std::uint32_t in_flight(std::uint32_t member) const { return in_flight_[member]; }
  /// Detaches the commands in flight from their batches. REQUIRES: the coroutines that own the
  /// batches have not been destroyed yet.
  void power_cut();

 private:
  struct Command final : Initiator {
    explicit Command(MemberCommands& owner) : commands(owner) {}
    void completed(const Completion& completion) override { commands.completed(*this, completion); }
    MemberCommands& commands;
    Batch* batch = nullptr;
    std::uint32_t member = 0;
    Op op = Op::read;
  };

  Command& take();
  void completed(Command& command, const Completion& completion);

  Simulation& simulation_;
  ArrayRunner& runner_;
  Members& members_;
  std::vector<std::uint64_t> next_lba_;
  std::vector<std::uint32_t> in_flight_;
  std::deque<Command> pool_;
  std::vector<Command*> free_;
};

}  // namespace headcrash::model
