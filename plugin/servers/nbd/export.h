#pragma once
// The object behind an NBD connection: a disk, or the export that accepts marks. There are two
// tables of exports: one for emulated hardware (emulated_exports.cc) and one for crash states
// (stage_exports.cc).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/media/written_map.h"
#include "plugin/model/core/device.h"
#include "plugin/servers/emulation/answer.h"
#include "plugin/servers/emulation/mark_disk.h"

namespace headcrash::stages {
class StageServer;
}

namespace headcrash::emulation {
class Emulation;
}

namespace headcrash::nbd {

inline constexpr std::uint32_t kMaximumRequestBytes = 32U << 20;
inline constexpr std::uint32_t kPreferredBytesMin = 4096;

/// The properties that NBD negotiates. They are constant during a connection.
struct ExportTraits {
  std::uint64_t bytes = 0;
  std::uint32_t preferred_bytes = kPreferredBytesMin, maximum_bytes = kMaximumRequestBytes;
  bool rotational = false;
  bool trim = false;
  bool trim_zeroes = true;  ///< trimmed sectors read as zeroes
  bool zero = true;         ///< write_zeroes is supported
  bool fast_zero = false;   ///< write_zeroes is faster than writing
  bool cache = true;
  bool extents = false;  ///< written() can distinguish written from unwritten ranges
  bool shared = true;    ///< all connections to the export see the same disk
};

class Export {
 public:
  virtual ~Export() = default;
  virtual const ExportTraits& traits() const = 0;
  virtual std::string description() const = 0;
  /// Returns the disk's name, under which the log counts failures.
  virtual std::string name() const { return description(); }
  /// Serves a request that nbdkit has checked against traits(). The request consists of whole
  /// sectors.
  virtual emulation::Answer serve(const model::Request& request) = 0;
  /// Returns the run that begins at `lba` and is at most `limit` sectors long. Called only if
  /// traits().extents is set.
  virtual media::WrittenMap::Run written(std::uint64_t /*lba*/, std::uint64_t limit) {
    return {limit, true};
  }
};

struct ListedExport {
  std::string name, description;
};

class ExportTable {
 public:
  virtual ~ExportTable() = default;
  virtual std::vector<ListedExport> list() const = 0;
  virtual std::string default_name() const = 0;
  virtual Result<std::unique_ptr<Export>> open(std::string_view name) = 0;
};

/// An export that accepts marks (plugin/servers/emulation/mark_disk.h).
class MarkExport : public Export {
 public:
  const ExportTraits& traits() const override { return traits_; }

 private:
  ExportTraits traits_{.bytes = emulation::kMarkDiskBytes,
                       .preferred_bytes = model::kSectorBytes,
                       .maximum_bytes = emulation::kMarkDiskBytes,
                       .zero = false,
                       .cache = false};
};

// The servers must outlive the returned tables.
std::unique_ptr<ExportTable> exports_of(emulation::Emulation& emulation);
std::unique_ptr<ExportTable> exports_of(stages::StageServer& server);

}  // namespace headcrash::nbd
