#include "plugin/base/strict_table.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "plugin/base/nearest.h"
#include "plugin/base/size.h"
#include "plugin/base/text_file.h"

namespace headcrash::base {
namespace {

std::string element_key(const std::string& key, std::size_t index) {
  return fmt::format("{}[{}]", key, index);
}

}  // namespace

struct StrictTable::State {
  std::string file;
  std::string prefix;  ///< precedes the keys in errors, such as "device." for the table [device]
  toml::table table;
};

StrictTable::StrictTable(std::unique_ptr<State> state) : state_(std::move(state)) {}
StrictTable::StrictTable(const StrictTable& other)
    : state_(std::make_unique<State>(*other.state_)) {}
StrictTable& StrictTable::operator=(const StrictTable& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
StrictTable::StrictTable(StrictTable&&) noexcept = default;
StrictTable& StrictTable::operator=(StrictTable&&) noexcept = default;
StrictTable::~StrictTable() = default;

Result<StrictTable> StrictTable::parse(std::string_view text, const std::string& file_name) {
  try {
    return StrictTable(std::make_unique<State>(State{file_name, "", toml::parse(text)}));
  } catch (const toml::parse_error& error) {
    return fail(fmt::format("{}:{}", file_name, error.source().begin.line),
                std::string(error.description()), "correct the TOML syntax");
  }
}

Result<StrictTable> StrictTable::read(const std::string& path) {
  TRY(const auto text, read_text_file(path));
  return parse(text, path);
}

Result<void> StrictTable::only(const std::vector<std::string>& keys) const {
  for (const auto& [key, value] : state_->table) {
    const std::string word(key.str());
    if (std::find(keys.begin(), keys.end(), word) == keys.end())
      return fail(subject(word), "unknown key", suggest(word, keys));
  }
  return {};
}

namespace {

void lay_over(const toml::table& upper, toml::table& lower) {
  for (const auto& [key, value] : upper) {
    toml::table* below = lower[key].as_table();
    if (value.is_table() && below != nullptr) {
      lay_over(*value.as_table(), *below);
    } else {
      lower.insert_or_assign(key, value);
    }
  }
}

}  // namespace

StrictTable StrictTable::over(const StrictTable& base) const {
  StrictTable both(
      std::make_unique<State>(State{state_->file, state_->prefix, base.state_->table}));
  lay_over(state_->table, both.state_->table);
  return both;
}

StrictTable StrictTable::without(const std::string& key) const {
  StrictTable rest = *this;
  rest.state_->table.erase(key);
  return rest;
}

StrictTable StrictTable::with(const std::string& key, const std::vector<std::string>& texts) const {
  StrictTable more = *this;
  toml::array list;
  for (const std::string& text : texts) list.push_back(text);
  more.state_->table.insert_or_assign(key, std::move(list));
  return more;
}

template <typename Value>
StrictTable StrictTable::with_inner(const std::string& table, const std::string& key,
                                    const Value& value) const {
  StrictTable more = *this;
  more.state_->table.insert(table, toml::table{});
  if (toml::table* inner = more.state_->table[table].as_table())
    inner->insert_or_assign(key, value);
  return more;
}

StrictTable StrictTable::with(const std::string& table, const std::string& key,
                              const std::string& value) const {
  return with_inner(table, key, value);
}

StrictTable StrictTable::with(const std::string& table, const std::string& key,
                              double value) const {
  return with_inner(table, key, value);
}

std::string StrictTable::text() const {
  std::ostringstream stream;
  stream << toml::toml_formatter(state_->table) << '\n';
  return stream.str();
}

bool StrictTable::has(const std::string& key) const {
  return state_->table.contains(key);
}

std::vector<std::string> StrictTable::keys() const {
  std::vector<std::string> words;
  for (const auto& [key, value] : state_->table) words.emplace_back(key.str());
  return words;
}

std::string StrictTable::subject(const std::string& key) const {
  return state_->file + ": " + state_->prefix + key;
}

Result<void> StrictTable::take(const std::string& key, std::string& into) const {
  const toml::node* node = state_->table.get(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<std::string>();
  if (!value) return fail(subject(key), "must be a string", fmt::format("write {} = \"...\"", key));
  into = *value;
  return {};
}

Result<void> StrictTable::take(const std::string& key, bool& into) const {
  const toml::node* node = state_->table.get(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<bool>();
  if (!value)
    return fail(subject(key), "must be true or false", fmt::format("write {} = true", key));
  into = *value;
  return {};
}

Result<void> StrictTable::take(const std::string& key, double& into) const {
  const toml::node* node = state_->table.get(key);
  if (node == nullptr) return {};
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value))
    return fail(subject(key), "must be a number", fmt::format("write {} = 1.5", key));
  into = *value;
  return {};
}

Result<void> StrictTable::take(const std::string& key, double& into, double least,
                               double most) const {
  double value = least;
  const auto taken = take(key, value);
  if (taken && value >= least && value <= most) {
    if (has(key)) into = value;
    return {};
  }
  return fail(subject(key), fmt::format("must be a number from {} to {}", least, most));
}

Result<void> StrictTable::take(const std::string& key, std::vector<std::string>& into) const {
  const toml::node* node = state_->table.get(key);
  if (node == nullptr) return {};
  const toml::array* list = node->as_array();
  if (list == nullptr || list->empty() || !list->is_homogeneous<std::string>()) {
    return fail(subject(key), "must be a non-empty list of strings",
                fmt::format("write {} = [\"...\"]", key));
  }
  into.clear();
  for (const toml::node& item : *list) into.push_back(item.as_string()->get());
  return {};
}

Result<void> StrictTable::take(const std::string& key, std::vector<double>& into) const {
  const toml::node* node = state_->table.get(key);
  if (node == nullptr) return {};
  const toml::array* list = node->as_array();
  std::vector<double> values;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const toml::node& item = (*list)[i];
    if (item.is_number() && std::isfinite(*item.value<double>()))
      values.push_back(*item.value<double>());
  }
  if (list == nullptr || values.empty() || values.size() != list->size()) {
    return fail(subject(key), "must be a non-empty list of numbers",
                fmt::format("write {} = [1, 2]", key));
  }
  into = values;
  return {};
}

Result<void> StrictTable::take(const std::string& key, std::int64_t& into,
                               const Bounds& bounds) const {
  const toml::node* node = state_->table.get(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < bounds.least || *value > bounds.most) {
    return fail(subject(key),
                fmt::format("must be a whole number from {} to {}", bounds.least, bounds.most));
  }
  into = *value;
  return {};
}

Result<void> StrictTable::take(const std::string& key, std::vector<std::int64_t>& into,
                               const Bounds& bounds) const {
  if (!has(key)) return {};
  const StrictTable list = elements(key);
  std::vector<std::int64_t> values(list.state_->table.size());
  bool good = type(key) == Type::list;
  for (std::size_t i = 0; good && i < values.size(); ++i)
    good = list.take(element_key(key, i), values[i], bounds).has_value();
  if (!good) {
    return fail(subject(key),
                fmt::format("must be a list of whole numbers, each from {} to {}", bounds.least,
                            bounds.most),
                fmt::format("for example {} = [12, 40]; [] for an empty list", key));
  }
  into = std::move(values);
  return {};
}

Result<void> StrictTable::take_size(const std::string& key, std::uint64_t& bytes) const {
  const toml::node* node = state_->table.get(key);
  if (node == nullptr) return {};
  if (const auto number = node->value_exact<std::int64_t>(); number && *number > 0) {
    bytes = static_cast<std::uint64_t>(*number);
    return {};
  }
  if (!node->is_string())
    return fail(subject(key), "is not a size",
                fmt::format("write {} = \"320M\", or a number of bytes", key));
  TRY(const auto size, parse_size(node->value_or(std::string{}), subject(key)));
  bytes = size;
  return {};
}

Result<std::optional<StrictTable>> StrictTable::table(const std::string& key) const {
  const toml::node* node = state_->table.get(key);
  if (node == nullptr) return std::optional<StrictTable>{};
  const toml::table* inner = node->as_table();
  if (inner == nullptr)
    return fail(subject(key), "must be a table", fmt::format("write [{}{}]", state_->prefix, key));
  return std::optional<StrictTable>(StrictTable(
      std::make_unique<State>(State{state_->file, state_->prefix + key + ".", *inner})));
}

Result<std::vector<StrictTable>> StrictTable::tables(const std::string& key) const {
  std::vector<StrictTable> list;
  const toml::node* node = state_->table.get(key);
  if (node == nullptr) return list;
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty() || !array->is_homogeneous<toml::table>()) {
    return fail(subject(key), "must be a non-empty list of tables",
                fmt::format("write [[{}{}]]", state_->prefix, key));
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    list.push_back(StrictTable(std::make_unique<State>(
        State{state_->file, state_->prefix + element_key(key, i) + ".", *(*array)[i].as_table()})));
  }
  return list;
}

StrictTable::Type StrictTable::type(const std::string& key) const {
  const toml::node* node = state_->table.get(key);
  if (node == nullptr) return Type::absent;
  if (node->is_string()) return Type::text;
  if (node->is_number()) return Type::number;
  if (node->is_array()) return Type::list;
  return node->is_table() ? Type::table : Type::other;
}

StrictTable StrictTable::elements(const std::string& key) const {
  StrictTable found(std::make_unique<State>(State{state_->file, state_->prefix, {}}));
  const toml::array* array = state_->table.get_as<toml::array>(key);
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i)
    found.state_->table.insert(element_key(key, i), (*array)[i]);
  return found;
}

}  // namespace headcrash::base
