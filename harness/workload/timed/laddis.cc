// Simulates an NFS server under the load of SFS 1.1. Requests arrive at a given rate. The server
// answers each request once its changes are on the disk.
//
// Source: the operation mix of SPEC SFS 1.1 (SPECnfs_A93, LADDIS), which is that of nhfsstone:
// lookup 34 %, read 22, write 15, getattr 13, readlink 8, readdir 3, create 2, and remove, fsstat
// and setattr 1 each. Peacock, Kamaraju and Agrawal use it in "Fast Consistency Checking for the
// Solaris File System", 1998, section 6. The size of the files is 5 MB times the rate in operations
// per second, which agrees with the 3 GB at 600 operations per second in their section 6.4. The
// benchmark itself is licensed and not included.
//
// A user is one of the server's threads (nfsd). Requests arrive at the given rate, whether or not
// earlier ones are complete, and are assigned to the threads in turn. The response time of a
// request starts at its arrival, so it includes the wait for the thread. Requests during the
// warm-up are executed but not counted.
//
// The following choices are ours. The time between two arrivals is uniformly distributed from zero
// to twice its mean. Each thread has its own files, which have equal sizes, and uses a fifth of
// them. A directory has 30 files. One name in ten is a symbolic link. Reads and writes are 8 KiB,
// the maximum in NFS version 2. Seven of ten writes append until the file has twice its initial
// size; later writes overwrite. Created files are empty. A removal removes the oldest created file.
// A write is answered after fsync of its file, and a change of names also after fsync of the
// directory. There is no write gathering.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/laddis_mix.h"
#include "harness/workload/timed/random_source.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

using namespace laddis_load;

constexpr std::uint64_t kKibBytes = 1 << 10;

/// The files and requests of one thread. The same seed always gives the same requests.
class Thread {
 public:
  explicit Thread(const User& user)
      : number_(user.number),
        random_(mixed_seed(user.seed, user.number, 1)),
        file_bytes_(argument(user.arguments, "file-kib") * kKibBytes),
        rate_(argument(user.arguments, "operations-per-s")),
        threads_(argument(user.arguments, "threads")),
        end_ns_(static_cast<std::int64_t>(argument(user.arguments, "warm-up-s") +
                                          argument(user.arguments, "seconds")) *
                kNsPerSecond) {
    const std::uint64_t set_bytes =
        rate_ * argument(user.arguments, "kib-per-operation") * kKibBytes;
    sizes_.assign(std::max<std::uint64_t>(kUsedShare, set_bytes / file_bytes_ / threads_),
                  file_bytes_);
  }

  struct Request {
    std::int64_t arrives_ns = 0;  ///< time of arrival, relative to the start of the phase
    Kind kind = Kind::lookup;
    TimedFile file;            ///< state of the file before the request
    std::uint64_t offset = 0;  ///< read, write
    std::string folder;
    std::string link;
  };
  /// Returns the next request, or nullopt at the end of the load.
  std::optional<Request> next() {
    const std::uint64_t mean_ns = kNsPerSecond * threads_ / rate_;
    arrives_ns_ += static_cast<std::int64_t>(random_.below(2 * mean_ns + 1));
    if (arrives_ns_ >= end_ns_) return {};
    Request request{
        .arrives_ns = arrives_ns_, .kind = kind_of(random_.below(100)), .file = {}, .offset = 0};
    const std::uint64_t at = random_.below(sizes_.size() / kUsedShare);
    std::uint64_t& size = sizes_[at];
    request.file = file(at);
    request.folder = folder(at / kFilesPerFolder);
    request.link = link(at / kFilesPerLink);
    request.offset = random_.below(size / kTransferBytes) * kTransferBytes;
    const bool appends = random_.below(100) < kAppendPercent;
    if (request.kind == Kind::write && appends && size < 2 * file_bytes_) {
      request.offset = size;
      size += kTransferBytes;
    }
    if (request.kind == Kind::remove && oldest_ == created_) request.kind = Kind::get_attributes;
    if (request.kind == Kind::create) request.file = created(created_++);
    if (request.kind == Kind::remove) request.file = created(oldest_++);
    if (request.kind == Kind::create || request.kind == Kind::remove) request.folder = top();
    return request;
  }

  std::uint64_t files() const { return sizes_.size(); }
  TimedFile file(std::uint64_t at) const {
    return {.path = fmt::format("{}/f{}", folder(at / kFilesPerFolder), at),
            .number = static_cast<std::uint32_t>(number_ << 20 | at),
            .bytes = sizes_[at]};
  }
  std::string top() const { return fmt::format("nfs{}", number_); }
  std::string folder(std::uint64_t at) const { return fmt::format("{}/d{}", top(), at); }
  std::string link(std::uint64_t at) const { return fmt::format("{}/l{}", top(), at); }
  /// Returns the numbers of the files that have been created but not removed: the first one, and
  /// the end of the range (exclusive).
  std::pair<std::uint64_t, std::uint64_t> left() const { return {oldest_, created_}; }
  TimedFile created(std::uint64_t at) const {
    return {.path = fmt::format("{}/n{}", top(), at),
            .number = static_cast<std::uint32_t>(number_ << 20 | (sizes_.size() + at)),
            .bytes = 0};
  }

 private:
  std::uint64_t number_;
  RandomSource random_;
  std::uint64_t file_bytes_, rate_, threads_;
  std::int64_t end_ns_;
  std::vector<std::uint64_t> sizes_;
  std::int64_t arrives_ns_ = 0;
  std::uint64_t created_ = 0, oldest_ = 0;
};

