#pragma once
// The recording as the store: one log that is the observer of a machine and the medium of each of
// its drives.
//
//   host write --SUBMIT + payload--> | log | ... | payload | ... |<------------------------+
//                                                                                          | offset
//   drive: SectorStore::write(lba, bytes)   held until the observer is notified             |
//   drive: Observer::media_written(source)   -> MEDIA event of the payload -> extent index
//   drive: SectorStore::read(lba)           -> extent index -> pread(2) of the log
//
// A drive writes a run of sectors to its store and immediately reports the same run to the
// observer. The store holds the run until the event arrives. If the bytes came with a request, they
// are already in the log, and only the index is updated. Other bytes (torn, corrupted, misdirected,
// or of a request no longer in the ring) are carried by the MEDIA event. If a run is never reported
// to the observer, it is appended as a MEDIA event without a source, so the log is always complete.
//
// Written bytes are never overwritten. The memory of the index is bounded. When the index exceeds
// the limit, the bytes of fragmented chunks (1 MiB of medium each) are copied to the end of the
// log, so that one extent describes each chunk. The cleaner of a log-structured file system works
// in the same way. The index itself is written into the log as a checkpoint, at intervals and at
// the end.

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/model/core/machine.h"
#include "plugin/record/checkpoint.h"
#include "plugin/record/recording.h"

namespace headcrash::record {

struct LogStoreOptions {
  /// Limit on the total size of the indexes of all media. An index needs at least one extent for
  /// each written MiB, so media on which more than half a million MiB have been written need a
  /// higher limit.
  std::size_t index_bytes_max = 64 << 20;
  /// Minimum number of bytes of the log between checkpoints.
  std::uint64_t checkpoint_log_bytes = 512 << 20;
};

class LogStore : public model::MachineObserver {
 public:
  /// Creates the log, or continues a log of the same devices. When a log is continued, the contents
  /// of the media are kept and the contents of volatile caches are lost. If the last event is
  /// incomplete because its server was killed, the log is truncated after the last complete event.
  /// A damaged log is rejected and left unchanged.
  static Result<std::unique_ptr<LogStore>> open(const std::filesystem::path& path,
                                                const RecordingHeader& header,
                                                const LogStoreOptions& options = {});
  ~LogStore() override;

  /// Returns a device's medium; null if the device has none. The medium is owned by this object.
  model::SectorStore* store(model::DeviceId device);

  void submitted(model::DeviceId device, model::TimeNs at, const model::Request& request) override;
  void acknowledged(model::DeviceId device, const model::Completion& completion) override;
  void media_written(model::DeviceId device, model::TimeNs at,
                     const model::MediaWrite& media) override;
  void incident(model::DeviceId device, model::TimeNs at, std::string_view text) override;
  void marked(model::TimeNs at, std::string_view text) override;
  void power_changed(model::TimeNs at, model::PowerState state) override;

  Result<void> flush();  ///< passes all buffered bytes to the kernel
  const std::optional<Error>& error() const;

  std::size_t index_bytes() const;
  std::uint64_t log_bytes() const;
  std::uint64_t moved_bytes() const;  ///< bytes copied within the log to keep the index small
  /// Returns how many events after the checkpoint were read when the log was opened.
  std::uint64_t events_read() const;
  const ExtentIndex& index(model::DeviceId device) const;

 private:
  struct State;
  class Medium;
  explicit LogStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::record
