#include "plugin/record/backing.h"

#include "plugin/model/core/null_observer.h"

namespace headcrash::record {
namespace {

/// Prepends the option's name to the subject of an error.
template <typename T>
Result<T> of_option(const char* option, Result<T> opened) {
  if (!opened) opened.error().subject.insert(0, option);
  return opened;
}

constexpr const char* kStore = "store=";
constexpr const char* kRecord = "record=";

}  // namespace

Result<void> Backing::open_stores(const BackingOptions& options) {
  const auto& devices = options.machine.devices;
  stores_.resize(devices.size());
  if (options.store) {
    std::vector<media::StoredDevice> stored;
    for (const RecordedDevice& device : devices)
      if (device.medium) stored.push_back({device.name, device.profile, device.sectors});
    TRY(auto folder, of_option(kStore, media::StoreFolder::open(*options.store, stored)));
    folder_ = std::move(folder);
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].medium) continue;
    if (folder_) {
      stores_[i] = &folder_->store(next++);
      continue;
    }
    TRY(auto memory, of_option(kStore, media::MemoryStore::create(devices[i].sectors)));
    memory_.push_back(std::move(memory));
    stores_[i] = memory_.back().get();
  }
  return {};
}

Result<void> Backing::open_recording(const BackingOptions& options) {
  if (!options.record) {
    null_observer_ = std::make_unique<model::NullObserver>();
    observer_ = null_observer_.get();
    return {};
  }
  TRY(auto recording,
      of_option(kRecord, RecordingWriter::create(*options.record, options.machine)));
  recording_ = std::move(recording);
  observer_ = recording_.get();
  return {};
}

Result<std::unique_ptr<Backing>> Backing::open(const BackingOptions& options) {
  std::unique_ptr<Backing> backing(new Backing());
  if (options.record && !options.store) {
    TRY(auto log,
        of_option(kRecord, LogStore::open(*options.record, options.machine, options.log)));
    backing->log_ = std::move(log);
    backing->observer_ = backing->log_.get();
    for (std::size_t i = 0; i < options.machine.devices.size(); ++i)
      backing->stores_.push_back(backing->log_->store(static_cast<model::DeviceId>(i)));
    return backing;
  }
  TRY(backing->open_stores(options));
  TRY(backing->open_recording(options));
  return backing;
}

Result<void> Backing::flush() {
  if (log_) return log_->flush();
  if (recording_) return recording_->flush();
  return {};
}

std::optional<Error> Backing::error() const {
  if (log_) return log_->error();
  if (recording_) return recording_->error();
  return std::nullopt;
}

}  // namespace headcrash::record
