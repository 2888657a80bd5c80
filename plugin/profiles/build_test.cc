// Tests that ids, names and sizes are as planned, that the built machine matches the plan, and that
// each fault is added to the device that the fault names.
#include "plugin/profiles/build.h"

#include <gtest/gtest.h>

#include <map>

#include "headcrash_profiles_embedded.h"
#include "plugin/model/array/array.h"
#include "plugin/model/core/null_observer.h"

namespace headcrash::profiles {
namespace {

using model::DeviceId;
using model::TimeNs;

struct CountingObserver : model::NullObserver {
  void submitted(DeviceId device, TimeNs, const model::Request&) override { ++submissions[device]; }
  void incident(DeviceId, TimeNs, std::string_view text) override { incidents.emplace_back(text); }
  std::map<DeviceId, int> submissions;
  std::vector<std::string> incidents;
};

struct Host : model::Initiator {
  void completed(const model::Completion& completion) override { done.push_back(completion); }
  std::vector<model::Completion> done;
};

MachineDevice device(const std::string& profile, const std::string& name = "hd0") {
  auto stack = load_stack(profile);
  EXPECT_TRUE(stack) << stack.error().message();
  return {name, stack ? *stack : nullptr, std::nullopt, {}};
}

std::vector<std::string> built_in_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  return names;
}

TEST(Plan, NumbersDevicesDepthFirstAndNamesThemByPosition) {
  MachineDevice first = device("netra-raid5-presto");
  first.size_bytes = 64 << 20;
  const auto made = plan({first, device("hp-c2447", "log")});
  ASSERT_TRUE(made) << made.error().message();
  const auto& all = made->all;
  ASSERT_EQ(all.size(), 1U + 1 + 11 * 2 + 1);
  EXPECT_EQ(all[0].name, "hd0");
  EXPECT_FALSE(all[0].parent.has_value());
  EXPECT_EQ(all[1].name, "hd0.below");
  EXPECT_EQ(all[1].parent, 0);
  EXPECT_EQ(all[2].name, "hd0.below.0");
  EXPECT_EQ(all[2].parent, 1);
  EXPECT_EQ(all[3].name, "hd0.below.0.below");
  EXPECT_EQ(all[3].parent, 2);
  EXPECT_EQ(all[3].profile, "sun-4.2g");
  EXPECT_EQ(all[4].name, "hd0.below.1");
  EXPECT_EQ(all[24].name, "log");
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].leaf, i == 24 || (i >= 3 && i % 2 == 1)) << i;
  }
}

TEST(Plan, DividesASizeAmongMembersInWholeStripes) {
  MachineDevice hd = device("raid5-5");
  hd.size_bytes = 10'000'384;  // not a whole number of stripes of 4 x 64 KiB
  const auto made = plan({hd});
  ASSERT_TRUE(made) << made.error().message();
  const auto& array = std::get<model::ArrayProfile>(hd.stack->profile);
  EXPECT_GE(made->all[0].sectors * 512, *hd.size_bytes);
  EXPECT_LT(made->all[0].sectors * 512, *hd.size_bytes + 4 * 65536);
  for (std::size_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(made->all[i].sectors, model::Array::member_sectors(array, made->all[0].sectors));
  }
}

TEST(Plan, RejectsInvalidDevices) {
  const auto says = [](std::vector<MachineDevice> devices, const char* words) {
    const auto made = plan(std::move(devices));
    ASSERT_FALSE(made) << words;
    EXPECT_NE(made.error().message().find(words), std::string::npos) << made.error().message();
    EXPECT_FALSE(made.error().hint.empty());
  };
  MachineDevice hd = device("hp-c2447");
  says({hd, hd}, "device hd0: duplicate device name");
  says({}, "no devices");
  hd.size_bytes = std::uint64_t{1} << 40;
  says({hd}, "device hd0: size");
  hd.size_bytes = 513;
  says({hd}, "not a multiple of the sector size");
  hd.size_bytes = 0;
  says({hd}, "size");
  MachineDevice raid = device("raid5-5");
  raid.options.write_cache = true;
  says({raid}, "disables the write caches of its members");
}

TEST(Build, EveryBuiltInStackServesAWriteAndARead) {
  for (const std::string& name : built_in_names()) {
    MachineDevice hd = device(name);
    const auto planned = plan({hd});
    ASSERT_TRUE(planned) << name << ": " << planned.error().message();
    CountingObserver observer;
    auto built = build(*planned, observer, {});
    ASSERT_TRUE(built) << name << ": " << built.error().message();
    ASSERT_EQ(built->all.size(), planned->all.size());
    for (std::size_t i = 0; i < built->all.size(); ++i) {
      ASSERT_NE(built->all[i].device, nullptr) << name << " " << i;
      EXPECT_EQ(built->all[i].device->characteristics().sectors, planned->all[i].sectors)
          << name << " " << i;
    }
    Host host;
    for (const model::Op op : {model::Op::write, model::Op::read}) {
      model::Request request;
      request.op = op;
      request.lba = planned->all[0].sectors - 16;
      request.sectors = 16;
      built->machine->submit(0, request, host);
      while (host.done.size() < (op == model::Op::write ? 1U : 2U) &&
             built->machine->simulation().run_next()) {
      }
    }
    ASSERT_EQ(host.done.size(), 2U) << name;
    for (const auto& done : host.done) EXPECT_EQ(done.status, model::Status::ok) << name;
    EXPECT_EQ(observer.submissions[0], 2) << name;
  }
}

