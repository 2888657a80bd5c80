#pragma once
// Test fixture: a guest whose agent sends answers that the test determines. The guest's process
// only sleeps.

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string_view>
#include <utility>

#include "harness/vm/guest.h"
#include "harness/vm/machine.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::run {

class PretendedGuest {
 public:
  /// Sends `lines` as the agent's output, then closes the agent's end of the connection. The
  /// session numbers its requests 1, 2, ..., so the answers in `lines` must have these IDs.
  explicit PretendedGuest(std::string_view lines) {
    auto ends = base::JsonSocket::make_pair().value();
    agent_ = std::move(ends.second);
    auto process = base::Process::start({.argv = {"/bin/sleep", "60"}}).value();
    guest_ = vm::Guest::over(std::make_unique<vm::GuestProcess>(
        "a test", std::move(process), std::move(ends.first), folder_.path()));
    const ssize_t written = ::write(agent_.get(), lines.data(), lines.size());
    if (written != static_cast<ssize_t>(lines.size())) agent_.reset();
    ::shutdown(agent_.get(), SHUT_WR);
  }
  vm::Guest& guest() { return *guest_; }

 private:
  TemporaryFolder folder_;
  base::Descriptor agent_;
  std::unique_ptr<vm::Guest> guest_;
};

}  // namespace headcrash::run
