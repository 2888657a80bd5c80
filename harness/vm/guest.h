#pragma once
// A running guest with emulated disks and an agent that responds. It is either QEMU, restored from
// a saved state, or user-mode Linux in virtual time.
//
// For each topology, a QEMU guest is booted once and its state is saved (boot_and_save). Every
// trial restores that state in a fraction of a second. User-mode Linux boots equally fast. The
// destructor kills the guest's process and waits for it; no process, socket or file remains.

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

/// The way in which a guest's instructions are executed: by KVM, by QEMU's emulation, or by
/// user-mode Linux, which is a program on the host.
enum class Accelerator { kvm, tcg, user_mode };
const char* name(Accelerator accelerator);  ///< returns "kvm", "tcg" or "user-mode"

/// The output of scripts/build-guest in the cache directory.
struct GuestImage {
  std::filesystem::path kernel;
  std::filesystem::path initramfs;
  std::string kernel_version;  ///< "6.1.0-99-amd64"
  std::string key;             ///< digest of everything on which the build depends
  bool user_mode = false;      ///< the kernel is a user-mode Linux program

  /// Returns true if the user supplied the kernel. It then has no modules, so all drivers must be
  /// built in.
  bool has_no_modules() const { return kernel_version == "own"; }
};

/// Returns true if the kernel for user-mode guests that `parts` names has been built and is in the
/// cache. Does not build it.
bool user_mode_kernel_is_built(const std::filesystem::path& cache,
                               const adapters::GuestParts& parts = {});

/// Returns the guest image. If the image is missing or out of date, first runs scripts/build-guest,
/// which prints its progress. `parts` lists additional files that a file system needs. Errors name
/// the missing package, tool or file.
Result<GuestImage> guest_image(const std::filesystem::path& cache,
                               const adapters::GuestParts& parts = {},
                               Accelerator accelerator = Accelerator::tcg);
/// Returns the image if it is built and up to date; otherwise, nullopt. Does not modify the cache.
Result<std::optional<GuestImage>> built_guest_image(const std::filesystem::path& cache,
                                                    Accelerator accelerator = Accelerator::tcg);
/// Describes the image in a directory that build-guest has created. Rejects a user-mode kernel if
/// its source lacks a required edit.
Result<GuestImage> guest_image_in(const std::filesystem::path& folder);

/// Images, with the same keys as `parts`. Entries that need the same parts share an image.
/// guest_images() fails for the same reasons as guest_image().
using GuestImages = std::map<std::string, GuestImage>;
Result<GuestImages> guest_images(const std::filesystem::path& cache,
                                 const std::map<std::string, adapters::GuestParts>& parts,
                                 Accelerator accelerator = Accelerator::tcg);

/// Returns the kernel versions, sorted and separated by commas.
std::string kernels_of(const GuestImages& images);

struct AcceleratorProbe {
  Accelerator accelerator = Accelerator::tcg;
  /// Reason for the choice: "a test guest took 0.4 s under KVM", "a KVM guest did not start within
  /// 5 s".
  std::string reason;
};
/// Determines whether to use KVM by running a tiny guest with a time limit. The result is cached
/// until the host reboots.
AcceleratorProbe probe_accelerator(const std::filesystem::path& cache);

/// One of the guest's disks. The first one is /dev/vda, the second /dev/vdb, and so on.
struct GuestDisk {
  std::filesystem::path socket;  ///< Unix socket of an NBD or vhost-user server
  /// NBD export: "" for the first device, "mark" for the disk for marks.
  std::string export_name;
  /// Size of the disk. It is part of the saved state's key, because a restored guest assumes the
  /// size that the disk had when the state was saved.
  std::uint64_t size_bytes = 0;
  /// physical_block_size that the guest sees. Like the size, it is part of the saved state's key.
  std::uint32_t physical_sector_bytes = 512;
};

