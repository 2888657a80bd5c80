// Parses update policies (update_policy.h).
#include "fs-adapters/substrate/os/update_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "plugin/base/nearest.h"
#include "plugin/base/size.h"

namespace headcrash::os {
namespace {

using Policy = SyncerOptions::Policy;

constexpr double kLongestDelayS = 1e9;  // limited by the range of TimeNs
constexpr const char* kForms =
    "use sweep, periodic:30, interval:5, interval:5:first, interval:endless, burst:15:3M or "
    "write-through";

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    parts.push_back(text.substr(0, colon));
    if (colon == text.size()) return parts;
    text.remove_prefix(colon + 1);
  }
}

enum class Zero : std::uint8_t { allowed, refused };

Result<TimeNs> parse_delay(std::string_view text, Zero zero, const std::string& subject) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size())
    return fail(subject, fmt::format("\"{}\" is not a number of seconds", text), kForms);
  if (!(seconds >= 0)) return fail(subject, "the delay is negative", kForms);
  if (seconds == 0 && zero == Zero::refused)
    return fail(subject, "invalid delay: 0 s", "use interval:0 or write-through");
  if (seconds > kLongestDelayS)
    return fail(subject, fmt::format("delay too long: {} s", text), "use interval:endless");
  return static_cast<TimeNs>(seconds * static_cast<double>(model::kSecondNs));
}

}  // namespace

Result<SyncerOptions> parse_update_policy(std::string_view text, std::uint64_t cache_bytes,
                                          const std::string& subject) {
  const std::vector<std::string_view> parts = parts_of(text);
  const std::vector<std::string> words{"sweep", "periodic", "interval", "burst", "write-through"};
  const std::string word(parts.front());
  const bool known = std::find(words.begin(), words.end(), word) != words.end();
  if (!known) return fail(subject, "unknown policy \"" + word + "\"", base::suggest(word, words));
  const auto wrong_count = [&] {
    return fail(subject, fmt::format("\"{}\" is not a valid form of {}", text, word), kForms);
  };
  SyncerOptions options;
  if (word == "sweep" || word == "write-through") {
    if (parts.size() != 1) return wrong_count();
    options.policy = word == "sweep" ? Policy::sweep : Policy::write_through;
    return options;
  }
  if (parts.size() < 2) return wrong_count();
  if (word == "interval" && parts[1] == "endless") {
    if (parts.size() != 2) return wrong_count();
    options.policy = Policy::interval;
    options.interval_ns = model::kNever;
    return options;
  }
  TRY(const auto delay,
      parse_delay(parts[1], word == "interval" ? Zero::allowed : Zero::refused, subject));
  options.interval_ns = delay;
  if (word == "periodic") {
    options.policy = Policy::periodic;
    return parts.size() == 2 ? Result<SyncerOptions>(options) : wrong_count();
  }
  if (word == "interval") {
    options.policy = Policy::interval;
    if (parts.size() == 3 && parts[2] == "first")
      options.age = SyncerOptions::Age::since_first_change;
    else if (parts.size() != 2)
      return wrong_count();
    return options;
  }
  if (parts.size() != 3) return wrong_count();
  TRY(const auto rate, base::parse_size(std::string(parts[2]), subject));
  if (rate == 0)
    return fail(subject, "invalid disk rate: 0",
                "give the sustained rate in bytes per second, such as 3M");
  options.policy = Policy::burst;
  options.drain_bytes_per_s = rate;
  const double longest_s = static_cast<double>(cache_bytes) / static_cast<double>(rate);
  const double seconds = static_cast<double>(delay) / static_cast<double>(model::kSecondNs);
  if (seconds > longest_s)
    return fail(
        subject,
        fmt::format("delay too long: {:g} s; the disk writes all {} MiB of memory in {:.3g} s",
                    seconds, cache_bytes >> 20, longest_s),
        "use a shorter delay or more memory");
  return options;
}

}  // namespace headcrash::os
