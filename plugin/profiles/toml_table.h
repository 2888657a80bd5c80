#pragma once
// One table of a TOML file, read strictly: every key is asked for once, what is left over is an error.

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/model/result.h"
#include "plugin/model/simulation.h"
#include "plugin/profiles/origin.h"

namespace headcrash::profiles {

/// The first error of all tables that share it.
struct ReadErrors {
  std::string file;
  std::optional<Error> first;
  void add(std::string_view key, std::string problem, std::string remedy);
};

class TomlTable {
 public:
  /// `table` may be null: the table is missing, which is an error. `path` is its name in messages, "" for the
  /// top.
  TomlTable(const toml::table* table, std::string path, ReadErrors& errors);

  std::uint64_t integer(std::string_view key, std::uint64_t min, std::uint64_t max);
  std::uint32_t integer32(std::string_view key, std::uint32_t min, std::uint32_t max);
  model::TimeNs milliseconds(std::string_view key);
  std::vector<model::TimeNs> milliseconds_list(std::string_view key);
  std::vector<std::uint32_t> integers(std::string_view key, std::uint32_t max);
  std::string text(std::string_view key);
  bool boolean(std::string_view key);
  const toml::table* table(std::string_view key);
  std::vector<const toml::table*> tables(std::string_view key);
  std::vector<std::string> texts(std::string_view key);  ///< not empty
  double number(std::string_view key, double min, double max);
  model::TimeNs microseconds(std::string_view key);
  std::uint32_t kib_as_sectors(std::string_view key, std::uint32_t min_kib, std::uint32_t max_kib);
  std::size_t choice(std::string_view key, std::span<const std::string_view> words);  ///< index of the word
  /// The table's `origin`; nothing after an error.
  std::optional<Origin> origin();
  /// What is under the key, of any type.
  const toml::node* node(std::string_view key) { return take(key); }
  /// Whether an optional key is there.
  bool offers(std::string_view key) {
    known_.emplace_back(key);
    return has(key);
  }
  bool has(std::string_view key) const { return table_ != nullptr && table_->contains(key); }

  /// Complains about the keys that nobody asked for.
  void finish();

  /// The key's name in messages.
  std::string full(std::string_view key) const;

 private:
  const toml::node* take(std::string_view key);
  model::TimeNs milliseconds_of(const toml::node& node, std::string_view key);

  const toml::table* table_;
  std::string path_;
  ReadErrors& errors_;
  std::vector<std::string> known_;
};

}  // namespace headcrash::profiles
