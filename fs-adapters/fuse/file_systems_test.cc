// Tests how file systems are selected by program name, and whether the adapter files agree with the
// systems that they mount.
#include "fs-adapters/fuse/file_systems.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fs-adapters/linux/adapter.h"
#include "fs-adapters/registry.h"

namespace headcrash::fuse {
namespace {

const adapters::FileSystemType& ufs_type() {
  return **adapters::find_file_system_type("ufs");
}

TEST(FileSystems, TypeIsDerivedFromTheProgramName) {
  for (const adapters::FileSystemType* const type : adapters::file_system_types()) {
    for (const std::string_view prefix : {kMountPrefix, kMkfsPrefix, kFsckPrefix}) {
      const std::string program = fmt::format("/usr/sbin/{}{}", prefix, type->name());
      const auto found = type_of_program(program, prefix);
      ASSERT_TRUE(found) << found.error().message();
      EXPECT_EQ(*found, type);
    }
  }
  for (const char* other :
       {"mount.ufs", "mount.headcrash-", "mount.headcrash-zfs", "mkfs.headcrash-ufs", ""}) {
    const auto unknown = type_of_program(other, kMountPrefix);
    ASSERT_FALSE(unknown) << other;
    EXPECT_NE(unknown.error().message().find("mount.headcrash-ufs"), std::string::npos);
  }
}

TEST(FileSystems, SchemeSetsQueueOptions) {
  auto options = MountOptions::parse("scheme=part-nr-cb");
  ASSERT_TRUE(options);
  const auto plan = plan_mount(ufs_type(), *options);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->machine.system.queue.flag, os::FlagMeaning::part);
  EXPECT_TRUE(plan->machine.system.queue.reads_bypass);
  EXPECT_TRUE(plan->machine.system.cache.block_copy);
}

TEST(FileSystems, PolicyDefaultsToTheSchemesPolicy) {
  auto options = MountOptions::parse("scheme=late-update,update=interval:5");
  ASSERT_TRUE(options);
  auto plan = plan_mount(ufs_type(), *options);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->machine.system.syncer.policy, os::SyncerOptions::Policy::periodic);
  ASSERT_TRUE(take_update_policy(*options, plan->machine));
  EXPECT_EQ(plan->machine.system.syncer.policy, os::SyncerOptions::Policy::interval);
  EXPECT_TRUE(options->nothing_left());
  auto wrong = MountOptions::parse("update=periodic:0");
  const auto refused = take_update_policy(*wrong, plan->machine);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("-o update"), std::string::npos);
}

TEST(FileSystems, ExternalLogRequiresTheLogOption) {
  auto options = MountOptions::parse("scheme=journal-external");
  const auto refused = plan_mount(ufs_type(), *options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("log=DEVICE"), std::string::npos)
      << refused.error().message();
  auto other = MountOptions::parse("log=/dev/vdc");
  ASSERT_TRUE(plan_mount(**adapters::find_file_system_type("lfs"), *other));
  EXPECT_FALSE(other->nothing_left()) << "not an option of lfs";
}

TEST(FileSystems, HelpListsEveryScheme) {
  for (const adapters::FileSystemType* const type : adapters::file_system_types()) {
    const std::string words = mount_words(*type);
    for (const auto& system : type->systems()) {
      EXPECT_NE(words.find(" " + system->name() + " "), std::string::npos) << system->name();
      const bool two = system->description().devices > 1;
      auto options = MountOptions::parse("scheme=" + system->name() + (two ? ",log=/dev/vdc" : ""));
      const auto plan = plan_mount(*type, *options);
      ASSERT_TRUE(plan) << plan.error().message();
      EXPECT_EQ(plan->machine.log, two ? "/dev/vdc" : "");
      EXPECT_TRUE(options->nothing_left());
    }
  }
}

/// The in-process lab and the adapter files both list promises; the lists must agree.
TEST(FileSystems, AdaptersAndSchemesMakeTheSamePromises) {
  std::size_t ours = 0;
  for (const std::string& name : adapters::built_in_adapters()) {
    const auto adapter = adapters::load_adapter(name);
    ASSERT_TRUE(adapter) << adapter.error().message();
    if (adapter->mount.argv.empty()) continue;
    const auto found = type_of_program(adapter->mount.argv.front(), kMountPrefix);
    if (!found) continue;  // not one of headcrash's file systems
    const std::string type((*found)->name());
    constexpr std::string_view kScheme = "scheme=";
    ASSERT_TRUE(adapter->mount_options.starts_with(kScheme)) << name;
    const std::string scheme = adapter->mount_options.substr(kScheme.size());
    const auto variant = adapters::find_system(type, scheme.substr(0, scheme.find(',')));
    ASSERT_TRUE(variant) << name << ": " << variant.error().message();
    const adapters::Promises& meant = (*variant)->description().promises;
    EXPECT_EQ(adapter->promises.fsync_persists, meant.fsync_persists) << name;
    EXPECT_EQ(adapter->promises.fsync_keeps_links, meant.fsync_keeps_links) << name;
    EXPECT_EQ(adapter->promises.fsync_keeps_name, meant.fsync_keeps_name) << name;
    EXPECT_EQ(adapter->promises.fsync_keeps_moved_path, meant.fsync_keeps_moved_path) << name;
    EXPECT_EQ(adapter->promises.fsync_keeps_new_name, meant.fsync_keeps_new_name) << name;
    EXPECT_EQ(adapter->promises.replace_keeps_content, meant.replace_keeps_content) << name;
    EXPECT_EQ(adapter->promises.renamed_file_survives, meant.renamed_file_survives) << name;
    EXPECT_EQ(adapter->promises.names, meant.names) << name;
    EXPECT_EQ(adapter->promises.exposes_stale_data, meant.exposes_stale_data) << name;
    EXPECT_EQ(adapter->promises.allocation_bytes, meant.allocation_bytes) << name;
    EXPECT_EQ(adapter->promises.keeps_allocation, meant.keeps_allocation) << name;
    EXPECT_EQ(adapter->promises.passing_names, meant.passing_names) << name;
    EXPECT_EQ(adapter->expected == adapters::Expectation::clean, !(*variant)->control()) << name;
    ++ours;
  }
  EXPECT_GE(ours, 12U);
}

}  // namespace
}  // namespace headcrash::fuse
