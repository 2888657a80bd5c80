// Fuzzes a client's memory and messages. Rings and commands must either be served or cause one
// error, and nothing outside the shared memory may be accessed.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "plugin/base/testing/fuzz.h"
#include "plugin/servers/vhost/testing/client.h"

namespace headcrash::vhost {
namespace {

constexpr std::uint64_t kBytes = 8192;

std::string ring_of(std::initializer_list<TestDescriptor> descriptors, std::uint32_t type) {
  std::string bytes(kBytes, '\0');
  std::size_t at = 0;
  for (const TestDescriptor& one : descriptors) {
    std::memcpy(bytes.data() + at, &one, sizeof one);
    at += sizeof one;
  }
  bytes[0x402] = 1;
  std::memcpy(bytes.data() + 0x1000, &type, sizeof type);
  return bytes;
}

TEST(Fuzz, RingAndCommand) {
  constexpr std::uint16_t kNext = 1, kWrite = 2, kIndirect = 4;
  fuzz::Options options;
  options.name = "vhost-ring";
  options.size_max = kBytes;
  options.corpus = {
      ring_of({{0x1000, 16, kNext, 1}, {0x1200, 512, kNext, 2}, {0x1100, 1, kWrite, 0}}, 1),
      ring_of({{0x1000, 16, kNext, 1}, {0x1200, 512, kNext | kWrite, 2}, {0x1100, 1, kWrite, 0}},
              0),
      ring_of({{0x10, 32, kIndirect, 0}, {0x1000, 16, kNext, 1}, {0x1100, 1, kWrite, 0}}, 4),
      ring_of({{0x1000, 16, kNext, 1}, {0x1200, 16, kNext, 2}, {0x1100, 1, kWrite, 0}}, 13)};
  TestDisk store;
  const Disk disk = store.disk();
  std::vector<base::Descriptor> files;
  files.emplace_back(::memfd_create("fuzz", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(files[0].get(), kBytes), 0);
  const MemoryRegion region{0, kBytes, 0, 0};
  const auto memory = GuestMemory::map(std::span(&region, 1), files);
  ASSERT_TRUE(memory);
  std::byte* bytes = (*memory)->at_guest(0, kBytes);
  fuzz::run(options, [&](std::string_view input) {
    std::memset(bytes, 0, kBytes);
    std::memcpy(bytes, input.data(), std::min<std::size_t>(input.size(), kBytes));
    SplitRing ring;
    ring.set_indirect(true);
    EXPECT_TRUE(ring.place({8, 0, 0x400, 0x600}));
    for (int i = 0; i < 8; ++i) {
      const auto chain = ring.take(**memory);
      if (!chain) return fuzz::novelty(chain.error().problem);
      if (!*chain) return std::uint64_t{1};
      EXPECT_LE((*chain)->readable.size() + (*chain)->writable.size(), 8U);
      const auto written = execute(*memory, **chain, disk);
      if (!written) return fuzz::novelty(written.error().problem);
      EXPECT_TRUE(ring.give_back(**memory, (*chain)->head, *written));
    }
    return std::uint64_t{2};
  });
}

TEST(Fuzz, VhostMessage) {
  fuzz::Options options;
  options.name = "vhost-message";
  options.size_max = 512;
  for (char verb = 1; verb < 36; ++verb)
    for (const std::size_t length : {0U, 8U, 40U}) {
      std::string message(kMessageHeaderBytes + length, '\0');
      message[0] = verb;
      message[4] = 1;
      message[8] = static_cast<char>(length);
      options.corpus.push_back(std::move(message));
    }
  fuzz::run(options, [](std::string_view input) {
    const auto bytes = std::as_bytes(std::span(input));
    if (bytes.size() < kMessageHeaderBytes) return std::uint64_t{1};
    const auto header = parse_header(bytes.first<kMessageHeaderBytes>());
    if (!header) return fuzz::novelty(header.error().problem);
    const auto payload = parse_payload(header->verb, bytes.subspan(kMessageHeaderBytes));
    if (!payload) return fuzz::novelty(payload.error().problem);
    return std::uint64_t{2} + payload->index();
  });
}

}  // namespace
}  // namespace headcrash::vhost