struct GuestSpec {
  GuestImage image;
  Accelerator accelerator = Accelerator::tcg;
  std::uint32_t memory_mib = 384;
  std::vector<GuestDisk> disks;
  /// Used only with user_mode: the sockets of the clock, of the disk through which the agent
  /// communicates, and of the agent.
  std::filesystem::path time_socket{}, port_socket{}, agent_socket{};
  /// Used only with user_mode. If true, the guest notifies a disk only when it becomes idle, not
  /// after each request. Must be false for disks with their own timing, because requests would
  /// start a few nanoseconds late.
  bool late_kicks = false;
};

/// Size of the disk for marks. It is the same for all kinds of guests.
inline constexpr std::uint64_t kMarkDiskBytes = 4096;

/// Configures a user-mode Linux guest. `disk` is the socket of its first disk. The sockets of its
/// other disks, its clock and its agent are in the same directory
/// (plugin/servers/timetravel/calendar.h). `others` are the disks after the first one.
void attach_user_mode(GuestSpec& spec, const std::filesystem::path& disk, std::uint64_t disk_bytes,
                      const std::vector<adapters::OtherDisk>& others);

/// Called for each event that the agent sends while it executes a request.
using EventHandler = std::function<void(const nlohmann::json& event)>;

class GuestProcess;

class Guest {
 public:
  /// Starts a guest from the saved state for this spec. If the cache has no such state, first boots
  /// a guest and saves its state. `scratch` is an existing directory for the console output of this
  /// guest. QEMU dies with the thread that called this function, so that thread must live as long
  /// as the guest.
  static Result<std::unique_ptr<Guest>> start(const GuestSpec& spec,
                                              const std::filesystem::path& cache,
                                              const std::filesystem::path& scratch);
  /// Creates a guest from a running process whose agent already responds.
  static std::unique_ptr<Guest> over(std::unique_ptr<GuestProcess> process);
  ~Guest();

  /// Sends one request to the agent and waits for its answer (harness/guest/PROTOCOL.md). Passes
  /// events to `on_event`. Polls `give_up` several times a second, and stops waiting when it
  /// returns true.
  ///
  /// Kinds of errors: `timeout`; `guest_died`; `interrupted` (by `give_up`); `refused`;
  /// `unsupported` (the kernel does not know the file system type); `malformed` (the message
  /// violates the protocol, agent_message.h; discard the guest). `refused` and `unsupported` have
  /// the agent's text.
  Result<nlohmann::json> call(const nlohmann::json& request, std::chrono::milliseconds timeout,
                              const EventHandler& on_event = {},
                              const std::function<bool()>& give_up = {});

  /// Sends a request without waiting for the answer. Callers use send() and receive() instead of
  /// call() if they must handle other events while they wait.
  Result<void> send(const nlohmann::json& request);
  /// Waits for the next message. Returns nullopt if the timeout has passed, if the guest has died
  /// (see alive()), or if a message was malformed (see malformed()).
  std::optional<nlohmann::json> receive(std::chrono::milliseconds timeout);

  bool alive() const;
  /// Returns the error of the first message that violated the protocol, if any.
  const std::optional<Error>& malformed() const;
  /// Returns true if the guest's clock stops while the guest computes and while the agent waits for
  /// a request.
  bool in_virtual_time() const;
  /// Returns the first console line that reports a kernel defect, if any: an oops, a panic, a
  /// lockup or a warning.
  std::optional<std::string> oops() const;
  /// Returns the first console line in which a file system reports damaged structures, if any.
  /// After a power cut, such a line is a finding. After injected read errors, it is expected
  /// (harness/vm/oops.h).
  std::optional<std::string> damage_message() const;
  std::string console_tail(std::size_t lines) const;

  /// Kills the guest at once with SIGKILL, which has the same effect as a power failure.
  void kill();

 private:
  struct State;
  explicit Guest(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Returns the -blockdev and -device options for one disk. Our own guests use them, and `headcrash
/// serve` prints them for users.
std::vector<std::string> qemu_disk_arguments(const GuestDisk& disk, std::size_t index);

}  // namespace headcrash::vm
