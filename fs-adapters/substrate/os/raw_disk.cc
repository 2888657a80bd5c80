// A real device served by a few threads (raw_disk.h).
//
//   start() -> [queue] -> thread: pread, pwrite, fdatasync -> WallClock::post() -> done()
#include "fs-adapters/substrate/os/raw_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/base/file_lock.h"
#include "plugin/model/core/store.h"

namespace headcrash::os {
namespace {

constexpr std::align_val_t kDirectAlignment{4096};
constexpr std::size_t kZeroBytes = 1 << 20;

struct AlignedDelete {
  void operator()(std::byte* bytes) const { ::operator delete[](bytes, kDirectAlignment); }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

AlignedBytes aligned(std::size_t bytes) {
  return AlignedBytes(static_cast<std::byte*>(::operator new[](bytes, kDirectAlignment)));
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// Transfers all bytes. Returns 0 or an errno value; EIO if the device is too short.
template <typename Transfer>
int whole(std::size_t bytes, const Transfer& transfer) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = transfer(done, bytes - done);
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (n == 0)
      return EIO;
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

bool has_volatile_cache(dev_t device) {
  std::ifstream queue("/sys/dev/block/" + std::to_string(major(device)) + ":" +
                      std::to_string(minor(device)) + "/queue/write_cache");
  std::string word;
  return !std::getline(queue, word) || word != "write through";
}

model::Status status_of(int error) {
  if (error == 0) return model::Status::ok;
  return error == EIO ? model::Status::medium_error : model::Status::store_error;
}

}  // namespace

struct RawDisk::State {
  struct Job {
    BlockRequest request;
    BlockDone* done = nullptr;
    AlignedBytes bytes;
  };

  ~State() {
    if (fd >= 0) ::close(fd);
  }
  void work(const std::shared_ptr<State>& self);
  int serve(Job& job) const;
  int write_zeroes(const BlockRequest& request) const;

  WallClock* clock = nullptr;
  int fd = -1;
  bool volatile_cache = true;
  std::uint64_t sectors = 0;
  std::mutex mutex;
  std::condition_variable asked;
  std::deque<std::shared_ptr<Job>> jobs;
  bool ending = false;
  /// True once the RawDisk has been destroyed. Only the executor's thread uses this.
  bool disowned = false;
  std::vector<std::thread> threads;
};

int RawDisk::State::write_zeroes(const BlockRequest& request) const {
  const std::size_t all = std::size_t{request.sectors} * model::kSectorBytes;
  const AlignedBytes zeroes = aligned(std::min(all, kZeroBytes));
  std::memset(zeroes.get(), 0, std::min(all, kZeroBytes));
  const auto offset = static_cast<off_t>(request.lba * model::kSectorBytes);
  return whole(all, [&](std::size_t done, std::size_t left) {
    return pwrite(fd, zeroes.get(), std::min(left, kZeroBytes), offset + static_cast<off_t>(done));
  });
}

int RawDisk::State::serve(Job& job) const {
  const BlockRequest& request = job.request;
  const auto offset = static_cast<off_t>(request.lba * model::kSectorBytes);
  const std::size_t bytes = std::size_t{request.sectors} * model::kSectorBytes;
  switch (request.op) {
    case model::Op::read:
      return whole(bytes, [&](std::size_t done, std::size_t left) {
        return pread(fd, job.bytes.get() + done, left, offset + static_cast<off_t>(done));
      });
    case model::Op::write:
      return whole(bytes, [&](std::size_t done, std::size_t left) {
        return pwrite(fd, job.bytes.get() + done, left, offset + static_cast<off_t>(done));
      });
    case model::Op::flush:
      return fdatasync(fd) == 0 ? 0 : errno;
    case model::Op::trim:
    case model::Op::write_zeroes:
      return write_zeroes(request);
  }
  return EINVAL;
}

void RawDisk::State::work(const std::shared_ptr<State>& self) {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock<std::mutex> lock(mutex);
      asked.wait(lock, [this] { return ending || !jobs.empty(); });
      if (jobs.empty()) return;
      job = std::move(jobs.front());
      jobs.pop_front();
    }
    const model::Status status = status_of(serve(*job));
    clock->post([self, job, status] {
      if (self->disowned) return;
      if (job->request.op == model::Op::read && status == model::Status::ok)
        std::memcpy(job->request.into.data(), job->bytes.get(), job->request.into.size());
      job->done->done(status);
    });
  }
}

Result<std::unique_ptr<RawDisk>> RawDisk::open(const std::string& path, WallClock& clock,
                                               const RawDiskOptions& options) {
  auto state = std::make_shared<State>();
  state->clock = &clock;
  state->fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | (options.buffered ? 0 : O_DIRECT));
  if (state->fd < 0) {
    return fail(path, "cannot be opened: " + reason(errno),
                errno == EINVAL ? "use a device, or a file on a file system with direct I/O" : "");
  }
  struct stat status = {};
  if (fstat(state->fd, &status) != 0) return fail(path, "cannot be inspected: " + reason(errno));
  if (!S_ISBLK(status.st_mode) && !S_ISREG(status.st_mode))
    return fail(path, "is neither a block device nor a regular file");
  // A block device is not locked here, because the kernel itself locks it while a FUSE file system
  // is mounted on it.
  if (S_ISREG(status.st_mode)) TRY(base::lock_image(state->fd, path, true));
  const off_t bytes = lseek(state->fd, 0, SEEK_END);
  if (bytes <= 0 || bytes % model::kSectorBytes != 0)
    return fail(path, "is empty or not a multiple of 512 bytes");
  state->sectors = static_cast<std::uint64_t>(bytes) / model::kSectorBytes;
  const AlignedBytes probe = aligned(model::kSectorBytes);
  if (pread(state->fd, probe.get(), model::kSectorBytes, 0) !=
      static_cast<ssize_t>(model::kSectorBytes))
    return fail(path, "cannot be read in sectors of 512 bytes: " + reason(errno));
  state->volatile_cache = !S_ISBLK(status.st_mode) || has_volatile_cache(status.st_rdev);
  const unsigned threads = std::max(1U, options.threads);
  for (unsigned i = 0; i < threads; ++i)
    state->threads.emplace_back([state] { state->work(state); });
  return std::unique_ptr<RawDisk>(new RawDisk(std::move(state)));
}

RawDisk::RawDisk(std::shared_ptr<State> state) : state_(std::move(state)) {}

RawDisk::~RawDisk() {
  state_->disowned = true;
  end_threads();
}

void RawDisk::close() {
  end_threads();
  ::close(std::exchange(state_->fd, -1));
}

void RawDisk::end_threads() {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->ending = true;
  }
  state_->asked.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
  state_->threads.clear();
}

bool RawDisk::volatile_cache() const {
  return state_->volatile_cache;
}

std::uint64_t RawDisk::sectors() const {
  return state_->sectors;
}

void RawDisk::start(const BlockRequest& request, BlockDone& done) {
  if (request.lba > state_->sectors || request.sectors > state_->sectors - request.lba) {
    state_->clock->post([&done] { done.done(model::Status::out_of_range); });
    return;
  }
  auto job = std::make_shared<State::Job>();
  job->request = request;
  job->done = &done;
  const std::size_t bytes = std::size_t{request.sectors} * model::kSectorBytes;
  if (request.op == model::Op::read || request.op == model::Op::write) job->bytes = aligned(bytes);
  if (request.op == model::Op::write) std::memcpy(job->bytes.get(), request.data.data(), bytes);
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->jobs.push_back(std::move(job));
  }
  state_->asked.notify_one();
}

}  // namespace headcrash::os
