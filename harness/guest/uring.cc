// Writes through a ring with one entry (uring.h). io_uring_setup(2) and io_uring_enter(2) describe
// the kernel's ABI. The ring consists of these parts:
//
//   submission queue: head, tail, array -> entries (a separate mapping)
//   completion queue: head, tail, entries; in the same mapping as the submission queue
//                     (IORING_FEAT_SINGLE_MMAP)
#include "harness/guest/uring.h"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace headcrash::guest {
namespace {

class Ring {
 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    if (entry_ != MAP_FAILED) ::munmap(entry_, sizeof(io_uring_sqe));
    if (queues_ != MAP_FAILED) ::munmap(queues_, bytes_);
    if (ring_ >= 0) ::close(ring_);
  }

  VfsResult<void> open() {
    ring_ = static_cast<int>(::syscall(SYS_io_uring_setup, 1, &setup_));
    if (ring_ < 0) return refuse(errno);
    if ((setup_.features & IORING_FEAT_SINGLE_MMAP) == 0)
      return refuse(ENOSYS);  // kernels before Linux 5.4 lack this feature
    bytes_ = std::max<std::size_t>(setup_.sq_off.array + setup_.sq_entries * sizeof(unsigned),
                                   setup_.cq_off.cqes + setup_.cq_entries * sizeof(io_uring_cqe));
    queues_ = map(bytes_, IORING_OFF_SQ_RING);
    entry_ = map(sizeof(io_uring_sqe), IORING_OFF_SQES);
    if (queues_ == MAP_FAILED || entry_ == MAP_FAILED) return refuse(errno);
    return {};
  }

  /// Submits one write and waits for its completion. Returns the number of bytes written.
  VfsResult<std::size_t> write(int file, std::uint64_t offset, std::span<const std::byte> data) {
    auto* const entry = static_cast<io_uring_sqe*>(entry_);
    *entry = {};
    entry->opcode = IORING_OP_WRITE;
    entry->fd = file;
    entry->off = offset;
    entry->addr = reinterpret_cast<std::uintptr_t>(data.data());
    entry->len = static_cast<std::uint32_t>(data.size());
    *at<unsigned>(setup_.sq_off.array) = 0;  // the ring has only one entry, with index 0
    std::atomic_ref(*at<unsigned>(setup_.sq_off.tail)).fetch_add(1, std::memory_order_release);
    for (unsigned to_submit = 1;;) {
      const long taken =
          ::syscall(SYS_io_uring_enter, ring_, to_submit, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
      if (taken < 0 && errno != EINTR) return refuse(errno);
      if (taken > 0) to_submit = 0;
      const unsigned head = *at<unsigned>(setup_.cq_off.head);
      if (std::atomic_ref(*at<unsigned>(setup_.cq_off.tail)).load(std::memory_order_acquire) ==
          head)
        continue;
      const int result =
          at<io_uring_cqe>(setup_.cq_off.cqes)[head & *at<unsigned>(setup_.cq_off.ring_mask)].res;
      std::atomic_ref(*at<unsigned>(setup_.cq_off.head)).store(head + 1, std::memory_order_release);
      if (result < 0) return refuse(-result);
      return static_cast<std::size_t>(result);
    }
  }

 private:
  void* map(std::size_t bytes, std::uint64_t what) const {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_,
                  static_cast<off_t>(what));
  }
  template <typename T>
  T* at(std::uint32_t offset) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(queues_) + offset);
  }

  io_uring_params setup_{};
  int ring_ = -1;
  std::size_t bytes_ = 0;
  void* queues_ = MAP_FAILED;
  void* entry_ = MAP_FAILED;
};

}  // namespace

VfsResult<void> write_by_uring(int file, std::uint64_t offset, std::span<const std::byte> data) {
  Ring ring;
  TRY(ring.open());
  while (!data.empty()) {
    const auto written = ring.write(file, offset, data);
    if (!written) return refuse(written.error().value);
    if (*written == 0 || *written > data.size()) return refuse(EIO);
    offset += *written;
    data = data.subspan(*written);
  }
  return {};
}

}  // namespace headcrash::guest
