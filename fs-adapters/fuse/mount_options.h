#pragma once
// The words of -o: `scheme=soft-updates,cache=16M,noatime`. Who knows a word takes it; what nobody
// has taken is refused with a suggestion.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::fuse {

class MountOptions {
 public:
  /// Errors: a word that is given twice, or empty before its "=".
  static Result<MountOptions> parse(std::string_view text);

  /// `name=VALUE`, left as it is where the word is missing. Errors: no value.
  Result<void> take(const std::string& name, std::string& value);
  Result<void> take_size(const std::string& name, std::uint64_t& bytes);
  /// `name` alone.
  Result<void> take_flag(const std::string& name, bool& given);
  /// One of these words: its place in the list.
  Result<void> take_choice(const std::string& name, std::span<const std::string> words,
                           std::size_t& choice);

  /// After everybody has taken what he knows.
  Result<void> nothing_left() const;

 private:
  struct Word {
    std::string name, value;
    bool has_value = false, taken = false;
  };
  Word* find(const std::string& name);
  std::vector<Word> words_;
  std::vector<std::string> known_;
};

}  // namespace headcrash::fuse
