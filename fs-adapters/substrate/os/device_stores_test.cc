// Tests several devices that are presented as one store, several devices on one in-memory disk, and
// flushes of each device.
#include "fs-adapters/substrate/os/device_stores.h"

#include <gtest/gtest.h>

#include <vector>

#include "fs-adapters/substrate/os/fiber_store.h"
#include "fs-adapters/substrate/os/memory_machine.h"
#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::os {
namespace {

using model::kSectorBytes;

std::vector<std::byte> sectors_of(std::size_t count, int value) {
  return std::vector<std::byte>(count * kSectorBytes, static_cast<std::byte>(value));
}

class DeviceStoresTest : public testing::Test {
 protected:
  model::bench::MemoryStore flat_{300}, other_{40};
};

TEST_F(DeviceStoresTest, AnAddressSelectsTheDevice) {
  DeviceStores stores({{.store = &flat_, .sectors = 200},
                       {.store = &flat_, .first = 200, .sectors = 100},
                       {.store = &other_, .sectors = 40}});
  EXPECT_EQ(stores.sectors(), 200U);
  ASSERT_TRUE(stores.write(7, sectors_of(1, 1)));
  ASSERT_TRUE(stores.write(device_address(1, 7), sectors_of(2, 2)));
  ASSERT_TRUE(stores.write(device_address(2, 39), sectors_of(1, 3)));
  std::vector<std::byte> sector(kSectorBytes);
  ASSERT_TRUE(flat_.read(7, sector));
  EXPECT_EQ(sector, sectors_of(1, 1));
  ASSERT_TRUE(flat_.read(208, sector));
  EXPECT_EQ(sector, sectors_of(1, 2));
  ASSERT_TRUE(other_.read(39, sector));
  EXPECT_EQ(sector, sectors_of(1, 3));
  ASSERT_TRUE(stores.write_zeroes(device_address(1, 7), 2));
  ASSERT_TRUE(stores.read(device_address(1, 8), sector));
  EXPECT_EQ(sector, sectors_of(1, 0));
}

TEST_F(DeviceStoresTest, AccessBeyondADeviceFails) {
  DeviceStores stores(
      {{.store = &flat_, .sectors = 200}, {.store = &flat_, .first = 200, .sectors = 100}});
  EXPECT_FALSE(stores.write(199, sectors_of(2, 1)));
  EXPECT_FALSE(stores.write(device_address(1, 100), sectors_of(1, 1)));
  EXPECT_FALSE(stores.write_zeroes(device_address(1, 99), UINT64_MAX));
  std::vector<std::byte> sector(kSectorBytes);
  const auto gone = stores.read(device_address(2, 0), sector);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message(), "device 2: does not exist");
}

/// Each device has a separate write cache. A flush of one device does not write the data that the
/// other device has cached.
TEST_F(DeviceStoresTest, AFlushCoversOneDevice) {
  DeviceStores stores({{.store = &flat_, .sectors = 200}, {.store = &other_, .sectors = 40}});
  MemoryMachine machine(stores, {.second_sectors = 40});
  machine.disk.write_cache(true);
  Account account{.name = "test"};
  machine.system.run_as(account, [&] {
    EXPECT_EQ(machine.system.queue.devices(), 2U);
    EXPECT_EQ(machine.system.queue.sectors(1), 40U);
    FiberStore through(machine.system.queue);
    EXPECT_TRUE(through.write(3, sectors_of(1, 1)));
    EXPECT_TRUE(through.write(device_address(1, 3), sectors_of(1, 2)));
    EXPECT_EQ(machine.disk.cached_sectors(), 2U);
    EXPECT_EQ(machine.system.queue.flush(1), model::Status::ok);
    EXPECT_EQ(machine.disk.cached_sectors(), 1U);
    std::vector<std::byte> sector(kSectorBytes);
    EXPECT_TRUE(other_.read(3, sector));
    EXPECT_EQ(sector, sectors_of(1, 2));
    EXPECT_TRUE(flat_.read(3, sector));
    EXPECT_EQ(sector, sectors_of(1, 0));
    FiberStore flushing(machine.system.queue, {.flushes = true});
    EXPECT_TRUE(flushing.write(device_address(1, 4), sectors_of(1, 3)));
    EXPECT_EQ(machine.disk.cached_sectors(), 1U) << "only that of the second device";
    EXPECT_TRUE(flushing.write(4, sectors_of(1, 3)));
    EXPECT_EQ(machine.disk.cached_sectors(), 0U);
    EXPECT_FALSE(flushing.write(device_address(1, 40), sectors_of(1, 3)));
  });
}

}  // namespace
}  // namespace headcrash::os
