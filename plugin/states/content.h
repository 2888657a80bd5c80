#pragma once
// Content digests of many states of one run. The cost of each digest is proportional to the
// differences between states (digest.h).
//
//   writes       1   2   3   4   5   6   7   8  | cut    all(8): accumulated once per run
//   unflushed            *       *   *       *
//   sectors      ....[ a ][ b ][ c ]....[ d ][ e ]....  atoms: sector runs with the same writers
//                      3   3,6   6        5   5,8       among the unflushed writes
//
//   digest(state) = all(8) + for each atom: sum(bytes of its last writer in the state)
//                                         - sum(bytes of its last writer)
//
// Here all(8) is the digest of the state that has all writes up to write 8. A subset therefore
// costs one step for each atom, typically a few dozen, and no byte of the recording is read more
// than a few times. Each write's sector sums are kept as running totals, so the sum over any part
// of a write takes one subtraction. The memory for these totals is bounded. If the first unflushed
// write was long ago (for example because a cache ignores flushes), a lose-all state may lack most
// of the writes since then. The digest of such a state is computed from the content before these
// writes.

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugin/states/run_history.h"

namespace headcrash::states {

/// Content sums of written sectors, for all writes of one device.
class WriteSums {
 public:
  WriteSums(std::shared_ptr<const RunHistory> run, model::DeviceId device);
  /// Returns the sum over sectors [lba, lba + sectors), all of which must belong to the write.
  Result<std::uint64_t> of(std::size_t write, std::uint64_t lba, std::uint64_t sectors);
  /// Returns the sum over sectors [lba, lba + sectors) of an image whose bytes are at `where` in
  /// the recording. Returns nullopt if they are not the payload of a write of these sectors.
  Result<std::optional<std::uint64_t>> at(std::uint64_t lba, std::uint64_t sectors,
                                          record::ExtentLocation where);
  /// Returns at() as a function for StateImage::digest(). This object must outlive the function.
  StateImage::KnownDigest known() {
    return [this](std::uint64_t lba, std::uint64_t sectors, record::ExtentLocation where) {
      return at(lba, sectors, where);
    };
  }

 private:
  struct CachedTotals {
    std::vector<std::uint64_t> totals;  ///< totals[i] is the sum of the first i sectors
    std::list<std::size_t>::iterator place;
  };
  Result<const std::vector<std::uint64_t>*> totals(std::size_t write);

  std::shared_ptr<const RunHistory> run_;
  model::DeviceId device_;
  std::unordered_map<std::size_t, CachedTotals> kept_;
  /// The writes that have payloads, by location (RecordedWrite::bytes_at).
  std::vector<std::size_t> by_location_;
  std::list<std::size_t> by_use_;  ///< most recently used first
  std::size_t kept_totals_ = 0;
};

/// Content digests of one device, computed from the host's writes.
class WrittenContent {
 public:
  WrittenContent(std::shared_ptr<const RunHistory> run, model::DeviceId device)
      : run_(run), device_(device), sums_(std::move(run), device) {}

  const RunHistory& run() const { return *run_; }
  model::DeviceId device() const { return device_; }
  WriteSums& sums() { return sums_; }
  /// Returns the digest of the content that includes all writes submitted before the event.
  Result<std::uint64_t> all(std::uint64_t event);

 private:
  /// A period during which the power was on.
  struct PowerCycle {
    std::size_t first = 0;  ///< index of the period's first write
    /// after[i]: digest of the content after the writes [first, first + i)
    std::vector<std::uint64_t> after;
    std::optional<StateImage> rolled;  ///< the image whose digest is the last element of `after`
  };

  std::shared_ptr<const RunHistory> run_;
  model::DeviceId device_;
  WriteSums sums_;
  std::map<std::uint64_t, PowerCycle> power_cycles_;  ///< the key is the cycle's first event
};

/// An unflushed write of which only a part is present.
struct TornPart {
  std::size_t unflushed = 0;  ///< index into the unflushed writes
  std::uint32_t first = 0, count = 0;
};

/// Computes the content digests of crash states at one cut. Supports only states that consist of
/// the host's writes, not states of the physical media.
class CutContent {
 public:
  enum class Queries : std::uint8_t {
    many,
    /// digest() will be called only for the state in which all unflushed writes are lost.
    lose_all
  };
  static Result<CutContent> create(WrittenContent& content, std::uint64_t event,
                                   std::optional<model::RequestId> lies_from, Queries use);

  /// Returns indices into writes().
  const std::vector<std::size_t>& unflushed() const { return unflushed_; }
  /// Returns the digest of a state. `kept` has one flag for each unflushed write, set if the state
  /// keeps the write.
  Result<std::uint64_t> digest(std::span<const std::uint8_t> kept,
                               std::optional<TornPart> torn = {});

 private:
  struct Atom {
    std::uint64_t lba = 0, sectors = 0;
    std::uint32_t first_writer = 0, writers = 0;  ///< range in writers_
    /// the atom's content sum in the state whose digest is anchor_
    std::uint64_t anchored = 0;
    /// The atom's content sum if none of its writers is present; unset until needed.
    std::optional<std::uint64_t> below;
  };

  explicit CutContent(WrittenContent& content) : content_(&content) {}
  Result<void> find_atoms(const std::vector<std::size_t>& taking_part,
                          const std::vector<std::uint8_t>& wanted);
  Result<void> anchor(std::uint64_t event, bool on_all);
  Result<std::uint64_t> value(const Atom& atom, std::uint64_t lba, std::uint64_t sectors,
                              std::uint32_t writers);
  Result<std::uint64_t> below(std::uint64_t lba, std::uint64_t sectors);

  WrittenContent* content_;
  std::vector<std::size_t> unflushed_;
  std::size_t first_ = 0;            ///< first write described by fates_
  std::vector<std::uint8_t> fates_;  ///< for each write: 1 if it is present in the current state
  std::optional<TornPart> torn_;     ///< torn write of the current state
  std::vector<Atom> atoms_;
  std::vector<std::size_t> writers_;  ///< writers of each atom, in submission order
  std::optional<StateImage> before_;  ///< the image before the first unflushed write
  std::uint64_t anchor_ = 0;
};

/// Content digests of every medium and every battery-backed cache at every event, computed from
/// MEDIA events.
class MediaContent {
 public:
  /// Reads the recording once more, including its payloads. Fails if there are no MEDIA events, or
  /// if a payload was not recorded.
  static Result<MediaContent> load(const RunHistory& run);

  struct Step {
    std::uint64_t event = 0;   ///< ordinal of the MEDIA event
    std::uint64_t digest = 0;  ///< digest of the medium after the event
  };
  const std::vector<Step>& steps(model::DeviceId device) const { return steps_[device]; }
  std::uint64_t digest(model::DeviceId device, std::uint64_t event) const;

 private:
  std::vector<std::vector<Step>> steps_;
  std::vector<std::uint64_t> before_;  ///< digests of the media before the first event
};

}  // namespace headcrash::states
