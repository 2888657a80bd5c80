// Implements QMP over a connected socket (qmp.h; QEMU's docs/interop/qmp-spec.txt).
#include "harness/vm/qmp.h"

namespace headcrash::vm {
namespace {

using nlohmann::json;

tl::unexpected<Error> silent(const std::string& command, base::Silence silence) {
  switch (silence) {
    case base::Silence::timeout:
      return fail("QEMU: " + command, "timed out", "retry when this machine is less busy");
    case base::Silence::closed:
      return fail("QEMU: " + command, "QEMU ended");
    case base::Silence::malformed:
      break;
  }
  return fail("QEMU: " + command, "the reply is not a JSON object");
}

}  // namespace

Result<void> Qmp::greet(std::chrono::milliseconds timeout) {
  const auto greeting = socket_.receive(base::after(timeout));
  if (!greeting) return silent("greeting", greeting.error());
  if (!greeting->contains("QMP"))
    return fail("QEMU: greeting", "the first message is not a QMP greeting");
  TRY(execute("qmp_capabilities", json::object(), timeout));
  return {};
}

Result<json> Qmp::execute(const std::string& command, const json& arguments,
                          std::chrono::milliseconds timeout) {
  const base::Deadline deadline = base::after(timeout);
  if (const auto sent = socket_.send({{"execute", command}, {"arguments", arguments}}, deadline);
      !sent) {
    return silent(command, sent.error());
  }
  for (;;) {
    const auto message = socket_.receive(deadline);
    if (!message) return silent(command, message.error());
    if (message->contains("return")) return (*message)["return"];
    if (message->contains("error"))
      return fail("QEMU: " + command, (*message)["error"].value("desc", "failed"));
  }
}

}  // namespace headcrash::vm
