#pragma once
// The recording as the store: one log that is the observer of a machine and the medium of each of
// its drives.
//
//   host write --SUBMIT + payload--> | log | ... | payload | ... |<------------------------+
//                                                                                          | offset
//   drive: SectorStore::write(lba, bytes)   held back until the observer hears of it         |
//   drive: Observer::media_written(source)   -> MEDIA event that refers to the payload --> extent index
//   drive: SectorStore::read(lba)           -> extent index -> pread(2) of the log
//
// A drive hands a run of sectors to its store and at once tells the observer about the same run.
// The store therefore holds the run back for the moment, and the event decides: bytes that came
// with a request are in the log already and only the index learns where; anything else (torn,
// corrupted, misdirected, of a request that is long forgotten) is carried by the MEDIA event. A run
// of which the observer never hears is appended too, as a MEDIA event without a source, so that the
// log always holds all that a reader must know.
//
// What has been written is never overwritten. Index memory is bounded: beyond the bound the bytes
// of the most crowded chunks (1 MiB of medium) are moved to the end of the log, where one extent
// describes them, as a log-structured file system's cleaner does. Now and then, and at the end, the
// index itself goes into the log as a checkpoint.

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/model/core/machine.h"
#include "plugin/record/checkpoint.h"
#include "plugin/record/recording.h"

namespace headcrash::record {

struct LogStoreOptions {
  /// Bound of the indexes of all media together. One extent for each written MiB is the least that
  /// is
  /// possible: a medium of which more than half a million MiB are written needs more than this.
  std::size_t index_bytes_max = 64 << 20;
  std::uint64_t checkpoint_log_bytes = 512 << 20;  ///< log between two checkpoints, at least
};

class LogStore : public model::MachineObserver {
 public:
  /// Makes the log, or continues with one that the same devices wrote: what their media held is
  /// there, what their volatile caches held is not. A log that ends in the middle of an event (its
  /// server was killed) is cut to its last whole one; one that is damaged is refused and left
  /// alone.
  static Result<std::unique_ptr<LogStore>> open(const std::filesystem::path& path,
                                                const RecordingHeader& header,
                                                const LogStoreOptions& options = {});
  ~LogStore() override;

  /// The medium of a device; null for one that has none of its own. Lives as long as the log.
  model::SectorStore* store(model::DeviceId device);

  void submitted(model::DeviceId device, model::TimeNs at, const model::Request& request) override;
  void acknowledged(model::DeviceId device, const model::Completion& completion) override;
  void media_written(model::DeviceId device, model::TimeNs at,
                     const model::MediaWrite& media) override;
  void incident(model::DeviceId device, model::TimeNs at, std::string_view text) override;
  void marked(model::TimeNs at, std::string_view text) override;
  void power_changed(model::TimeNs at, model::PowerState state) override;

  Result<void> flush();  ///< hands everything to the kernel
  const std::optional<Error>& error() const;

  std::size_t index_bytes() const;
  std::uint64_t log_bytes() const;
  std::uint64_t moved_bytes() const;  ///< written again to keep the index small
  std::uint64_t events_read() const;  ///< at opening: events since the checkpoint
  const ExtentIndex& index(model::DeviceId device) const;

 private:
  struct State;
  class Medium;
  explicit LogStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::record
