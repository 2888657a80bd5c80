#pragma once
// For tests: the client side of a session. The client shares one region of memory, places its rings
// in it, and can send any message, including invalid ones. Each ring has a separate kick
// descriptor; all rings share one call descriptor.
//
//   0, 0x4000, ...   ring 0, 1, ...: descriptors, at 0x1000 available, at 0x2000 used
//   0x80000 on       data

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "plugin/base/descriptor.h"
#include "plugin/servers/vhost/message.h"
#include "plugin/servers/vhost/session.h"

namespace headcrash::vhost {

/// Commands of virtio-blk.
inline constexpr std::uint32_t kIn = 0, kOut = 1, kFlush = 4, kGetId = 8, kDiscard = 11,
                               kWriteZeroes = 13;

struct TestDescriptor {
  std::uint64_t address;
  std::uint32_t bytes;
  std::uint16_t flags, next;
};

/// An in-memory disk that counts requests.
class TestDisk {
 public:
  static constexpr std::uint64_t kSectors = 2048;
  Disk disk() {
    return {.name = "hd0",
            .sectors = kSectors,
            .trim = true,
            .trim_zeroes = trim_zeroes,
            .serve = [this](const model::Request& request) { return serve(request); }};
  }
  bool trim_zeroes = true;  ///< must be set before disk() is called
  /// Takes the lock even if the test knows that the request is complete. The test learns this from
  /// the guest's memory, which ThreadSanitizer does not recognise as synchronisation.
  std::byte byte(std::size_t at) {
    const std::lock_guard lock(mutex_);
    return bytes_[at];
  }
  void fill(std::byte value) {
    const std::lock_guard lock(mutex_);
    std::ranges::fill(bytes_, value);
  }
  std::atomic<int> flushes = 0, trims = 0, zeroes = 0;

 private:
  int serve(const model::Request& request) {
    const std::lock_guard lock(mutex_);
    std::byte* at = bytes_.data() + request.lba * model::kSectorBytes;
    const std::size_t length = std::size_t{request.sectors} * model::kSectorBytes;
    if (request.op == model::Op::read) std::memcpy(request.into.data(), at, length);
    if (request.op == model::Op::write) std::memcpy(at, request.data.data(), length);
    if (request.op == model::Op::write_zeroes || (request.op == model::Op::trim && trim_zeroes))
      std::memset(at, 0, length);
    flushes += request.op == model::Op::flush ? 1 : 0;
    trims += request.op == model::Op::trim ? 1 : 0;
    zeroes += request.op == model::Op::write_zeroes ? 1 : 0;
    return 0;
  }
  std::mutex mutex_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kSectors * model::kSectorBytes);
};

class TestClient {
 public:
  static constexpr std::uint64_t kGuest = 0x100000, kUser = 0x7f0000000000, kBytes = 1 << 20;
  static constexpr std::uint64_t kData = 0x80000;
  static constexpr std::uint16_t kNext = 1, kWrite = 2, kIndirect = 4;

  /// Connects to a session that runs in this process.
  explicit TestClient(const Disk& disk, SessionOptions options = {.queues = 2, .workers = 4})
      : TestClient() {
    int pair[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    socket_ = base::Descriptor(pair[0]);
    served_ = base::Descriptor(pair[1]);
    session_ = std::async(std::launch::async, [this, disk, options] {
      auto ended = serve_client(served_.get(), stop_.get(), disk, options);
      served_.reset();
      return ended;
    });
  }
  /// Connects to a server that is already listening.
  explicit TestClient(const std::filesystem::path& server) : TestClient() {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, server.c_str(), server.native().size());
    socket_ = base::Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
  }
  ~TestClient() {
    socket_.reset();
    if (session_.valid()) session_.wait();
    ::munmap(memory, kBytes);
  }

