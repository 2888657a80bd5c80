#pragma once
// What is behind a machine's devices: where their bytes lie and who writes down what happens. One
// factory for the four ways there are:
//
//   store=DIR  record=FILE
//   -          -            memory, nobody watches
//   DIR        -            raw sparse images, nobody watches
//   DIR        FILE         raw sparse images, and a recording beside them: every byte is written twice
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
  /// All devices of the machine by id; those with a medium get a store.
  RecordingHeader machine;
  LogStoreOptions log;
};

class Backing {
 public:
  /// Errors speak of the path. A recording beside a store must be a new file; one that is the store
  /// continues when the file exists.
  static Result<std::unique_ptr<Backing>> open(const BackingOptions& options);

  model::MachineObserver& observer() { return *observer_; }
  /// Null for a device without a medium of its own.
  model::SectorStore* store(model::DeviceId device) { return stores_.at(device); }

  bool recorded() const { return log_ || recording_; }
  Result<void> flush();                ///< hands the recording to the kernel
  std::optional<Error> error() const;  ///< the recording's first host error: trust nothing after it

 private:
  Backing() = default;
  Result<void> open_stores(const BackingOptions& options);
  Result<void> open_recording(const BackingOptions& options);

  std::vector<std::unique_ptr<media::MemoryStore>> memory_;
  std::unique_ptr<media::StoreFolder> folder_;
  std::unique_ptr<RecordingWriter> recording_;
  std::unique_ptr<LogStore> log_;
  std::unique_ptr<model::MachineObserver> nobody_;
  model::MachineObserver* observer_ = nullptr;
  std::vector<model::SectorStore*> stores_;
};

}  // namespace headcrash::record
