#pragma once
// A random history of requests and power cuts against the rules of device.h, for devices that serve requests
// in any order they like. Tests only.
//
//   versions of a sector   one for each write, write_zeroes and trim that touched it; v precedes w when v was
//                          complete before w was submitted
//   a read may return      any version but those that precede one that was complete when the read was
//   submitted a cut may leave        any version but those that precede a promised one; where the device may
//   tear, a
//                          prefix of one such and the rest of another
//   promised               complete and durable at once (fua; the device's own rule), or complete before a
//                          flush was submitted that is complete
//
// What a read saw while nothing was being written to a sector is from then on its only version: a device that
// changes its mind is found. What is left after a cut is read through the device itself, which may still be
// at its own recovery. A failure prints its seed; the history follows from it alone.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "plugin/model/test_bench.h"

namespace headcrash::model::bench {

struct HistoryRules {
  std::uint64_t sectors = 0;
  std::uint32_t longest = 12, long_one = 70;  ///< sectors of a request, and of one in twenty
  bool trim = false;
  bool may_tear = false;
  std::function<bool(std::uint64_t lba)> durable_at_ack = [](std::uint64_t) { return false; };
  TimeNs pause_ns = 30 * kMillisecondNs;  ///< at most, between requests
  TimeNs off_ns = 0;                      ///< at most, between a cut and the power's return
  std::size_t depth = 4;
};

class AnyHistory final : public Initiator {
 public:
  using Make = std::function<std::unique_ptr<Device>(Simulation&, Witness&)>;

  AnyHistory(std::uint64_t seed, HistoryRules rules, const Make& make)
      : rules_(std::move(rules)), random_(seed), machine_(witness_), versions_(rules_.sectors) {
    auto made = make(machine_.simulation(), witness_);
    device_ = made.get();
    machine_.add_device("device", std::move(made));
    for (auto& v : versions_) v.push_back({0, Bytes(kSectorBytes), 0, 0, true});
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      const auto dice = pick(1000);
      if (dice < 450 && flying_.size() < rules_.depth) {
        submit();
      } else if (dice < 900) {
        machine_.simulation().run_next();
      } else if (dice < 985) {
        run_for(static_cast<TimeNs>(pick(static_cast<std::uint64_t>(rules_.pause_ns))));
      } else {
        cut();
      }
    }
    drain();
    EXPECT_TRUE(flying_.empty()) << "every request is answered";
    if (!testing::Test::HasFailure()) cut();
  }

  void drain() {
    while (machine_.simulation().run_next()) {
    }
  }
  void run_for(TimeNs ns) { machine_.simulation().run_until(machine_.simulation().now() + ns); }
  Device& device() { return *device_; }
  const LogWitness& witness() const { return witness_; }
  std::uint64_t lost_versions() const { return lost_; }  ///< sectors that were not left as last submitted
  std::uint64_t torn() const { return torn_; }

 private:
  using Bytes = std::vector<std::byte>;
  static constexpr std::uint64_t kOpen = ~std::uint64_t{0};
  struct Version {
    RequestId write = 0;
    Bytes bytes;
    std::uint64_t begun = 0, complete = kOpen;  ///< in the order of all submissions and completions
    bool promised = false;
    bool precedes(const Version& other) const { return this != &other && complete < other.begun; }
  };
  struct Flying {
    Request request;
    Bytes buffer;
    std::uint64_t begun = 0;
  };

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  static bool writes(Op op) { return op == Op::write || op == Op::write_zeroes || op == Op::trim; }

  void submit() {
    auto flying = std::make_unique<Flying>();
    Request& r = flying->request;
    const auto dice = pick(100);
    r.op = dice < 35   ? Op::read
           : dice < 80 ? Op::write
           : dice < 86 ? Op::write_zeroes
           : dice < 90 ? Op::trim
                       : Op::flush;
    if (r.op == Op::trim && !rules_.trim) r.op = Op::flush;
    if (r.op != Op::flush) {
      r.sectors = static_cast<std::uint32_t>(pick(20) == 0 ? rules_.long_one : 1 + pick(rules_.longest));
      // Half of the requests meet in a small part.
      r.lba = pick(2) == 0 ? pick(rules_.sectors / 8) : pick(rules_.sectors - r.sectors + 1);
      flying->buffer.resize(std::size_t{r.sectors} * kSectorBytes);
    }
    if (r.op == Op::write) {
      ++stamp_;
      for (std::size_t i = 0; i < flying->buffer.size(); i += sizeof stamp_)
        std::memcpy(flying->buffer.data() + i, &stamp_, sizeof stamp_);
      r.data = flying->buffer;
    }
    r.fua = (r.op == Op::write || r.op == Op::write_zeroes) && pick(6) == 0;
    if (r.op == Op::read) r.into = flying->buffer;
    flying->begun = ++ticks_;
    Flying& kept = *flying;
    const RequestId id = next_id();
    flying_.emplace(id, std::move(flying));
    if (writes(r.op)) {
      for (std::uint32_t i = 0; i < r.sectors; ++i) {
        const auto from = kept.buffer.begin() + static_cast<std::ptrdiff_t>(i) * kSectorBytes;
        versions_[r.lba + i].push_back({id, Bytes(from, from + kSectorBytes), kept.begun, kOpen, false});
      }
    }
    const RequestId given = machine_.submit(0, r, *this);
    EXPECT_EQ(given, id);
  }

