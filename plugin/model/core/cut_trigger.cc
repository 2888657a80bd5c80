// The text form of CutTrigger (grammar in machine.h).
//
// Counts are decimal integers of at least 1; times are decimal milliseconds (number_text.h).
#include <fmt/core.h>

#include "plugin/model/core/machine.h"
#include "plugin/model/core/number_text.h"

namespace headcrash::model {
namespace {

constexpr std::string_view kForms =
    "use after-requests:N, after-writes:N, at-flush:N, at-lba:[DEVICE/]N, after-ms:X or after-mark:TEXT+X";

std::string cut_subject(std::string_view text) {
  return fmt::format("power cut '{}'", text);
}

Result<std::uint64_t> parse_count(std::string_view whole, std::string_view text) {
  return parse_number(
      cut_subject(whole), text,
      {"the count", 1, kCountMax,
       "count the requests, writes or flushes from now on, for example after-writes:100"});
}

Result<CutTrigger> parse_after_mark(std::string_view whole, std::string_view text) {
  const std::size_t plus = text.rfind('+');
  if (plus == std::string_view::npos || plus == 0) {
    return fail(
        cut_subject(whole),
        plus == 0 ? "the text of the mark is missing" : "the '+' before the time is missing",
        "use after-mark:TEXT+X, for example after-mark:persisted 12+30");
  }
  TRY(const auto delay_ns, parse_milliseconds(cut_subject(whole), text.substr(plus + 1)));
  CutTrigger trigger;
  trigger.kind = CutTrigger::Kind::after_mark;
  trigger.delay_ns = delay_ns;
  trigger.mark = text.substr(0, plus);
  return trigger;
}

Result<CutTrigger> parse_at_lba(std::string_view whole, std::string_view text) {
  const std::size_t slash = text.rfind('/');
  CutTrigger trigger;
  trigger.kind = CutTrigger::Kind::at_lba;
  if (slash != std::string_view::npos) trigger.device = text.substr(0, slash);
  if (slash == 0)
    return fail(cut_subject(whole), "the device before the '/' is missing",
                "omit the '/' for the first device");
  TRY(const auto lba,
      parse_number(cut_subject(whole),
                   slash == std::string_view::npos ? text : text.substr(slash + 1),
                   {"the sector", 0, kLbaMax,
                    "count sectors of 512 bytes from 0, for example at-lba:hd0/4096"}));
  trigger.lba = lba;
  return trigger;
}

}  // namespace

Result<CutTrigger> parse_cut_trigger(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return fail(cut_subject(text), "the ':' is missing", std::string(kForms));
  const std::string_view kind = text.substr(0, colon);
  const std::string_view value = text.substr(colon + 1);
  if (kind == "after-mark") return parse_after_mark(text, value);
  if (kind == "at-lba") return parse_at_lba(text, value);

  CutTrigger trigger;
  if (kind == "after-ms") {
    TRY(const auto delay_ns, parse_milliseconds(cut_subject(text), value));
    trigger.delay_ns = delay_ns;
    return trigger;
  }
  if (kind == "after-requests") {
    trigger.kind = CutTrigger::Kind::after_requests;
  } else if (kind == "after-writes") {
    trigger.kind = CutTrigger::Kind::after_writes;
  } else if (kind == "at-flush") {
    trigger.kind = CutTrigger::Kind::at_flush;
  } else {
    return fail(cut_subject(text), fmt::format("unknown trigger '{}'", kind), std::string(kForms));
  }
  TRY(const auto count, parse_count(text, value));
  trigger.count = count;
  return trigger;
}

}  // namespace headcrash::model
