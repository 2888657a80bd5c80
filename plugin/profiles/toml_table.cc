// Strict reading (toml_table.h). Only the first error is kept: later ones are often its consequences.
#include "plugin/profiles/toml_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "plugin/base/nearest.h"

namespace headcrash::profiles {
namespace {

constexpr double kMillisecondsMax = 1e6;
constexpr std::uint32_t kSectorsPerKib = 2;
constexpr std::array<std::string_view, 5> kOriginKinds = {"measured", "data-sheet", "paper", "estimate",
                                                          "calibration"};

std::string hint(std::string_view key, const std::vector<std::string>& known) {
  const std::string nearest = base::nearest(key, known);
  return nearest.empty() ? "remove it" : fmt::format("did you mean '{}'?", nearest);
}

}  // namespace

void ReadErrors::add(std::string_view key, std::string problem, std::string remedy) {
  if (first) return;
  first = Error{key.empty() ? file : fmt::format("{}: {}", file, key), std::move(problem), std::move(remedy)};
}

TomlTable::TomlTable(const toml::table* table, std::string path, ReadErrors& errors)
    : table_(table), path_(std::move(path)), errors_(errors) {}

std::string TomlTable::full(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const toml::node* TomlTable::take(std::string_view key) {
  known_.emplace_back(key);
  if (table_ == nullptr) return nullptr;
  const toml::node* node = table_->get(key);
  if (node != nullptr) return node;
  for (const auto& [other, value] : *table_) {
    // A misspelt key is better reported as itself than as the absence of the right one.
    if (!base::nearest(other.str(), std::array{std::string(key)}).empty()) {
      errors_.add(full(other.str()), "this key is unknown", fmt::format("did you mean '{}'?", key));
    }
  }
  errors_.add(full(key), "this is missing", "add it; a profile leaves nothing out");
  return nullptr;
}

std::uint64_t TomlTable::integer(std::string_view key, std::uint64_t min, std::uint64_t max) {
  const toml::node* node = take(key);
  if (node == nullptr) return min;
  const auto value = node->value_exact<std::int64_t>();
  if (value && *value >= 0 && static_cast<std::uint64_t>(*value) >= min &&
      static_cast<std::uint64_t>(*value) <= max) {
    return static_cast<std::uint64_t>(*value);
  }
  errors_.add(full(key), fmt::format("must be a whole number from {} to {}", min, max), "correct it");
  return min;
}

std::uint32_t TomlTable::integer32(std::string_view key, std::uint32_t min, std::uint32_t max) {
  return static_cast<std::uint32_t>(integer(key, min, max));
}

model::TimeNs TomlTable::milliseconds_of(const toml::node& node, std::string_view key, double least_ms) {
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  if (value && *value >= least_ms && *value <= kMillisecondsMax) {
    return std::llround(*value * static_cast<double>(model::kMillisecondNs));
  }
  errors_.add(
      full(key),
      fmt::format("must be a number of milliseconds from {:.0f} to {:.0f}", least_ms, kMillisecondsMax),
      "correct it");
  return 0;
}

model::TimeNs TomlTable::signed_milliseconds(std::string_view key) {
  const toml::node* node = take(key);
  return node == nullptr ? 0 : milliseconds_of(*node, key, -kMillisecondsMax);
}

model::ByPrevious TomlTable::by_previous(std::string_view key) {
  const toml::node* node = take(key);
  if (node == nullptr) return {};
  if (!node->is_array()) {
    const model::TimeNs both = milliseconds_of(*node, key);
    return {both, both};
  }
  const toml::array& pair = *node->as_array();
  if (pair.size() == 2) return {milliseconds_of(pair[0], key), milliseconds_of(pair[1], key)};
  errors_.add(full(key), "must be a number of milliseconds or a list of two",
              "write for example 0.5, or [0.5, 0.7] for after a read and after a write");
  return {};
}

void TomlTable::not_one_of(std::string_view key, const std::string& word,
                           const std::vector<std::string>& words) {
  if (!word.empty()) errors_.add(full(key), fmt::format("'{}' is unknown", word), base::suggest(word, words));
}

model::Tear TomlTable::tear(std::string_view key) {
  const std::string word = text(key);
  const auto tear = model::parse_tear(word);
  if (!tear) not_one_of(key, word, {model::kTearNames.begin(), model::kTearNames.end()});
  return tear.value_or(model::Tear::silent);
}

model::TimeNs TomlTable::milliseconds(std::string_view key) {
  const toml::node* node = take(key);
  return node == nullptr ? 0 : milliseconds_of(*node, key);
}

std::vector<model::TimeNs> TomlTable::milliseconds_list(std::string_view key) {
  std::vector<model::TimeNs> list;
  const toml::node* node = take(key);
  if (node == nullptr) return list;
  if (!node->is_array()) {
    errors_.add(full(key), "must be a list of milliseconds", "write for example [2.9, 3.7]");
    return list;
  }
  for (const toml::node& element : *node->as_array()) list.push_back(milliseconds_of(element, key));
  return list;
}

std::vector<std::uint32_t> TomlTable::integers(std::string_view key, std::uint32_t max) {
  std::vector<std::uint32_t> list;
  const toml::node* node = take(key);
  if (node == nullptr) return list;
  const std::string problem = fmt::format("must be a list of whole numbers from 0 to {}", max);
  if (!node->is_array()) {
    errors_.add(full(key), problem, "write for example [12, 40]; [] for none");
    return list;
  }
  for (const toml::node& element : *node->as_array()) {
    const auto value = element.value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > max) {
      errors_.add(full(key), problem, "correct it");
      return list;
    }
    list.push_back(static_cast<std::uint32_t>(*value));
  }
  return list;
}

std::string TomlTable::text(std::string_view key) {
  const toml::node* node = take(key);
  if (node == nullptr) return {};
  auto value = node->value_exact<std::string>();
  if (value && !value->empty()) return *std::move(value);
  errors_.add(full(key), "must be a text", "put it in quotes");
  return {};
}

bool TomlTable::boolean(std::string_view key) {
  const toml::node* node = take(key);
  if (node == nullptr) return false;
  const auto value = node->value_exact<bool>();
  if (!value) errors_.add(full(key), "must be true or false", "correct it");
  return value.value_or(false);
}

const toml::table* TomlTable::table(std::string_view key) {
  const toml::node* node = take(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) errors_.add(full(key), "must be a table", fmt::format("write [{}]", full(key)));
  return node->as_table();
}

std::vector<const toml::table*> TomlTable::tables(std::string_view key) {
  std::vector<const toml::table*> list;
  const toml::node* node = take(key);
  if (node == nullptr) return list;
  if (node->is_array()) {
    for (const toml::node& element : *node->as_array()) list.push_back(element.as_table());
  }
  if (list.empty() || std::find(list.begin(), list.end(), nullptr) != list.end()) {
    list.clear();
    errors_.add(full(key), "must be a list of tables", fmt::format("write [[{}]] before each", full(key)));
  }
  return list;
}

std::vector<std::string> TomlTable::texts(std::string_view key) {
  std::vector<std::string> list;
  const toml::node* node = take(key);
  if (node == nullptr) return list;
  const toml::array* array = node->as_array();
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    if (auto value = (*array)[i].value_exact<std::string>()) list.push_back(*std::move(value));
  }
  if (array == nullptr || list.empty() || list.size() != array->size()) {
    list.clear();
    errors_.add(full(key), "must be a list of texts", "write for example [\"a\", \"b\"]");
  }
  return list;
}

