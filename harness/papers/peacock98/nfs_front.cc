// Queues requests, executes their calls, and sends replies (nfs_front.h).
#include "harness/papers/peacock98/nfs_front.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace headcrash::experiment::peacock98 {
namespace {

VfsResult<void> with_open(Vfs& vfs, const std::string& file, const OpenOptions& how,
                          const std::function<VfsResult<void>(FileHandle)>& body) {
  TRY(const auto handle, vfs.open(file, how));
  auto done = body(handle);
  auto closed = vfs.close(handle);
  return done ? closed : done;
}

}  // namespace

NfsFront::NfsFront(os::Executor& executor, Vfs& vfs, const NfsFrontOptions& options, Client client)
    : executor_(executor),
      vfs_(vfs),
      options_(options),
      client_(std::move(client)),
      idle_(executor) {}

void NfsFront::start() {
  for (std::size_t i = 0; i < options_.nfsds; ++i) {
    accounts_.push_back({.name = fmt::format("nfsd {}", i)});
    executor_.spawn(os::Executor::Kind::user, accounts_.back(), [this] { serve(); });
  }
}

bool NfsFront::submit(NfsRequest request) {
  if (closed_ || queue_.size() >= options_.queue_max) {
    ++counters_.dropped;
    return false;
  }
  request.arrived_at = executor_.now();
  queue_.push_back(std::move(request));
  counters_.queued_most = std::max(counters_.queued_most, queue_.size());
  idle_.wake_one();
  return true;
}

void NfsFront::close() {
  closed_ = true;
  idle_.wake_all();
}

void NfsFront::abort() {
  queue_.clear();
  close();
}

void NfsFront::serve() {
  while (true) {
    while (queue_.empty() && !closed_) idle_.wait();
    if (queue_.empty()) return;
    NfsRequest request = std::move(queue_.front());
    queue_.pop_front();
    counters_.busy_most = std::max(counters_.busy_most, ++busy_);
    if (options_.request_cpu_ns > 0) vfs_.cpu(options_.request_cpu_ns);
    answer(std::move(request));
    --busy_;
  }
}

void NfsFront::reply(const NfsRequest& request, const VfsResult<void>& done,
                     std::span<const std::byte> data) {
  ++counters_.replies;
  if (!done) ++counters_.errors;
  client_(request, {.error = done ? 0 : done.error().value, .data = data});
}

void NfsFront::answer(NfsRequest request) {
  if (request.kind == NfsKind::write) {
    if (options_.gathers)
      gather(std::move(request));
    else
      write_and_commit(std::move(request));
  } else if (request.kind == NfsKind::read) {
    if (const auto done = read(request); !done) reply(request, done);
  } else {
    reply(request, execute(request));
  }
}

VfsResult<void> NfsFront::read(const NfsRequest& request) {
  return with_open(vfs_, request.object, {}, [&](FileHandle handle) -> VfsResult<void> {
    std::vector<std::byte> bytes(request.bytes);
    TRY(const auto got, vfs_.pread(handle, request.offset, bytes));
    reply(request, {}, std::span<const std::byte>(bytes).first(got));
    return {};
  });
}

VfsResult<void> NfsFront::commit(const std::string& file) {
  ++counters_.commits;
  return with_open(vfs_, file, {}, [&](FileHandle handle) { return vfs_.fsync(handle); });
}

void NfsFront::write_and_commit(NfsRequest request) {
  const auto done = with_open(vfs_, request.object, {}, [&](FileHandle handle) -> VfsResult<void> {
    TRY(vfs_.pwrite(handle, request.offset, request.data));
    ++counters_.commits;
    return vfs_.fsync(handle);
  });
  reply(request, done);
}

/// Gathers writes to one file. Data that arrives while the first nfsd waits is written to the file
/// before the fsync begins. Data that arrives later is committed by another nfsd.
void NfsFront::gather(NfsRequest request) {
  const auto written = with_open(vfs_, request.object, {}, [&](FileHandle handle) {
    return vfs_.pwrite(handle, request.offset, request.data);
  });
  if (!written) return reply(request, written);
  const std::string file = request.object;
  const auto [found, is_first] = gatherings_.try_emplace(file);
  found->second.written.push_back(std::move(request));
  if (!is_first) {
    ++counters_.gathered;
    return;
  }
  executor_.sleep_until(executor_.now() + options_.gather_ns);
  const auto mine = gatherings_.extract(file);
  const auto done = commit(file);
  for (const NfsRequest& each : mine.mapped().written) reply(each, done);
}

VfsResult<void> NfsFront::create(const NfsRequest& request) {
  const auto made = with_open(vfs_, request.directory + "/" + request.name,
                              {.create = true, .exclusive = true, .mode = request.mode},
                              [&](FileHandle handle) { return vfs_.fsync(handle); });
  return made ? vfs_.fsync_directory(request.directory) : made;
}

VfsResult<void> NfsFront::execute(const NfsRequest& request) {
  const auto looked = [](const auto& found) -> VfsResult<void> {
    return found ? VfsResult<void>() : forward_errno(found);
  };
  switch (request.kind) {
    case NfsKind::lookup:
      return looked(vfs_.stat(request.directory + "/" + request.name));
    case NfsKind::get_attributes:
      return looked(vfs_.stat(request.object));
    case NfsKind::read_link:
      return looked(vfs_.readlink(request.object));
    case NfsKind::read_directory:
      return looked(vfs_.list(request.object));
    case NfsKind::space:
      return looked(vfs_.space());
    case NfsKind::create:
      return create(request);
    case NfsKind::remove: {
      const auto gone = vfs_.unlink(request.directory + "/" + request.name);
      return gone ? vfs_.fsync_directory(request.directory) : gone;
    }
    case NfsKind::set_attributes: {
      const auto changed = vfs_.chmod(request.object, request.mode);
      return changed ? commit(request.object) : changed;
    }
    case NfsKind::read:
    case NfsKind::write:
      break;
  }
  return refuse(EINVAL);
}

}  // namespace headcrash::experiment::peacock98
