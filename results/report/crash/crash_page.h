#pragma once
// The page of a power cut: promises, writes and losses on one time axis.
//
//   operations   --o-----P--------------P----|         P: promised to be persistent
//   inodes         [==]........                        [=] in flight, ... acknowledged, not flushed
//   journal          [====]....F             |         F: a flush that makes it durable
//   data         [=]...........F   [==]......|x        |: the cut, x: lost in the cut
//   unflushed    __/~~~~~~~~~~~\___/~~~~~~~~~|
//   states             . .  o    .        #  .         verdicts, where the cut was tried
//
// This code draws the picture for the requested state, so that the picture needs no script and can
// be printed. The page's script (crash.js) redraws the same rows for another cut or for a part of
// the time. harness/explorer/explain/crash_timeline.h fills the structure. Events are ordinals in
// the recording, and times are nanoseconds on its clock. Strings may contain any bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headcrash::report {

/// The role of a block in its file system. The enumerators are in the order of the picture's rows,
/// from top to bottom.
enum class BlockClass : std::uint8_t {
  data,
  directory,
  inode,
  bitmap,
  superblock,
  journal,
  metadata,
  other,
  read
};

struct Moment {
  std::uint64_t event = 0;
  std::int64_t at_ns = 0;
};

struct TimelineDevice {
  std::string name, profile;
  bool medium = true;  ///< false for an array or a cache, whose bytes are on other devices
};

/// A read, a write, a write of zeroes, or a trim.
struct TimelineRequest {
  std::size_t device = 0;
  std::uint64_t request = 0;
  enum class Op : std::uint8_t { write, zero, trim, read } op = Op::write;
  bool fua = false;
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  Moment submitted;
  std::optional<Moment> acked;
  /// The ACK after which no cut can remove the write. With FUA, this is the write's own ACK;
  /// otherwise, it is the ACK of the first flush submitted after the write was acknowledged.
  std::optional<Moment> durable;
  /// Number of the event at which the last part of the write reached the medium; nullopt if this
  /// was not recorded.
  std::optional<std::uint64_t> on_medium;
  std::optional<std::uint64_t> cycle_ended;  ///< event at which the power was cut
  BlockClass block = BlockClass::other;
  std::string what;    ///< describes the block, such as "journal commit block of transaction 7"
  std::string issuer;  ///< functions and threads that issued the request; empty if unknown
  std::string stack;   ///< call stack of the first issuer, innermost function first
  std::string file;    ///< name of the file that the block belongs to; empty if unknown
  std::string bytes;   ///< the first kShownBytes bytes of the request's data
  std::optional<std::size_t> finding;  ///< index of a finding about the same file
};
inline constexpr std::size_t kShownBytes = 16;

struct TimelineFlush {
  std::size_t device = 0;
  std::uint64_t request = 0;
  Moment submitted;
  std::optional<Moment> acked;
  /// Index of the mark whose promise required this flush. For a mark, this is the last flush that
  /// was submitted after the previous mark and completed before the mark.
  std::optional<std::size_t> promise;
};

struct TimelineMediaWrite {
  std::size_t device = 0;
  Moment at;
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  bool whole = true;  ///< false if torn, unreadable or damaged
};

struct TimelineMark {
  Moment at;
  std::string text;
  bool promise = false;                  ///< "persisted ..."
  std::optional<std::size_t> operation;  ///< operation that has returned, if the mark names one
};

struct TimelineOperation {
  std::string text;
  bool promises = false;
};

struct TimelineFinding {
  std::string kind, tier, path, expected, found;
};

/// A crash state that was checked, or that is only displayed.
struct TimelineState {
  std::string name, strategy, verdict, summary;
  enum class Outcome : std::uint8_t { kept, failed, unknown } outcome = Outcome::unknown;
  std::uint64_t event = 0;  ///< number of events before the cut
  struct Torn {
    std::size_t request = 0;
    std::uint32_t first = 0, count = 0;  ///< sectors of the request that were written
  };
  std::vector<std::size_t> lost;  ///< indices into requests
  std::vector<Torn> torn;
  /// True for a state of an array that is built from its members' media. The fates of the host's
  /// writes are then unknown.
  bool by_members = false;
  /// Indices into `media` of the writes that did not reach the medium in this state, because the
  /// array member had stopped before the cut.
  std::vector<std::size_t> undone;
  /// The members of an array that stopped before the others, and the times at which they stopped.
  std::vector<std::pair<std::size_t, Moment>> stopped;
};

/// A quantity of a device that was recorded over time.
struct TimelineSeries {
  std::size_t device = 0;
  std::string label;  ///< "throughput"
  enum class Unit : std::uint8_t {
    requests,
    bytes,
    bytes_per_second,
    cylinders
  } unit = Unit::requests;
  enum class Shape : std::uint8_t { steps, line, spikes } shape = Shape::steps;
  std::vector<std::pair<std::int64_t, double>> values;  ///< by time
};

struct CrashPage {
  std::string title;    ///< "ext4-nobarrier: lost-synced-data"
  std::string summary;  ///< one sentence
  std::vector<std::pair<std::string, std::string>> facts;
  /// File system type, as for mount(2); empty if unknown. Determines the names of block roles.
  std::string filesystem_type;
  std::vector<TimelineDevice> devices;
  std::vector<TimelineRequest> requests;  ///< by submission
  std::vector<TimelineFlush> flushes;
  std::vector<TimelineMediaWrite> media;
  std::vector<TimelineMark> marks;
  std::vector<TimelineOperation> operations;
  std::vector<std::pair<Moment, bool>> power;  ///< times at which the power changed; true means on
  std::vector<TimelineState> states;
  std::optional<std::size_t> shown;  ///< index of the requested state
  /// Event at which the shown state was cut; the end of the recording if no state is shown.
  std::uint64_t cut = 0;
  std::uint64_t events = 0;  ///< number of events in the recording
  /// Range of the workload's events, without those of mkfs and unmount.
  std::uint64_t first_event = 0, last_event = 0;
  /// The moment in the recording at which the recovery of the requested state begins.
  std::optional<Moment> recovery;
  std::vector<TimelineFinding> findings;
  std::string log;                     ///< log of the recovery
  std::vector<std::string> reproduce;  ///< commands
  /// Sentences about data that the page omits because its size is limited.
  std::vector<std::string> left_out;
  std::vector<TimelineSeries> series;
  /// Sentences that say where the values come from, and which values are missing.
  std::vector<std::string> series_notes;
};

/// The fate, in a crash state, of a write that could be lost at the cut (at_risk).
enum class Fate : std::uint8_t { unknown, kept, torn, lost };

/// Returns what happened in `state` to the request at index `request` of the page. The result is
/// unknown if `state` is null or is built from members' media.
Fate fate_of(const TimelineState* state, std::size_t request);

/// Returns true if a cut before `event` could remove the write: the write was submitted before
/// `event`, is not yet durable, and belongs to the same power cycle.
bool at_risk(const TimelineRequest& request, std::uint64_t event);

/// Returns a sentence that lists the devices which were flushed for a promise, and those which were
/// not; empty if at most one device was written to. `mark` is an index into the page's marks.
std::string flushed_for(const CrashPage& page, std::size_t mark);

/// Returns an HTML file without external references.
std::string crash_page(const CrashPage& page);

}  // namespace headcrash::report
