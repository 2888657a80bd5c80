#include "plugin/replay/random_requests.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "plugin/base/invariant.h"
#include "plugin/base/nearest.h"
#include "plugin/base/size.h"
#include "plugin/model/core/store.h"

namespace headcrash::replay {
namespace {

constexpr std::uint64_t kChunkRequests = 4096;
constexpr std::uint64_t kBytesMax = 512 << 20;
constexpr double kTwoTo53 = 9007199254740992.0;

template <typename Number>
std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<void> take(std::string_view key, std::string_view value, RandomSpec& spec) {
  const std::string subject = fmt::format("--random {}", key);
  const auto whole = parsed<std::uint64_t>(value);
  const auto real = parsed<double>(value);
  const auto share = [&](double& into) -> Result<void> {
    if (!real || !(*real >= 0 && *real <= 1))
      return fail(subject, "must be a fraction from 0 to 1", "for example 0.67");
    into = *real;
    return {};
  };
  if (key == "reads") return share(spec.reads);
  if (key == "sequential") return share(spec.sequential);
  if (key == "size") {
    TRY(const auto bytes, base::parse_size(value, subject));
    if (bytes == 0 || bytes > kBytesMax || bytes % model::kSectorBytes != 0) {
      return fail(subject, "must be a multiple of 512 bytes up to 512M", "for example 4K");
    }
    spec.blocks = static_cast<std::uint32_t>(bytes / model::kSectorBytes);
  } else if (key == "count") {
    if (!whole || *whole == 0)
      return fail(subject, "must be an integer above 0", "for example 100000");
    spec.count = *whole;
  } else if (key == "seed") {
    if (!whole) return fail(subject, "must be an integer", "for example 1");
    spec.seed = *whole;
  } else if (key == "depth") {
    if (!whole || *whole == 0 || *whole > 65'536)
      return fail(subject, "must be from 1 to 65536", "for example 32");
    spec.depth = static_cast<std::uint32_t>(*whole);
  } else if (key == "rate") {
    if (!real || !(*real >= 1e-3 && *real <= 1e9))
      return fail(subject, "must be from 0.001 to 1e9", "requests/s");
    spec.rate = *real;
  } else {
    const std::vector<std::string> known = {"count", "size",       "reads", "seed",
                                            "depth", "sequential", "rate"};
    return fail(subject, "unknown key", base::suggest(key, known));
  }
  return {};
}

}  // namespace

Result<RandomSpec> parse_random(std::string_view text) {
  RandomSpec spec;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      return fail(fmt::format("--random {}", item), "is not KEY=VALUE",
                  "for example reads=0.67,count=100000,size=4K");
    }
    TRY(take(item.substr(0, equals), item.substr(equals + 1), spec));
  }
  if (spec.count == 0)
    return fail("--random count", "is missing",
                "set the number of requests, for example count=100000");
  if (spec.rate > 0 && spec.depth > 1) {
    return fail("--random depth", "has no effect with a rate", "omit depth or rate");
  }
  return spec;
}

RandomRequests::RandomRequests(const RandomSpec& spec, std::uint64_t sectors)
    : spec_(spec), places_(sectors / spec.blocks), random_(spec.seed) {
  invariant(places_ > 0, "a request must fit on the device");
}

std::string RandomRequests::subject(const TraceRequest&) const {
  return "--random";
}

bool RandomRequests::chance(double share) {
  return static_cast<double>(random_.next() >> 11U) < share * kTwoTo53;
}

Result<std::span<const TraceRequest>> RandomRequests::next() {
  chunk_.clear();
  while (chunk_.size() < kChunkRequests && made_ < spec_.count) {
    ++made_;
    const bool goes_on = spec_.sequential > 0 && chance(spec_.sequential);
    if (!goes_on || next_place_ == places_) next_place_ = random_.below(places_);
    TraceRequest request;
    request.lbn = next_place_++ * spec_.blocks;
    request.blocks = spec_.blocks;
    request.read = chance(spec_.reads);
    if (spec_.rate > 0) {
      const double uniform = (static_cast<double>(random_.next() >> 11U) + 1) / kTwoTo53;
      arrival_ns_ +=
          std::llround(-std::log(uniform) * static_cast<double>(model::kSecondNs) / spec_.rate);
      request.wait_ns = arrival_ns_;
    }
    chunk_.push_back(request);
  }
  return std::span<const TraceRequest>(chunk_);
}

}  // namespace headcrash::replay
