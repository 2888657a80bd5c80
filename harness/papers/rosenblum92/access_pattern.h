#pragma once
// Selects the file to overwrite next: the three generators of Rosenblum 1992, section 5.3.2.
//
//   uniform        every file is equally likely
//   hot-and-cold   the fraction `hot_references` of the writes goes to the first files, which are
//                  the fraction `hot_files` of all files; within each group every file is equally
//                  likely
//   exponential    file number / number of files has an exponential distribution with mean `mean`
//
// The dissertation prints a mean of 0.02172 and says that 90 % of the references then go to 2 % of
// the data. However, 90 % of the references go to 5 % of the data: 1 - e^(-.05 / .02172) = .90. For
// 90 % of the references to go to 2 % of the data, the mean must be 0.02 / ln 10 = 0.00869. Both
// means are available.
//
// An exponential variate is drawn without calculating a logarithm, which would take half of a
// simulation's time. With probability 1/2 the variate is below the median m and follows the
// truncated exponential distribution, whose inverse is tabulated. Otherwise it is m plus another
// variate, because the distribution is memoryless. The number of times that m is added is the
// number of leading zeros of a random number.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugin/base/random.h"

namespace headcrash::experiment::rosenblum92 {

inline constexpr double kMeanAsPrinted = 0.02172;
/// The mean for which the dissertation's statement holds: 90 % of the references go to 2 % of the
/// data. It is 0.02 / ln 10.
inline constexpr double kMeanAsNamed = 0.0086859;

struct AccessPattern {
  enum class Kind : std::uint8_t { uniform, hot_and_cold, exponential };
  Kind kind = Kind::uniform;
  double hot_files = .1;       ///< number of hot files, as a fraction of all files
  double hot_references = .9;  ///< fraction of the writes that go to hot files
  double mean = kMeanAsPrinted;

  std::string name() const;  ///< "hot-and-cold 90->10"
  bool operator==(const AccessPattern&) const = default;
};

inline constexpr AccessPattern kUniform{};
inline constexpr AccessPattern kHotCold90To10{.kind = AccessPattern::Kind::hot_and_cold};
inline constexpr AccessPattern kHotCold90To1{.kind = AccessPattern::Kind::hot_and_cold,
                                             .hot_files = .01};
inline constexpr AccessPattern kExponentialAsPrinted{.kind = AccessPattern::Kind::exponential};
inline constexpr AccessPattern kExponentialAsNamed{.kind = AccessPattern::Kind::exponential,
                                                   .mean = kMeanAsNamed};

/// Generates the sequence of files to overwrite. The same seed yields the same sequence on every
/// host.
class AccessGenerator {
 public:
  /// REQUIRES: 1 <= files <= 2^31; if the pattern is hot-and-cold, both groups contain a file.
  AccessGenerator(const AccessPattern& pattern, std::uint32_t files, std::uint64_t seed);

  /// Fills `out` with the numbers of the next files, from 0 to `files` - 1.
  void next(std::span<std::uint32_t> out);

  /// Returns the limit below which files are hot. In a hot-and-cold pattern, the hot files are
  /// those of the hot group. In an exponential pattern, they are the files that receive 90 % of the
  /// references. In a uniform pattern, they are half of all files.
  std::uint32_t hot_limit() const { return hot_limit_; }

 private:
  void next_exponential(std::span<std::uint32_t> out);

  AccessPattern pattern_;
  std::uint32_t files_;
  std::uint32_t hot_limit_ = 0;
  std::uint64_t hot_threshold_ = 0;  ///< compared with 32 random bits
  /// Median of the exponential distribution, converted to a file number.
  double median_ = 0;
  /// Table of the inverse of the exponential distribution function, as file numbers, for evenly
  /// spaced probabilities from 0 to 1/2.
  std::vector<double> inverse_;
  Random random_;
};

}  // namespace headcrash::experiment::rosenblum92
