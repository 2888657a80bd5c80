#include "fs-adapters/linux/adapter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::adapters {
namespace {

TEST(Adapter, LoadsEveryBuiltInAdapter) {
  for (const std::string& name : built_in_adapters()) {
    const Result<LinuxAdapter> adapter = load_adapter(name);
    ASSERT_TRUE(adapter) << adapter.error().message();
    EXPECT_EQ(adapter->name, name);
    EXPECT_FALSE(adapter->title.empty());
  }
}

TEST(Adapter, InheritsAndOverridesItsBase) {
  const Result<LinuxAdapter> control = load_adapter("ext4-nobarrier");
  ASSERT_TRUE(control) << control.error().message();
  EXPECT_EQ(control->mount_options, "nobarrier");
  EXPECT_EQ(control->expected, Expectation::loss);
  EXPECT_EQ(control->mkfs.argv, load_adapter("ext4")->mkfs.argv);
  EXPECT_TRUE(control->replay.good(1));
  EXPECT_FALSE(control->check.good(1));
}

TEST(Adapter, InheritsPromisesAndHasDefaultsForThem) {
  const Promises ext4 = load_adapter("ext4-nobarrier")->promises;
  EXPECT_TRUE(ext4.fsync_keeps_name);
  EXPECT_TRUE(ext4.replace_keeps_content);
  EXPECT_EQ(ext4.names, NameOrder::atomic);
  EXPECT_TRUE(ext4.renamed_file_survives);
  EXPECT_FALSE(ext4.exposes_stale_data);
  EXPECT_FALSE(load_adapter("xfs")->promises.replace_keeps_content);
  const Result<LinuxAdapter> weak = parse_adapter(
      "base = \"ext4\"\n[promise]\nnames-are-atomic = false\nexposes-stale-data = true\n"
      "renamed-file-survives = false\nfsync-keeps-links = false",
      "mine.toml");
  ASSERT_TRUE(weak) << weak.error().message();
  EXPECT_EQ(weak->promises.names, NameOrder::unordered) << "key of older adapters";
  EXPECT_TRUE(weak->promises.exposes_stale_data);
  EXPECT_FALSE(weak->promises.renamed_file_survives);
  EXPECT_FALSE(weak->promises.fsync_keeps_links);
}

TEST(Adapter, ParsesUnorderedOrderedAndAtomicNames) {
  const auto names_of = [](const std::string& promise) {
    return parse_adapter("base = \"ext4\"\n[promise]\n" + promise, "mine.toml")
        .value()
        .promises.names;
  };
  EXPECT_EQ(names_of("names = 'ordered'"), NameOrder::ordered);
  EXPECT_EQ(names_of("names = 'unordered'"), NameOrder::unordered);
  EXPECT_EQ(names_of("names = 'atomic'"), NameOrder::atomic);
  EXPECT_EQ(names_of("names-are-atomic = true"), NameOrder::atomic);
  EXPECT_EQ(load_adapter("ext2")->promises.names, NameOrder::unordered);
  EXPECT_EQ(load_adapter("ufs-soft-updates")->promises.names, NameOrder::ordered);
  EXPECT_EQ(load_adapter("ufs-journal")->promises.names, NameOrder::atomic);
  const auto based = [](const std::string& base, const std::string& promise) {
    return parse_adapter("base = \"" + base + "\"\n[promise]\n" + promise, "mine.toml")
        .value()
        .promises.names;
  };
  EXPECT_EQ(based("ext2", "names-are-atomic = true"), NameOrder::atomic) << "the user's value wins";
  EXPECT_EQ(based("ufs-soft-updates", "names-are-atomic = false"), NameOrder::ordered);
  const auto wrong = parse_adapter("base = \"ext4\"\n[promise]\nnames = 'tidy'", "mine.toml");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("unordered"), std::string::npos)
      << wrong.error().message();
}

