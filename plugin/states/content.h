#pragma once
// Content digests of many states of one run, each for the price of its differences (digest.h).
//
//   writes       1   2   3   4   5   6   7   8  | cut      all(8): carried on from write to write, once a run
//   unflushed            *       *   *       *
//   sectors      ....[ a ][ b ][ c ]....[ d ][ e ]....    atoms: runs of sectors with the same writers
//                      3   3,6   6        5   5,8         among the unflushed writes
//
//   digest(state) = all(8) + for each atom: sum(bytes of its last writer that is there)
//                                         - sum(bytes of its last writer)
//
// so that a subset costs one step for each atom, some tens as a rule, and no byte of the recording
// is looked at more than a few times. Sums of every write's sectors are kept as running totals (any
// part of a write is one subtraction); what is kept is bounded. When a state has fewer writes
// behind its first unflushed one than without it (a cache that lied for long), the same is done
// from the other side, from what was there before that one.

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

/// Sums over the sectors of the writes of one device.
class WriteSums {
 public:
  WriteSums(std::shared_ptr<const RunHistory> run, model::DeviceId device)
      : run_(std::move(run)), device_(device) {}
  /// Sectors [lba, lba + sectors) of a write, which has them.
  Result<std::uint64_t> of(std::size_t write, std::uint64_t lba, std::uint64_t sectors);

 private:
  struct Kept {
    std::vector<std::uint64_t> totals;  ///< totals[i]: of the first i sectors
    std::list<std::size_t>::iterator place;
  };
  Result<const std::vector<std::uint64_t>*> totals(std::size_t write);

  std::shared_ptr<const RunHistory> run_;
  model::DeviceId device_;
  std::unordered_map<std::size_t, Kept> kept_;
  std::list<std::size_t> by_use_;  ///< the last used first
  std::size_t kept_totals_ = 0;
};

/// Digests of one device by what the host wrote.
class WrittenContent {
 public:
  WrittenContent(std::shared_ptr<const RunHistory> run, model::DeviceId device)
      : run_(run), device_(device), sums_(std::move(run), device) {}

  const RunHistory& run() const { return *run_; }
  model::DeviceId device() const { return device_; }
  WriteSums& sums() { return sums_; }
  /// Everything that was submitted before the event is there.
  Result<std::uint64_t> all(std::uint64_t event);

 private:
  /// A time in which the power stayed on.
  struct PowerCycle {
    std::size_t first = 0;             ///< write
    std::vector<std::uint64_t> after;  ///< after[i]: with writes [first, first + i)
    std::optional<StateImage> rolled;  ///< the image after the last of them
  };

  std::shared_ptr<const RunHistory> run_;
  model::DeviceId device_;
  WriteSums sums_;
  std::map<std::uint64_t, PowerCycle> power_cycles_;  ///< by first event
};

/// An unflushed write that is there in part.
struct TornPart {
  std::size_t unflushed = 0;  ///< which of them
  std::uint32_t first = 0, count = 0;
};

/// Digests of the states by writes at one cut.
class CutContent {
 public:
  enum class Use : std::uint8_t {
    many,
    lose_all
  };  ///< lose_all: only digest() of nothing kept will be asked for
  static Result<CutContent> create(WrittenContent& content, std::uint64_t event,
                                   std::optional<model::RequestId> lies_from, Use use);

  const std::vector<std::size_t>& unflushed() const {
    return unflushed_;
  }  ///< indices into writes()
  /// `kept`: one for each unflushed write.
  Result<std::uint64_t> digest(std::span<const std::uint8_t> kept,
                               std::optional<TornPart> torn = {});

 private:
  struct Atom {
    std::uint64_t lba = 0, sectors = 0;
    std::uint32_t first_writer = 0, writers = 0;  ///< in writers_
    std::uint64_t anchored = 0;                   ///< what the anchor has here
    std::optional<std::uint64_t> below;           ///< what was there before any of its writers
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
  std::size_t first_ = 0;            ///< of the writes that fates_ are about
  std::vector<std::uint8_t> fates_;  ///< whether each of them is there
  std::optional<TornPart> torn_;     ///< of the state at hand
  std::vector<Atom> atoms_;
  std::vector<std::size_t> writers_;  ///< of each atom, by submission
  std::optional<StateImage> before_;  ///< the image before the first unflushed write
  std::uint64_t anchor_ = 0;
};

/// Digests of every medium, and of every battery-backed cache, at every event, by MEDIA events.
class MediaContent {
 public:
  /// Reads the recording once more, with its bytes. Errors: no MEDIA events; bytes that were not
  /// recorded.
  static Result<MediaContent> load(const RunHistory& run);

  struct Step {
    std::uint64_t event = 0;   ///< ordinal of the MEDIA event
    std::uint64_t digest = 0;  ///< of the medium after it
  };
  const std::vector<Step>& steps(model::DeviceId device) const { return steps_[device]; }
  std::uint64_t digest(model::DeviceId device, std::uint64_t event) const;

 private:
  std::vector<std::vector<Step>> steps_;
  std::vector<std::uint64_t> before_;  ///< digests of the media before the first event
};

}  // namespace headcrash::states
