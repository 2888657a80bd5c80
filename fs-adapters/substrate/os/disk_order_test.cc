// Tests the ordering rules (disk_order.h) by comparison with a naive implementation that checks
// every pair of requests.
//
// After every step, the ready requests must be exactly those that the rules allow.
#include "fs-adapters/substrate/os/disk_order.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "plugin/base/random.h"

namespace headcrash::os {
namespace {

using OrderKind = DiskOrder::Kind;
using OrderOutcome = DiskOrder::Outcome;

struct OrderRules {
  FlagMeaning flag = FlagMeaning::ignore;
  bool reads_bypass = false;
};

/// A simple implementation of DiskOrder's rules, which keeps all requests. DiskOrder must give the
/// same results.
class NaiveOrder {
 public:
  explicit NaiveOrder(const OrderRules& rules) : rules_(rules) {}

  struct Request {
    OrderKind kind = OrderKind::read;
    std::uint64_t lba = 0, end = 0;
    bool flagged = false, barrier = false, complete = false, doomed = false;
    std::vector<RequestId> after;
  };

  void add(const Request& request) { all_.push_back(request); }
  Request& operator[](RequestId id) { return all_[id - 1]; }
  RequestId newest() const { return all_.size(); }

  bool shares_sectors(RequestId i, RequestId j) {
    const Request &a = (*this)[i], &b = (*this)[j];
    return a.lba < b.end && b.lba < a.end &&
           (a.kind != OrderKind::read || b.kind != OrderKind::read);
  }
  bool sectors_free(RequestId j) {
    for (RequestId i = 1; i < j; ++i)
      if (!(*this)[i].complete && shares_sectors(i, j)) return false;
    return true;
  }
  /// Returns true if request j must wait for request i, because of a flag, a barrier or j's chain,
  /// or because j is a flush.
  bool ordered_before(RequestId i, RequestId j) {
    const Request &a = (*this)[i], &b = (*this)[j];
    if (b.kind == OrderKind::flush) return true;
    if (std::find(b.after.begin(), b.after.end(), i) != b.after.end()) return true;
    if (a.barrier && b.kind == OrderKind::write) return true;
    if (b.kind == OrderKind::read && rules_.reads_bypass) return false;
    switch (rules_.flag) {
      case FlagMeaning::full:
        return a.flagged || b.flagged;
      case FlagMeaning::back:
        for (RequestId m = i; m < j; ++m)
          if ((*this)[m].flagged) return true;
        return false;
      case FlagMeaning::part:
        return a.flagged;
      case FlagMeaning::ignore:
        return false;
    }
    return false;
  }
  bool ready(RequestId j) {
    if ((*this)[j].complete || (*this)[j].doomed || !sectors_free(j)) return false;
    for (RequestId i = 1; i < j; ++i)
      if (!(*this)[i].complete && ordered_before(i, j)) return false;
    return true;
  }
  std::set<RequestId> all_ready() {
    std::set<RequestId> ids;
    for (RequestId j = 1; j <= newest(); ++j)
      if (ready(j)) ids.insert(j);
    return ids;
  }
  /// Completes a request. A failed write dooms all pending later writes whose chain names it, and
  /// those that its flag or barrier has held back. If the failed write was doomed itself, later
  /// writes to its sectors are doomed too.
  void complete(RequestId id, OrderOutcome outcome) {
    (*this)[id].complete = true;
    if (outcome == OrderOutcome::failed && (*this)[id].kind == OrderKind::write) {
      const Request& failed = (*this)[id];
      for (RequestId j = id + 1; j <= newest(); ++j) {
        Request& b = (*this)[j];
        if (b.kind != OrderKind::write || b.complete) continue;
        const bool flagged = failed.flagged && rules_.flag != FlagMeaning::ignore;
        const bool named = std::find(b.after.begin(), b.after.end(), id) != b.after.end();
        const bool holds_it = failed.doomed && shares_sectors(id, j);
        if (flagged || named || failed.barrier || holds_it) b.doomed = true;
      }
    }
    for (RequestId j = 1; j <= newest(); ++j) {
      Request& b = (*this)[j];
      if (b.doomed && !b.complete && sectors_free(j)) complete(j, OrderOutcome::failed);
    }
  }

