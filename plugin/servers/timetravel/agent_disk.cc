#include "plugin/servers/timetravel/agent_disk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "plugin/base/little_endian.h"

namespace headcrash::timetravel {
namespace {

using virtual_guest::kLengthBytes;

bool is_transfer(const model::Request& request) {
  return request.lba == AgentDisk::kStreamSector &&
         request.sectors * model::kSectorBytes == AgentDisk::kTransferBytes;
}

}  // namespace

std::optional<int> AgentDisk::serve(const model::Request& request, model::Initiator& initiator) {
  if (request.op == model::Op::read && is_transfer(request)) {
    if (waiting_) return EBUSY;  // the agent may have only one read in flight
    waiting_ = {request, &initiator};
    return std::nullopt;
  }
  if (request.op == model::Op::read) std::memset(request.into.data(), 0, request.into.size());
  if (request.op != model::Op::write) return 0;
  if (!is_transfer(request)) return EINVAL;
  const std::uint32_t bytes = little_endian::load32(request.data, 0);
  if (bytes > kTextBytesMax) return EINVAL;
  for_host_.append(reinterpret_cast<const char*>(request.data.data()) + kLengthBytes, bytes);
  return 0;
}

void AgentDisk::from_host(std::string_view text) {
  from_host_.append(text);
  if (const std::size_t end = text.rfind('\n'); end != std::string_view::npos)
    complete_ = from_host_.size() - text.size() + end + 1;
}

void AgentDisk::answer_read() {
  const std::size_t line = from_host_.find('\n') + 1;
  const std::size_t bytes = std::min(line, kTextBytesMax);
  const WaitingRead answered = *std::exchange(waiting_, std::nullopt);
  const std::span<std::byte> into = answered.request.into;
  std::memset(into.data(), 0, into.size());
  little_endian::store(into, 0, static_cast<std::uint32_t>(bytes));
  std::memcpy(into.data() + kLengthBytes, from_host_.data(), bytes);
  from_host_.erase(0, bytes);
  complete_ -= bytes;
  answered.initiator->completed({.status = model::Status::ok});
}

}  // namespace headcrash::timetravel
