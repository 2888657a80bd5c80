#include "plugin/stages/stage.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <thread>

#include "plugin/base/random.h"

namespace headcrash::stages {
namespace {

std::optional<std::size_t> find_disk(const std::vector<DiskInfo>& disk_infos,
                                     const std::optional<std::string>& name) {
  if (!name) return 0;
  const auto found = std::find_if(disk_infos.begin(), disk_infos.end(),
                                  [&](const DiskInfo& f) { return f.name == *name; });
  if (found == disk_infos.end()) return std::nullopt;
  return static_cast<std::size_t>(found - disk_infos.begin());
}

std::string names_of(const std::vector<DiskInfo>& disk_infos) {
  std::string all;
  for (const DiskInfo& disk : disk_infos) all += (all.empty() ? "" : ", ") + disk.name;
  return all;
}

}  // namespace

Stage::~Stage() {
  if (load_.log && load_.log->is_open()) static_cast<void>(seal());
}

// ---- loading

Result<void> Stage::check_switch(const std::vector<DiskInfo>& disk_infos) const {
  if (arrived_ != finished_)
    return fail(ErrorKind::busy, name_, "a request is in flight",
                "unmount the file system and wait until all requests are complete, then load");
  for (const Connection* connection : connections_) {
    const auto index = find_disk(disk_infos, connection->disk_name_);
    const std::string disk = connection->disk_name_ ? name_ + "/" + *connection->disk_name_ : name_;
    if (!index)
      return fail(
          disk,
          fmt::format("is attached, but the state has only these disks: {}", names_of(disk_infos)),
          "detach the disk first, or load a state of the same machine");
    if (disk_infos[*index].sectors != connection->sectors_)
      return fail(disk,
                  fmt::format("is attached with {} sectors, but the state has {}",
                              connection->sectors_, disk_infos[*index].sectors),
                  "use another stage, or detach this one first: guests do not detect a new size");
  }
  return {};
}

Result<void> Stage::may_load(const std::vector<DiskInfo>& disk_infos) const {
  const std::lock_guard lock(mutex_);
  return check_switch(disk_infos);
}

Result<void> Stage::load(LoadRequest load) {
  {
    const std::lock_guard lock(mutex_);
    if (auto may = check_switch(load.content->disk_infos()); !may) {
      load.content.reset();
      if (load.log) load.log->discard();
      return may;
    }
    std::swap(load_.id, load.id);
    std::swap(load_.recording, load.recording);
    std::swap(load_.nonce, load.nonce);
    std::swap(load_.log, load.log);
    std::swap(load_.delay, load.delay);
    std::swap(load_.content, load.content);
    for (Connection* connection : connections_)
      connection->index_ = *find_disk(load_.content->disk_infos(), connection->disk_name_);
    reads_ = writes_ = flushes_ = 0;
    error_.reset();
  }
  // Frees the old overlay outside the lock, so that a guest's next request need not wait.
  load.content.reset();
  return {};
}

// ---- connections

Result<void> Stage::check_loaded() const {
  if (load_.content) return {};
  return fail(name_, "has no state yet", R"(load a state first: {"state":"load",...})");
}

Result<std::unique_ptr<Stage::Connection>> Stage::connect(
    const std::optional<std::string>& disk_name) {
  const std::lock_guard lock(mutex_);
  TRY(check_loaded());
  const std::vector<DiskInfo>& disk_infos = load_.content->disk_infos();
  const auto index = find_disk(disk_infos, disk_name);
  if (!index)
    return fail(name_, fmt::format("has no disk \"{}\"", disk_name->substr(0, 64)),
                fmt::format("use one of: {}", names_of(disk_infos)));
  std::unique_ptr<Connection> connection(
      new Connection(*this, disk_name, *index, disk_infos[*index].sectors));
  connections_.insert(connection.get());
  return connection;
}

Stage::Connection::~Connection() {
  const std::lock_guard lock(stage_.mutex_);
  stage_.connections_.erase(this);
}

int Stage::Connection::serve(model::Request request) {
  return stage_.serve(*this, request);
}

media::WrittenMap::Run Stage::Connection::written(std::uint64_t lba, std::uint64_t limit) {
  const std::lock_guard lock(stage_.mutex_);
  return stage_.load_.content->written(index_, lba, limit);
}

// ---- requests

void Stage::count(const model::Request& request) {
  switch (request.op) {
    case model::Op::read:
      ++reads_;
      break;
    case model::Op::flush:
      ++flushes_;
      break;
    case model::Op::write:
    case model::Op::write_zeroes:
    case model::Op::trim:
      ++writes_;
      break;
  }
}

void Stage::note_error(int error) {
  if (error == 0 || error_) return;
  if (load_.log && load_.log->error()) {
    error_ = load_.log->error()->message();
  } else if (const auto why = load_.content->error()) {
    error_ = why;
  } else if (error == ENOSPC) {
    error_ = fmt::format(
        "{}: the overlay of {} MiB is full; start the server with a larger overlay-max=", name_,
        load_.content->overlay_bytes() >> 20);
  }
}

/// Converts an exception to an error for the request. Otherwise, the request would count as in
/// flight forever. The stage also gets an error, because its contents may be incomplete.
template <typename Work>
int Stage::without_exception(const Work& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    note_exception("the server is out of memory");
    return ENOMEM;
  } catch (const std::exception& exception) {
    note_exception(exception.what());
    return EIO;
  }
}