PhaseResult prepare(User& user) {
  FileWork work(user);
  const Thread thread(user);
  TRY(work.make_folder(thread.top()));
  for (std::uint64_t at = 0; at < thread.files(); ++at) {
    if (at % kFilesPerFolder == 0) TRY(work.make_folder(thread.folder(at / kFilesPerFolder)));
    TRY(work.create(thread.file(at)));
    if (at % kFilesPerLink != 0) continue;
    const std::string link = thread.link(at / kFilesPerLink);
    TRY(FileWork::phase_result(user.vfs.symlink(thread.file(at).path, link), "symlink", link));
  }
  return work.sync();
}

/// Makes the change durable: calls fsync on the file and, if names have changed, on the directory.
PhaseResult commit_names(User& user, const std::string& folder) {
  return FileWork::phase_result(user.vfs.fsync_directory(folder), "fsync", folder);
}

PhaseResult create(User& user, FileWork& work, const Thread::Request& request) {
  const auto made = work.with_open(
      request.file, {.create = true, .exclusive = true}, "create", [&](FileHandle handle) {
        return FileWork::phase_result(user.vfs.fsync(handle), "fsync", request.file.path);
      });
  return made ? commit_names(user, request.folder) : made;
}

PhaseResult write(User& user, FileWork& work, const Thread::Request& request) {
  return work.with_open(request.file, {}, "open", [&](FileHandle handle) -> PhaseResult {
    TRY(work.write_at(handle, request.file, request.offset, kTransferBytes));
    return FileWork::phase_result(user.vfs.fsync(handle), "fsync", request.file.path);
  });
}

PhaseResult set_attributes(User& user, FileWork& work, const Thread::Request& request) {
  const auto changed = FileWork::phase_result(
      user.vfs.chmod(request.file.path, request.arrives_ns % 2 == 0 ? 0644 : 0600), "chmod",
      request.file.path);
  return changed ? work.fsync(request.file) : changed;
}

template <typename T>
PhaseResult looked(const VfsResult<T>& found, std::string_view verb, const std::string& path) {
  return FileWork::phase_result(found.map([](const T&) {}), verb, path);
}

PhaseResult answer(User& user, FileWork& work, const Thread::Request& request) {
  switch (request.kind) {
    case Kind::read:
      return work.with_open(request.file, {}, "open", [&](FileHandle handle) {
        return work.read_at(handle, request.file, request.offset, kTransferBytes);
      });
    case Kind::write:
      return write(user, work, request);
    case Kind::read_link:
      return looked(user.vfs.readlink(request.link), "readlink", request.link);
    case Kind::read_directory:
      return work.list(request.folder);
    case Kind::create:
      return create(user, work, request);
    case Kind::remove: {
      const auto gone = work.remove(request.file.path);
      return gone ? commit_names(user, request.folder) : gone;
    }
    case Kind::space:
      return looked(user.vfs.space(), "statfs", "/");
    case Kind::set_attributes:
      return set_attributes(user, work, request);
    case Kind::lookup:
    case Kind::get_attributes:
      break;
  }
  return work.stat(request.file.path);
}

PhaseResult serve(User& user) {
  FileWork work(user, kTransferBytes);
  Thread thread(user);
  const std::int64_t begun_ns = user.pace.now_ns();
  const std::int64_t counts_from_ns =
      static_cast<std::int64_t>(argument(user.arguments, "warm-up-s")) * kNsPerSecond;
  while (const auto request = thread.next()) {
    const std::int64_t arrival_ns = begun_ns + request->arrives_ns;
    if (user.pace.now_ns() < arrival_ns) user.pace.sleep_until(arrival_ns);
    TRY(answer(user, work, *request));
    if (request->arrives_ns < counts_from_ns) continue;
    ++user.tally.operations;
    user.tally.latencies.record(user.pace.now_ns() - arrival_ns);
  }
  return {};
}

PhaseResult verify(User& user) {
  FileWork work(user);
  Thread thread(user);
  while (thread.next()) {
  }
  for (std::uint64_t at = 0; at < thread.files(); ++at) TRY(work.read(thread.file(at)));
  const auto [oldest, end] = thread.left();
  for (std::uint64_t at = oldest; at < end; ++at) TRY(work.read(thread.created(at)));
  return oldest == 0 ? PhaseResult{} : work.expect_missing(thread.created(oldest - 1).path);
}

std::vector<Phase> laddis_phases(const Arguments& arguments) {
  const std::size_t threads = argument(arguments, "threads");
  return {{.name = "prepare", .users = threads, .measured = false, .body = prepare},
          {.name = "serve", .users = threads, .cold = true, .body = serve},
          {.name = "verify", .users = threads, .measured = false, .body = verify}};
}

}  // namespace

TimedWorkload laddis() {
  return {
      .name = "laddis",
      .title =
          "an NFS server receives requests at a given rate, and answers each when its "
          "data is on the disk",
      .source =
          "SPEC SFS 1.1's mix of operations; Peacock, Kamaraju and Agrawal 1998, section 6; the "
          "random draws are ours",
      .operation = "requests",
      .parameters = {{"operations-per-s", 600, 20, 1, 100'000, "requests per second: section 6.4"},
                     {"seconds", 600, 10, 1, 86'400,
                      "seconds of measurement: ten minutes, section 6.3"},
                     {"warm-up-s", 300, 2, 0, 86'400,
                      "seconds of load before the measurement: our choice"},
                     {"threads", 64, 8, 1, 1024, "threads of the server: our choice"},
                     {"kib-per-operation", kKibPerOperation, 512, 8, 1 << 20,
                      "KiB of files per unit of load, which is one operation per second"},
                     {"file-kib", kFileKib, kFileKib, 8, 1 << 20,
                      "initial size of each file: the mean of SFS 1.1 (not verified)"}},
      .phases = laddis_phases};
}

}  // namespace headcrash::timed
