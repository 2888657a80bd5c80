// Finds failed requests by matching submissions with completions (failed_requests.h).
#include "harness/campaign/surveys/failed_requests.h"

#include <fmt/format.h>

#include <unordered_map>

#include "harness/explorer/explain/block_kind.h"
#include "plugin/record/recording.h"

namespace headcrash::campaign {
namespace {

std::string describe(const record::Event& request, std::string_view type) {
  if (request.op == model::Op::flush) return "flush";
  const std::string range = fmt::format("{}+{}", request.lba, request.sectors);
  if (request.payload.empty()) return "request of " + range;
  return fmt::format("write of {}: {}", range,
                     explorer::describe_write(type, request.lba, request.payload));
}

}  // namespace

Result<FailedRequests> failed_requests(const std::filesystem::path& recording,
                                       std::string_view type) {
  TRY(auto reader, record::RecordingReader::open(recording));
  std::unordered_map<model::RequestId, record::Event> waiting;
  FailedRequests failed;
  while (true) {
    TRY(auto event, reader.next());
    if (!event) return failed;
    if (event->device != 0) continue;
    if (event->kind == record::Kind::submit) {
      const model::RequestId id = event->request;
      waiting.insert_or_assign(id, std::move(*event));
      continue;
    }
    if (event->kind != record::Kind::ack) continue;
    const auto request = waiting.find(event->request);
    if (request == waiting.end()) continue;
    if (event->detail == static_cast<std::uint32_t>(model::Status::medium_error) &&
        failed.count++ == 0)
      failed.first = describe(request->second, type);
    waiting.erase(request);
  }
}

}  // namespace headcrash::campaign
