// Controls a guest that is attached to a stage (stage_guest.h).
#include "harness/explorer/guests/stage_guest.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "fs-adapters/linux/stack.h"
#include "harness/explorer/guests/stage_copy.h"
#include "harness/vm/oops.h"
#include "plugin/model/core/store.h"

namespace headcrash::explorer {
namespace {

// When a guest has been killed, its last requests may still be in flight in the server for a short
// time. Until they complete, the stage cannot be switched, so the switch is retried.
constexpr int kSwitchTries = 40;
constexpr std::chrono::milliseconds kSwitchPause{25};
constexpr int kNotFoundExit = 127;  ///< exit code of a shell that does not find a program

std::string stack_failure(const adapters::Stack& stack, const char* done,
                          const run::GuestOutcome& outcome) {
  return fmt::format("the stack {} could not be {}: exit code {}: {}{}", stack.name, done,
                     outcome.exit_code, outcome.output,
                     outcome.exit_code == kNotFoundExit
                         ? "add the program's package to `packages` of the stack"
                         : "");
}

}  // namespace

struct StageGuest::State {
  device::StateServer& server;
  std::size_t stage = 0;
  StageGuestOptions options;
  StageMachine machine = {};
  std::unique_ptr<vm::Guest> guest;
  std::optional<run::GuestSession> session;
  std::optional<base::Deadline> give_up_at;
  std::chrono::seconds clock_ahead{0};
  std::filesystem::path scratch;
  bool trusted = false, mounted = false;
  bool write_through = false;      // the mode that set_write_through() set last
  bool others_write_back = false;  // set_write_through() changed only the first disk
  // The stack that was assembled last and may still use the disks; null if no stack was assembled.
  std::shared_ptr<const adapters::Stack> stack;
  bool recorded = false;  // requests to the stage are being recorded
  // A loaded disk whose identity the guest has not yet verified.
  std::optional<run::DiskIdentity> unseen;
  std::size_t restores = 0;
  std::string log;  // the guest's kernel log since load()
  std::optional<StageCopier> copier;

