// Finds saved states of guests, or boots a guest and saves its state (saved_state.h).
#include "harness/vm/saved_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/vm/machine.h"
#include "plugin/base/fnv1a.h"

namespace headcrash::vm {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kBootLimit{180};
constexpr std::chrono::seconds kSaveLimit{120};
// The limit is long, because QEMU's main loop is busy at the end of a save.
constexpr std::chrono::seconds kQmpLimit{60};
// Time to wait for another process that boots a guest and saves its state.
constexpr std::chrono::seconds kLockLimit{400};
constexpr std::size_t kKeptStates = 8;
constexpr const char* kHalfMade = ".making.";

std::string reason(int error) {
  return std::error_code(error, std::generic_category()).message();
}

Result<base::Descriptor> lock(const fs::path& folder) {
  base::Descriptor file(::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file.is_open()) return fail((folder / ".lock").string(), reason(errno));
  const base::Deadline deadline = base::after(kLockLimit);
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      return fail((folder / ".lock").string(), "another process holds the lock",
                  "if a headcrash process hangs, end it");
    }
    std::this_thread::sleep_for(milliseconds(50));
  }
  return file;
}

base::Descriptor open_if_key_matches(const fs::path& folder, const std::string& key) {
  std::ifstream stored(folder / "key", std::ios::binary);
  std::ostringstream text;
  text << stored.rdbuf();
  if (!stored || text.str() != key) return base::Descriptor();
  std::error_code error;
  // Marks the state as recently used.
  fs::last_write_time(folder, fs::file_time_type::clock::now(), error);
  return base::Descriptor(::open((folder / "state").c_str(), O_RDONLY | O_CLOEXEC));
}

void prune(const fs::path& states) {
  std::vector<std::pair<fs::file_time_type, fs::path>> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(states, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kHalfMade))
      // The directory is left over: the process that created it is dead, because the lock is free.
      fs::remove_all(entry.path(), error);
    if (!name.starts_with("."))
      folders.emplace_back(fs::last_write_time(entry.path(), error), entry.path());
  }
  std::sort(folders.rbegin(), folders.rend());
  for (std::size_t i = kKeptStates; i < folders.size(); ++i)
    fs::remove_all(folders[i].second, error);
}

// Quotes a word for the shell that runs the command of QEMU's exec: URI.
std::string shell_quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

Result<void> migrate(Machine& machine, const fs::path& file) {
  Qmp& qmp = machine.qmp();
  const std::pair<const char*, nlohmann::json> commands[] = {
      {"migrate-set-parameters", {{"max-bandwidth", std::uint64_t{1} << 40}}},
      {"stop", nlohmann::json::object()},
      {"migrate", {{"uri", "exec:cat > " + shell_quoted(file.string())}}}};
  for (const auto& [command, arguments] : commands) {
    TRY(qmp.execute(command, arguments, kQmpLimit));
  }
  const base::Deadline deadline = base::after(kSaveLimit);
  while (std::chrono::steady_clock::now() < deadline) {
    TRY(const auto asked, qmp.execute("query-migrate", nlohmann::json::object(), kQmpLimit));
    const std::string status = asked.value("status", "");
    if (status == "completed") return {};
    if (status == "failed" || status == "cancelled") {
      return fail(file.string(),
                  "QEMU could not save the guest: " + asked.value("error-desc", status),
                  "free some space in the cache folder");
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  return fail(file.string(), "QEMU did not finish saving the guest");
}

/// Fails if the guest has too little memory to boot. While the kernel unpacks the initramfs, memory
/// must hold the kernel and two copies of the initramfs.
Result<void> check_memory(const GuestSpec& spec) {
  // Measured: with 256 MiB of memory, an image with 110 MiB of programs does not start.
  constexpr std::uint64_t kKernelMib = 48;
  std::error_code error;
  const std::uint64_t image_mib = fs::file_size(spec.image.initramfs, error) >> 20;
  if (error) return fail(spec.image.initramfs.string(), error.message());
  const std::uint64_t least_mib = 2 * image_mib + kKernelMib;
  if (spec.memory_mib >= least_mib) return {};
  return fail("memory of the guest",
              fmt::format("{} MiB is too little for a guest with {} MiB of programs",
                          spec.memory_mib, image_mib),
              fmt::format("use at least {} MiB (memory-mib in [guest])", least_mib));
}

constexpr const char* kBringModules =
    "the guest has no kernel modules: pass the folder of `make modules_install "
    "INSTALL_MOD_PATH=FOLDER` with --modules, or set `modules` in the file system's [guest] "
    "section, or build a kernel that needs no modules for virtio-pci, virtio-blk, "
    "virtio-console, devtmpfs and the file system";

Result<void> boot_and_save(const GuestSpec& spec, const fs::path& folder) {
  TRY(check_memory(spec));
  TRY(const auto machine, Machine::launch(spec, {.disks = Disks::blank, .scratch = folder}));
  if (!machine->says_hello(kBootLimit)) {
    machine->process().wait(milliseconds(200));
    return machine->failed(machine->process().running()
                               ? fmt::format("did not boot within {} s", kBootLimit.count())
                               : "did not boot",
                           spec.image.has_no_modules() ? kBringModules : "");
  }
  TRY(migrate(*machine, folder / "state"));
  return {};
}

}  // namespace

Result<SavedState> open_saved_state(const GuestSpec& spec, const fs::path& cache) {
  TRY(const auto key, saved_state_key(spec));
  const fs::path states = cache / "states";
  const fs::path folder = states / fmt::format("{:016x}", base::fnv1a(key));
  if (auto file = open_if_key_matches(folder, key); file.is_open())
    return SavedState{std::move(file), folder, false};

  std::error_code error;
  fs::create_directories(states, error);
  if (error) return fail(states.string(), error.message());
  TRY(const auto locked, lock(states));
  if (auto file = open_if_key_matches(folder, key); file.is_open())
    return SavedState{std::move(file), folder, false};
  prune(states);

  const fs::path making = states / (kHalfMade + folder.filename().string());
  fs::create_directory(making, error);
  if (error) return fail(making.string(), error.message());
  auto made = boot_and_save(spec, making);
  if (made) {
    std::ofstream stored(making / "key", std::ios::binary);
    stored << key;
    stored.close();
    fs::remove_all(folder, error);
    fs::rename(making, folder, error);
    if (!stored || error) made = fail(folder.string(), "the saved state cannot be written");
  }
  if (!made) {
    fs::remove_all(making, error);
    return forward_error(made);
  }
  auto file = open_if_key_matches(folder, key);
  if (!file.is_open()) return fail(folder.string(), "the saved state cannot be read back");
  return SavedState{std::move(file), folder, true};
}

void discard_saved_state(const SavedState& state) {
  std::error_code error;
  std::filesystem::remove_all(state.folder, error);
}

}  // namespace headcrash::vm
