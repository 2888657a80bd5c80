// Parses and formats the text form of faults (grammar in faults.h).
//
//   lost-write:hd0.1,lba=4096+8,times=2
//   ^kind      ^device ^options, each KEY=VALUE; kKinds lists the options of each kind
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "plugin/model/core/number_text.h"
#include "plugin/model/faults/faults.h"

namespace headcrash::model {
namespace {

constexpr std::size_t kDeviceNameMax = 64;
constexpr std::size_t kDataBytesMax = 64;

enum Option : unsigned {
  kLba = 1,
  kAfterMs = 2,
  kAfter = 4,
  kTimes = 8,
  kDelayMs = 16,
  kTo = 32,
  kData = 64,
  kOp = 128
};
constexpr unsigned kUsual = kLba | kAfterMs | kAfter | kTimes;

struct KindRow {
  FaultKind kind;
  std::string_view name;
  unsigned options;
  unsigned required;
};
constexpr std::array<KindRow, 12> kKinds{{
    {FaultKind::latent_error, "latent-error", kUsual, 0},
    {FaultKind::dead, "dead", kUsual, 0},
    {FaultKind::slow, "slow", kUsual | kDelayMs | kOp, kDelayMs},
    {FaultKind::torn_write, "torn-write", kUsual, 0},
    {FaultKind::lost_write, "lost-write", kUsual, 0},
    {FaultKind::misdirected_write, "misdirected-write", kUsual | kTo, kTo},
    {FaultKind::corrupted_write, "corrupted-write", kUsual, 0},
    {FaultKind::lying_flush, "lying-flush", kAfterMs | kAfter | kTimes, 0},
    {FaultKind::write_error, "write-error", kUsual | kData, 0},
    {FaultKind::flush_error, "flush-error", kAfterMs | kAfter | kTimes, 0},
    {FaultKind::battery_low, "battery-low", kAfterMs, 0},
    {FaultKind::battery_dead, "battery-dead", kAfterMs, 0},
}};

struct OptionRow {
  Option option;
  std::string_view name;
};
constexpr std::array<OptionRow, 8> kOptions{{{kLba, "lba"},
                                             {kAfterMs, "after-ms"},
                                             {kAfter, "after"},
                                             {kTimes, "times"},
                                             {kDelayMs, "delay-ms"},
                                             {kTo, "to"},
                                             {kData, "data"},
                                             {kOp, "op"}}};

constexpr std::array<std::pair<std::string_view, Op>, 4> kOps{
    {{"read", Op::read}, {"write", Op::write}, {"flush", Op::flush}, {"trim", Op::trim}}};

std::string fault_subject(std::string_view text) {
  return fmt::format("fault '{}'", text);
}

std::string kind_list() {
  std::string list;
  for (const KindRow& row : kKinds) list += fmt::format("{}{}", list.empty() ? "" : ", ", row.name);
  return "known: " + list;
}

std::string option_list(const KindRow& row) {
  std::string list;
  for (const OptionRow& option : kOptions)
    if ((row.options & option.option) != 0)
      list += fmt::format("{}{}=", list.empty() ? "" : ", ", option.name);
  return fmt::format("{} takes the options {}", row.name, list);
}

Result<std::uint64_t> parse_lba(const std::string& subject, std::string_view text) {
  return parse_number(
      subject, text,
      {"the sector", 0, kLbaMax, "count sectors of 512 bytes from 0, as in lba=4096+8"});
}

Result<void> parse_range(const std::string& subject, std::string_view text, FaultSpec& fault) {
  const std::size_t plus = text.find('+');
  TRY(const auto lba, parse_lba(subject, text.substr(0, plus)));
  fault.lba = lba;
  fault.sectors = 1;
  if (plus == std::string_view::npos) return {};
  TRY(const auto count, parse_number(subject, text.substr(plus + 1),
                                     {"the length of the range", 1, kLbaMax,
                                      "use at least one sector, as in lba=4096+8"}));
  fault.sectors = count;
  return {};
}

/// Parses bytes in hexadecimal, such as "c03b3998", with two digits for each byte.
Result<std::vector<std::byte>> parse_data(const std::string& subject, std::string_view text) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    unsigned value = 0;
    const std::string_view digits = text.substr(at, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || error != std::errc{} || end != digits.data() + digits.size()) break;
    bytes.push_back(static_cast<std::byte>(value));
  }
  if (bytes.empty() || bytes.size() > kDataBytesMax || bytes.size() * 2 != text.size())
    return fail(subject,
                fmt::format("the data '{}' must be 1 to {} hexadecimal bytes", text.substr(0, 160),
                            kDataBytesMax),
                "use two digits per byte, as in data=c03b3998");
  return bytes;
}

