// Parses the argument of -o (mount_options.h).
#include "fs-adapters/fuse/mount_options.h"

#include <algorithm>

#include "plugin/base/nearest.h"
#include "plugin/base/size.h"

namespace headcrash::fuse {

Result<MountOptions> MountOptions::parse(std::string_view text) {
  MountOptions options;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string name(word.substr(0, equals));
    if (name.empty()) return fail("-o " + std::string(word), "has no name", "write NAME=VALUE");
    if (options.find(name) != nullptr)
      return fail("-o " + name, "is given twice", "remove one of them");
    options.known_.clear();
    options.words_.push_back({.name = name,
                              .value = std::string(word.substr(std::min(equals + 1, word.size()))),
                              .has_value = equals < word.size()});
  }
  return options;
}

MountOptions::Word* MountOptions::find(const std::string& name) {
  known_.push_back(name);
  const auto word =
      std::find_if(words_.begin(), words_.end(), [&](const Word& w) { return w.name == name; });
  return word == words_.end() ? nullptr : &*word;
}

Result<void> MountOptions::take(const std::string& name, std::string& value) {
  Word* const word = find(name);
  if (word == nullptr) return {};
  if (word->value.empty()) return fail("-o " + name, "has no value", "write " + name + "=VALUE");
  word->taken = true;
  value = word->value;
  return {};
}

Result<void> MountOptions::take_size(const std::string& name, std::uint64_t& bytes) {
  std::string text;
  if (auto taken = take(name, text); !taken || text.empty()) return taken;
  TRY(const auto size, base::parse_size(text, "-o " + name));
  bytes = size;
  return {};
}

Result<void> MountOptions::take_flag(const std::string& name, bool& given) {
  Word* const word = find(name);
  if (word == nullptr) return {};
  if (word->has_value)
    return fail("-o " + name, "does not take a value", "write " + name + " alone");
  word->taken = given = true;
  return {};
}

Result<void> MountOptions::take_choice(const std::string& name, std::span<const std::string> words,
                                       std::size_t& choice) {
  std::string text;
  if (auto taken = take(name, text); !taken || text.empty()) return taken;
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end())
    return fail("-o " + name, "unknown value \"" + text + "\"", base::suggest(text, words));
  choice = static_cast<std::size_t>(found - words.begin());
  return {};
}

Result<void> MountOptions::nothing_left() const {
  const auto left =
      std::find_if(words_.begin(), words_.end(), [](const Word& word) { return !word.taken; });
  if (left == words_.end()) return {};
  return fail("-o " + left->name, "unknown option", base::suggest(left->name, known_));
}

}  // namespace headcrash::fuse
