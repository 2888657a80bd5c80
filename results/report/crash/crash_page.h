#pragma once
// A power cut as a page: what was promised, what was written, what the cut took, on one time axis.
//
//   operations   --o-----P--------------P----|               P: promised to be persistent
//   inodes         [==]........                              [=] in flight, ... acknowledged, not flushed
//   journal          [====]....F             |               F: a flush that makes it durable
//   data         [=]...........F   [==]......|x              |: the cut, x: lost by it
//   unflushed    __/~~~~~~~~~~~\___/~~~~~~~~~|
//   states             . .  o    .        #  .               verdicts, where the cut was tried
//
// The picture is drawn here, as it is for the state in question, so that it needs no script and
// prints; the script of the page (crash.js) draws the same rows again for another cut or a part of
// the time. Who fills the structure: harness/explorer/explain/crash_timeline.h. Events are ordinals
// of the recording, times nanoseconds of its clock; texts may hold any bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headcrash::report {

/// What a block is to its file system; the rows of the picture, from top to bottom.
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
  bool medium = true;  ///< false: an array or a cache, whose bytes lie on the devices below it
};

/// A request that is not a flush.
struct TimelineRequest {
  std::size_t device = 0;
  std::uint64_t request = 0;
  enum class Op : std::uint8_t { write, zero, trim, read } op = Op::write;
  bool fua = false;
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  Moment submitted;
  std::optional<Moment> acked;
  /// The ACK after which no cut can take it any more: of the first flush that was submitted after
  /// its own, or its own (FUA).
  std::optional<Moment> durable;
  std::optional<std::uint64_t>
      on_medium;  ///< the event after which all of it is there, where that is recorded
  std::optional<std::uint64_t> cycle_ended;  ///< the power went at this event
  BlockClass block = BlockClass::other;
  std::string what;                    ///< "journal commit block of transaction 7"
  std::string file;                    ///< its names, if it is known which; else empty
  std::string bytes;                   ///< the first kShownBytes of it
  std::optional<std::size_t> finding;  ///< about the same file
};
inline constexpr std::size_t kShownBytes = 16;

struct TimelineFlush {
  std::size_t device = 0;
  std::uint64_t request = 0;
  Moment submitted;
  std::optional<Moment> acked;
};

struct TimelineMediaWrite {
  std::size_t device = 0;
  Moment at;
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  bool whole = true;  ///< false: torn, unreadable or damaged
};

struct TimelineMark {
  Moment at;
  std::string text;
  bool promise = false;                  ///< "persisted ..."
  std::optional<std::size_t> operation;  ///< which has returned
};

struct TimelineOperation {
  std::string text;
  bool promises = false;
};

struct TimelineFinding {
  std::string kind, tier, path, expected, found;
};

/// A crash state that was checked, or is only looked at.
struct TimelineState {
  std::string name, strategy, verdict, summary;
  enum class Outcome : std::uint8_t { kept, failed, unknown } outcome = Outcome::unknown;
  std::uint64_t event = 0;  ///< the cut: how many events came before it
  struct Torn {
    std::size_t request = 0;
    std::uint32_t first = 0, count = 0;  ///< these sectors of it are there
  };
  std::vector<std::size_t> lost;  ///< indices into requests
  std::vector<Torn> torn;
  /// Of an array: what became of the host's writes is known on its members only.
  bool by_members = false;
  std::vector<std::size_t>
      undone;  ///< indices into media: what stopped members did not do any more before the cut
  std::vector<std::pair<std::size_t, Moment>>
      stopped;  ///< members of an array that stopped before the others
};

/// What a recording tells of a device over time.
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
  std::string summary;  ///< a sentence
  std::vector<std::pair<std::string, std::string>> facts;
  std::string filesystem_type;  ///< of mount(2), by which blocks are named; empty: not known
  std::vector<TimelineDevice> devices;
  std::vector<TimelineRequest> requests;  ///< by submission
  std::vector<TimelineFlush> flushes;
  std::vector<TimelineMediaWrite> media;
  std::vector<TimelineMark> marks;
  std::vector<TimelineOperation> operations;
  std::vector<std::pair<Moment, bool>> power;  ///< changes; true: on
  std::vector<TimelineState> states;
  std::optional<std::size_t> shown;  ///< the state in question
  std::uint64_t cut = 0;             ///< where the picture is cut: that of the state, or the end
  std::uint64_t events = 0;          ///< of the recording
  std::uint64_t first_event = 0, last_event = 0;  ///< the workload's, without mkfs and unmount
  /// From here on it is the recovery of the state in question.
  std::optional<Moment> recovery;
  std::vector<TimelineFinding> findings;
  std::string log;                     ///< of the recovery
  std::vector<std::string> reproduce;  ///< commands
  std::vector<std::string> left_out;   ///< sentences: what was too much for the page
  std::vector<TimelineSeries> series;
  std::vector<std::string>
      series_notes;  ///< sentences: how it is known, and what is not in the recording
};

/// What became of a write that is at risk.
enum class Fate : std::uint8_t { unknown, kept, torn, lost };

/// Of the `request`th of the page in a state; null: no state.
Fate fate_of(const TimelineState* state, std::size_t request);

/// Whether a cut before `event` could take it: submitted, not durable, and the power had not gone
/// before.
bool at_risk(const TimelineRequest& request, std::uint64_t event);

/// One HTML file without references to others.
std::string crash_page(const CrashPage& page);

}  // namespace headcrash::report
