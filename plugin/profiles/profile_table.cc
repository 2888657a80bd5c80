#include "plugin/profiles/profile_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "plugin/base/nearest.h"

namespace headcrash::profiles {
namespace {

using base::StrictTable;

constexpr double kTimeMax = 1e6;  ///< maximum value, in the unit of the key
constexpr std::uint32_t kSectorsPerKib = 2;
constexpr std::array<std::string_view, 5> kOriginKinds = {"measured", "data-sheet", "paper",
                                                          "estimate", "calibration"};

model::TimeNs nanoseconds(double value, model::TimeNs unit) {
  return std::llround(value * static_cast<double>(unit));
}

}  // namespace

void ReadErrors::add(Error error) {
  if (first) return;
  first = std::move(error);
  if (first->hint.empty()) first->hint = "correct it";
}

void ReadErrors::add(std::string_view key, std::string problem, std::string hint) {
  add(Error{fmt::format("{}{}", place, key), std::move(problem), std::move(hint)});
}

std::string ProfileTable::full(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

ProfileTable ProfileTable::open(const std::string& name) {
  std::optional<StrictTable> found;
  if (require(name)) {
    auto table = table_.table(name);
    if (table)
      found = *std::move(table);
    else
      errors_->add(table.error());
  }
  return {found ? *std::move(found) : table_.elements(""), full(name), *errors_};
}

std::vector<ProfileTable> ProfileTable::open_list(const std::string& name) {
  std::vector<ProfileTable> list;
  if (!require(name)) return list;
  auto tables = table_.tables(name);
  if (!tables) errors_->add(tables.error());
  for (std::size_t i = 0; tables && i < tables->size(); ++i)
    list.push_back({std::move((*tables)[i]), fmt::format("{}[{}]", full(name), i), *errors_});
  return list;
}

bool ProfileTable::has(const std::string& key) {
  asked_.push_back(key);
  return table_.has(key);
}

bool ProfileTable::require(const std::string& key) {
  if (has(key)) return true;
  for (const std::string& other : table_.keys()) {
    // Reports an unknown key that resembles the missing key as misspelt.
    if (!base::nearest(other, std::array{key}).empty())
      errors_->add(full(other), "unknown key", base::suggest(other, std::array{key}));
  }
  errors_->add(full(key), "is missing", "add it; all keys of a profile are required");
  return false;
}

template <typename Value, typename... Bounds>
Value ProfileTable::take(const std::string& key, Value otherwise, const Bounds&... bounds) {
  if (!require(key)) return otherwise;
  Value value = otherwise;
  const auto taken = table_.take(key, value, bounds...);
  if (taken) return value;
  errors_->add(taken.error());
  return otherwise;
}

std::uint64_t ProfileTable::integer(const std::string& key, std::uint64_t min, std::uint64_t max) {
  const StrictTable::Bounds bounds{static_cast<std::int64_t>(min), static_cast<std::int64_t>(max)};
  return static_cast<std::uint64_t>(take(key, bounds.least, bounds));
}

std::uint32_t ProfileTable::integer32(const std::string& key, std::uint32_t min,
                                      std::uint32_t max) {
  return static_cast<std::uint32_t>(integer(key, min, max));
}

double ProfileTable::number(const std::string& key, double min, double max) {
  return take(key, min, min, max);
}

bool ProfileTable::boolean(const std::string& key) {
  return take(key, false);
}

std::string ProfileTable::text(const std::string& key) {
  std::string word = take(key, std::string());
  if (word.empty()) errors_->add(full(key), "must be a string", "put it in quotes");
  return word;
}

std::vector<std::string> ProfileTable::texts(const std::string& key) {
  return take(key, std::vector<std::string>());
}

std::vector<std::uint32_t> ProfileTable::integers(const std::string& key, std::uint32_t max) {
  const auto list = take(key, std::vector<std::int64_t>(), StrictTable::Bounds{0, max});
  return {list.begin(), list.end()};
}

model::TimeNs ProfileTable::microseconds(const std::string& key) {
  return nanoseconds(number(key, 0, kTimeMax), model::kMicrosecondNs);
}

model::TimeNs ProfileTable::milliseconds(const std::string& key) {
  return nanoseconds(number(key, 0, kTimeMax), model::kMillisecondNs);
}

model::TimeNs ProfileTable::signed_milliseconds(const std::string& key) {
  return nanoseconds(number(key, -kTimeMax, kTimeMax), model::kMillisecondNs);
}

std::vector<model::TimeNs> ProfileTable::milliseconds_list(const std::string& key) {
  std::vector<model::TimeNs> list;
  for (const double value : take(key, std::vector<double>())) {
    if (value < 0 || value > kTimeMax) {
      errors_->add(full(key),
                   fmt::format("must be a number of milliseconds from 0 to {}", kTimeMax),
                   "correct it");
      return {};
    }
    list.push_back(nanoseconds(value, model::kMillisecondNs));
  }
  return list;
}

model::ByPrevious ProfileTable::by_previous(const std::string& key) {
  if (table_.type(key) != StrictTable::Type::list) {
    const model::TimeNs both = milliseconds(key);
    return {both, both};
  }
  const auto pair = milliseconds_list(key);
  if (pair.size() == 2) return {pair[0], pair[1]};
  errors_->add(full(key), "must be a number of milliseconds, or a list of two such numbers",
               "for example 0.5; or [0.5, 0.7] for the times after a read and after a write");
  return {};
}

std::uint32_t ProfileTable::kib_as_sectors(const std::string& key, std::uint32_t min_kib,
                                           std::uint32_t max_kib) {
  return integer32(key, min_kib, max_kib) * kSectorsPerKib;
}

std::uint64_t ProfileTable::size(const std::string& key) {
  std::uint64_t bytes = 0;
  if (!require(key)) return bytes;
  if (const auto taken = table_.take_size(key, bytes); !taken) errors_->add(taken.error());
  return bytes;
}

void ProfileTable::not_one_of(const std::string& key, const std::string& word,
                              const std::vector<std::string>& words) {
  if (!word.empty())
    errors_->add(full(key), fmt::format("\"{}\" is unknown", word), base::suggest(word, words));
}

model::Tear ProfileTable::tear(const std::string& key) {
  const std::string word = text(key);
  const auto tear = model::parse_tear(word);
  if (!tear) not_one_of(key, word, {model::kTearNames.begin(), model::kTearNames.end()});
  return tear.value_or(model::Tear::silent);
}

std::optional<Origin> ProfileTable::origin() {
  const std::string words = text("origin");
  if (errors_->first) return std::nullopt;
  const std::size_t colon = words.find(':');
  const std::string kind = words.substr(0, colon);
  if (std::find(kOriginKinds.begin(), kOriginKinds.end(), kind) == kOriginKinds.end() ||
      colon == std::string::npos) {
    errors_->add(full("origin"),
                 "must begin with measured:, data-sheet:, paper:, estimate: or calibration:",
                 "give the source of the numbers");
    return std::nullopt;
  }
  const std::size_t remark = std::min(words.find_first_not_of(' ', colon + 1), words.size());
  return Origin{path_, kind, words.substr(remark)};
}

void ProfileTable::finish() {
  if (const auto known = table_.only(asked_); !known) errors_->add(known.error());
}

}  // namespace headcrash::profiles