TEST(Adapter, HeadcrashFileSystemsIncludeTheirTools) {
  const Result<LinuxAdapter> ufs = load_adapter("ufs-conventional");
  ASSERT_TRUE(ufs) << ufs.error().message();
  EXPECT_EQ(ufs->guest.tools.size(), 3U);
  EXPECT_EQ(ufs->guest.tools[1], beside_headcrash("mkfs.headcrash-ufs"));
  EXPECT_EQ(ufs->guest.tools[1].front(), '/');
  EXPECT_FALSE(ufs->promises.sync_waits);
  EXPECT_TRUE(ufs->promises.exposes_stale_data);
  EXPECT_FALSE(load_adapter("ufs-soft-updates")->promises.exposes_stale_data);
  EXPECT_TRUE(load_adapter("ext4")->promises.sync_waits);
}

TEST(Adapter, ALayerInheritsTheFileSystemBelow) {
  const Result<LinuxAdapter> usual = load_adapter("overlay");
  ASSERT_TRUE(usual) << usual.error().message();
  EXPECT_TRUE(usual->is_layer);
  EXPECT_EQ(usual->check.argv, load_adapter("ext4")->check.argv);
  EXPECT_TRUE(usual->variants.empty());
  const Result<LinuxAdapter> on_xfs = load_adapter("overlay:xfs+rmap@6.12");
  ASSERT_TRUE(on_xfs) << on_xfs.error().message();
  EXPECT_EQ(on_xfs->name, "overlay:xfs+rmap@6.12");
  EXPECT_EQ(name_to_load(*on_xfs), on_xfs->name);
  EXPECT_EQ(on_xfs->type, "xfs");
  EXPECT_FALSE(on_xfs->promises.replace_keeps_content) << "of the file system below";
  EXPECT_NE(on_xfs->mkfs.argv.back().find("rmapbt=1"), std::string::npos);
  EXPECT_NE(on_xfs->mkfs.argv.back().find("mkdir lower"), std::string::npos);
  EXPECT_LT(on_xfs->mount.argv.back().find("{device}"),
            on_xfs->mount.argv.back().find("mount -t overlay"));
  EXPECT_EQ(load_adapter("pass-no-fsync:btrfs")->mount_options, "no-fsync") << "through its base";
}

TEST(Adapter, ALayerWorksOnAStack) {
  EXPECT_EQ(load_adapter("overlay:md-raid1")->name, "overlay:md-raid1");
  const LinuxAdapter on_xfs = load_adapter("overlay:xfs:md-raid1").value();
  ASSERT_TRUE(on_xfs.stack);
  EXPECT_NE(on_xfs.mount.argv.back().find(on_xfs.stack->device), std::string::npos);
  EXPECT_EQ(name_without_stack(on_xfs), "overlay:xfs");
  EXPECT_EQ(name_without_stack(load_adapter("overlay:md-raid1@6.12").value()), "overlay@6.12");
}

TEST(Adapter, RejectsInvalidLayers) {
  const auto problem = [](const std::string& text) {
    const auto adapter = parse_adapter(text, "mine.toml");
    return adapter ? "" : adapter.error().message();
  };
  const std::string mount = "[mount]\ncommand = ['mine', '{below}', '{target}']";
  EXPECT_EQ(problem("below = 'ext4'\n" + mount), "");
  EXPECT_NE(problem("below = 'ext4'").find("mount.command"), std::string::npos);
  EXPECT_NE(problem("below = 'overlay'\n" + mount).find("is a layer"), std::string::npos);
  EXPECT_NE(problem("base = 'ext4'\nbelow = 'ext4'\n" + mount).find("base"), std::string::npos);
  EXPECT_NE(problem("base = 'ext4'\n" + mount).find("{below}"), std::string::npos);
  EXPECT_NE(problem("base = 'ext4'\n[prepare]\ncommand = ['true']").find("below"),
            std::string::npos);
  EXPECT_FALSE(load_adapter("overlay:pass"));
}

TEST(Adapter, ReplacesPlaceholdersInCommands) {
  EXPECT_EQ(fill_in({"mkfs", "-U", "{uuid}", "x={uuid},{device}"},
                    {.device = "/dev/vda", .log = {}, .uuid = "U", .target = {}}),
            (std::vector<std::string>{"mkfs", "-U", "U", "x=U,/dev/vda"}));
}

