#pragma once
// Strict TOML: an unknown key is an error, so a misspelt key is never ignored.
//
//   Result<StrictTable> file = StrictTable::parse(text, "demo.toml");
//   std::int64_t seed = 0;
//   if (auto r = file->only({"seed", "device"}); !r) ...
//   if (auto r = file->take("seed", seed); !r) ...          // without the key `seed` is unchanged
//
// Errors name file and key: `demo.toml: device.profil: unknown key; did you mean "profile"? known:
// ...`. Const calls may run concurrently.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::base {

class StrictTable {
 public:
  static Result<StrictTable> parse(std::string_view text, const std::string& file_name);
  /// Parses a file.
  static Result<StrictTable> read(const std::string& path);
  StrictTable(const StrictTable&);
  StrictTable& operator=(const StrictTable&);
  StrictTable(StrictTable&&) noexcept;
  StrictTable& operator=(StrictTable&&) noexcept;
  ~StrictTable();

  /// Fails if the table has a key that is not in `keys`.
  Result<void> only(const std::vector<std::string>& keys) const;
  bool has(const std::string& key) const;
  std::vector<std::string> keys() const;  ///< sorted; for tables with user-defined key names

  // Each take() leaves `into` unchanged if the key is absent.
  Result<void> take(const std::string& key, std::string& into) const;
  Result<void> take(const std::string& key, bool& into) const;
  /// Also accepts an integer. Fails if the number is not finite.
  Result<void> take(const std::string& key, double& into) const;
  Result<void> take(const std::string& key, double& into, double least, double most) const;
  /// Fails if the list is empty.
  Result<void> take(const std::string& key, std::vector<std::string>& into) const;
  /// Fails if the list is empty.
  Result<void> take(const std::string& key, std::vector<double>& into) const;

  struct Bounds {
    std::int64_t least = 0, most = 0;
  };
  Result<void> take(const std::string& key, std::int64_t& into, const Bounds& bounds) const;
  Result<void> take(const std::string& key, std::vector<std::int64_t>& into,
                    const Bounds& bounds) const;

  /// Reads a size in text form ("320M") or a plain number of bytes.
  Result<void> take_size(const std::string& key, std::uint64_t& bytes) const;

  /// Returns the table under a key; nullopt if there is no such table.
  Result<std::optional<StrictTable>> table(const std::string& key) const;

  /// Returns the tables of the list [[key]], with keys named key[0].x, key[1].x, ... Returns an
  /// empty vector if there is no such list.
  Result<std::vector<StrictTable>> tables(const std::string& key) const;

  /// The type of a value, for keys that accept several types.
  enum class Type : std::uint8_t { absent, text, number, list, table, other };
  Type type(const std::string& key) const;
  /// Converts a list of mixed types to a table with the keys key[0], key[1], ... Returns an empty
  /// table if the key is absent or not a list.
  StrictTable elements(const std::string& key) const;

  /// Returns this table merged over `base`. If a key exists in both tables, this table's value
  /// wins, except that subtables are merged recursively. A list of tables is not merged: it
  /// replaces the list in `base`.
  StrictTable over(const StrictTable& base) const;
  StrictTable without(const std::string& key) const;
  /// Returns a copy in which the value of `key` is this list.
  StrictTable with(const std::string& key, const std::vector<std::string>& texts) const;
  /// Returns a copy in which `key` of the subtable `table` has this value. Creates the subtable if
  /// it does not exist. If `table` is not a subtable, the copy is unchanged.
  StrictTable with(const std::string& table, const std::string& key,
                   const std::string& value) const;
  StrictTable with(const std::string& table, const std::string& key, double value) const;
  std::string text() const;  ///< returns the table as TOML, without comments

  /// Returns "file: a.b.key", the subject of an Error.
  std::string subject(const std::string& key) const;

 private:
  struct State;
  template <typename Value>
  StrictTable with_inner(const std::string& table, const std::string& key,
                         const Value& value) const;
  explicit StrictTable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::base
