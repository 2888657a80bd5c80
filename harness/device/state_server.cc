// Starts nbdkit as a child process that serves the stages, and exchanges messages with it
// (state_server.h).
#include "harness/device/state_server.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "harness/device/server_child.h"

namespace headcrash::device {
namespace {

namespace fs = std::filesystem;

/// The limit is long, because the first access to a long recording is slow.
constexpr std::chrono::seconds kAnswerLimit{300};
/// The server accepts at most 16 clients. This limit leaves some connections for the user's own
/// clients.
constexpr std::size_t kConversationsMax = 8;

std::uint64_t number_of(const nlohmann::json& hex) {
  return std::stoull(hex.get<std::string>(), nullptr, 16);
}

}  // namespace

/// Each caller waits on a separate connection, so that loading a long recording does not block
/// other callers.
struct StateServer::State {
  std::unique_ptr<ServerChild> child;
  fs::path virtual_sockets;
  std::mutex mutex;
  std::condition_variable returned;
  std::vector<ControlClient> idle;
  std::size_t open = 0;

  Result<ControlClient> take() {
    std::unique_lock lock(mutex);
    returned.wait(lock, [this] { return !idle.empty() || open < kConversationsMax; });
    if (!idle.empty()) {
      ControlClient client = std::move(idle.back());
      idle.pop_back();
      return client;
    }
    ++open;
    lock.unlock();
    auto client = ControlClient::connect(child->control_socket());
    if (!client) give_back(std::nullopt);
    return client;
  }
  void give_back(std::optional<ControlClient> client) {
    const std::lock_guard lock(mutex);
    if (client) {
      idle.push_back(std::move(*client));
    } else {
      --open;
    }
    returned.notify_one();
  }

  bool alive() {
    const std::lock_guard lock(mutex);
    return child->alive();
  }

  Result<nlohmann::json> request(const nlohmann::json& message) {
    auto client = take();
    if (!client)
      return alive() ? Result<nlohmann::json>(forward_error(client))
                     : tl::unexpected(child->death());
    auto answer = client->exchange(message, kAnswerLimit);
    if (!answer) {
      give_back(std::nullopt);
      return alive() ? answer : tl::unexpected(child->death());
    }
    auto accepted = client->accepted(std::move(*answer));
    give_back(std::move(*client));
    return accepted;
  }
};

StateServer::StateServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
StateServer::~StateServer() = default;

Result<std::unique_ptr<StateServer>> StateServer::start(std::size_t stages, const fs::path& scratch,
                                                        bool virtual_time) {
  std::vector<std::string> parameters{fmt::format("states={}", stages)};
  const fs::path sockets = scratch / "virtual";
  if (virtual_time) parameters.push_back("virtual-time=" + sockets.string());
  TRY(auto child, ServerChild::start_nbdkit({.subject = "the server of crash states",
                                             .scratch = scratch,
                                             .socket = scratch / "states.sock",
                                             .control_socket = scratch / "states-control.sock"},
                                            parameters));
  auto state = std::make_unique<State>();
  state->child = std::move(child);
  state->virtual_sockets = sockets;
  return std::unique_ptr<StateServer>(new StateServer(std::move(state)));
}

fs::path StateServer::socket() const {
  return state_->child->socket();
}
fs::path StateServer::virtual_socket(std::size_t stage) const {
  return base::socket_beside(state_->virtual_sockets, std::to_string(stage));
}
std::string StateServer::disk_export(std::size_t stage) {
  return fmt::format("stage/{}", stage);
}
std::string StateServer::mark_export(std::size_t stage) {
  return fmt::format("mark/{}", stage);
}
std::string StateServer::disk_export(std::size_t stage, const std::string& other_disk) {
  return disk_export(stage) + "/" + other_disk;
}

Result<LoadedStage> StateServer::load(const StageLoad& load) {
  nlohmann::json order = {{"state", "load"}, {"stage", load.stage}};
  if (load.recording.empty()) {
    order["sectors"] = load.sectors;
    if (!load.other_disks.empty()) order["other_disks"] = load.other_disks;
    if (load.used_disk) order["used_disk"] = true;
  } else {
    order["recording"] = fs::absolute(load.recording).string();
    order["id"] = load.state;
  }
  if (load.record) {
    order["record"] = fs::absolute(*load.record).string();
    if (load.delay_us != 0)
      order.update({{"delay_us", load.delay_us}, {"delay_seed", load.delay_seed}});
    if (!load.slow.empty()) order.update({{"slow", load.slow}, {"slow_us", load.slow_us}});
  }
  if (!load.machine.empty())
    order["machine"] =
        fs::exists(load.machine) ? fs::absolute(load.machine).string() : load.machine;
  if (!load.faults.empty()) order["faults"] = load.faults;
  TRY(const auto answer, state_->request(order));
  return LoadedStage{answer.at("nonce"), answer.at("sectors"), number_of(answer.at("digest"))};
}

Result<std::uint64_t> StateServer::seal(std::size_t stage) {
  TRY(const auto answer, state_->request({{"state", "seal"}, {"stage", stage}}));
  return answer.at("events").get<std::uint64_t>();
}

Result<void> StateServer::mark(std::size_t stage, const std::string& text) {
  TRY(state_->request({{"state", "mark"}, {"stage", stage}, {"text", text}}));
  return {};
}

Result<std::uint64_t> StateServer::digest(std::size_t stage) {
  TRY(const auto answer, state_->request({{"state", "digest"}, {"stage", stage}}));
  return number_of(answer.at("digest"));
}

Result<nlohmann::json> StateServer::status(std::size_t stage) {
  return state_->request({{"state", "status"}, {"stage", stage}});
}

bool StateServer::alive() const {
  return state_->alive();
}

Result<void> StateServer::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->idle.clear();
  return state_->child->stop();
}

}  // namespace headcrash::device