TEST(Adapter, ReplacesEveryPlaceholder) {
  const Places places{.device = "/dev/vda", .log = "/dev/vdc", .uuid = "U", .target = "/mnt"};
  EXPECT_EQ(
      fill_in({"my-fuse", "-o", "{options}", "{device}:{log}", "{target}"}, places, "a,log={log}"),
      (std::vector<std::string>{"my-fuse", "-o", "a,log=/dev/vdc", "/dev/vda:/dev/vdc", "/mnt"}));
  EXPECT_EQ(fill_in("logdev={log}", places), "logdev=/dev/vdc");
}

TEST(Adapter, LogDeviceHasASizeAndAPlaceholder) {
  for (const char* name : {"xfs-external-log", "ext4-external-journal"}) {
    const Result<LinuxAdapter> adapter = load_adapter(name);
    ASSERT_TRUE(adapter) << adapter.error().message();
    EXPECT_GE(adapter->log_size_bytes, 16U << 20) << name;
    EXPECT_NE(adapter->mount_options.find("{log}"), std::string::npos) << name;
  }
  EXPECT_EQ(load_adapter("xfs")->log_size_bytes, 0U);
}

TEST(Adapter, HostCommandsUseOnlyTheImage) {
  EXPECT_TRUE(load_adapter("ext4-journal")->replay.host);
  EXPECT_TRUE(load_adapter("ext4-journal")->check.host);
  EXPECT_FALSE(load_adapter("xfs")->replay.host) << "by mount";
  EXPECT_FALSE(load_adapter("ext4")->mkfs.host);
}

TEST(Adapter, ReadsTheOffsetOfTheReplaySign) {
  EXPECT_EQ(load_adapter("btrfs-nobarrier")->replay_sign_at, 65'536U + 0x60) << "inherited";
  EXPECT_EQ(load_adapter("ext4")->replay_sign_at, 0U);
}

TEST(Adapter, HintAboutAMissingToolNamesThePackage) {
  EXPECT_NE(missing_tool_hint(*load_adapter("f2fs-strict")).find("install f2fs-tools"),
            std::string::npos);
  LinuxAdapter own = *load_adapter("f2fs");
  own.package.clear();
  EXPECT_NE(missing_tool_hint(own).find("adapter's [guest] section"), std::string::npos);
}

TEST(Adapter, GuestFilesAreRelativeToTheAdapter) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "headcrash-adapter-parts";
  std::filesystem::create_directories(folder / "modules");
  std::ofstream(folder / "bzImage") << "kernel";
  std::ofstream(folder / "mkfs.mine") << "tool";
  std::ofstream(folder / "mine.toml")
      << "base = \"ext4\"\n[guest]\nkernel = \"bzImage\"\n"
         "modules = [\"modules\"]\ntools = [\"mkfs.mine\"]\n"
         "[mount]\ncommand = [\"mkfs.mine\", \"{device}\", \"{target}\"]";
  std::ofstream(folder / "child.toml") << "base = \"./mine.toml\"\ntitle = \"child\"";
  const Result<LinuxAdapter> child = load_adapter((folder / "child.toml").string());
  ASSERT_TRUE(child) << child.error().message();
  EXPECT_EQ(child->name, "child");
  EXPECT_EQ(child->guest.kernel, folder / "bzImage");
  EXPECT_EQ(child->guest.modules, std::vector<std::string>{folder / "modules"});
  EXPECT_EQ(child->guest.tools, std::vector<std::string>{folder / "mkfs.mine"});
  EXPECT_EQ(child->mount.argv.size(), 3U);
  EXPECT_TRUE(child->guest.any());
  EXPECT_FALSE(load_adapter("ext4")->guest.any());
  std::ofstream(folder / "exfat.toml")
      << "base = \"ext4\"\n[guest]\nmodules = [\"exfat\", \"modules\", \"nls_utf8\"]\n";
  const auto named = load_adapter((folder / "exfat.toml").string());
  ASSERT_TRUE(named) << named.error().message();
  EXPECT_EQ(named->guest.loads, (std::vector<std::string>{"exfat", "nls_utf8"}));
  EXPECT_EQ(named->guest.modules, std::vector<std::string>{folder / "modules"}) << "a folder";
  EXPECT_TRUE(
      load_adapter((folder / "exfat.toml@6.12").string()).error().message().find("one kernel") !=
      std::string::npos);
  std::ofstream(folder / "lost.toml") << "base = \"ext4\"\n[guest]\nmodules = [\"exfat.ko\"]\n";
  EXPECT_FALSE(load_adapter((folder / "lost.toml").string()));
  std::filesystem::remove(folder / "mkfs.mine");
  const Result<LinuxAdapter> gone = load_adapter((folder / "child.toml").string());
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message().find("guest.tools"), std::string::npos)
      << gone.error().message();
  std::filesystem::remove_all(folder);
}

