#pragma once
// Estimates the remaining time of a run from its completed trials.

#include <map>
#include <optional>

namespace headcrash::run {

/// Estimates the remaining time. The expected duration of a trial is the mean of the completed
/// trials in its cell or, if its cell has no completed trial, of all completed trials.
template <typename Cell>
class TimeLeft {
 public:
  void plan(const Cell& cell, std::size_t trials) { left_[cell] = trials; }
  void add(const Cell& cell) { ++left_[cell]; }
  void done(const Cell& cell, double wall_ms) {
    spent_[cell].add(wall_ms);
    all_.add(wall_ms);
    if (std::size_t& left = left_[cell]; left > 0) --left;
  }
  /// Returns the estimate; nullopt before the first trial has ended.
  std::optional<double> seconds() const {
    if (all_.trials == 0) return std::nullopt;
    double work_ms = 0;
    for (const auto& [cell, trials] : left_) {
      const auto known = spent_.find(cell);
      work_ms +=
          (known == spent_.end() ? all_ : known->second).mean_ms() * static_cast<double>(trials);
    }
    return work_ms / 1000;
  }

 private:
  struct Spent {
    std::size_t trials = 0;
    double wall_ms = 0;
    void add(double ms) {
      ++trials;
      wall_ms += ms;
    }
    double mean_ms() const { return wall_ms / static_cast<double>(trials); }
  };
  std::map<Cell, Spent> spent_;
  Spent all_;
  std::map<Cell, std::size_t> left_;
};

}  // namespace headcrash::run