  std::vector<vm::GuestDisk> nbd_disks() const;
  Result<void> restore();
  Result<device::LoadedStage> switch_to(const device::StageLoad& load);
  void drop() {
    session.reset();
    guest.reset();
    trusted = mounted = write_through = false;
    stack.reset();
  }
  /// Sends a request to the guest. Returns an error if a request has failed since the last load(),
  /// or if there is no guest.
  template <typename Question>
  auto ask(const Question& question) -> decltype(question(*session)) {
    if (!session || !trusted) return fail(ErrorKind::other, "", "no state is loaded");
    auto outcome = question(*session);
    if (!outcome) trusted = false;
    return outcome;
  }
  /// Sends a request over the copier's own connection to the server, without the guest. If the
  /// request fails, closes the connection.
  template <typename Request>
  auto beside_guest(const Request& request) -> decltype(request(*copier)) {
    if (!copier) {
      TRY(auto connected,
          StageCopier::connect(server.socket(), device::StateServer::disk_export(stage)));
      copier.emplace(std::move(connected));
    }
    auto outcome = request(*copier);
    if (!outcome) copier.reset();
    return outcome;
  }
  Result<void> see() {
    if (!unseen) return {};
    const run::DiskIdentity loaded = *std::exchange(unseen, std::nullopt);
    return ask([&](run::GuestSession& each) { return each.verify_disks(loaded); });
  }
  template <typename Question>
  auto see_and_ask(const Question& question) -> decltype(question(*session)) {
    TRY(see());
    return ask(question);
  }
};

StageGuest::StageGuest(std::unique_ptr<State> state) : state_(std::move(state)) {}
StageGuest::~StageGuest() = default;

std::vector<vm::GuestDisk> StageGuest::State::nbd_disks() const {
  std::vector<vm::GuestDisk> all{{.socket = server.socket(),
                                  .export_name = device::StateServer::disk_export(stage),
                                  .size_bytes = options.disk_bytes},
                                 {.socket = server.socket(),
                                  .export_name = device::StateServer::mark_export(stage),
                                  .size_bytes = vm::kMarkDiskBytes}};
  for (const adapters::OtherDisk& other : options.others)
    all.push_back({.socket = server.socket(),
                   .export_name = device::StateServer::disk_export(stage, other.name),
                   .size_bytes = other.bytes});
  return all;
}

Result<void> StageGuest::State::restore() {
  drop();
  vm::GuestSpec spec{.image = options.image,
                     .accelerator = options.accelerator,
                     .memory_mib = options.memory_mib,
                     .disks = nbd_disks()};
  if (options.accelerator == vm::Accelerator::user_mode) {
    vm::attach_user_mode(spec, server.virtual_socket(stage), options.disk_bytes, options.others);
    spec.late_kicks = true;
  }
  TRY(auto started, vm::Guest::start(spec, options.cache, scratch));
  guest = std::move(started);
  session.emplace(*guest, options.step_timeout, options.interrupted);
  session->give_up_at(give_up_at);
  ++restores;
  for (const auto& ready : {session->set_clock(run::seed_digits(stage + 1), clock_ahead),
                            session->kernel_log().map([](const std::string&) {})}) {
    if (!ready) return fail("guest", ready.error().message());
  }
  trusted = true;
  return {};
}

Result<device::LoadedStage> StageGuest::State::switch_to(const device::StageLoad& load) {
  for (int tries = 1;; ++tries) {
    Result<device::LoadedStage> loaded = server.load(load);
    if (loaded) return std::move(*loaded);
    const Error& error = loaded.error();
    if (error.kind == ErrorKind::does_not_start)
      return run::stop(ErrorKind::unmountable, error.problem);
    const bool busy = error.kind == ErrorKind::busy;
    if (!busy || tries == kSwitchTries) return tl::unexpected(error);
    std::this_thread::sleep_for(kSwitchPause);
  }
}

Result<std::unique_ptr<StageGuest>> StageGuest::start(device::StateServer& server,
                                                      std::size_t stage,
                                                      const StageGuestOptions& options,
                                                      const std::filesystem::path& scratch) {
  std::unique_ptr<StageGuest> guest(new StageGuest(std::make_unique<State>(
      State{.server = server, .stage = stage, .options = options, .scratch = scratch})));
  // The guest cannot attach an export that has no size, so load empty disks first.
  TRY(server.load(guest->empty_disks()));
  TRY(guest->state_->restore());
  return guest;
}

Result<device::LoadedStage> StageGuest::load(const device::StageLoad& load, bool fresh_guest) {
  State& state = *state_;
  state.log.clear();
  if (state.trusted && !state.mounted && !stop_stack()) state.trusted = false;
  state.unseen.reset();
  if (fresh_guest || state.mounted || !state.guest || !state.guest->alive()) state.trusted = false;
  if (!state.trusted) state.drop();
  device::StageLoad own = load;
  own.stage = state.stage;
  own.machine = state.machine.profile;
  state.recorded = own.record.has_value();
  Result<device::LoadedStage> loaded = state.switch_to(own);
  if (!loaded) return loaded;
  if (loaded->sectors * model::kSectorBytes != state.options.disk_bytes) {
    return fail(ErrorKind::other, "",
                fmt::format("the state has {} bytes, but the guest's disk has {}",
                            loaded->sectors * model::kSectorBytes, state.options.disk_bytes));
  }
  if (!state.trusted) {
    TRY(state.restore());
  }
  state.unseen = {state.options.disk_bytes, loaded->nonce, state.options.others,
                  state.write_through, state.write_through && !state.others_write_back};
  return loaded;
}

void StageGuest::give_up_at(std::optional<base::Deadline> deadline) {
  state_->give_up_at = deadline;
  if (state_->session) state_->session->give_up_at(deadline);
}

Result<void> StageGuest::set_clock_ahead(std::chrono::seconds ahead) {
  state_->clock_ahead = ahead;
  if (!state_->session) return {};
  return state_->session->set_clock(run::seed_digits(state_->stage + 1), ahead);
}

void StageGuest::set_machine(StageMachine machine) {
  state_->machine = std::move(machine);
}
const StageMachine& StageGuest::machine() const {
  return state_->machine;
}

/// Discards the guest if the command fails, because the guest's cache mode is then unknown.
Result<void> StageGuest::set_write_through(bool write_through, SetDisks disks) {
  std::string names = "vda";
  for (std::size_t i = 0; disks == SetDisks::all && i < state_->options.others.size(); ++i)
    names += adapters::disk_path(i + 1).replace(0, std::string_view("/dev/").size(), " ");
  const auto done = exec(
      {"sh", "-c",
       fmt::format(
           "for disk in {}; do echo 'write {}' > /sys/block/$disk/queue/write_cache || exit; done",
           names, write_through ? "through" : "back")});
  if (done && done->exit_code == 0) {
    state_->write_through = write_through;
    state_->others_write_back = disks == SetDisks::data;
    return {};
  }
  state_->trusted = false;
  if (!done) return tl::unexpected(done.error());
  return run::stop(ErrorKind::other, "cannot set the guest's write cache: " + done->output);
}

Result<void> StageGuest::create_stack(const adapters::LinuxAdapter& filesystem,
                                      const std::string& uuid) {
  if (!filesystem.stack) return {};
  const adapters::Stack& stack = *filesystem.stack;
  state_->stack = filesystem.stack;
  TRY(const auto made,
      exec(adapters::fill_in_stack(stack, stack.create.argv, uuid, /*after_cut=*/false)));
  if (stack.create.good(made.exit_code)) return {};
  return run::stop(ErrorKind::other, stack_failure(stack, "created", made));
}

Result<void> StageGuest::assemble_stack(const adapters::LinuxAdapter& filesystem,
                                        Assembly assembly) {
  if (!filesystem.stack) return {};
  const adapters::Stack& stack = *filesystem.stack;
  state_->stack = filesystem.stack;
  const bool after_cut = assembly == Assembly::after_cut;
  TRY(const auto made, exec(adapters::fill_in_stack(stack, stack.assemble.argv, {}, after_cut)));
  if (!stack.assemble.good(made.exit_code))
    return run::stop(made.exit_code == kNotFoundExit ? ErrorKind::other : ErrorKind::unmountable,
                     stack_failure(stack, "assembled", made));
  if (after_cut || stack.degrade.argv.empty()) return {};
  TRY(const auto degraded,
      exec(adapters::fill_in_stack(stack, stack.degrade.argv, {}, /*after_cut=*/false)));
  if (stack.degrade.good(degraded.exit_code)) return {};
  return run::stop(ErrorKind::other, stack_failure(stack, "degraded", degraded));
}

Result<void> StageGuest::stop_stack() {
  const auto stack = std::exchange(state_->stack, nullptr);
  if (!stack) return {};
  TRY(const auto stopped,
      exec(adapters::fill_in_stack(*stack, stack->stop.argv, {}, /*after_cut=*/false)));
  if (stack->stop.good(stopped.exit_code)) return {};
  state_->trusted = false;
  return run::stop(ErrorKind::other, stack_failure(*stack, "stopped", stopped));
}

Result<run::GuestOutcome> StageGuest::exec(const std::vector<std::string>& argv) {
  return state_->see_and_ask([&](run::GuestSession& session) { return session.exec(argv); });
}

Result<bool> StageGuest::mount(const adapters::LinuxAdapter& filesystem, std::string* why) {
  Result<bool> mounted = state_->see_and_ask(
      [&](run::GuestSession& session) { return session.mount(filesystem, why); });
  if (mounted) state_->mounted = *mounted;
  return mounted;
}

Result<void> StageGuest::unmount() {
  Result<void> done =
      state_->see_and_ask([](run::GuestSession& session) { return session.unmount(); });
  if (done) state_->mounted = false;
  return done;
}

Result<run::RunOutcome> StageGuest::run(const std::vector<workload::Operation>& operations,
                                        std::span<const workload::FailedOperation> earlier) {
  return state_->see_and_ask(
      [&](run::GuestSession& session) { return session.run(operations, earlier); });
}

Result<std::vector<oracle::ObservedObject>> StageGuest::dump() {
  return state_->see_and_ask([](run::GuestSession& session) { return session.dump(); });
}

Result<void> StageGuest::start_trace() {
  return state_->see_and_ask([](run::GuestSession& session) { return session.start_trace(); });
}

Result<run::WriteTrace> StageGuest::stop_trace() {
  return state_->see_and_ask([](run::GuestSession& session) { return session.stop_trace(); });
}

Result<bool> StageGuest::recover_and_mount(const adapters::LinuxAdapter& filesystem,
                                           std::string& why, std::string& log) {
  const bool by_command = !filesystem.replay_by_mount && !filesystem.replay.argv.empty();
  Result<bool> mounted = false;
  if (!by_command || filesystem.promises.names_are_atomic()) mounted = mount(filesystem, &why);
  if (!mounted || *mounted || !by_command) return mounted;
  TRY(const auto replayed, exec(run::in_guest(filesystem.replay.argv)));
  log += fmt::format("{}exit {}\n", replayed.output, replayed.exit_code);
  return mount(filesystem, &why);
}

Result<void> StageGuest::put(const std::string& path, const std::string& text) {
  return state_->see_and_ask([&](run::GuestSession& session) { return session.put(path, text); });
}

Result<run::RunOutcome> StageGuest::run_application(const workload::Application& application) {
  return state_->see_and_ask(
      [&](run::GuestSession& session) { return session.run_application(application); });
}

Result<oracle::VerifierEnd> StageGuest::verify_application(const std::vector<std::string>& argv,
                                                           const std::string& input) {
  return state_->see_and_ask(
      [&](run::GuestSession& session) { return session.verify_application(argv, input); });
}

/// Inspects the file system. If the kernel has reported an oops, the guest is no longer trusted.
Result<run::Inspection> StageGuest::inspect(const adapters::LinuxAdapter& filesystem,
                                            const run::InspectOptions& options) {
  const auto loaded = std::exchange(state_->unseen, std::nullopt);
  const run::Pace pace = state_->recorded ? run::Pace::as_booted : run::Pace::quick;
  Result<run::Inspection> seen = state_->ask([&](run::GuestSession& session) {
    return session.inspect(filesystem, options, loaded, pace);
  });
  if (!seen) return seen;
  if (const auto oops = vm::find_oops(seen->log)) {
    state_->trusted = false;
    return run::stop(ErrorKind::guest_died, "the guest's kernel reported: " + *oops);
  }
  state_->log += seen->log;
  return seen;
}

Result<base::Descriptor> StageGuest::copy_stage() {
  return state_->beside_guest([](StageCopier& copier) { return copier.copy(); });
}

Result<void> StageGuest::change_stage(const states::StateImage& image,
                                      const base::Descriptor& copy) {
  return state_->beside_guest([&](StageCopier& copier) { return copier.change(image, copy); });
}

device::StateServer& StageGuest::server() {
  return state_->server;
}
std::size_t StageGuest::stage() const {
  return state_->stage;
}
device::StageLoad StageGuest::empty_disks() const {
  device::StageLoad load{.stage = state_->stage,
                         .sectors = state_->options.disk_bytes / model::kSectorBytes};
  for (const adapters::OtherDisk& other : state_->options.others)
    load.other_disks.emplace_back(other.name, other.bytes / model::kSectorBytes);
  return load;
}
std::optional<std::string> StageGuest::damage_message() const {
  return vm::find_damage_message(state_->log);
}
std::size_t StageGuest::restores() const {
  return state_->restores;
}

}  // namespace headcrash::explorer
