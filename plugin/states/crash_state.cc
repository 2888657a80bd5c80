// Parses and formats the names of crash states (crash_state.h). Each state has exactly one name
// (except for the prefix d0). The grammar:
//
//   name     (["d" N] "w" | "a") N ["!" N] ["-" [list] | "+" list] ["~" torn {"." torn}]
//            "p" N   |   "m" N ":" N "@" N {"." N "@" N}
//   list     N {"." N}, ascending          torn   N ":" N "x" N, ascending by the first
//   N        decimal, without leading zeroes
#include "plugin/states/crash_state.h"

#include <fmt/core.h>

#include <limits>

namespace headcrash::states {
namespace {

constexpr const char* kForms =
    "examples: p1234, w1234, w1234-, w1234-17.21, w1234+17~23:2x6, w1234!55-, a1234-, m1234:3@1201";

class NameReader {
 public:
  explicit NameReader(std::string_view name) : name_(name) {}

  bool at_end() const { return at_ == name_.size(); }
  bool take(char wanted) {
    if (at_end() || name_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool at_digit() const { return !at_end() && name_[at_] >= '0' && name_[at_] <= '9'; }

  /// Reports the character at the current position as unexpected.
  tl::unexpected<Error> expected(std::string_view what) const {
    if (at_end()) return problem(fmt::format("ends where {} is expected", what));
    return problem(
        fmt::format("character {} is {}, but {} is expected", at_ + 1, shown(name_[at_]), what));
  }
  tl::unexpected<Error> problem(std::string text) const {
    return fail(fmt::format("crash state \"{}\"", readable()), std::move(text), kForms);
  }

  template <typename Number>
  Result<Number> number(const char* what) {
    if (!at_digit()) return expected(what);
    const std::size_t begin = at_;
    Number value = 0;
    for (; at_digit(); ++at_) {
      const auto digit = static_cast<Number>(name_[at_] - '0');
      if (value > (std::numeric_limits<Number>::max() - digit) / 10)
        return problem(
            fmt::format("the number at character {} is too large for {}", begin + 1, what));
      value = static_cast<Number>(value * 10 + digit);
    }
    if (name_[begin] == '0' && at_ - begin > 1)
      return problem(fmt::format("the number at character {} has a leading zero", begin + 1));
    return value;
  }

  /// Parses a number that must be larger than the preceding number in its list.
  template <typename Number>
  Result<Number> rising(const char* what, bool first, Number last) {
    const std::size_t begin = at_;
    auto value = number<Number>(what);
    if (value && !first && *value <= last)
      return problem(fmt::format("the list is not ascending at character {}", begin + 1));
    return value;
  }

  std::string readable() const {
    std::string text;
    for (const char c : name_.substr(0, 80)) text += c >= ' ' && c <= '~' ? c : '?';
    return name_.size() > 80 ? text + "..." : text;
  }

 private:
  static std::string shown(char c) {
    if (c >= ' ' && c <= '~') return fmt::format("\"{}\"", c);
    return fmt::format("the byte {:#04x}", static_cast<unsigned char>(c));
  }

  std::string_view name_;
  std::size_t at_ = 0;
};

Result<void> read_list(NameReader& in, std::vector<model::RequestId>& list) {
  do {
    TRY(const auto request,
        in.rising<model::RequestId>("a request", list.empty(), list.empty() ? 0 : list.back()));
    list.push_back(request);
  } while (in.take('.'));
  return {};
}

Result<void> read_torn(NameReader& in, std::vector<TornWrite>& list) {
  do {
    TRY(const auto request, in.rising<model::RequestId>("the torn request", list.empty(),
                                                        list.empty() ? 0 : list.back().request));
    if (!in.take(':')) return in.expected("\":\" and the first new sector");
    TRY(const auto first, in.number<std::uint32_t>("the first new sector"));
    if (!in.take('x')) return in.expected("\"x\" and the number of new sectors");
    TRY(const auto count, in.number<std::uint32_t>("the number of new sectors"));
    if (count == 0)
      return in.problem(fmt::format("request {} has no new sector: omit it", request));
    list.push_back({request, first, count});
  } while (in.take('.'));
  return {};
}

Result<void> read_writes(NameReader& in, CrashState& state) {
  if (in.take('!')) {
    TRY(const auto from,
        in.number<model::RequestId>("the first request about which the cache lied"));
    state.lies_from = from;
  }
  if (in.take('-')) {
    state.keep_others = in.at_digit();
    if (state.keep_others) TRY(read_list(in, state.listed));
  } else if (in.take('+')) {
    state.keep_others = false;
    TRY(read_list(in, state.listed));
  }
  if (in.take('~')) TRY(read_torn(in, state.torn));
  for (const TornWrite& torn : state.torn)
    for (const model::RequestId listed : state.listed)
      if (torn.request == listed)
        return in.problem(fmt::format("request {} is both listed and torn", listed));
  return {};
}

Result<void> read_members(NameReader& in, CrashState& state) {
  if (!in.take(':')) return in.expected("\":\" and DEVICE@EVENT");
  do {
    TRY(const auto device,
        in.rising<model::DeviceId>(
            "a device", state.stopped.empty(),
            state.stopped.empty() ? model::DeviceId{0} : state.stopped.back().first));
    if (!in.take('@')) return in.expected("\"@\" and its last event");
    TRY(const auto event, in.number<std::uint64_t>("its last event"));
    if (event > state.event)
      return in.problem(fmt::format("device {} stops at event {}, after the cut", device, event));
    state.stopped.emplace_back(device, event);
  } while (in.take('.'));
  return {};
}

std::string list_text(char sign, const std::vector<model::RequestId>& list) {
  std::string text(1, sign);
  for (std::size_t i = 0; i < list.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ".", list[i]);
  return text;
}

}  // namespace

std::string format(const CrashState& state) {
  if (state.base == CrashState::Base::physical ||
      (state.base == CrashState::Base::members && state.stopped.empty()))
    return fmt::format("p{}", state.event);
  if (state.base == CrashState::Base::members) {
    std::string text = fmt::format("m{}", state.event);
    char separator = ':';
    for (const auto& [device, event] : state.stopped) {
      text += fmt::format("{}{}@{}", separator, device, event);
      separator = '.';
    }
    return text;
  }
  std::string text = state.device == 0 ? std::string() : fmt::format("d{}", state.device);
  text += fmt::format("{}{}", state.all_disks ? 'a' : 'w', state.event);
  if (state.lies_from) text += fmt::format("!{}", *state.lies_from);
  if (!state.listed.empty()) {
    text += list_text(state.keep_others ? '-' : '+', state.listed);
  } else if (!state.keep_others) {
    text += '-';
  }
  char separator = '~';
  for (const TornWrite& torn : state.torn) {
    text += fmt::format("{}{}:{}x{}", separator, torn.request, torn.first, torn.count);
    separator = '.';
  }
  return text;
}

Result<CrashState> parse_crash_state(std::string_view name) {
  NameReader in(name);
  if (name.size() > kStateNameMax)
    return in.problem(fmt::format("is longer than {} characters", kStateNameMax));
  CrashState state;
  const bool names_device = in.take('d');
  if (names_device) {
    TRY(const auto device, in.number<model::DeviceId>("a device"));
    state.device = device;
  }
  if (in.take('w')) {
    state.base = CrashState::Base::writes;
  } else if (!names_device && in.take('a')) {
    state.base = CrashState::Base::writes;
    state.all_disks = true;
  } else if (!names_device && in.take('p')) {
    state.base = CrashState::Base::physical;
  } else if (!names_device && in.take('m')) {
    state.base = CrashState::Base::members;
  } else {
    return in.expected(names_device ? "\"w\"" : "\"w\", \"a\", \"p\" or \"m\"");
  }
  TRY(const auto event, in.number<std::uint64_t>("the event of the cut"));
  state.event = event;
  Result<void> rest;
  if (state.base == CrashState::Base::writes) rest = read_writes(in, state);
  if (state.base == CrashState::Base::members) rest = read_members(in, state);
  TRY(rest);
  if (!in.at_end()) return in.expected("the end of the name");
  return state;
}

}  // namespace headcrash::states
