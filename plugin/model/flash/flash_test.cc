// Tests that the performance of three modelled devices is within broad bounds. Also tests
// individual rules of the model.
#include "plugin/model/flash/flash.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "plugin/model/core/null_observer.h"
#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::Host;
using bench::LogObserver;
using bench::MemoryStore;

/// The parameters of profiles/nvme-970pro.toml.
FlashProfile nvme() {
  FlashProfile p;
  p.name = "nvme";
  p.capacity_sectors = 1'000'215'168;
  p.queue_depth = 1024;
  p.channels = 8;
  p.luns_per_channel = 2;
  p.page_sectors = 64;
  p.pages_per_block = 256;
  p.read_ns = 35'800;
  p.program_ns = 185'000;
  p.erase_ns = 3'000'000;
  p.channel_sector_ns = 640;
  p.command_ns = 21'500;
  p.host_sector_ns = 152;
  p.buffer_sectors = 2048;
  p.buffer_write_ns = 4'000;
  p.buffer_sector_ns = 58;
  p.buffer_idle_ns = 2 * kMillisecondNs;
  p.flush_ns = 20'000;
  p.trim_ns = 10'000;
  p.trim = true;
  return p;
}

/// The parameters of profiles/sata-ssd.toml.
FlashProfile sata() {
  FlashProfile p = nvme();
  p.name = "sata";
  p.queue_depth = 32;
  p.channels = 4;
  p.read_ns = 50'000;
  p.program_ns = 600'000;
  p.channel_sector_ns = 1'280;
  p.command_ns = 30'000;
  p.host_sector_ns = 930;
  p.buffer_sectors = 65'536;
  p.buffer_write_ns = 20'000;
  p.buffer_sector_ns = 100;
  return p;
}

struct FlashFixture {
  explicit FlashFixture(FlashProfile p, SectorStore* store = nullptr, bool cache = true,
                        DeviceFaults* faults = nullptr)
      : profile(std::move(p)), machine(observer) {
    FlashOptions options{profile, machine.simulation(), observer};
    options.store = store;
    options.write_cache = cache;
    options.faults = faults;
    machine.add_device("ssd", std::make_unique<Flash>(options));
  }
  RequestId submit(Op op, std::uint64_t lba = 0, std::uint32_t sectors = 0, bool fua = false) {
    Request request;
    request.op = op;
    request.lba = lba;
    request.sectors = sectors;
    request.fua = fua;
    return machine.submit(0, request, host);
  }
  Completion finish(RequestId id) {
    while (!host.has(id) && machine.simulation().run_next()) {
    }
    EXPECT_TRUE(host.has(id));
    return host.done[id];
  }
  TimeNs response(RequestId id) {
    const Completion c = finish(id);
    EXPECT_EQ(c.status, Status::ok);
    return c.completed_at - c.submitted_at;
  }
  TimeNs now() { return machine.simulation().now(); }

  FlashProfile profile;
  LogObserver observer;
  Machine machine;
  Host host;
};

/// Keeps `depth` requests in flight. `lba` returns the LBA of each request.
struct FlashLoad final : Initiator {
  FlashLoad(const FlashProfile& p, Op kind, std::uint32_t length, int depth, int requests,
            std::function<std::uint64_t()> lba)
      : op(kind), sectors(length), left(requests), next(std::move(lba)) {
    machine.add_device("ssd",
                       std::make_unique<Flash>(FlashOptions{p, machine.simulation(), nobody}));
    for (int i = 0; i < depth; ++i) one();
    while (machine.simulation().run_next() && answered < requests) {
    }
    bytes_per_second = std::uint64_t{sectors} * kSectorBytes *
                       static_cast<std::uint64_t>(requests) * kSecondNs /
                       static_cast<std::uint64_t>(machine.simulation().now());
  }
  void one() {
    if (left-- <= 0) return;
    Request request;
    request.op = op;
    request.lba = next();
    request.sectors = sectors;
    machine.submit(0, request, *this);
  }
  void completed(const Completion&) override {
    ++answered;
    one();
  }
  NullObserver nobody;
  Machine machine{nobody};
  Op op;
  std::uint32_t sectors;
  int left;
  int answered = 0;
  std::function<std::uint64_t()> next;
  std::uint64_t bytes_per_second = 0;
};

std::function<std::uint64_t()> anywhere() {
  auto random = std::make_shared<std::mt19937_64>(7);
  return [random] { return (*random)() % 100'000'000 * 8; };
}
std::function<std::uint64_t()> in_order(std::uint32_t sectors) {
  auto at = std::make_shared<std::uint64_t>(0);
  return [at, sectors] { return (*at += sectors) - sectors; };
}
std::uint64_t iops(const FlashProfile& p, Op op, int depth) {
  return FlashLoad(p, op, 8, depth, 8000, anywhere()).bytes_per_second / 4096;
}
std::uint64_t megabytes(const FlashProfile& p, Op op, int depth, int requests) {
  return FlashLoad(p, op, 256, depth, requests, in_order(256)).bytes_per_second / 1'000'000;
}

