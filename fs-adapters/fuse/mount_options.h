#pragma once
// Parses the argument of -o, such as `scheme=soft-updates,cache=16M,noatime`. Each component
// consumes the options that it supports. Any option that remains is rejected, with a suggestion.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::fuse {

class MountOptions {
 public:
  /// Fails if an option is given twice, or has an empty name.
  static Result<MountOptions> parse(std::string_view text);

  /// Consumes `name=VALUE`. Leaves `value` unchanged if the option is not given. Fails if the
  /// option is given without a value.
  Result<void> take(const std::string& name, std::string& value);
  Result<void> take_size(const std::string& name, std::uint64_t& bytes);
  /// Consumes `name` and sets `given` if the option is present. Fails if the option has a value.
  Result<void> take_flag(const std::string& name, bool& given);
  /// Consumes an option whose value is one of `words`. Sets `choice` to the index of that word.
  Result<void> take_choice(const std::string& name, std::span<const std::string> words,
                           std::size_t& choice);

  /// Fails if an option has not been consumed. Must be called last.
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