struct BadAdapter {
  const char* text;
  const char* word;  ///< word that the error message must contain
};

class BadAdapterText : public testing::TestWithParam<BadAdapter> {};

TEST_P(BadAdapterText, IsRejectedWithAnErrorThatNamesTheKey) {
  const Result<LinuxAdapter> adapter = parse_adapter(GetParam().text, "mine.toml");
  ASSERT_FALSE(adapter);
  EXPECT_NE(adapter.error().message().find("mine.toml"), std::string::npos)
      << adapter.error().message();
  EXPECT_NE(adapter.error().message().find(GetParam().word), std::string::npos)
      << adapter.error().message();
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadAdapterText,
    testing::Values(
        BadAdapter{"type = ", "mine.toml:1"}, BadAdapter{"typo = 1", "typo"},
        BadAdapter{"type = 3", "type"},
        BadAdapter{"base = \"ext4\"\n[promise]\nexpected = \"maybe\"", "promise.expected"},
        BadAdapter{"base = \"ext4\"\n[promise]\nallocation-size = 100", "promise.allocation-size"},
        BadAdapter{"base = \"ext4\"\n[check]\ngood = []", "check.good"},
        BadAdapter{"base = \"ext4\"\n[check]\ncommand = [1, 2]", "check.command"},
        BadAdapter{"base = \"ext4\"\nminimum-size = \"12Q\"", "minimum-size"},
        BadAdapter{"type = \"ext4\"", "mkfs.command"},
        BadAdapter{"base = \"ext4\"\n[promise]\nnames-are-atomc = true", "names-are-atomic"},
        BadAdapter{"base = \"ext4\"\n[promise]\nnames-are-atomic = 1", "promise.names-are-atomic"},
        BadAdapter{"base = \"ext4\"\n[mount]\noptions = \"journal_path={log}\"", "log.size"},
        BadAdapter{"base = \"ext4\"\n[log]\nsize = \"16M\"", "never used"},
        BadAdapter{"base = \"ext4\"\n[mkfs]\ncommand = [\"mkfs.ext4\", \"{devise}\"]",
                   "did you mean \"{device}\""},
        BadAdapter{"base = \"ext4\"\n[mount]\noptions = \"journal={logg}\"", "mount.options"},
        BadAdapter{"base = \"ext4\"\n[guest]\nkernel = \"no-such-kernel\"", "guest.kernel"},
        BadAdapter{"base = \"ext4\"\n[check]\nhost = 3", "check.host"},
        BadAdapter{"base = \"ext4\"\nmkfs = 3", "mkfs"}));

TEST(Adapter, ErrorAboutAnUnknownNameListsKnownNames) {
  const Result<LinuxAdapter> adapter = load_adapter("ext5");
  ASSERT_FALSE(adapter);
  EXPECT_NE(adapter.error().message().find("ext4-nobarrier"), std::string::npos);
}