 private:
  OrderRules rules_;
  std::vector<Request> all_;
};

struct OrderSums {
  std::uint64_t steps = 0, held = 0, ready_most = 0, doomed = 0;
};

class OrderHistory {
 public:
  OrderHistory(const OrderRules& rules, std::uint64_t seed)
      : order_(rules.flag, rules.reads_bypass), naive_(rules), random_(seed) {}

  void run(OrderSums& sums) {
    for (int step = 0; step < 250; ++step) {
      const bool adds = ready_.empty() || random_.below(5) < 3;
      if (adds)
        add();
      else
        complete_one();
      ASSERT_TRUE(same());
      ++sums.steps;
      sums.ready_most = std::max<std::uint64_t>(sums.ready_most, ready_.size());
      sums.held += order_.newest() - completed_ - ready_.size();
    }
    while (!ready_.empty()) {
      complete_one();
      ASSERT_TRUE(same());
    }
    // No request is ready. A request that is still pending now would never complete.
    EXPECT_EQ(completed_, order_.newest());
    EXPECT_EQ(order_.oldest(), order_.newest() + 1);
    sums.doomed += doomed_;
  }

 private:
  void add() {
    NaiveOrder::Request request;
    request.kind = random_.below(3) == 0 ? OrderKind::read : OrderKind::write;
    if (random_.below(40) == 0) request.kind = OrderKind::flush;
    if (request.kind != OrderKind::flush) {
      request.lba = random_.below(60);
      request.end = request.lba + 1 + random_.below(random_.below(8) == 0 ? 30 : 4);
    } else {
      request.lba = request.end = 0;
    }
    if (request.kind == OrderKind::write) {
      request.flagged = random_.below(6) == 0;
      request.barrier = random_.below(30) == 0;
      for (auto names = random_.below(3); names > 0 && order_.newest() > 0 && random_.below(2) == 0;
           --names)
        request.after.push_back(1 + random_.below(order_.newest()));
    }
    naive_.add(request);
    Ordering ordering;
    ordering.flagged = request.flagged;
    ordering.barrier = request.barrier;
    ordering.after = request.after;
    // Removes completed requests from the chain in the naive implementation, because they have no
    // effect.
    auto& names = naive_[naive_.newest()].after;
    names.erase(
        std::remove_if(names.begin(), names.end(), [&](RequestId i) { return naive_[i].complete; }),
        names.end());
    order_.add(request.kind, request.lba, static_cast<std::uint32_t>(request.end - request.lba),
               ordering, changes_);
    take();
  }

  void complete_one() {
    const RequestId id = ready_[random_.below(ready_.size())];
    ready_.erase(std::find(ready_.begin(), ready_.end(), id));
    const OrderOutcome outcome = random_.below(12) == 0 ? OrderOutcome::failed : OrderOutcome::done;
    order_.complete(id, outcome, changes_);
    naive_.complete(id, outcome);
    ++completed_;
    take();
  }

  void take() {
    ready_.insert(ready_.end(), changes_.ready.begin(), changes_.ready.end());
    completed_ += changes_.failed.size();
    doomed_ += changes_.failed.size();
    changes_ = {};
  }

  bool same() {
    const std::set<RequestId> mine(ready_.begin(), ready_.end());
    if (mine.size() != ready_.size()) return false;  // a request became ready twice
    for (RequestId id = 1; id <= naive_.newest(); ++id)
      if (order_.pending(id) == naive_[id].complete) return false;
    return mine == naive_.all_ready();
  }

