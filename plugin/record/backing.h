#pragma once
// The storage and the observer of a machine. open() supports all four combinations of the options:
//
//   store=DIR  record=FILE
//   -          -            memory, not recorded
//   DIR        -            raw sparse images, not recorded
//   DIR        FILE         raw sparse images and a separate recording: every byte is written twice
//   -          FILE         the recording is the store (log_store.h): every byte is written once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/media/memory_store.h"
#include "plugin/media/sparse_file_store.h"
#include "plugin/record/log_store.h"
#include "plugin/record/recording.h"

namespace headcrash::record {

struct BackingOptions {
  std::optional<std::filesystem::path> store;
  std::optional<std::filesystem::path> record;
  /// All devices of the machine by id. Devices with a medium get a store.
  RecordingHeader machine;
  LogStoreOptions log;
};

class Backing {
 public:
  /// Opens the storage. Errors name the option and the path, as in "record=/tmp/a.hcrec". If a
  /// store is given, the recording must be a new file. If the recording itself is the store and the
  /// file exists, the recording is continued.
  static Result<std::unique_ptr<Backing>> open(const BackingOptions& options);

  model::MachineObserver& observer() { return *observer_; }
  /// Returns null for a device without a medium.
  model::SectorStore* store(model::DeviceId device) { return stores_.at(device); }

  bool recorded() const { return log_ || recording_; }
  Result<void> flush();  ///< passes the buffered part of the recording to the kernel
  /// The recording's first host error; data after it is invalid.
  std::optional<Error> error() const;

 private:
  Backing() = default;
  Result<void> open_stores(const BackingOptions& options);
  Result<void> open_recording(const BackingOptions& options);

  std::vector<std::unique_ptr<media::MemoryStore>> memory_;
  std::unique_ptr<media::StoreFolder> folder_;
  std::unique_ptr<RecordingWriter> recording_;
  std::unique_ptr<LogStore> log_;
  std::unique_ptr<model::MachineObserver> null_observer_;
  model::MachineObserver* observer_ = nullptr;
  std::vector<model::SectorStore*> stores_;
};

}  // namespace headcrash::record