TEST(Adapter, VariantAddsOptionsBeforeTheDevice) {
  const auto plain = load_adapter("ext4"), tiny = load_adapter("ext4+tiny-journal");
  ASSERT_TRUE(plain && tiny) << tiny.error().message();
  EXPECT_EQ(tiny->name, "ext4+tiny-journal");
  std::vector<std::string> expected = plain->mkfs.argv;
  expected.insert(expected.end() - 1, {"-b", "1024", "-J", "size=1"});
  EXPECT_EQ(tiny->mkfs.argv, expected);
  EXPECT_TRUE(load_adapter("ext4-journal+tiny-journal")) << "its base has the variant";
  EXPECT_NE(load_adapter("ext4+tiny-jornal").error().message().find("tiny-journal"),
            std::string::npos);
  EXPECT_NE(load_adapter("minix+tiny-journal").error().message().find("has no variants"),
            std::string::npos);
  EXPECT_NE(load_adapter("exd4+tiny-journal").error().message().find("ext4"), std::string::npos);
  const auto bigalloc = load_adapter("ext4+inline-data");
  ASSERT_TRUE(bigalloc) << bigalloc.error().message();
  EXPECT_EQ(bigalloc->mkfs.argv.at(bigalloc->mkfs.argv.size() - 2), "inline_data");
  EXPECT_EQ(load_adapter("btrfs+nodatacow")->mount_options, "nodatacow");
  EXPECT_EQ(load_adapter("f2fs-strict+lfs")->mount_options, "fsync_mode=strict,mode=lfs");
  const auto first = load_adapter("xfs+norecovery-first");
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->mount_options, "");
  EXPECT_EQ(first->first_mount_options, "ro,norecovery");
  EXPECT_FALSE(first->first_mount_recovers);
  EXPECT_TRUE(load_adapter("xfs+read-only-first")->first_mount_recovers);
  for (const char* wrong :
       {"[variant.x]\n", "[variant.x]\nfirst-mount-recovers = false\nmount-options = 'a'\n"})
    EXPECT_FALSE(parse_adapter(std::string("base = 'ext4'\n") + wrong, "mine.toml")) << wrong;
  const auto broken =
      parse_adapter("base = 'ext4'\n[variant.small]\nwords = ['-b']\n", "mine.toml");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message().find("variant.small"), std::string::npos);
}

TEST(Adapter, NameIncludesTheKernel) {
  const auto xfs = load_adapter("xfs@6.12");
  ASSERT_TRUE(xfs) << xfs.error().message();
  EXPECT_EQ(xfs->name, "xfs@6.12");
  EXPECT_EQ(xfs->title, load_adapter("xfs")->title + ", Linux 6.12");
  EXPECT_EQ(xfs->guest.kernel, "6.12");
  EXPECT_EQ(xfs->mkfs.argv, load_adapter("xfs")->mkfs.argv);
  const auto both = load_adapter("ext4+tiny-journal@6.1-rt");
  ASSERT_TRUE(both) << both.error().message();
  EXPECT_EQ(both->name, "ext4+tiny-journal@6.1-rt");
  EXPECT_EQ(both->mkfs.argv, load_adapter("ext4+tiny-journal")->mkfs.argv);
  EXPECT_NE(load_adapter("xfs@newest").error().message().find("neither a kernel version"),
            std::string::npos);
  EXPECT_FALSE(load_adapter("xfs@"));
  EXPECT_FALSE(load_adapter("xfs@6.1@6.12"));
}

