#pragma once
// For tests and fuzzers: a served machine in virtual time, and a connection to one of its sockets.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "plugin/base/descriptor.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/servers/emulation/served_machine.h"
#include "plugin/servers/timetravel/calendar.h"
#include "plugin/servers/timetravel/emulated_hardware.h"

namespace headcrash::timetravel {

class ServedMachine {
 public:
  explicit ServedMachine(CalendarOptions options = {}, const std::string& profile = "hp-c2447") {
    emulation::Settings settings;
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"profile", profile},
                                     {"size", "64M"},
                                     {"write-cache", "off"}})
      EXPECT_TRUE(settings.set(key, value)) << key;
    settings.clock = {.kind = emulation::Clock::Kind::virtual_time};
    auto hardware = emulation::load_hardware(settings);
    calendar = std::move(*Calendar::listen(folder_ / "disk", {"hd0"}));
    machine_ = std::move(*emulation::ServedMachine::open(settings, std::move(*hardware)));
    machine_->start(emulation::Transport::vhost_user);
    const auto log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_ += line + "\n";
    };
    hardware_ = std::make_unique<EmulatedHardware>(machine_->emulation(), log);
    EXPECT_TRUE(calendar->start(*hardware_, options, log));
  }
  ~ServedMachine() {
    machine_->shut_down();
    calendar->stop();
    EXPECT_TRUE(machine_->stop());
  }
  emulation::Emulation& emulation() { return machine_->emulation(); }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  bool wait_log(const std::string& words) {
    for (int i = 0; i < 2000 && log().find(words) == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return log().find(words) != std::string::npos;
  }

  std::unique_ptr<Calendar> calendar;

 private:
  std::unique_ptr<emulation::ServedMachine> machine_;
  std::unique_ptr<EmulatedHardware> hardware_;
  TemporaryFolder folder_;
  std::mutex mutex_;
  std::string log_;
};

inline base::Descriptor connect(const std::filesystem::path& socket) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket.c_str(), socket.native().size());
  base::Descriptor end(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(end.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return end;
}

}  // namespace headcrash::timetravel
