#include "harness/vm/qemu_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "harness/vm/user_mode.h"

namespace headcrash::vm {
namespace {

GuestSpec some_spec() {
  return {.image = {.kernel = "/cache/vmlinuz",
                    .initramfs = "/cache/initramfs",
                    .kernel_version = "6.1",
                    .key = "k"},
          .disks = {{.socket = "/tmp/a,b.sock", .export_name = "mark", .size_bytes = 1 << 20}}};
}

bool has(const std::vector<std::string>& words, const std::string& part) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.find(part) != std::string::npos; });
}

TEST(QemuCommand, FormatsDiskArgumentsForTheUser) {
  const auto words = qemu_disk_arguments(some_spec().disks[0], 2);
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[0], "-blockdev");
  EXPECT_EQ(
      words[1],
      "driver=nbd,node-name=hcnode2,server.type=unix,server.path=/tmp/a,,b.sock,export=mark,discard=unmap");
  EXPECT_EQ(words[2], "-device");
  for (const char* part :
       {"drive=hcnode2", "write-cache=on", "werror=report", "rerror=report", "num-queues=1"}) {
    EXPECT_TRUE(has({words[3]}, part)) << part;
  }
}

TEST(QemuCommand, DisksHaveThePhysicalSectorSizeOfTheirProfile) {
  GuestSpec spec = some_spec();
  EXPECT_TRUE(has(qemu_command(spec, {}), "logical_block_size=512,physical_block_size=512"));
  spec.disks[0].physical_sector_bytes = 4096;
  for (const Disks disks : {Disks::blank, Disks::attached})
    EXPECT_TRUE(has(qemu_command(spec, {.disks = disks}),
                    "logical_block_size=512,physical_block_size=4096"));
}

TEST(QemuCommand, BootsWithBlankDisksAndNoServer) {
  const auto blank = qemu_command(some_spec(), {.disks = Disks::blank});
  EXPECT_FALSE(has(blank, "nbd"));
  EXPECT_TRUE(has(blank, "size=1048576"));
  EXPECT_FALSE(has(blank, "-incoming"));
  const auto attached = qemu_command(some_spec(), {.disks = Disks::attached, .incoming = true});
  EXPECT_TRUE(has(attached, "a,,b.sock"));
  EXPECT_TRUE(has(attached, "defer"));
}

TEST(UserModeCommand, ListsTheClockAndTheDisksInOrder) {
  GuestSpec spec = some_spec();
  spec.image.kernel = "/cache/linux";
  spec.disks = {{.socket = "/tmp/d.sock"}, {.socket = "/tmp/d.sock.mark"}};
  spec.time_socket = "/tmp/d.sock.time";
  spec.port_socket = "/tmp/d.sock.port";
  const auto words = user_mode_command(spec, "/tmp/scratch");
  const auto at = [&](const std::string& word) {
    return std::ranges::find(words, word) - words.begin();
  };
  EXPECT_LT(at("/cache/linux"), at("time-travel=ext:../d.sock.time"));
  EXPECT_LT(at("virtio_uml.device=../d.sock:2"), at("virtio_uml.device=../d.sock.mark:2"));
  EXPECT_LT(at("virtio_uml.device=../d.sock.mark:2"), at("virtio_uml.device=../d.sock.port:2"));
  EXPECT_EQ(words.back(), "virtio_uml.device=../d.sock.port:2");
  EXPECT_TRUE(has(words, "initrd=initramfs"));
  EXPECT_TRUE(has(words, "glibc.pthread.rseq=0"));
  EXPECT_TRUE(has(words, "--chdir=/tmp/scratch"));
  const auto processor = std::ranges::find_if(words, [](const std::string& word) {
    return word.starts_with("GLIBC_TUNABLES=glibc.cpu.hwcaps=");
  });
  ASSERT_NE(processor, words.end());
  EXPECT_LT(at("/cache/linux"),
            // Options after the kernel's path are arguments of the kernel, which passes this one to
            // the guest's programs as an environment variable.
            processor - words.begin());
  EXPECT_FALSE(has(words, "late_kicks"));
  spec.late_kicks = true;
  EXPECT_TRUE(has(user_mode_command(spec, "/tmp/scratch"), "virtio_uml.late_kicks=1"));
  // The kernel mixes its command line into its random numbers, so the line must not contain the
  // path of the scratch folder.
  spec.time_socket = "/tmp/scratch/d.sock.time";
  spec.port_socket = "/tmp/scratch/d.sock.port";
  spec.disks = {{.socket = "/tmp/scratch/d.sock"}};
  const auto kernels = user_mode_command(spec, "/tmp/scratch");
  for (auto word = std::ranges::find(kernels, "/cache/linux"); word != kernels.end(); ++word)
    EXPECT_EQ(word->find("scratch"), std::string::npos) << *word;
}

TEST(QemuCommand, SavedStateKeyDependsOnEachInput) {
  const auto key = saved_state_key(some_spec());
  ASSERT_TRUE(key) << key.error().message();
  GuestSpec same = some_spec();
  same.image.kernel = "/elsewhere/vmlinuz";
  same.disks[0].socket = "/tmp/other.sock";
  same.disks[0].export_name = "";
  EXPECT_EQ(*saved_state_key(same), *key);
  const auto differs = [&](auto change) {
    GuestSpec other = some_spec();
    change(other);
    return *saved_state_key(other) != *key;
  };
  EXPECT_TRUE(differs([](GuestSpec& s) { s.image.key = "l"; }));
  EXPECT_TRUE(differs([](GuestSpec& s) { s.memory_mib = 512; }));
  EXPECT_TRUE(differs([](GuestSpec& s) { s.disks[0].size_bytes += 512; }));
  EXPECT_TRUE(differs([](GuestSpec& s) { s.disks.push_back(s.disks[0]); }));
  EXPECT_TRUE(differs([](GuestSpec& s) { s.accelerator = Accelerator::kvm; }));
}

}  // namespace
}  // namespace headcrash::vm
