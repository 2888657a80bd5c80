#pragma once
// TOML read strictly: a key that nobody asked for is an error, so a misspelt one is never passed
// over in silence.
//
//   Result<StrictTable> file = StrictTable::parse(text, "demo.toml");
//   std::int64_t seed = 0;
//   if (auto r = file->only({"seed", "device"}); !r) ...
//   if (auto r = file->take("seed", seed); !r) ...          // leaves `seed` alone when the key is absent
//
// Errors name file and key: `demo.toml: device.profil: unknown key; did you mean "profile"? known:
// ...`. Threads: const calls may run at once.

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
  /// As parse(), from a file.
  static Result<StrictTable> read(const std::string& path);
  StrictTable(const StrictTable&);
  StrictTable& operator=(const StrictTable&);
  StrictTable(StrictTable&&) noexcept;
  StrictTable& operator=(StrictTable&&) noexcept;
  ~StrictTable();

  /// Refuses every key that is not in the list.
  Result<void> only(const std::vector<std::string>& keys) const;
  bool has(const std::string& key) const;
  std::vector<std::string> keys()
      const;  ///< of tables whose keys are names that the user chooses; sorted

  // Each leaves `into` as it is when the key is absent.
  Result<void> take(const std::string& key, std::string& into) const;
  Result<void> take(const std::string& key, bool& into) const;
  Result<void> take(const std::string& key, double& into) const;  ///< integers too; must be finite
  Result<void> take(const std::string& key, double& into, double least, double most) const;
  Result<void> take(const std::string& key, std::vector<std::string>& into) const;  ///< not empty
  Result<void> take(const std::string& key, std::vector<double>& into) const;       ///< not empty

  struct Bounds {
    std::int64_t least = 0, most = 0;
  };
  Result<void> take(const std::string& key, std::int64_t& into, const Bounds& bounds) const;
  Result<void> take(const std::string& key, std::vector<std::int64_t>& into,
                    const Bounds& bounds) const;

  /// A size in text form ("320M") or a plain number of bytes.
  Result<void> take_size(const std::string& key, std::uint64_t& bytes) const;

  /// The table under a key; nothing when it is absent.
  Result<std::optional<StrictTable>> table(const std::string& key) const;

  /// The tables of a list of tables ([[key]]), their keys named key[0].x, key[1].x, ...; none when
  /// it is absent.
  Result<std::vector<StrictTable>> tables(const std::string& key) const;

  /// For a key that may hold one of several types.
  enum class Type : std::uint8_t { absent, text, number, list, table, other };
  Type type(const std::string& key) const;
  /// A list of any types as a table whose keys are key[0], key[1], ...; empty when it is absent or
  /// no list.
  StrictTable elements(const std::string& key) const;

  /// This laid over `base`: the keys of both; where both have one it is this one's, but tables are
  /// laid over each other in turn. (A list of tables is not a table: it takes the place of the
  /// other.)
  StrictTable over(const StrictTable& base) const;
  StrictTable without(const std::string& key) const;
  /// With that list of texts in place of what the key had.
  StrictTable with(const std::string& key, const std::vector<std::string>& texts) const;
  /// With that text or number as a key of a table of it, which is made when it is absent. A key
  /// that is no table stays as it is.
  StrictTable with(const std::string& table, const std::string& key,
                   const std::string& value) const;
  StrictTable with(const std::string& table, const std::string& key, double value) const;
  std::string text() const;  ///< as TOML, without comments

  /// "file: a.b.key", for an Error.
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
