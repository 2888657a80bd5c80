#pragma once
// For tests: runs nbdkit with the built plugin in a temporary directory, and connects to it with
// libnbd and through the control socket. At the end, the server is always killed and the directory
// removed.

#include <gtest/gtest.h>
#include <libnbd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::nbd {

/// A temporary directory whose paths are strings, because parameters are strings.
class TemporaryFolder : private headcrash::TemporaryFolder {
 public:
  std::string operator/(const char* name) const { return (path() / name).string(); }
};

/// The exit code and stderr of a server. The exit code is -1 if the server accepted its parameters
/// and the test then killed it.
struct ExitResult {
  int exit_code = -1;
  std::string stderr_text;
};

ExitResult run_nbdkit(const TemporaryFolder& folder, const std::vector<std::string>& arguments);

class ServedDisk {
 public:
  /// Starts nbdkit. `arguments` are the plugin's arguments without the control socket, which the
  /// constructor adds. Fails the test if the server does not start.
  ServedDisk(const TemporaryFolder& folder, std::vector<std::string> arguments,
             const std::vector<std::string>& nbdkit_options = {});
  ~ServedDisk();
  ServedDisk(const ServedDisk&) = delete;
  ServedDisk& operator=(const ServedDisk&) = delete;

  const std::string& socket() const { return socket_; }
  const std::string& control_path() const { return control_; }
  /// Sends one request on a separate connection.
  nlohmann::json control(const std::string& line) const;
  std::string log_text() const;  ///< nbdkit's output so far
  /// Sends a signal and waits until the server exits. Returns how long this took, in seconds.
  double end(int signal);
  enum class Ending : std::uint8_t { orderly, killed };
  /// Waits until the server exits. Unless `ending` is `killed`, expects a clean exit. Returns how
  /// long the wait took, in seconds.
  double wait_for_end(Ending ending = Ending::orderly);

 private:
  pid_t pid_ = -1;
  std::string socket_;
  std::string control_;
  std::string log_;  ///< nbdkit's stderr
};

/// An NBD connection. Calls return 0 or an errno.
class Client {
 public:
  explicit Client(const ServedDisk& disk, const char* export_name = "");
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  int write(std::uint64_t sector, const std::vector<char>& bytes, std::uint32_t flags = 0);
  int read(std::uint64_t sector, std::vector<char>& bytes);
  int flush();
  int zero(std::uint64_t sector, std::uint64_t sectors, std::uint32_t flags = 0);
  int trim(std::uint64_t sector, std::uint64_t sectors, std::uint32_t flags = 0);
  int cache(std::uint64_t sector, std::uint64_t sectors);
  nbd_handle* handle() { return handle_; }

 private:
  nbd_handle* handle_;
};

// ---- test helpers

inline const std::vector<std::string> kFast = {"hp-c2447", "size=64M", "clock=off"};

inline std::vector<char> block(char value, std::size_t sectors = 8) {
  return std::vector<char>(sectors * 512, value);
}

inline std::vector<char> read_block(Client& client, std::uint64_t sector, std::size_t sectors = 8) {
  std::vector<char> bytes = block('?', sectors);
  EXPECT_EQ(client.read(sector, bytes), 0);
  return bytes;
}

inline std::vector<std::string> with(std::vector<std::string> arguments,
                                     std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
  return arguments;
}

inline void cut_and_switch_on(const ServedDisk& disk) {
  EXPECT_TRUE(disk.control(R"({"power":"cut"})")["ok"]);
  EXPECT_EQ(disk.control(R"({"power":"status"})")["power"], "off");
  EXPECT_TRUE(disk.control(R"({"power":"on"})")["ok"]);
}

}  // namespace headcrash::nbd
