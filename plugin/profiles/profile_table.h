#pragma once
// One table of a profile: a strict table (plugin/base/strict_table.h) whose keys are required. A
// key is optional only if the caller tests it with has(). Values have the units that data sheets
// use. Only the first error is kept, since later errors are often its consequences. After an error,
// calls return values that are valid but meaningless.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"
#include "plugin/model/core/simulation.h"
#include "plugin/model/disk/disk_profile.h"
#include "plugin/profiles/origin.h"

namespace headcrash::profiles {

/// The first error in a profile, shared by the profile's tables.
struct ReadErrors {
  /// Prefix of error locations: "file: ", then the path of the table if the profile is nested in
  /// another.
  std::string place;
  std::optional<Error> first;
  /// Records an error. `key` includes the path of its tables below the profile's top level, such as
  /// "read-buffer.segments".
  void add(std::string_view key, std::string problem, std::string hint);
  void add(Error error);
};

/// A word that a key allows, and the value that the word stands for.
template <typename Value>
struct Choice {
  std::string_view word;
  Value value;
};

class ProfileTable {
 public:
  /// Opens a profile's top-level table.
  ProfileTable(const base::StrictTable& root, ReadErrors& errors)
      : ProfileTable(root, "", errors) {}
  /// Opens a subtable. If it is missing, records an error.
  ProfileTable open(const std::string& name);
  /// Opens all tables in a list of tables. If the list is missing, records an error.
  std::vector<ProfileTable> open_list(const std::string& name);

  std::uint64_t integer(const std::string& key, std::uint64_t min, std::uint64_t max);
  std::uint32_t integer32(const std::string& key, std::uint32_t min, std::uint32_t max);
  double number(const std::string& key, double min, double max);
  bool boolean(const std::string& key);
  std::string text(const std::string& key);                ///< an empty string is an error
  std::vector<std::string> texts(const std::string& key);  ///< an empty list is an error
  std::vector<std::uint32_t> integers(const std::string& key, std::uint32_t max);
  model::TimeNs microseconds(const std::string& key);
  model::TimeNs milliseconds(const std::string& key);
  model::TimeNs signed_milliseconds(const std::string& key);
  std::vector<model::TimeNs> milliseconds_list(const std::string& key);
  /// Reads a delay in milliseconds, or a list of two delays: after a read, and after a write.
  model::ByPrevious by_previous(const std::string& key);
  std::uint32_t kib_as_sectors(const std::string& key, std::uint32_t min_kib,
                               std::uint32_t max_kib);
  std::uint64_t size(const std::string& key);  ///< in bytes
  model::Tear tear(const std::string& key);
  template <typename Value, std::size_t n>
  Value one_of(const std::string& key, const std::array<Choice<Value>, n>& choices) {
    const std::string word = text(key);
    std::vector<std::string> words;
    for (const Choice<Value>& choice : choices) {
      if (choice.word == word) return choice.value;
      words.emplace_back(choice.word);
    }
    not_one_of(key, word, words);
    return choices[0].value;
  }
  /// Reads the key `origin` of the table; nullopt after an error.
  std::optional<Origin> origin();

  /// Returns true if an optional key is present.
  bool has(const std::string& key);
  /// Like has(), but records an error if the key is missing.
  bool require(const std::string& key);
  /// Returns the underlying table, for keys whose value may have more than one type. Call require()
  /// for such a key first.
  const base::StrictTable& values() const { return table_; }

  /// Reports unknown keys.
  void finish();

  /// Returns the key with the path of its tables, such as "read-buffer.segments". For messages.
  std::string full(std::string_view key) const;

 private:
  ProfileTable(base::StrictTable table, std::string path, ReadErrors& errors)
      : table_(std::move(table)), path_(std::move(path)), errors_(&errors) {}
  template <typename Value, typename... Bounds>
  Value take(const std::string& key, Value otherwise, const Bounds&... bounds);
  void not_one_of(const std::string& key, const std::string& word,
                  const std::vector<std::string>& words);

  base::StrictTable table_;
  std::string path_;
  ReadErrors* errors_;
  std::vector<std::string> asked_;
};

}  // namespace headcrash::profiles
