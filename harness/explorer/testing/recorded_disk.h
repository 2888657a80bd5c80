#pragma once
// Test helpers that record single events on one or more disks.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/workload/stamp.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/record/recording.h"
#include "plugin/states/run_history.h"

namespace headcrash::explorer {

/// Records events at intervals of one millisecond.
class RecordedDisk {
 public:
  using Data = std::vector<std::byte>;

  explicit RecordedDisk(std::filesystem::path path, std::uint64_t sectors = 4096, bool media = true,
                        std::uint64_t log_sectors = 0)
      : RecordedDisk(std::move(path), media,
                     log_sectors == 0 ? Sizes{{"hd0", sectors}}
                                      : Sizes{{"hd0", sectors}, {"log", log_sectors}}) {}
  /// Records several disks. Each has a name and a size in sectors.
  using Sizes = std::vector<std::pair<std::string, std::uint64_t>>;
  RecordedDisk(std::filesystem::path path, bool media, const Sizes& disks)
      : path_(std::move(path)) {
    record::RecordingHeader header{.seed = 1, .devices = {}, .media = media};
    for (const auto& [name, sectors] : disks) header.devices.push_back({name, "test", sectors, 1});
    auto writer = record::RecordingWriter::create(path_, header);
    EXPECT_TRUE(writer) << writer.error().message();
    writer_ = std::move(*writer);
  }

  static Data stamps(std::uint32_t file, std::uint32_t version, std::uint64_t offset,
                     std::size_t bytes) {
    Data data(bytes);
    workload::write_stamps(file, version, offset, data);
    return data;
  }
  /// Returns a 4 KiB block that begins with the bytes `head`.
  static Data block(std::initializer_list<int> head) {
    Data data(4096, std::byte{0x11});
    std::size_t at = 0;
    for (const int each : head) data[at++] = static_cast<std::byte>(each);
    return data;
  }

  /// Selects the device for the following calls.
  RecordedDisk& on(model::DeviceId device) {
    device_ = device;
    return *this;
  }
  RecordedDisk& write(model::RequestId id, std::uint64_t lba, const Data& data, bool fua = false) {
    writer_->submitted(device_, tick(),
                       {.id = id,
                        .op = model::Op::write,
                        .fua = fua,
                        .lba = lba,
                        .sectors = static_cast<std::uint32_t>(data.size() / model::kSectorBytes),
                        .data = data});
    return *this;
  }
  RecordedDisk& flush(model::RequestId id) {
    writer_->submitted(device_, tick(), {.id = id, .op = model::Op::flush});
    return ack(id);
  }
  RecordedDisk& trim(model::RequestId id, std::uint64_t lba, std::uint32_t sectors) {
    writer_->submitted(device_, tick(),
                       {.id = id, .op = model::Op::trim, .lba = lba, .sectors = sectors});
    return *this;
  }
  RecordedDisk& ack(model::RequestId id) {
    writer_->acknowledged(device_, {.id = id, .completed_at = tick()});
    return *this;
  }
  RecordedDisk& media(model::RequestId id, std::uint64_t lba, const Data& data) {
    writer_->media_written(
        device_, tick(),
        {.source = id,
         .lba = lba,
         .sectors = static_cast<std::uint32_t>(data.size() / model::kSectorBytes),
         .bytes = data});
    return *this;
  }
  RecordedDisk& mark(const std::string& text) {
    writer_->marked(tick(), text);
    return *this;
  }
  std::shared_ptr<const states::RunHistory> load() {
    writer_.reset();
    auto run = states::RunHistory::load(path_);
    EXPECT_TRUE(run) << run.error().message();
    return run ? *run : nullptr;
  }

 private:
  model::TimeNs tick() { return now_ += 1'000'000; }

  std::filesystem::path path_;
  std::unique_ptr<record::RecordingWriter> writer_;
  model::TimeNs now_ = 0;
  model::DeviceId device_ = 0;
};

}  // namespace headcrash::explorer