Result<void> parse_option(const std::string& subject, Option option, std::string_view value,
                          FaultSpec& fault) {
  if (option == kLba) return parse_range(subject, value, fault);
  if (option == kData) {
    TRY(auto data, parse_data(subject, value));
    fault.data = std::move(data);
    return {};
  }
  if (option == kOp) {
    for (const auto& [name, op] : kOps)
      if (name == value) fault.op = op;
    if (fault.op) return {};
    return fail(subject, fmt::format("unknown command '{}'", value.substr(0, 160)),
                "use read, write, flush or trim");
  }
  if (option == kAfterMs || option == kDelayMs) {
    TRY(const auto time, parse_milliseconds(subject, value));
    (option == kAfterMs ? fault.after_ns : fault.delay_ns) = time;
    return {};
  }
  TRY(const auto number,
      option == kTo ? parse_lba(subject, value)
                    : parse_number(subject, value,
                                   {"the count", 1, kCountMax, "omit the option for the default"}));
  (option == kTo ? fault.to_lba : option == kAfter ? fault.skip : fault.times) = number;
  return {};
}

bool is_device_name(std::string_view name) {
  return !name.empty() && name.size() <= kDeviceNameMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

std::string_view fault_kind_name(FaultKind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(),
                      [kind](const KindRow& row) { return row.kind == kind; })
      ->name;
}

Result<FaultSpec> parse_fault(std::string_view text) {
  const std::string subject = fault_subject(text);
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return fail(subject, "the ':' between the kind and the device is missing",
                "use KIND:DEVICE, for example lost-write:hd0,lba=4096; " + kind_list());
  const std::string_view kind = text.substr(0, colon);
  const auto* const row = std::find_if(kKinds.begin(), kKinds.end(),
                                       [kind](const KindRow& k) { return k.name == kind; });
  if (row == kKinds.end())
    return fail(subject, fmt::format("unknown fault '{}'", kind), kind_list());

  FaultSpec fault;
  fault.kind = row->kind;
  std::string_view rest = text.substr(colon + 1);
  std::size_t comma = rest.find(',');
  fault.device = rest.substr(0, comma);
  if (!is_device_name(fault.device))
    return fail(subject, fmt::format("invalid device name '{}'", fault.device),
                "use a name from the recording's device list, for example hd0 or hd0.3");

  unsigned seen = 0;
  while (comma != std::string_view::npos) {
    rest.remove_prefix(comma + 1);
    comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    const auto* const option = std::find_if(kOptions.begin(), kOptions.end(),
                                            [key](const OptionRow& o) { return o.name == key; });
    if (option == kOptions.end() || (row->options & option->option) == 0)
      return fail(subject, fmt::format("{} has no option '{}'", row->name, key), option_list(*row));
    if (equals == std::string_view::npos)
      return fail(subject, fmt::format("the option '{}' has no value", key), option_list(*row));
    if ((seen & option->option) != 0)
      return fail(subject, fmt::format("duplicate option '{}'", key), "remove one of them");
    seen |= option->option;
    TRY(parse_option(subject, option->option, part.substr(equals + 1), fault));
  }
  for (const OptionRow& option : kOptions)
    if ((row->required & ~seen & option.option) != 0)
      return fail(subject, fmt::format("{} needs the option {}=", row->name, option.name),
                  option_list(*row));
  if (fault.op == Op::flush && fault.sectors > 0)
    return fail(subject, "a flush has no sectors", "omit lba= or op=flush");
  return fault;
}

std::string to_text(const FaultSpec& fault) {
  std::string text = fmt::format("{}:{}", fault_kind_name(fault.kind), fault.device);
  if (fault.sectors == 1) text += fmt::format(",lba={}", fault.lba);
  if (fault.sectors > 1) text += fmt::format(",lba={}+{}", fault.lba, fault.sectors);
  if (!fault.data.empty()) text += ",data=";
  for (const std::byte byte : fault.data)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  if (fault.after_ns > 0) text += ",after-ms=" + milliseconds_text(fault.after_ns);
  if (fault.skip > 0) text += fmt::format(",after={}", fault.skip);
  if (fault.times > 0) text += fmt::format(",times={}", fault.times);
  if (fault.kind == FaultKind::slow) text += ",delay-ms=" + milliseconds_text(fault.delay_ns);
  for (const auto& [name, op] : kOps)
    if (fault.op == op) text += fmt::format(",op={}", name);
  if (fault.kind == FaultKind::misdirected_write) text += fmt::format(",to={}", fault.to_lba);
  return text;
}

}  // namespace headcrash::model