/// Returns the response times for reading each member's first sector.
std::vector<TimeNs> first_reads(const Plan& planned, std::uint64_t seed) {
  CountingObserver observer;
  auto built = build(planned, observer, {seed, nullptr});
  EXPECT_TRUE(built) << built.error().message();
  std::vector<TimeNs> times;
  for (std::size_t i = 1; i < planned.all.size(); ++i) {
    Host host;
    model::Request request;
    request.id = i;
    request.sectors = 1;
    const TimeNs before = built->machine->simulation().now();
    built->all[i].device->submit(request, host);
    while (host.done.empty() && built->machine->simulation().run_next()) {
    }
    times.push_back(host.done.at(0).completed_at - before);
  }
  return times;
}

TEST(Build, ArraySpindlesStartAtSeededAngles) {
  const MachineDevice hd = device("raid0-2");
  const auto planned = plan({hd});
  ASSERT_TRUE(planned);
  EXPECT_EQ(first_reads(*planned, 7), first_reads(*planned, 7));
  EXPECT_NE(first_reads(*planned, 7), first_reads(*planned, 8));
}

TEST(Build, APowerCutTriggerCanNameADriveInsideAnArray) {
  CountingObserver observer;
  const auto made = plan({device("raid5-5")});
  ASSERT_TRUE(made);
  auto built = build(*made, observer, {});
  ASSERT_TRUE(built);
  model::CutTrigger trigger;
  trigger.kind = model::CutTrigger::Kind::at_lba;
  trigger.device = "hd0.3";
  EXPECT_TRUE(built->machine->arm(trigger));
  trigger.device = "hd0";
  EXPECT_FALSE(built->machine->arm(trigger)) << "an array has no head";
}

/// Cuts the power in the middle of a write. Returns the status of reading the whole range of that
/// write.
model::Status read_after_cut(const MachineDevice& drive) {
  MachineDevice hd = drive;
  hd.options.write_cache = false;
  const auto planned = plan({hd});
  EXPECT_TRUE(planned) << planned.error().message();
  CountingObserver observer;
  auto built = build(*planned, observer, {});
  EXPECT_TRUE(built) << built.error().message();
  Host host;
  model::Request request;
  request.op = model::Op::write;
  request.lba = 1000;
  request.sectors = 64;
  built->machine->submit(0, request, host);
  EXPECT_TRUE(built->machine->arm(*model::parse_cut_trigger("at-lba:1030")));
  while (host.done.empty() && built->machine->simulation().run_next()) {
  }
  EXPECT_EQ(host.done.at(0).status, model::Status::power_lost);
  built->machine->power_on();
  request.op = model::Op::read;
  built->machine->submit(0, request, host);
  while (host.done.size() < 2 && built->machine->simulation().run_next()) {
  }
  return host.done.at(1).status;
}

TEST(Build, TearSettingOfADeviceOverridesItsProfile) {
  MachineDevice hd = device("hp-c2447");
  EXPECT_EQ(read_after_cut(hd), model::Status::ok);
  hd.options.tear = model::Tear::unreadable;
  EXPECT_EQ(read_after_cut(hd), model::Status::medium_error);
  auto own = std::make_shared<Stack>(*hd.stack);
  std::get<model::DiskProfile>(own->profile).tear = model::Tear::unreadable;
  hd.stack = own;
  hd.options.tear.reset();
  EXPECT_EQ(read_after_cut(hd), model::Status::medium_error);
  hd.options.tear = model::Tear::silent;
  EXPECT_EQ(read_after_cut(hd), model::Status::ok);
}

TEST(Build, FindsTheDeviceOfAFaultByName) {
  const auto planned = plan({device("raid5-5")});
  ASSERT_TRUE(planned);
  CountingObserver observer;
  auto built = build(*planned, observer, {});
  ASSERT_TRUE(built) << built.error().message();
  const auto add = [&](const char* text) {
    const auto fault = model::parse_fault(text);
    EXPECT_TRUE(fault) << text;
    return built->add_fault(*planned, *fault);
  };
  EXPECT_TRUE(add("dead:hd0.3"));
  EXPECT_TRUE(built->all[4].faults->any());
  EXPECT_FALSE(built->all[3].faults->any());
  EXPECT_NE(add("dead:hd0.5").error().message().find("no device 'hd0.5'"), std::string::npos);
  EXPECT_NE(add("dead:hd0").error().message().find("does not apply to"), std::string::npos);
  EXPECT_NE(add("battery-low:hd0.1").error().message().find("does not apply to"),
            std::string::npos);
  EXPECT_NE(add("latent-error:hd0.1,lba=99999999").error().message().find("beyond"),
            std::string::npos);
}

TEST(Build, BatteryFaultsRequireABatteryBackedCache) {
  const auto planned = plan({device("netra-raid5-presto")});
  ASSERT_TRUE(planned);
  CountingObserver observer;
  auto built = build(*planned, observer, {});
  ASSERT_TRUE(built) << built.error().message();
  EXPECT_TRUE(built->add_fault(*planned, *model::parse_fault("battery-dead:hd0")));
  EXPECT_TRUE(built->add_fault(*planned, *model::parse_fault("battery-low:hd0.below.4")));
  EXPECT_FALSE(built->add_fault(*planned, *model::parse_fault("battery-low:hd0.below")));
  EXPECT_FALSE(built->add_fault(*planned, *model::parse_fault("battery-low:hd0.below.4.below")));
}

}  // namespace
}  // namespace headcrash::profiles
