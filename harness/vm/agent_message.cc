// Lists the fields of the agent's events and answers, and checks messages against this list
// (agent_message.h).
#include "harness/vm/agent_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

namespace headcrash::vm {
namespace {

using nlohmann::json;

enum class Kind : std::uint8_t {
  flag,
  text,
  integer,  ///< fits into 32 bits
  id,       ///< fits into 64 bits
  count,    ///< an integer from 0 to 2^53
  number,   ///< finite and not negative
  texts,    ///< a list of strings
  entries,  ///< the entries of a dump, which oracle::parse_entry() checks
  object,   ///< an object that has all the fields in `fields`
  answer,   ///< an object that consists of fields of kAnswers
  buckets,  ///< a list of pairs of an upper bound in nanoseconds and a count
};

struct Field {
  std::string_view name;
  Kind kind;
  std::span<const Field> fields = {};
};

constexpr std::uint64_t kCountMost = 1ULL << 53U;

constexpr Field kDisk[]{{"reads", Kind::count},        {"read_merges", Kind::count},
                        {"read_sectors", Kind::count}, {"writes", Kind::count},
                        {"write_merges", Kind::count}, {"write_sectors", Kind::count},
                        {"flushes", Kind::count},      {"busy_ms", Kind::count}};
constexpr Field kCpu[]{{"user_ms", Kind::number}, {"system_ms", Kind::number}};
constexpr Field kLatency[]{{"count", Kind::count},   {"mean_ns", Kind::number},
                           {"p50_ns", Kind::number}, {"p99_ns", Kind::number},
                           {"max_ns", Kind::number}, {"buckets", Kind::buckets}};
constexpr Field kLayout[]{{"files", Kind::count}, {"blocks", Kind::count}, {"pieces", Kind::count}};

constexpr Field kEvents[]{{"id", Kind::id},           {"event", Kind::text},
                          {"operation", Kind::count}, {"text", Kind::text},
                          {"errno", Kind::integer},   {"entries", Kind::entries}};

constexpr Field kAnswers[]{
    {"id", Kind::id},
    {"ok", Kind::flag},
    {"error", Kind::text},
    {"errno", Kind::integer},
    {"unknown_type", Kind::flag},
    {"agent", Kind::integer},
    {"kernel", Kind::text},
    {"modules", Kind::texts},
    {"bytes", Kind::count},
    {"nonce", Kind::text},
    {"flush", Kind::text},
    {"exit", Kind::integer},
    {"timed_out", Kind::flag},
    {"stdout", Kind::text},
    {"stderr", Kind::text},
    {"done", Kind::count},
    {"refused", Kind::count},
    {"entries", Kind::count},
    {"wall_ms", Kind::number},
    {"verify_ms", Kind::number},
    {"mount_ms", Kind::number},
    {"dump_ms", Kind::number},
    {"unmount_ms", Kind::number},
    {"use_ms", Kind::number},
    {"mounted", Kind::flag},
    {"again", Kind::answer},
    {"difference", Kind::text},
    {"unusable", Kind::text},
    {"log", Kind::text},
    {"text", Kind::text},
    {"elapsed_ns", Kind::number},
    {"sync_ns", Kind::number},
    {"user_ms", Kind::number},
    {"system_ms", Kind::number},
    {"operation", Kind::text},
    {"operations", Kind::count},
    {"bytes_read", Kind::count},
    {"bytes_written", Kind::count},
    {"latency", Kind::object, kLatency},
    {"layout", Kind::object, kLayout},
    {"disk", Kind::object, kDisk},
    {"cpu", Kind::object, kCpu},
    {"devices", Kind::object},
};

struct Required {
  std::string_view command;
  std::array<std::string_view, 4> fields;
};
constexpr std::array kRequired{Required{"disk", {"bytes", "nonce", "flush"}},
                               Required{"exec", {"exit", "timed_out", "stdout", "stderr"}},
                               Required{"run", {"done"}},
                               Required{"run-application", {"done", "exit", "timed_out"}},
                               Required{"dump", {"entries"}},
                               Required{"inspect", {"mounted"}},
                               Required{"log", {"text"}},
                               Required{"stop-trace", {"devices"}}};
/// Names of the events that report an operation without full success.
constexpr std::array<std::string_view, 3> kOperationEvents{"skipped", "partial", "failed"};

tl::unexpected<Error> wrong(const std::string& field) {
  return fail("the agent's message: " + field, "is missing or invalid",
              "the guest's kernel or agent is damaged or has a different version");
}

const Field* find(std::span<const Field> fields, std::string_view name) {
  const auto at = std::ranges::find(fields, name, &Field::name);
  return at == fields.end() ? nullptr : &*at;
}

bool is_count(const json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= kCountMost;
}

bool is_integer(const json& value) {
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>() <=
           static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  return value.is_number_integer() &&
         value.get<std::int64_t>() >= std::numeric_limits<int>::min() &&
         value.get<std::int64_t>() <= std::numeric_limits<int>::max();
}

bool is_number(const json& value) {
  if (!value.is_number()) return false;
  const double number = value.get<double>();
  return std::isfinite(number) && number >= 0 && number <= static_cast<double>(kCountMost);
}

bool is_bucket(const json& value) {
  return value.is_array() && value.size() == 2 && is_count(value[0]) && is_count(value[1]);
}

bool fits(const json& value, const Field& field);

/// Returns true if all fields are valid. Otherwise, stores the name of the first invalid field in
/// `path`.
bool all_fit(json& object, std::span<const Field> fields, std::string& path) {
  for (auto at = object.begin(); at != object.end();) {
    const Field* const field = find(fields, at.key());
    if (field == nullptr) {
      at = object.erase(at);
      continue;
    }
    const bool within = field->kind == Kind::answer && at->is_object();
    if (within ? !all_fit(*at, kAnswers, path) : !fits(*at, *field)) {
      path = path.empty() ? at.key() : fmt::format("{}.{}", at.key(), path);
      return false;
    }
    ++at;
  }
  return true;
}

bool fits(const json& value, const Field& field) {
  switch (field.kind) {
    case Kind::flag:
      return value.is_boolean();
    case Kind::text:
      return value.is_string();
    case Kind::texts:
      return value.is_array() &&
             std::ranges::all_of(value, [](const json& each) { return each.is_string(); });
    case Kind::integer:
      return is_integer(value);
    case Kind::id:
      return value.is_number_integer() || value.is_null();
    case Kind::count:
      return is_count(value);
    case Kind::number:
      return is_number(value);
    case Kind::entries:
      return value.is_array();
    case Kind::buckets:
      return value.is_array() && std::ranges::all_of(value, is_bucket);
    case Kind::object:
      if (value.is_null()) return true;
      return value.is_object() && std::ranges::all_of(field.fields, [&](const Field& each) {
               const auto at = value.find(each.name);
               return at != value.end() && fits(*at, each);
             });
    case Kind::answer:
      break;
  }
  return false;
}

}  // namespace

Result<void> check_message(json& message) {
  if (!message.is_object()) return wrong("not a JSON object");
  const auto event = message.find("event");
  if (event != message.end() && !event->is_string()) return wrong("event");
  if (event != message.end() && *event == "entry") {
    if (!fits(message.value("id", json()), {"id", Kind::id})) return wrong("id");
    return {};
  }
  if (event == message.end() && !message.contains("ok")) return wrong("ok");
  std::string field;
  const std::span<const Field> fields =
      event == message.end() ? std::span<const Field>(kAnswers) : kEvents;
  if (!all_fit(message, fields, field)) return wrong(field);
  const bool about_one =
      event != message.end() &&
      std::ranges::any_of(kOperationEvents, [&](auto name) { return message["event"] == name; });
  if (about_one && !message.contains("operation")) return wrong("operation");
  if (about_one && !message.contains("errno")) return wrong("errno");
  return {};
}

Result<void> check_answer(std::string_view command, const json& answer) {
  const auto required = std::ranges::find(kRequired, command, &Required::command);
  if (required == kRequired.end()) return {};
  for (const std::string_view field : required->fields)
    if (!field.empty() && !answer.contains(field)) return wrong(std::string(field));
  return {};
}

}  // namespace headcrash::vm
