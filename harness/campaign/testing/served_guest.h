#pragma once
// Test fixture with an emulated device and a guest. The device's server exports both disks of the
// guest: the device, and a disk for marks. The guest is started again after each power cut.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/campaign/campaign.h"
#include "harness/device/served_device.h"
#include "harness/vm/guest.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::campaign {

class ServedGuest : public testing::Test {
 protected:
  static constexpr std::int64_t kStepMs = 120'000;
  static constexpr const char* kRoot = "/mnt";

  explicit ServedGuest(emulation::Settings machine) : options_{.machine = std::move(machine)} {}

  void SetUp() override {
    auto scratch = base::ScratchFolder::make();
    ASSERT_TRUE(scratch) << scratch.error().message();
    scratch_.emplace(std::move(*scratch));
    auto served = device::ServedDevice::start(options_, scratch_->path());
    ASSERT_TRUE(served) << served.error().message();
    device_ = std::move(*served);
    auto image = vm::guest_image(default_cache());
    ASSERT_TRUE(image) << image.error().message();
    image_ = *image;
    accelerator_ = vm::probe_accelerator(default_cache()).accelerator;
  }

  void start_guest() {
    guest_.reset();
    auto guest = vm::Guest::start(
        {.image = image_,
         .accelerator = accelerator_,
         .disks = {{.socket = device_->socket(),
                    .export_name = "",
                    .size_bytes = *options_.machine.size_bytes},
                   {.socket = device_->socket(), .export_name = "mark", .size_bytes = kMarkBytes}}},
        default_cache(), scratch_->path());
    ASSERT_TRUE(guest) << guest.error().message();
    guest_ = std::move(*guest);
    must({{"do", "disk"}, {"path", "/dev/vda"}});
    must({{"do", "disk"}, {"path", "/dev/vdb"}});
  }

  nlohmann::json must(const nlohmann::json& request, const vm::EventHandler& on_event = {}) {
    const auto answer =
        guest_->call(request, std::chrono::milliseconds(kStepMs + 10'000), on_event);
    EXPECT_TRUE(answer) << request.dump().substr(0, 200) << ": " << answer.error().problem << "\n"
                        << guest_->console_tail(20);
    return answer ? *answer : nlohmann::json::object();
  }
  nlohmann::json exec(const std::vector<std::string>& argv, const std::string& input = "") {
    return must({{"do", "exec"}, {"argv", argv}, {"stdin", input}, {"timeout_ms", kStepMs}});
  }
  void mount() {
    must({{"do", "mount"},
          {"source", "/dev/vda"},
          {"target", kRoot},
          {"type", "ext4"},
          {"options", ""}});
  }
  nlohmann::json control(const nlohmann::json& request) {
    const auto answer = device_->control().request(request);
    EXPECT_TRUE(answer) << request.dump() << ": " << answer.error().message();
    return answer ? *answer : nlohmann::json::object();
  }

 private:
  static constexpr std::uint64_t kMarkBytes = 4096;

  device::ServedDeviceSpec options_;
  std::optional<base::ScratchFolder> scratch_;
  std::unique_ptr<device::ServedDevice> device_;
  vm::GuestImage image_;
  vm::Accelerator accelerator_ = vm::Accelerator::tcg;

 protected:
  /// Declared after the device, because the guest must be destroyed first.
  std::unique_ptr<vm::Guest> guest_;
};

}  // namespace headcrash::campaign