  /// The id that the machine will give next; devices take ids too, so ask for one and know the next.
  RequestId next_id() { return machine_.simulation().new_request_id() + 1; }

  void completed(const Completion& completion) override {
    const auto node = flying_.extract(completion.id);
    ASSERT_FALSE(node.empty());
    const Flying& flying = *node.mapped();
    const Request& r = flying.request;
    if (completion.status != Status::ok) {
      EXPECT_EQ(completion.status, Status::power_lost);
      return;
    }
    ++ticks_;
    if (r.op == Op::read) {
      for (std::uint32_t i = 0; i < r.sectors; ++i) check_read(flying, i);
    } else if (r.op == Op::flush) {
      for (auto& versions : versions_) {
        for (Version& v : versions) v.promised |= v.complete < flying.begun;
      }
    } else {
      for (std::uint64_t s = r.lba; s < r.lba + r.sectors; ++s) {
        for (Version& v : versions_[s]) {
          if (v.write != completion.id) continue;
          v.complete = ticks_;
          v.promised = r.fua || rules_.durable_at_ack(s);
        }
      }
    }
  }

  void check_read(const Flying& flying, std::uint32_t i) {
    const std::uint64_t sector = flying.request.lba + i;
    const auto from = flying.buffer.begin() + static_cast<std::ptrdiff_t>(i) * kSectorBytes;
    const Bytes seen(from, from + kSectorBytes);
    auto& all = versions_[sector];
    const auto passed = [&](const Version& v) {
      return std::any_of(all.begin(), all.end(),
                         [&](const Version& w) { return w.complete < flying.begun && v.precedes(w); });
    };
    bool found = false;
    bool quiet = true;
    for (const Version& v : all) {
      found = found || (v.bytes == seen && !passed(v));
      quiet = quiet && v.complete < flying.begun;
    }
    EXPECT_TRUE(found) << "sector " << sector << " read as something it was not";
    if (!found || !quiet) return;
    // What was seen is the last of all that were in flight together (unless two of them look alike).
    Version* last = nullptr;
    std::uint64_t others_complete = 0;
    for (Version& v : all) {
      if (v.bytes != seen || passed(v)) {
        others_complete = std::max(others_complete, v.complete);
      } else if (last != nullptr) {
        return;
      } else {
        last = &v;
      }
    }
    if (all.size() > 1) last->begun = std::max(last->begun, others_complete + 1);
  }

  bool may_be_left(std::uint64_t sector, const Bytes& seen) {
    std::vector<const Version*> allowed;
    const auto& all = versions_[sector];
    for (const Version& v : all) {
      if (std::none_of(all.begin(), all.end(), [&](const Version& w) { return w.promised && v.precedes(w); }))
        allowed.push_back(&v);
    }
    for (const Version* v : allowed) {
      if (v->bytes == seen) return true;
    }
    ++torn_;
    if (!rules_.may_tear) return false;
    for (const Version* fresh : allowed) {
      const auto prefix = std::mismatch(seen.begin(), seen.end(), fresh->bytes.begin()).first - seen.begin();
      for (const Version* old : allowed) {
        if (std::equal(seen.begin() + prefix, seen.end(), old->bytes.begin() + prefix)) return true;
      }
    }
    return false;
  }

  void cut() {
    machine_.power_cut();
    if (rules_.off_ns > 0) run_for(static_cast<TimeNs>(pick(static_cast<std::uint64_t>(rules_.off_ns))));
    if (pick(2) == 0) drain();  // else the power comes back before the news of its loss
    machine_.power_on();
    run_for(0);
    EXPECT_TRUE(flying_.empty()) << "every request is answered";
    Bytes all(rules_.sectors * kSectorBytes);
    Host host;
    Request read;
    read.sectors = static_cast<std::uint32_t>(rules_.sectors);
    read.into = all;
    const RequestId id = machine_.submit(0, read, host);
    while (!host.has(id) && machine_.simulation().run_next()) {
    }
    ASSERT_EQ(host.done[id].status, Status::ok);
    for (std::uint64_t s = 0; s < rules_.sectors; ++s) {
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(s * kSectorBytes);
      const Bytes seen(from, from + kSectorBytes);
      EXPECT_TRUE(may_be_left(s, seen)) << "sector " << s << " of " << versions_[s].size() << " versions";
      lost_ += seen != versions_[s].back().bytes ? 1 : 0;
      versions_[s].assign(1, {0, seen, 0, 0, true});
    }
    ticks_ = 1;
  }

  HistoryRules rules_;
  std::mt19937_64 random_;
  LogWitness witness_;
  Machine machine_;
  Device* device_ = nullptr;
  std::vector<std::vector<Version>> versions_;
  std::map<RequestId, std::unique_ptr<Flying>> flying_;
  std::uint64_t ticks_ = 1, stamp_ = 0, lost_ = 0, torn_ = 0;
};

}  // namespace headcrash::model::bench