  DiskOrder order_;
  NaiveOrder naive_;
  Random random_;
  DiskOrder::Changes changes_;
  std::vector<RequestId> ready_;
  std::uint64_t completed_ = 0;
  std::uint64_t doomed_ = 0;
};

class DiskOrderRules : public ::testing::TestWithParam<std::tuple<FlagMeaning, bool>> {};

TEST_P(DiskOrderRules, ReadyRequestsMatchTheRules) {
  const OrderRules rules{std::get<0>(GetParam()), std::get<1>(GetParam())};
  OrderSums sums;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    OrderHistory(rules, seed).run(sums);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(sums.held, sums.steps);  // otherwise the test has hardly exercised the rules
  EXPECT_GT(sums.ready_most, 3U);
  EXPECT_GT(sums.doomed, 0U);
}

INSTANTIATE_TEST_SUITE_P(AllMeanings, DiskOrderRules,
                         ::testing::Combine(::testing::Values(FlagMeaning::full, FlagMeaning::back,
                                                              FlagMeaning::part,
                                                              FlagMeaning::ignore),
                                            ::testing::Bool()));

/// Issues a plain write, a flagged write, another plain write and a read, none of which overlap.
/// Returns the ids of those that are ready.
std::vector<RequestId> ready_of_four(FlagMeaning flag, bool reads_bypass) {
  DiskOrder order(flag, reads_bypass);
  DiskOrder::Changes changes;
  order.add(OrderKind::write, 0, 1, {}, changes);
  order.add(OrderKind::write, 10, 1, {.flagged = true}, changes);
  order.add(OrderKind::write, 20, 1, {}, changes);
  order.add(OrderKind::read, 30, 1, {}, changes);
  return changes.ready;
}

TEST(DiskOrder, EachFlagMeaningReleasesTheExpectedRequests) {
  using Ids = std::vector<RequestId>;
  EXPECT_EQ(ready_of_four(FlagMeaning::full, false), (Ids{1}));
  EXPECT_EQ(ready_of_four(FlagMeaning::back, false), (Ids{1, 2}));
  EXPECT_EQ(ready_of_four(FlagMeaning::part, false), (Ids{1, 2}));
  EXPECT_EQ(ready_of_four(FlagMeaning::ignore, false), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(ready_of_four(FlagMeaning::full, true), (Ids{1, 4}));
  EXPECT_EQ(ready_of_four(FlagMeaning::part, true), (Ids{1, 2, 4}));
}

TEST(DiskOrder, PartSemanticsReleaseRequestsThatBackSemanticsHold) {
  for (const FlagMeaning flag : {FlagMeaning::back, FlagMeaning::part}) {
    DiskOrder order(flag, false);
    DiskOrder::Changes changes;
    order.add(OrderKind::write, 0, 1, {}, changes);
    const RequestId flagged = order.add(OrderKind::write, 10, 1, {.flagged = true}, changes);
    const RequestId after = order.add(OrderKind::write, 20, 1, {}, changes);
    changes = {};
    order.complete(flagged, OrderOutcome::done, changes);
    const std::vector<RequestId> expected =
        flag == FlagMeaning::part ? std::vector{after} : std::vector<RequestId>{};
    EXPECT_EQ(changes.ready, expected);
  }
}

TEST(DiskOrder, ALongChainFailsWithoutRecursion) {
  DiskOrder order(FlagMeaning::ignore, false);
  DiskOrder::Changes changes;
  constexpr RequestId kMany = 60'000;
  for (RequestId id = 1; id <= kMany; ++id) {
    const std::vector<RequestId> after{id - 1};
    order.add(OrderKind::write, id * 8, 8,
              {.after = id == 1 ? std::span<const RequestId>() : after}, changes);
  }
  EXPECT_EQ(changes.ready.size(), 1U);
  order.complete(1, OrderOutcome::failed, changes);
  EXPECT_EQ(changes.failed.size(), kMany - 1);
  EXPECT_EQ(order.oldest(), kMany + 1);
}

}  // namespace
}  // namespace headcrash::os