TEST(Adapter, KernelCanBeAPath) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "headcrash-adapter@paths" / "my@linux";
  std::filesystem::create_directories(folder);
  EXPECT_NE(
      load_adapter("xfs@" + folder.string()).error().message().find("not a kernel source folder"),
      std::string::npos);
  std::ofstream(folder / "Kconfig") << "source";
  std::ofstream(folder / "bzImage") << "kernel";
  std::ofstream(folder / "own.toml") << "base = \"ext4\"\n";
  const auto tree = load_adapter("ext4+tiny-journal@" + folder.string() + "/");
  ASSERT_TRUE(tree) << tree.error().message();
  EXPECT_EQ(tree->name, "ext4+tiny-journal@my-linux");
  EXPECT_EQ(name_without_kernel(tree->name), "ext4+tiny-journal");
  EXPECT_EQ(tree->guest.kernel, folder);
  EXPECT_EQ(load_adapter("xfs@" + (folder / "bzImage").string())->name, "xfs@bzImage");
  EXPECT_EQ(load_adapter((folder / "own.toml").string())->name, "own");
  EXPECT_EQ(
      load_adapter((folder / "own.toml").string() + "@" + (folder / "bzImage").string())->name,
      "own@bzImage");
  const auto none = load_adapter("xfs@./no/such/kernel");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("neither a kernel file, nor a kernel source folder"),
            std::string::npos);
  LinuxAdapter again = *tree;
  ASSERT_TRUE(replace_kernel(again, "7.3"));
  EXPECT_EQ(again.name, "ext4+tiny-journal@7.3");
  EXPECT_EQ(again.title, load_adapter("ext4+tiny-journal")->title + ", Linux 7.3");
  ASSERT_TRUE(replace_kernel(again, folder.string()));
  EXPECT_EQ(again.name, "ext4+tiny-journal");
  EXPECT_EQ(again.guest.kernel, folder);
  std::filesystem::remove_all(folder.parent_path());
}

TEST(Adapter, NameToLoadLoadsTheSameAdapterAgain) {
  const TemporaryFolder folder;
  const std::string file = folder.put("my.own.toml", "base = \"ext4\"\n");
  const std::string kernel = "@" + folder.put("bzImage", "kernel");
  for (const std::string& name : {std::string("ext4"), std::string("ext4+tiny-journal@6.1"),
                                  "xfs" + kernel, file, file + "+tiny-journal" + kernel}) {
    const auto adapter = load_adapter(name);
    ASSERT_TRUE(adapter) << adapter.error().message();
    EXPECT_EQ(name_to_load(*adapter), name);
  }
}

TEST(Adapter, RejectsANameWithTwoKernels) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "headcrash-adapter@kernels";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "bzImage") << "kernel";
  std::ofstream(folder / "mine.ko") << "module";
  std::ofstream(folder / "own.toml") << "base = \"ext4\"\n[guest]\nkernel = \"bzImage\"\n";
  std::ofstream(folder / "modules.toml") << "base = \"ext4\"\n[guest]\nmodules = [\"mine.ko\"]\n";
  EXPECT_EQ(load_adapter(folder / "own.toml")->guest.kernel, folder / "bzImage")
      << "'@' in a folder name";
  EXPECT_NE(load_adapter((folder / "own.toml@6.12").string())
                .error()
                .message()
                .find("names a kernel, but its adapter already sets one"),
            std::string::npos);
  EXPECT_NE(load_adapter((folder / "modules.toml@6.12").string())
                .error()
                .message()
                .find("fit only one kernel"),
            std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(Adapter, KernelCanBeReplacedByAVersionOrAFile) {
  LinuxAdapter xfs = *load_adapter("xfs@6.12");
  ASSERT_TRUE(replace_kernel(xfs, "7.3"));
  EXPECT_EQ(xfs.name, "xfs@7.3");
  EXPECT_EQ(xfs.title, load_adapter("xfs")->title + ", Linux 7.3");
  const std::filesystem::path image =
      std::filesystem::path(testing::TempDir()) / "headcrash-adapter-bzImage";
  std::ofstream(image) << "kernel";
  ASSERT_TRUE(replace_kernel(xfs, image.string()));
  EXPECT_EQ(xfs.name, "xfs");
  EXPECT_EQ(xfs.guest.kernel, image);
  std::filesystem::remove(image);
  const auto refused = replace_kernel(xfs, image.string());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("--list-kernels"), std::string::npos)
      << refused.error().message();
}

TEST(Adapter, CombinesNamesWithKernels) {
  EXPECT_EQ(under_kernels({"a", "b"}, {"1", "2"}),
            (std::vector<std::string>{"a@1", "a@2", "b@1", "b@2"}));
  EXPECT_EQ(under_kernels({"a", "b"}, {}), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace headcrash::adapters
