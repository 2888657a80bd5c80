#include "plugin/base/processor_claim.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace headcrash::base {
namespace {

/// Binds a socket whose name claims the processor. The name is in the abstract namespace, so no
/// file has to be removed later.
Descriptor claim(int processor) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("headcrash-processor-{}-{}", ::getuid(), processor);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0)
    socket.reset();
  return socket;
}

}  // namespace

ProcessorClaim ProcessorClaim::take() {
  ProcessorClaim taken;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(::getpid(), sizeof allowed, &allowed) != 0) return taken;
  for (int i = 0; i < CPU_SETSIZE && !taken.processor_; ++i) {
    if (!CPU_ISSET(i, &allowed)) continue;
    taken.name_ = claim(i);
    if (taken.name_.is_open()) taken.processor_ = i;
  }
  return taken;
}

void ProcessorClaim::move(pid_t thread) const {
  if (!processor_) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(*processor_, &only);
  static_cast<void>(::sched_setaffinity(thread, sizeof only, &only));
}

}  // namespace headcrash::base
