#pragma once
// One table of a TOML file, read strictly: every key is asked for once, what is left over is an error.

#include <toml++/toml.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/disk_profile.h"
#include "plugin/model/simulation.h"
#include "plugin/profiles/origin.h"

namespace headcrash::profiles {

/// The first error of all tables that share it.
struct ReadErrors {
  std::string file;
  std::optional<Error> first;
  void add(std::string_view key, std::string problem, std::string remedy);
};

/// One of the words that a key can have.
template <typename Value>
struct Choice {
  std::string_view word;
  Value value;
};

class TomlTable {
 public:
  /// `table` may be null: the table is missing, which is an error. `path` is its name in messages, "" for the
  /// top.
  TomlTable(const toml::table* table, std::string path, ReadErrors& errors);

  std::uint64_t integer(std::string_view key, std::uint64_t min, std::uint64_t max);
  std::uint32_t integer32(std::string_view key, std::uint32_t min, std::uint32_t max);
  model::TimeNs milliseconds(std::string_view key);
  model::TimeNs signed_milliseconds(std::string_view key);
  /// One number, or a list of two: after a read, after a write.
  model::ByPrevious by_previous(std::string_view key);
  template <typename Value, std::size_t n>
  Value one_of(std::string_view key, const std::array<Choice<Value>, n>& choices) {
    const std::string word = text(key);
    std::vector<std::string> words;
    for (const Choice<Value>& choice : choices) {
      if (choice.word == word) return choice.value;
      words.emplace_back(choice.word);
    }
    not_one_of(key, word, words);
    return choices[0].value;
  }
  std::vector<model::TimeNs> milliseconds_list(std::string_view key);
  std::vector<std::uint32_t> integers(std::string_view key, std::uint32_t max);
  std::string text(std::string_view key);
  bool boolean(std::string_view key);
  const toml::table* table(std::string_view key);
  std::vector<const toml::table*> tables(std::string_view key);
  std::vector<std::string> texts(std::string_view key);  ///< not empty
  double number(std::string_view key, double min, double max);
  model::TimeNs microseconds(std::string_view key);
  model::Tear tear(std::string_view key);
  std::uint32_t kib_as_sectors(std::string_view key, std::uint32_t min_kib, std::uint32_t max_kib);
  /// The table's `origin`; nothing after an error.
  std::optional<Origin> origin();
  /// What is under the key, of any type.
  const toml::node* node(std::string_view key) { return take(key); }
  /// Of a key that may be left out.
  bool has(std::string_view key) {
    known_.emplace_back(key);
    return table_ != nullptr && table_->contains(key);
  }

  /// Complains about the keys that nobody asked for.
  void finish();

  /// The key's name in messages.
  std::string full(std::string_view key) const;

 private:
  const toml::node* take(std::string_view key);
  void not_one_of(std::string_view key, const std::string& word, const std::vector<std::string>& words);
  model::TimeNs milliseconds_of(const toml::node& node, std::string_view key, double least_ms = 0);

  const toml::table* table_;
  std::string path_;
  ReadErrors& errors_;
  std::vector<std::string> known_;
};

}  // namespace headcrash::profiles