TEST(Flash, NvmePerformanceIsPlausible) {
  FlashFixture bench(nvme());
  const TimeNs read = bench.response(bench.submit(Op::read, 8'000'000, 8));
  EXPECT_GT(read, 60 * kMicrosecondNs);
  EXPECT_LT(read, 90 * kMicrosecondNs);
  const TimeNs write = bench.response(bench.submit(Op::write, 8'000'000, 8));
  EXPECT_GT(write, 4 * kMicrosecondNs);
  EXPECT_LT(write, 15 * kMicrosecondNs);

  const std::uint64_t one = iops(nvme(), Op::read, 1);
  const std::uint64_t four = iops(nvme(), Op::read, 4);
  const std::uint64_t many = iops(nvme(), Op::read, 256);
  EXPECT_GT(four, one * 3);
  EXPECT_LT(four, one * 4);
  EXPECT_GT(many, 300'000U);
  EXPECT_LT(many, 16 * kSecondNs / nvme().read_ns) << "as many in parallel as there are LUNs";

  const std::uint64_t reads = megabytes(nvme(), Op::read, 32, 4000);
  EXPECT_GT(reads, 2'800U);
  EXPECT_LT(reads, 3'500U);
  const std::uint64_t writes = megabytes(nvme(), Op::write, 32, 8000);
  EXPECT_GT(writes, 1'800U);
  EXPECT_LT(writes, 2'800U);
}

TEST(Flash, SataPerformanceIsPlausible) {
  const std::uint64_t one = iops(sata(), Op::read, 1);
  const std::uint64_t many = iops(sata(), Op::read, 32);
  EXPECT_GT(one, 7'000U);
  EXPECT_LT(one, 15'000U);
  EXPECT_GT(many, 70'000U);
  EXPECT_LT(many, 120'000U);
  const std::uint64_t reads = megabytes(sata(), Op::read, 8, 2000);
  EXPECT_GT(reads, 480U);
  EXPECT_LT(reads, 560U);
  const std::uint64_t writes = megabytes(sata(), Op::write, 8, 4000);
  EXPECT_GT(writes, 300U);
  EXPECT_LT(writes, 540U);
}

// ---- single rules

FlashProfile small_ssd() {
  FlashProfile p = nvme();
  p.capacity_sectors = 64 * 1024;
  p.buffer_sectors = 256;
  return p;
}

struct SsdFixture {
  explicit SsdFixture(const FlashProfile& p = small_ssd(), bool cache = true)
      : store(p.capacity_sectors), bench(p, &store, cache, nullptr) {}
  RequestId write(std::uint64_t lba, std::uint32_t sectors, int value, bool fua = false) {
    buffers.push_back(bench::DiskFixture::pattern(sectors, value));
    Request request;
    request.op = Op::write;
    request.lba = lba;
    request.sectors = sectors;
    request.data = buffers.back();
    request.fua = fua;
    return bench.machine.submit(0, request, bench.host);
  }
  std::vector<std::byte> read(std::uint64_t lba, std::uint32_t sectors) {
    std::vector<std::byte> into(std::size_t{sectors} * kSectorBytes);
    Request request;
    request.lba = lba;
    request.sectors = sectors;
    request.into = into;
    EXPECT_EQ(bench.finish(bench.machine.submit(0, request, bench.host)).status, Status::ok);
    return into;
  }
  std::vector<std::byte> on_medium(std::uint64_t lba, std::uint32_t sectors) {
    std::vector<std::byte> bytes(std::size_t{sectors} * kSectorBytes);
    EXPECT_TRUE(store.read(lba, bytes).has_value());
    return bytes;
  }
  void drain() {
    while (bench.machine.simulation().run_next()) {
    }
  }
  MemoryStore store;
  FlashFixture bench;
  std::deque<std::vector<std::byte>> buffers;
};

TEST(Flash, FlushWaitsForPendingPrograms) {
  SsdFixture b;
  b.bench.finish(b.write(100, 8, 1));
  EXPECT_EQ(b.on_medium(100, 8), bench::DiskFixture::pattern(8, 0));
  EXPECT_EQ(b.read(100, 8), bench::DiskFixture::pattern(8, 1)) << "from the buffer";
  EXPECT_GT(b.bench.response(b.bench.submit(Op::flush)), small_ssd().program_ns);
  EXPECT_EQ(b.on_medium(100, 8), bench::DiskFixture::pattern(8, 1));
  EXPECT_LT(b.bench.response(b.bench.submit(Op::flush)), 50 * kMicrosecondNs)
      << "the device must be idle";
}

TEST(Flash, FuaWritesAndUncachedWritesWaitForTheProgram) {
  SsdFixture b;
  EXPECT_GT(b.bench.response(b.write(100, 8, 1, true)), small_ssd().program_ns);
  EXPECT_EQ(b.on_medium(100, 8), bench::DiskFixture::pattern(8, 1));
  SsdFixture off(small_ssd(), false);
  EXPECT_GT(off.bench.response(off.write(100, 8, 1)), small_ssd().program_ns);
  EXPECT_FALSE(off.bench.machine.device(0).characteristics().volatile_cache);
}

TEST(Flash, ProgramsAPartialPageWhenIdle) {
  SsdFixture b;
  b.bench.finish(b.write(100, 8, 1));
  b.drain();
  EXPECT_EQ(b.on_medium(100, 8), bench::DiskFixture::pattern(8, 1));
}

TEST(Flash, PacksSmallWritesIntoPages) {
  SsdFixture b;
  for (int i = 0; i < 32; ++i)
    b.bench.finish(b.write(static_cast<std::uint64_t>(i) * 640, 8, i + 1));
  b.drain();
  EXPECT_EQ(b.bench.machine.device(0).counters().media_writes, 4U)
      << "8 writes of 4 KiB fill a page of 32 KiB";
}

TEST(Flash, ProtectionKeepsTheBufferAndMakesFlushesFree) {
  FlashProfile p = small_ssd();
  p.power_loss_protection = true;
  SsdFixture b(p);
  EXPECT_FALSE(b.bench.machine.device(0).characteristics().volatile_cache);
  b.bench.finish(b.write(100, 8, 1));
  EXPECT_LT(b.bench.response(b.write(300, 8, 2, true)), 20 * kMicrosecondNs);
  EXPECT_LT(b.bench.response(b.bench.submit(Op::flush)), 50 * kMicrosecondNs);
  b.bench.machine.power_cut();
  b.bench.machine.power_on();
  EXPECT_EQ(b.read(100, 8), bench::DiskFixture::pattern(8, 1));
  EXPECT_EQ(b.read(300, 8), bench::DiskFixture::pattern(8, 2));
}

TEST(Flash, AQueuedProgramHasNoEffectAtACut) {
  FlashProfile p = small_ssd();
  p.channels = p.luns_per_channel = 1;
  p.read_ns = 5 * kMillisecondNs;
  SsdFixture b(p);
  b.bench.submit(Op::read, 6400, 8);  // occupies the only LUN for the next 5 ms
  b.bench.machine.simulation().run_until(kMillisecondNs);
  // The data is buffered, and its program operation is waiting for the LUN.
  b.bench.finish(b.write(0, p.page_sectors, 1));
  ASSERT_LT(b.bench.now(), 4 * kMillisecondNs);
  b.bench.observer.log.clear();
  b.bench.machine.power_cut();
  for (const std::string& line : b.bench.observer.log)
    EXPECT_EQ(line.find(" media "), std::string::npos) << line;
  EXPECT_EQ(b.on_medium(0, p.page_sectors), bench::DiskFixture::pattern(p.page_sectors, 0));
}

TEST(Flash, AWriteOfAPartialPhysicalSectorCostsARead) {
  FlashProfile p = small_ssd();
  p.buffer_idle_ns = 0;
  const auto took = [&](std::uint32_t sectors) {
    SsdFixture b(p);
    return b.bench.response(b.write(800, sectors, 1, true));
  };
  const TimeNs whole = took(p.physical_sector_sectors);
  const TimeNs part = took(p.physical_sector_sectors - 1);
  EXPECT_NEAR(static_cast<double>(part - whole), static_cast<double>(p.read_ns),
              static_cast<double>(p.read_ns) / 10);
}

TEST(Flash, LosesItsBufferWithoutProtection) {
  SsdFixture b;
  b.bench.finish(b.write(100, 8, 1));
  b.bench.machine.power_cut();
  b.bench.machine.power_on();
  EXPECT_EQ(b.read(100, 8), bench::DiskFixture::pattern(8, 0));
}

TEST(Flash, TrimAndWriteZeroesAreFastAndReadAsZeroes) {
  SsdFixture b;
  b.bench.finish(b.write(0, 256, 1));
  b.bench.finish(b.bench.submit(Op::flush));
  EXPECT_LT(b.bench.response(b.bench.submit(Op::trim, 8, 8)), 50 * kMicrosecondNs);
  EXPECT_LT(b.bench.response(b.bench.submit(Op::write_zeroes, 64, 128)), 50 * kMicrosecondNs);
  EXPECT_EQ(b.read(0, 8), bench::DiskFixture::pattern(8, 1));
  EXPECT_EQ(b.read(8, 8), bench::DiskFixture::pattern(8, 0));
  EXPECT_EQ(b.read(64, 128), bench::DiskFixture::pattern(128, 0));
  EXPECT_TRUE(b.bench.machine.device(0).characteristics().fast_zero);
}

TEST(Flash, ProcessesAtMostItsQueueDepth) {
  FlashProfile p = small_ssd();
  p.queue_depth = 1;
  SsdFixture b(p);
  const RequestId first = b.bench.submit(Op::read, 0, 8);
  const RequestId second = b.bench.submit(Op::read, 640, 8);
  EXPECT_GT(b.bench.response(second), b.bench.response(first) * 19 / 10);
}

TEST(Flash, InjectsFaults) {
  FlashProfile p = small_ssd();
  MemoryStore store(p.capacity_sectors);
  LogObserver observer;
  Machine machine(observer);
  DeviceFaults faults(machine.simulation(), observer, 0, 1);
  FlashOptions options{p, machine.simulation(), observer};
  options.store = &store;
  options.faults = &faults;
  machine.add_device("ssd", std::make_unique<Flash>(options));
  Host host;
  const auto run = [&](Op op, std::uint32_t sectors = 8) {
    Request request;
    request.op = op;
    request.sectors = op == Op::flush ? 0 : sectors;
    const RequestId id = machine.submit(0, request, host);
    while (!host.has(id) && machine.simulation().run_next()) {
    }
    return host.done[id];
  };
  const auto add = [&](const char* text) {
    ASSERT_TRUE(faults.add(*parse_fault(text)).has_value()) << text;
  };
  add("lying-flush:ssd");
  run(Op::write);
  const Completion flush = run(Op::flush);
  EXPECT_LT(flush.completed_at - flush.submitted_at, p.program_ns);
  EXPECT_EQ(machine.device(0).counters().media_writes, 0U);
  faults.clear();
  add("slow:ssd,delay-ms=5");
  const Completion slow = run(Op::read);
  EXPECT_GT(slow.completed_at - slow.submitted_at, 5 * kMillisecondNs);
  faults.clear();
  add("latent-error:ssd,lba=640+1");
  while (machine.simulation().run_next()) {
  }
  EXPECT_EQ(run(Op::read, 1024).status, Status::medium_error);
  EXPECT_EQ(run(Op::read, 640).status, Status::ok);
  faults.clear();
  run(Op::write);
  add("latent-error:ssd,lba=3+1");
  EXPECT_EQ(run(Op::read, 16).status, Status::ok)
      << "the bad sector's newest version is in the buffer";
  faults.clear();
  run(Op::write);
  add("dead:ssd");
  EXPECT_EQ(run(Op::flush).status, Status::device_failed);
  EXPECT_EQ(run(Op::read).status, Status::device_failed);
}

/// The sizes of real drives (IDEMA LBA1-03) are multiples of the physical sector, but not of the
/// page.
TEST(Flash, LastPageMayBePartial) {
  FlashProfile p = small_ssd();
  p.capacity_sectors += 48;
  ASSERT_NE(p.capacity_sectors % p.page_sectors, 0U);
  ASSERT_TRUE(validate(p).has_value());
  SsdFixture b(p);
  const std::uint64_t last = p.capacity_sectors - 48;
  EXPECT_EQ(b.bench.finish(b.write(last - 16, 64, 3)).status, Status::ok);
  EXPECT_EQ(b.bench.finish(b.bench.submit(Op::flush)).status, Status::ok);
  EXPECT_EQ(b.on_medium(last - 16, 64), bench::DiskFixture::pattern(64, 3));
  EXPECT_EQ(b.bench.finish(b.bench.submit(Op::read, last, 48)).status, Status::ok);
}

TEST(Flash, RejectsInvalidParameters) {
  EXPECT_TRUE(validate(nvme()).has_value());
  EXPECT_TRUE(validate(sata()).has_value());
  const auto wrong = [](auto change) {
    FlashProfile p = nvme();
    change(p);
    return !validate(p).has_value();
  };
  EXPECT_TRUE(wrong([](FlashProfile& p) { p.physical_sector_sectors = 0; }));
  EXPECT_TRUE(wrong([](FlashProfile& p) { p.page_sectors = 12; }));
  EXPECT_TRUE(wrong([](FlashProfile& p) { p.capacity_sectors += 1; }));
  EXPECT_TRUE(wrong([](FlashProfile& p) { p.channels = 0; }));
  EXPECT_TRUE(wrong([](FlashProfile& p) { p.channels = 100'000; }));
  EXPECT_TRUE(wrong([](FlashProfile& p) { p.queue_depth = 0; }));
  EXPECT_TRUE(wrong([](FlashProfile& p) { p.buffer_sectors = 63; }));
  EXPECT_TRUE(wrong([](FlashProfile& p) { p.trim_ns = -1; }));
}

}  // namespace
}  // namespace headcrash::model
