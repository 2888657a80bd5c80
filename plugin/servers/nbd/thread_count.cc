#include "plugin/servers/nbd/thread_count.h"

#include <charconv>
#include <fstream>

namespace headcrash::nbd {
namespace {

constexpr unsigned kDefaultThreads = 16;

unsigned number(const std::string& text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return 0;
  return value == 0 ? kDefaultThreads : value;
}

}  // namespace

unsigned threads_of(const std::vector<std::string>& words) {
  constexpr std::string_view kLong = "--threads";
  unsigned threads = kDefaultThreads;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-t" || word == kLong) {
      threads = i + 1 < words.size() ? number(words[i + 1]) : 0;
    } else if (word.starts_with("--threads=")) {
      threads = number(word.substr(kLong.size() + 1));
    } else if (word.starts_with("-t") && word.size() > 2) {
      threads = number(word.substr(2));
    }
  }
  return threads;
}

unsigned threads_of_this_nbdkit() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
  if (words.empty()) return 0;
  words.erase(words.begin());
  return threads_of(words);
}

}  // namespace headcrash::nbd
