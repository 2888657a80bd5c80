#pragma once
// A running guest with emulated disks attached and the agent answering: QEMU restored from a saved
// state, or user-mode Linux in virtual time.
//
// A guest of QEMU is booted once per topology and its state saved (boot_and_save); every trial
// restores that state in a fraction of a second. User-mode Linux boots in as little. Destroying a
// Guest kills its process and waits for it: no process, socket or file stays behind.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "plugin/base/result.h"

namespace headcrash::vm {

/// What carries out a guest's instructions: KVM, QEMU's emulation, or user-mode Linux, which is a
/// program of the host.
enum class Accelerator { kvm, tcg, user_mode };
const char* name(Accelerator accelerator);  ///< "kvm", "tcg", "user-mode"

/// What scripts/build-guest leaves in the cache folder.
struct GuestImage {
  std::filesystem::path kernel;
  std::filesystem::path initramfs;
  std::string kernel_version;  ///< "6.1.0-99-amd64"
  std::string key;             ///< digest of every input
  bool user_mode = false;      ///< the kernel is a program of the host

  /// A kernel of one's own that came without its modules has everything built in, or nothing works.
  bool has_no_modules() const { return kernel_version == "own"; }
};

/// Runs scripts/build-guest when an input changed (it prints what it does), then says what it left.
/// `parts` are those of a file system that brings its own. Errors name the missing package, tool or
/// file.
Result<GuestImage> guest_image(const std::filesystem::path& cache,
                               const adapters::GuestParts& parts = {},
                               Accelerator accelerator = Accelerator::tcg);
/// The same without building: nothing if an input changed, or none was ever built. Leaves the cache
/// as it is.
Result<std::optional<GuestImage>> built_guest_image(const std::filesystem::path& cache,
                                                    Accelerator accelerator = Accelerator::tcg);
/// What lies in a folder that build-guest made. Refuses a user-mode kernel whose source lacked an
/// edit that a guest cannot do without.
Result<GuestImage> guest_image_in(const std::filesystem::path& folder);

/// By the names of file systems: an image for each, those of equal parts made once. Errors as of
/// guest_image().
using GuestImages = std::map<std::string, GuestImage>;
Result<GuestImages> guest_images(const std::filesystem::path& cache,
                                 const std::map<std::string, adapters::GuestParts>& parts,
                                 Accelerator accelerator = Accelerator::tcg);

/// The versions of their kernels, sorted, with commas between them.
std::string kernels_of(const GuestImages& images);

struct AcceleratorProbe {
  Accelerator accelerator = Accelerator::tcg;
  std::string reason;  ///< "a guest ran under KVM in 0.4 s", "a KVM guest did not start within 5 s"
};
/// Runs a tiny guest under KVM with a time limit. The answer is kept in the cache until the next
/// boot of the host.
AcceleratorProbe probe_accelerator(const std::filesystem::path& cache);

/// A disk of the guest. The first is /dev/vda, the second /dev/vdb, ...
struct GuestDisk {
  std::filesystem::path socket;  ///< Unix socket of the NBD server, or of one for vhost-user
  std::string export_name;       ///< "" is the first device, "mark" the marks
  std::uint64_t size_bytes =
      0;  ///< part of the saved state's key: a restored guest believes the old size
  std::uint32_t physical_sector_bytes =
      512;  ///< as the guest's physical_block_size; part of the key, too
};

struct GuestSpec {
  GuestImage image;
  Accelerator accelerator = Accelerator::tcg;
  std::uint32_t memory_mib = 384;
  std::vector<GuestDisk> disks;
  /// user_mode: the sockets of its clock, of the agent's disk, and of the agent.
  std::filesystem::path time_socket{}, port_socket{}, agent_socket{};
  /// user_mode: disks hear of all that is submitted when the guest has nothing more to do, once.
  /// For those that answer in no time: a timed disk would start some nanoseconds later.
  bool late_kicks = false;
};

/// What the disk for marks has, under either kind of guest.
inline constexpr std::uint64_t kMarkDiskBytes = 4096;

/// For a guest of user-mode Linux: its disks, clock and agent are at the sockets beside that of its
/// first disk (plugin/servers/timetravel/calendar.h). `log_bytes`: of a disk for a log; 0: there is
/// none.
void attach_user_mode(GuestSpec& spec, const std::filesystem::path& disk, std::uint64_t disk_bytes,
                      std::uint64_t log_bytes);

/// What the agent can report while it works, by "event".
using EventHandler = std::function<void(const nlohmann::json& event)>;

enum class CallFailure {
  timeout,
  guest_died,
  refused,
  unknown_type,  ///< refused: the kernel does not know the type of a file system
  given_up,
  malformed,  ///< a message violates the protocol (agent_message.h); do not use the guest again
};
struct CallError {
  CallFailure failure = CallFailure::refused;
  std::string text;  ///< refused, unknown_type: the agent's own words; malformed: which field
};

class GuestProcess;

class Guest {
 public:
  /// Restores the saved state for this spec, booting and saving it first if the cache has none.
  /// `scratch` is an existing folder of this guest's own for console output. If the harness is
  /// killed, QEMU dies with the thread that called this: call it from a thread that lives as long
  /// as the guest.
  static Result<std::unique_ptr<Guest>> start(const GuestSpec& spec,
                                              const std::filesystem::path& cache,
                                              const std::filesystem::path& scratch);
  /// A process that runs already and whose agent answers.
  static std::unique_ptr<Guest> over(std::unique_ptr<GuestProcess> process);
  ~Guest();

  /// One request to the agent and its answer (harness/guest/PROTOCOL.md); events go to `on_event`
  /// meanwhile. `give_up` is asked several times a second; when it says so, the call ends at once.
  tl::expected<nlohmann::json, CallError> call(const nlohmann::json& request,
                                               std::chrono::milliseconds timeout,
                                               const EventHandler& on_event = {},
                                               const std::function<bool()>& give_up = {});

  /// As call(), in two halves, so that the caller can watch something else in between.
  Result<void> send(const nlohmann::json& request);
  /// Waits for the next message; nothing after the timeout, when the guest has died (see alive()),
  /// or after a malformed message (see malformed()).
  std::optional<nlohmann::json> receive(std::chrono::milliseconds timeout);

  bool alive() const;
  /// The first message that was not as the protocol has it, if any.
  const std::optional<Error>& malformed() const;
  /// Its clock stands still while it computes and while the agent waits for a request.
  bool in_virtual_time() const;
  /// The first line on the console that shows a defect of the kernel: an oops, a panic, a lockup, a
  /// warning.
  std::optional<std::string> oops() const;
  /// The first line in which a file system reports damage of its structures. After a crash that is
  /// a finding, after injected read errors it is what it should say (harness/vm/oops.h).
  std::optional<std::string> damage_message() const;
  std::string console_tail(std::size_t lines) const;

  /// SIGKILL, at once: the power has gone.
  void kill();

 private:
  struct State;
  explicit Guest(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The -blockdev and -device options for one disk, for people (`headcrash serve`) and for guests
/// alike.
std::vector<std::string> qemu_disk_arguments(const GuestDisk& disk, std::size_t index);

}  // namespace headcrash::vm