double TomlTable::number(std::string_view key, double min, double max) {
  const toml::node* node = take(key);
  if (node == nullptr) return min;
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (value && *value >= min && *value <= max) return *value;
  errors_.add(full(key), fmt::format("must be a number from {} to {}", min, max), "correct it");
  return min;
}

model::TimeNs TomlTable::microseconds(std::string_view key) {
  constexpr double kMicrosecondsMax = 1e6;
  return std::llround(number(key, 0, kMicrosecondsMax) * static_cast<double>(model::kMicrosecondNs));
}

std::uint32_t TomlTable::kib_as_sectors(std::string_view key, std::uint32_t min_kib, std::uint32_t max_kib) {
  return integer32(key, min_kib, max_kib) * kSectorsPerKib;
}

std::optional<Origin> TomlTable::origin() {
  const std::string words = text("origin");
  if (errors_.first) return std::nullopt;
  const std::size_t colon = words.find(':');
  const std::string kind = words.substr(0, colon);
  if (std::find(kOriginKinds.begin(), kOriginKinds.end(), kind) == kOriginKinds.end() ||
      colon == std::string::npos) {
    errors_.add(full("origin"), "must begin with measured:, data-sheet:, paper:, estimate: or calibration:",
                "say where the numbers come from");
    return std::nullopt;
  }
  const std::size_t remark = std::min(words.find_first_not_of(' ', colon + 1), words.size());
  return Origin{path_, kind, words.substr(remark)};
}

void TomlTable::finish() {
  if (table_ == nullptr) return;
  for (const auto& [key, value] : *table_) {
    if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
    errors_.add(full(key.str()), "this key is unknown", hint(key.str(), known_));
  }
}

}  // namespace headcrash::profiles