void Stage::note_exception(const char* what) noexcept {
  try {
    if (!error_) error_ = name_ + ": a request failed: " + what + "; load a state again";
  } catch (...) {
    // There is not even enough memory for the message. The failed request is the only sign.
  }
}

std::chrono::microseconds AnswerDelay::of(std::uint64_t number) const {
  constexpr std::uint64_t kParts = 1024;
  if (most_us == 0) return {};
  Random random(seed * 0x9e3779b97f4a7c15U + number);
  random.next();
  const std::uint64_t part = random.below(kParts) + 1;
  return std::chrono::microseconds(most_us * part * part * part / (kParts * kParts * kParts));
}

std::chrono::microseconds AnswerDelay::of(std::uint64_t number, std::size_t disk_index,
                                          const model::Request& request) const {
  const model::SectorRange written{request.lba, request.sectors};
  const bool is_slow = disk_index == 0 && request.op == model::Op::write &&
                       std::ranges::any_of(slow, [&](const model::SectorRange& range) {
                         return range.overlaps(written);
                       });
  return of(number) + std::chrono::microseconds(is_slow ? slow_us : 0);
}

Stage::Connection::StartedRequest Stage::begin(const Connection& connection,
                                               model::Request& request) {
  count(request);
  Connection::StartedRequest begun;
  begun.error = without_exception([&] { return load_.content->serve(connection.index_, request); });
  ++submitted_;
  all_submitted_.notify_all();
  if (is_recorded(request) && load_.log->is_open())
    begun.answer_in = load_.delay.of(submitted_, connection.index_, request);
  return begun;
}

int Stage::end(const Connection& connection, const model::Request& request, int error) {
  if (is_recorded(request))
    error = without_exception(
        [&] { return load_.content->acknowledge(connection.index_, request, error); });
  ++finished_;
  note_error(error);
  return error;
}

int Stage::serve(const Connection& connection, model::Request& request) {
  ++arrived_;
  std::unique_lock lock(mutex_);
  const Connection::StartedRequest begun = begin(connection, request);
  // Waits outside the lock, so that other requests can arrive and overtake this one.
  if (begun.answer_in.count() != 0) {
    const auto until = std::chrono::steady_clock::now() + begun.answer_in;
    lock.unlock();
    std::this_thread::sleep_until(until);
    lock.lock();
  }
  if (is_recorded(request)) {
    const std::uint64_t meanwhile = arrived_;
    all_submitted_.wait(lock, [&] { return submitted_ >= meanwhile; });
  }
  return end(connection, request, begun.error);
}

Stage::Connection::StartedRequest Stage::Connection::begin(model::Request& request) {
  ++stage_.arrived_;
  const std::lock_guard lock(stage_.mutex_);
  return stage_.begin(*this, request);
}

int Stage::Connection::answer(const model::Request& request, int error) {
  const std::lock_guard lock(stage_.mutex_);
  return stage_.end(*this, request, error);
}

// ---- control requests

std::string Stage::nonce() const {
  const std::lock_guard lock(mutex_);
  return load_.nonce;
}

Result<void> Stage::mark(std::string_view text) {
  const std::lock_guard lock(mutex_);
  TRY(check_loaded());
  load_.content->mark(text);
  if (!load_.log || !load_.log->error()) return {};
  error_ = load_.log->error()->message();
  return tl::unexpected<Error>(*load_.log->error());
}

Result<Sealed> Stage::seal() {
  const std::lock_guard lock(mutex_);
  TRY(check_loaded());
  if (!load_.log) return fail(name_, "is not being recorded", "load its state with \"record\"");
  load_.content->shut_down();
  auto sealed = load_.log->seal();
  if (load_.log->error()) error_ = load_.log->error()->message();
  return sealed;
}

Result<std::uint64_t> Stage::digest() {
  const std::lock_guard lock(mutex_);
  TRY(check_loaded());
  return load_.content->digest();
}

StageStatus Stage::status() const {
  const std::lock_guard lock(mutex_);
  StageStatus status{load_.id, load_.recording, load_.nonce};
  if (load_.content) status.overlay_bytes = load_.content->overlay_bytes();
  status.reads = reads_;
  status.writes = writes_;
  status.flushes = flushes_;
  status.error = error_;
  return status;
}

}  // namespace headcrash::stages
