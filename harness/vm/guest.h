#pragma once
// A running guest with emulated disks and a responding agent: QEMU restored from a saved state, or
// user-mode Linux in virtual time.
//
// A QEMU guest is booted once per topology, and its state is saved (boot_and_save). Every trial
// restores that state in a fraction of a second. User-mode Linux boots equally fast. The destructor
// kills the guest's process and waits for it; no process, socket or file remains.

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

/// How a guest's instructions are executed: by KVM, by QEMU's emulation, or by user-mode Linux,
/// which is a program on the host.
enum class Accelerator { kvm, tcg, user_mode };
const char* name(Accelerator accelerator);  ///< "kvm", "tcg", "user-mode"

/// The output of scripts/build-guest in the cache folder.
struct GuestImage {
  std::filesystem::path kernel;
  std::filesystem::path initramfs;
  std::string kernel_version;  ///< "6.1.0-99-amd64"
  std::string key;             ///< digest of all inputs of the build
  bool user_mode = false;      ///< the kernel is a program on the host

  /// Returns true for a user-supplied kernel without modules, in which all drivers must be built
  /// in.
  bool has_no_modules() const { return kernel_version == "own"; }
};

/// Returns true if the default kernel of user-mode guests is in the cache. Builds nothing.
bool user_mode_kernel_is_built(const std::filesystem::path& cache);

/// Returns the guest image. If an input has changed, first runs scripts/build-guest, which prints
/// its progress. `parts` lists additions that a file system needs. Errors name the missing package,
/// tool or file.
Result<GuestImage> guest_image(const std::filesystem::path& cache,
                               const adapters::GuestParts& parts = {},
                               Accelerator accelerator = Accelerator::tcg);
/// Returns the image without building it. Returns nullopt if the image was never built or an input
/// has changed since. Does not modify the cache.
Result<std::optional<GuestImage>> built_guest_image(const std::filesystem::path& cache,
                                                    Accelerator accelerator = Accelerator::tcg);
/// Describes the image in a folder that build-guest has made. Rejects a user-mode kernel whose
/// source lacks a required edit.
Result<GuestImage> guest_image_in(const std::filesystem::path& folder);

/// Images by file system name. File systems that need the same parts share an image. Fails like
/// guest_image().
using GuestImages = std::map<std::string, GuestImage>;
Result<GuestImages> guest_images(const std::filesystem::path& cache,
                                 const std::map<std::string, adapters::GuestParts>& parts,
                                 Accelerator accelerator = Accelerator::tcg);

/// Returns the kernel versions, sorted and separated by commas.
std::string kernels_of(const GuestImages& images);

struct AcceleratorProbe {
  Accelerator accelerator = Accelerator::tcg;
  std::string reason;  ///< "a guest ran under KVM in 0.4 s", "a KVM guest did not start within 5 s"
};
/// Starts a tiny guest under KVM with a time limit. The result is cached until the host reboots.
AcceleratorProbe probe_accelerator(const std::filesystem::path& cache);

/// One of the guest's disks. The first is /dev/vda, the second /dev/vdb, and so on.
struct GuestDisk {
  std::filesystem::path socket;  ///< Unix socket of an NBD or vhost-user server
  std::string export_name;       ///< "" for the first device, "mark" for the marks
  /// Size of the disk. Part of the saved state's key, because a restored guest assumes the size at
  /// the time of saving.
  std::uint64_t size_bytes = 0;
  /// The guest's physical_block_size. Also part of the key.
  std::uint32_t physical_sector_bytes = 512;
};

struct GuestSpec {
  GuestImage image;
  Accelerator accelerator = Accelerator::tcg;
  std::uint32_t memory_mib = 384;
  std::vector<GuestDisk> disks;
  /// user_mode only: the sockets of the clock, of the disk through which the agent communicates,
  /// and of the agent.
  std::filesystem::path time_socket{}, port_socket{}, agent_socket{};
  /// user_mode only: notifies disks of submitted requests only once, when the guest becomes idle.
  /// Only for disks that complete requests in zero time, because a timed disk would start a few
  /// nanoseconds late.
  bool late_kicks = false;
};

/// Size of the disk for marks, for all kinds of guests.
inline constexpr std::uint64_t kMarkDiskBytes = 4096;

/// Configures a user-mode Linux guest. The sockets of its other disks, clock and agent are next to
/// the socket of its first disk (plugin/servers/timetravel/calendar.h). `others` are the
/// disks after the first one.
void attach_user_mode(GuestSpec& spec, const std::filesystem::path& disk, std::uint64_t disk_bytes,
                      const std::vector<adapters::OtherDisk>& others);

/// Receives the events that the agent reports during a request.
using EventHandler = std::function<void(const nlohmann::json& event)>;

class GuestProcess;

class Guest {
 public:
  /// Starts a guest from the saved state for this spec. If the cache has no such state, boots a
  /// guest and saves its state first. `scratch` is an existing folder for this guest's console
  /// output. QEMU dies with the thread that called this function, so call it from a thread that
  /// lives as long as the guest.
  static Result<std::unique_ptr<Guest>> start(const GuestSpec& spec,
                                              const std::filesystem::path& cache,
                                              const std::filesystem::path& scratch);
  /// Creates a guest from a running process whose agent already responds.
  static std::unique_ptr<Guest> over(std::unique_ptr<GuestProcess> process);
  ~Guest();

  /// Sends one request to the agent and waits for its answer (harness/guest/PROTOCOL.md). Passes
  /// events to `on_event`. Polls `give_up` several times a second, and returns at once when it
  /// returns true. The kinds of errors are timeout, guest_died, interrupted (`give_up`), refused
  /// and unsupported (the kernel does not know the file system type; both have the agent's text),
  /// and
  /// malformed (a violation of the protocol, agent_message.h; discard the guest).
  Result<nlohmann::json> call(const nlohmann::json& request, std::chrono::milliseconds timeout,
                              const EventHandler& on_event = {},
                              const std::function<bool()>& give_up = {});

  /// The two halves of call(), for callers that must also watch other events while waiting.
  Result<void> send(const nlohmann::json& request);
  /// Waits for the next message. Returns nullopt after the timeout, after the death of the guest
  /// (see alive()), or after a malformed message (see malformed()).
  std::optional<nlohmann::json> receive(std::chrono::milliseconds timeout);

  bool alive() const;
  /// Returns the first message that violated the protocol, if any.
  const std::optional<Error>& malformed() const;
  /// Returns true if the guest's clock does not advance while the guest computes or the agent waits
  /// for a request.
  bool in_virtual_time() const;
  /// Returns the first console line that reports a kernel defect: an oops, a panic, a lockup or a
  /// warning.
  std::optional<std::string> oops() const;
  /// Returns the first console line in which a file system reports damaged structures. After a
  /// power cut this is a finding; after injected read errors it is expected (harness/vm/oops.h).
  std::optional<std::string> damage_message() const;
  std::string console_tail(std::size_t lines) const;

  /// Kills the guest at once with SIGKILL, which has the same effect as a power failure.
  void kill();

 private:
  struct State;
  explicit Guest(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Returns the -blockdev and -device options for one disk. Used for our guests, and printed for
/// users by `headcrash serve`.
std::vector<std::string> qemu_disk_arguments(const GuestDisk& disk, std::size_t index);

}  // namespace headcrash::vm