  void send(Verb verb, std::span<const std::byte> payload, const std::vector<int>& files = {},
            std::uint32_t flags = 1) {
    std::vector<std::byte> bytes(12 + payload.size());
    const std::uint32_t header[3] = {static_cast<std::uint32_t>(verb), flags,
                                     static_cast<std::uint32_t>(payload.size())};
    std::memcpy(bytes.data(), header, sizeof header);
    std::copy(payload.begin(), payload.end(), bytes.begin() + 12);
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 8)> control = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!files.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(sizeof(int) * files.size());
      cmsghdr* rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof(int) * files.size());
      std::memcpy(CMSG_DATA(rights), files.data(), sizeof(int) * files.size());
    }
    static_cast<void>(::sendmsg(socket_.get(), &message, MSG_NOSIGNAL));
  }
  /// Sends bytes, possibly only part of a message, and returns once the session has read them.
  void send_bytes(std::span<const std::byte> bytes) {
    EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    for (int untaken = 1; untaken != 0;) {
      ASSERT_EQ(::ioctl(socket_.get(), TIOCOUTQ, &untaken), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  /// Requests the session to stop. Returns true if the session ends within 10 s.
  bool stops() {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(stop_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    return session_.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  }
  template <typename... Words>
  void send64(Verb verb, Words... words) {
    const std::uint64_t all[] = {static_cast<std::uint64_t>(words)...};
    send(verb, std::as_bytes(std::span(all)));
  }
  void send_state(Verb verb, std::uint32_t ring, std::uint32_t value) {
    send64(verb, ring | std::uint64_t{value} << 32);
  }
  void send_descriptor(Verb verb, std::uint64_t ring, int file) {
    send(verb, std::as_bytes(std::span(&ring, 1)), {file});
  }
  std::vector<std::byte> ask(Verb verb, std::span<const std::byte> payload = {},
                             std::uint32_t flags = 1) {
    send(verb, payload, {}, flags);
    std::uint32_t header[3] = {};
    EXPECT_EQ(::recv(socket_.get(), header, sizeof header, MSG_WAITALL), 12);
    EXPECT_EQ(header[0], static_cast<std::uint32_t>(verb));
    EXPECT_EQ(header[1], 5U);
    std::vector<std::byte> answer(header[2]);
    EXPECT_EQ(::recv(socket_.get(), answer.data(), answer.size(), MSG_WAITALL),
              static_cast<ssize_t>(answer.size()));
    return answer;
  }
  std::uint64_t ask64(Verb verb, std::span<const std::byte> payload = {}, std::uint32_t flags = 1) {
    const auto answer = ask(verb, payload, flags);
    std::uint64_t value = 0;
    EXPECT_EQ(answer.size(), 8U);
    if (answer.size() == 8) std::memcpy(&value, answer.data(), 8);
    return value;
  }

  void share(MemoryRegion region = {kGuest, kBytes, kUser, 0}) {
    const std::uint64_t table[] = {1, region.guest_address, region.bytes, region.user_address,
                                   region.file_offset};
    send(Verb::set_mem_table, std::as_bytes(std::span(table)), {memory_file.get()});
  }
  /// Performs the whole setup: negotiates features, shares the memory, and starts a ring.
  void set_up(std::uint32_t ring = 0) {
    send64(Verb::set_features, ask64(Verb::get_features));
    send64(Verb::set_protocol_features, ask64(Verb::get_protocol_features));
    share();
    start(ring);
    ask64(Verb::get_features);  // the answer shows that all earlier messages have been handled
  }
  /// Sets a ring's indices as if an earlier session had handled `count` chains. Must be called
  /// before start(), because the back-end reads the indices when a ring is started.
  void left_by_earlier_session(std::uint32_t index, std::uint16_t count) {
    std::atomic_ref(*reinterpret_cast<std::uint16_t*>(ring(index) + 0x1002)).store(count);
    std::atomic_ref(*reinterpret_cast<std::uint16_t*>(ring(index) + 0x2002)).store(count);
  }
  /// `base` is the index of the next chain in `available`.
  void start(std::uint32_t ring, std::uint16_t base = 0) {
    place(ring, base);
    send_descriptor(Verb::set_vring_call, ring, call.get());
    send_descriptor(Verb::set_vring_kick, ring, kicks[ring].get());
    send_state(Verb::set_vring_enable, ring, 1);
  }
  void place(std::uint32_t ring, std::uint16_t base) {
    const std::uint64_t at = kUser + std::uint64_t{0x4000} * ring;
    send_state(Verb::set_vring_num, ring, size);
    send64(Verb::set_vring_addr, ring, at, at + 0x2000, at + 0x1000, 0);
    send_state(Verb::set_vring_base, ring, base);
    offered_[ring] = base;
  }
  /// Like set_up(), but for a client that notifies by messages. Returns the channel for the
  /// back-end's requests.
  base::Descriptor set_up_in_band() {
    send64(Verb::set_features, ask64(Verb::get_features));
    send64(Verb::set_protocol_features, ask64(Verb::get_protocol_features));
    int pair[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    const base::Descriptor theirs(pair[1]);
    send(Verb::set_backend_req_fd, {}, {theirs.get()});
    share();
    place(0, 0);
    constexpr std::uint64_t kNoDescriptor = 0x100;
    send64(Verb::set_vring_call, kNoDescriptor);
    send64(Verb::set_vring_kick, kNoDescriptor);
    send_state(Verb::set_vring_enable, 0, 1);
    ask64(Verb::get_features);
    return base::Descriptor(pair[0]);
  }
  /// Sends a kick message and waits for its acknowledgement, as user-mode Linux does.
  std::uint64_t kick_in_band(std::uint32_t index) {
    const std::uint64_t state = index;
    return ask64(Verb::vring_kick, std::as_bytes(std::span(&state, 1)), 9);
  }

  std::byte* ring(std::uint32_t index) { return memory + std::size_t{0x4000} * index; }
  void describe(std::uint32_t index, std::uint16_t at, TestDescriptor descriptor) {
    std::memcpy(ring(index) + 16 * at, &descriptor, sizeof descriptor);
  }
  void offer(std::uint32_t index, std::uint16_t head, std::uint16_t steps = 1) {
    std::memcpy(ring(index) + 0x1004 + 2 * (offered_[index] % size), &head, sizeof head);
    offered_[index] = static_cast<std::uint16_t>(offered_[index] + steps);
    std::atomic_ref(*reinterpret_cast<std::uint16_t*>(ring(index) + 0x1002)).store(offered_[index]);
    // Like a driver, reads the flag only after the index has been written.
    if (!kicks_unwanted(index)) kick_only(index);
  }
  bool kicks_unwanted(std::uint32_t index) {
    return (std::atomic_ref(*reinterpret_cast<std::uint16_t*>(ring(index) + 0x2000)).load() & 1) !=
           0;
  }
  void kick_only(std::uint32_t index) {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(kicks[index].get(), &one, sizeof one), 8);
  }
  std::uint16_t used(std::uint32_t index) {
    return std::atomic_ref(*reinterpret_cast<std::uint16_t*>(ring(index) + 0x2002)).load();
  }
  /// Returns the command that an entry in `used` refers to.
  std::uint16_t used_slot(std::uint32_t index, std::uint16_t entry) {
    std::uint32_t head = 0;
    std::memcpy(&head, ring(index) + 0x2004 + std::size_t{8} * (entry % size), sizeof head);
    return static_cast<std::uint16_t>(head / 3);
  }
  /// Returns true if `used` reaches `count` within 2 s.
  bool wait_used(std::uint32_t index, std::uint16_t count) {
    for (int i = 0; i < 2000 && used(index) != count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return used(index) == count;
  }
  /// Submits header, data and status in three descriptors, starting at 3 * slot. All commands share
  /// one data buffer.
  void begin(std::uint32_t index, std::uint16_t slot, std::uint32_t type, std::uint64_t sector,
             std::uint32_t bytes, bool device_writes) {
    const std::uint64_t header = kData + std::uint64_t{64} * slot;
    const auto first = static_cast<std::uint16_t>(3 * slot);
    std::memcpy(memory + header, &type, sizeof type);
    std::memcpy(memory + header + 8, &sector, sizeof sector);
    memory[header + 32] = std::byte{255};
    describe(index, first,
             {kGuest + header, 16, kNext, static_cast<std::uint16_t>(first + (bytes > 0 ? 1 : 2))});
    describe(index, first + 1,
             {kGuest + kData + 0x2000, bytes,
              static_cast<std::uint16_t>(kNext | (device_writes ? kWrite : 0)),
              static_cast<std::uint16_t>(first + 2)});
    describe(index, first + 2, {kGuest + header + 32, 1, kWrite, 0});
    offer(index, first);
  }
  int status(std::uint16_t slot) {
    return std::to_integer<int>(memory[kData + std::size_t{64} * slot + 32]);
  }
  /// Returns the status; 255 if no answer arrives.
  int command(std::uint32_t index, std::uint32_t type, std::uint64_t sector, std::uint32_t bytes,
              bool device_writes) {
    begin(index, 0, type, sector, bytes, device_writes);
    return wait_call() ? status(0) : 255;
  }
  bool wait_call() {
    pollfd watched = {call.get(), POLLIN, 0};
    if (::poll(&watched, 1, 2000) != 1) return false;
    std::uint64_t count = 0;
    return ::read(call.get(), &count, sizeof count) == 8;
  }
  std::span<std::byte> data() { return {memory + kData + 0x2000, 0x10000}; }

  /// Waits for the session to end by itself, without stopping it, and returns its result.
  Result<void> wait_for_end() {
    if (session_.wait_for(std::chrono::seconds(5)) != std::future_status::ready) {
      ADD_FAILURE() << "the session continues";
      stop();
    }
    return session_.get();
  }
  std::string error() {
    const auto ended = wait_for_end();
    return ended ? "no error" : ended.error().message();
  }
  void stop() {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(stop_.get(), &one, sizeof one), 8);
  }
  void hang_up() { socket_.reset(); }
  int socket() const { return socket_.get(); }

  std::uint32_t size = 8;  ///< ring size, at most 128; set before the rings are started
  base::Descriptor memory_file, call;
  std::array<base::Descriptor, 2> kicks;
  std::byte* memory = nullptr;

 private:
  TestClient()
      : memory_file(::memfd_create("guest", MFD_CLOEXEC)),
        call(::eventfd(0, EFD_CLOEXEC)),
        stop_(::eventfd(0, EFD_CLOEXEC)) {
    for (base::Descriptor& kick : kicks) kick = base::Descriptor(::eventfd(0, EFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(memory_file.get(), kBytes), 0);
    memory = static_cast<std::byte*>(
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_file.get(), 0));
  }

  base::Descriptor stop_, socket_, served_;
  std::array<std::uint16_t, 2> offered_ = {};
  std::future<Result<void>> session_;
};

}  // namespace headcrash::vhost
