#pragma once
// For tests: a stage server, requests to stages, and a directory for recordings.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugin/base/testing/temporary_folder.h"
#include "plugin/stages/stage_server.h"

namespace headcrash::stages {

inline std::vector<std::byte> filled(char value, std::size_t sectors = 8) {
  return std::vector<std::byte>(sectors * model::kSectorBytes, static_cast<std::byte>(value));
}

/// A client of a stage. Its calls return 0 or an errno.
class StageClient {
 public:
  explicit StageClient(Stage& stage, const std::optional<std::string>& disk_name = {}) {
    auto connected = stage.connect(disk_name);
    EXPECT_TRUE(connected) << connected.error().message();
    if (connected) connection_ = std::move(*connected);
  }
  std::uint64_t sectors() const { return connection_->sectors(); }
  int write(std::uint64_t lba, const std::vector<std::byte>& bytes, bool fua = false) {
    model::Request request = made(model::Op::write, lba, bytes.size() / model::kSectorBytes);
    request.data = bytes;
    request.fua = fua;
    return connection_->serve(request);
  }
  int read(std::uint64_t lba, std::vector<std::byte>& bytes) {
    model::Request request = made(model::Op::read, lba, bytes.size() / model::kSectorBytes);
    request.into = bytes;
    return connection_->serve(request);
  }
  std::vector<std::byte> read(std::uint64_t lba, std::size_t sectors = 8) {
    auto bytes = filled('?', sectors);
    EXPECT_EQ(read(lba, bytes), 0);
    return bytes;
  }
  int zero(std::uint64_t lba, std::uint64_t sectors) {
    return connection_->serve(made(model::Op::write_zeroes, lba, sectors));
  }
  int trim(std::uint64_t lba, std::uint64_t sectors) {
    return connection_->serve(made(model::Op::trim, lba, sectors));
  }
  int flush() { return connection_->serve(made(model::Op::flush, 0, 0)); }
  Stage::Connection& connection() { return *connection_; }

 private:
  static model::Request made(model::Op op, std::uint64_t lba, std::size_t sectors) {
    model::Request request;
    request.op = op;
    request.lba = lba;
    request.sectors = static_cast<std::uint32_t>(sectors);
    return request;
  }
  std::unique_ptr<Stage::Connection> connection_;
};

inline std::unique_ptr<StageServer> start_stages(
    std::size_t stages, std::uint64_t overlay_bytes_max = kOverlayBytesDefault) {
  auto server = StageServer::create({.stages = stages, .overlay_bytes_max = overlay_bytes_max});
  EXPECT_TRUE(server);
  return std::move(*server);
}

inline Loaded load(StageServer& server, const LoadOrder& order) {
  const auto loaded = server.load(order);
  EXPECT_TRUE(loaded) << loaded.error().message();
  return loaded.value_or(Loaded{});
}

}  // namespace headcrash::stages
