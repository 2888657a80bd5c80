// Controls the kernel's tracing with the files of tracefs (block_trace.h).
#include "harness/guest/block_trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "plugin/base/descriptor.h"

namespace headcrash::guest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = 128 << 10;
constexpr std::size_t kFreedBufferKib = 4;

struct TracedEvent {
  const char* group;
  const char* name;
  bool with_stack;
  const char* filter;
  bool required;  ///< false if some kernels or file systems lack the event
};
/// Reads are not traced, because a crash cannot lose them.
constexpr std::array kEvents{
    TracedEvent{"block", "block_bio_queue", true, "!(rwbs ~ \"R*\")", true},
    TracedEvent{"block", "block_dirty_buffer", true, nullptr, true},
    TracedEvent{"block", "block_rq_issue", false, "!(rwbs ~ \"R*\")", true},
    TracedEvent{"xfs", "xfs_trans_log_buf", true, nullptr, false},
    TracedEvent{"xfs", "xfs_map_blocks_found", false, nullptr, false},
    TracedEvent{"xfs", "xfs_iext_insert", false, nullptr, false},
    TracedEvent{"xfs", "xfs_bmap_post_update", false, nullptr, false},
    TracedEvent{"ext4", "ext4_es_insert_extent", false, nullptr, false},
    TracedEvent{"writeback", "writeback_dirty_folio", true, nullptr, false},
    TracedEvent{"f2fs", "f2fs_set_page_dirty", true, nullptr, false},
    TracedEvent{"f2fs", "f2fs_submit_page_write", false, nullptr, false},
    TracedEvent{"f2fs", "f2fs_submit_folio_write", false, nullptr, false}};

VfsResult<void> write_setting(const fs::path& file, std::string_view text) {
  const base::Descriptor opened(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!opened.is_open()) return tl::unexpected(Errno{.value = errno});
  const ssize_t written = ::write(opened.get(), text.data(), text.size());
  if (written < 0) return tl::unexpected(Errno{.value = errno});
  return {};
}

fs::path event_folder(const fs::path& folder, const TracedEvent& event) {
  return folder / "events" / event.group / event.name;
}

bool is_there(const fs::path& folder, const TracedEvent& event) {
  std::error_code ignored;
  return fs::exists(event_folder(folder, event) / "trigger", ignored);
}

VfsResult<void> start_event(const fs::path& folder, const TracedEvent& event) {
  if (!event.required && !is_there(folder, event)) return {};
  const fs::path own = event_folder(folder, event);
  if (event.filter != nullptr) {
    TRY(write_setting(own / "filter", event.filter));
  }
  if (event.with_stack) {
    const std::string condition =
        event.filter != nullptr ? fmt::format(" if {}", event.filter) : "";
    TRY(write_setting(own / "trigger", "stacktrace" + condition));
  }
  return write_setting(own / "enable", "1");
}

/// Disables all events. Ignores errors, because removing a trigger fails if the event was never
/// started.
void stop_events(const fs::path& folder) {
  for (const TracedEvent& event : kEvents) {
    const fs::path own = event_folder(folder, event);
    (void)write_setting(own / "enable", "0");
    if (event.with_stack) (void)write_setting(own / "trigger", "!stacktrace");
    (void)write_setting(own / "filter", "0");
  }
}

VfsResult<void> start_all(const fs::path& folder, std::size_t buffer_kib) {
  TRY(write_setting(folder / "tracing_on", "0"));
  TRY(write_setting(folder / "trace_clock", "counter"));
  TRY(write_setting(folder / "options" / "sym-offset", "1"));
  TRY(write_setting(folder / "buffer_size_kb", std::to_string(buffer_kib)));
  TRY(write_setting(folder / "trace", ""));
  for (const TracedEvent& event : kEvents) TRY(start_event(folder, event));
  return write_setting(folder / "tracing_on", "1");
}

void make_printable(std::string& text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c != '\n' && (c < ' ' || c > '~'); }, '?');
}

/// Passes the content of the trace file to `receive`, in pieces that end with a complete line.
/// Closes the file before it returns, because the trace buffer cannot be freed while the file is
/// open.
VfsResult<void> read_trace(const fs::path& file,
                           const std::function<void(std::string_view)>& receive) {
  const base::Descriptor trace(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!trace.is_open()) return tl::unexpected(Errno{.value = errno});
  std::string piece, buffer(kPieceBytes, '\0');
  for (;;) {
    const ssize_t got = ::read(trace.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(Errno{.value = errno});
    piece.append(buffer, 0, static_cast<std::size_t>(got));
    const std::size_t end = got == 0 ? piece.size() : piece.rfind('\n') + 1;
    if (end >= kPieceBytes || got == 0) {
      std::string sent = piece.substr(0, end);
      piece.erase(0, end);
      make_printable(sent);
      if (!sent.empty()) receive(sent);
    }
    if (got == 0) break;
  }
  return {};
}

}  // namespace

VfsResult<void> start_block_trace(std::size_t buffer_kib, const std::string& folder) {
  const TracedEvent& first = kEvents.front();
  if (!is_there(folder, first)) ::mount("tracefs", folder.c_str(), "tracefs", MS_NOSUID, "");
  if (!is_there(folder, first)) return tl::unexpected(Errno{.value = ENOTSUP});
  const auto started = start_all(folder, buffer_kib);
  if (!started) {
    stop_events(folder);
    // The kernel rejects the trigger with EINVAL if it cannot save stacks.
    return tl::unexpected(
        Errno{.value = started.error().value == EINVAL ? ENOTSUP : started.error().value});
  }
  return {};
}

VfsResult<void> stop_block_trace(const std::function<void(std::string_view)>& receive,
                                 const std::string& folder) {
  TRY(write_setting(fs::path(folder) / "tracing_on", "0"));
  stop_events(folder);
  TRY(read_trace(fs::path(folder) / "trace", receive));
  return write_setting(fs::path(folder) / "buffer_size_kb", std::to_string(kFreedBufferKib));
}

std::vector<BlockDeviceNumber> block_device_numbers(const std::string& folder) {
  std::vector<BlockDeviceNumber> devices;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); entry != fs::directory_iterator();
       entry.increment(error)) {
    std::ifstream file(entry->path() / "dev");
    std::string number;
    if (!std::getline(file, number)) continue;
    std::ranges::replace(number, ':', ',');
    devices.push_back({number, entry->path().filename().string()});
  }
  std::ranges::sort(devices, {}, &BlockDeviceNumber::name);
  return devices;
}

}  // namespace headcrash::guest
