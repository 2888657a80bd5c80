// The text form of CutTrigger (grammar in machine.h).
//
// Counts are decimal integers of at least 1. Times are decimal milliseconds, read as integers all the way
// (digits before the point are milliseconds, up to six after it are nanoseconds), so that the text names one
// exact instant.
#include <fmt/core.h>

#include <algorithm>

#include "plugin/model/machine.h"

namespace headcrash::model {
namespace {

constexpr std::string_view kForms = "write after-writes:N, at-flush:N, after-ms:X or after-mark:TEXT+X";
constexpr std::uint64_t kCountMax = 1'000'000'000'000;
constexpr std::uint64_t kDelayMsMax = 1'000'000'000;  ///< eleven days of model time

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= 18 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::uint64_t digits_value(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value;
}

std::string subject(std::string_view text) {
  return fmt::format("power cut '{}'", text);
}

Result<std::uint64_t> parse_count(std::string_view whole, std::string_view text) {
  const std::uint64_t count = is_digits(text) ? digits_value(text) : 0;
  if (count >= 1 && count <= kCountMax) return count;
  return fail(subject(whole),
              fmt::format("the count '{}' is not a whole number from 1 to {}", text, kCountMax),
              "count the writes or flushes from now on, for example after-writes:100");
}

Result<TimeNs> parse_delay(std::string_view whole, std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view millis = text.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "0" : text.substr(point + 1);
  if (!is_digits(millis) || !is_digits(fraction)) {
    return fail(subject(whole), fmt::format("the time '{}' is not a decimal number of milliseconds", text),
                "write for example after-ms:12.5");
  }
  if (fraction.size() > 6) {
    return fail(subject(whole), fmt::format("the time '{}' is finer than a nanosecond", text),
                "give at most six digits after the point");
  }
  if (digits_value(millis) > kDelayMsMax) {
    return fail(subject(whole), fmt::format("the time '{}' is above {} ms", text, kDelayMsMax),
                "give a shorter time");
  }
  std::uint64_t fraction_ns = digits_value(fraction);
  for (std::size_t i = fraction.size(); i < 6; ++i) fraction_ns *= 10;
  return static_cast<TimeNs>(digits_value(millis) * kMillisecondNs + fraction_ns);
}

Result<CutTrigger> parse_after_mark(std::string_view whole, std::string_view text) {
  const std::size_t plus = text.rfind('+');
  if (plus == std::string_view::npos || plus == 0) {
    return fail(subject(whole),
                plus == 0 ? "the text of the mark is missing" : "the '+' before the time is missing",
                "write after-mark:TEXT+X, for example after-mark:persisted 12+30");
  }
  const auto delay_ns = parse_delay(whole, text.substr(plus + 1));
  if (!delay_ns) return pass_on(delay_ns);
  CutTrigger trigger;
  trigger.kind = CutTrigger::Kind::after_mark;
  trigger.delay_ns = *delay_ns;
  trigger.mark = text.substr(0, plus);
  return trigger;
}

}  // namespace

Result<CutTrigger> parse_cut_trigger(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return fail(subject(text), "there is no ':' in it", std::string(kForms));
  const std::string_view kind = text.substr(0, colon);
  const std::string_view value = text.substr(colon + 1);
  if (kind == "after-mark") return parse_after_mark(text, value);

  CutTrigger trigger;
  if (kind == "after-ms") {
    const auto delay_ns = parse_delay(text, value);
    if (!delay_ns) return pass_on(delay_ns);
    trigger.delay_ns = *delay_ns;
    return trigger;
  }
  if (kind != "after-writes" && kind != "at-flush") {
    return fail(subject(text), fmt::format("'{}' is not a kind of trigger", kind), std::string(kForms));
  }
  const auto count = parse_count(text, value);
  if (!count) return pass_on(count);
  trigger.kind = kind == "at-flush" ? CutTrigger::Kind::at_flush : CutTrigger::Kind::after_writes;
  trigger.count = *count;
  return trigger;
}

}  // namespace headcrash::model
