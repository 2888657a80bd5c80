// Determines which trial has a given number (schemes_plan.h).
#include "harness/campaign/schemes/schemes_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "harness/explorer/in_process/io_errors.h"
#include "harness/explorer/in_process/lab_disks.h"
#include "harness/explorer/in_process/record_run.h"
#include "harness/workload/ace.h"
#include "harness/workload/catalogue.h"
#include "harness/workload/shared_names.h"

namespace headcrash::campaign {
namespace {

constexpr std::string_view kAllSchemes = "all";
constexpr std::uint64_t kFaultsPerRow = in_process::kFaultSeeds, kFaultsPerRun = 100;
constexpr std::uint64_t kEvictingOrder = 2;  ///< in_process::RunOptions::order
/// Number of request orders in each of two groups (in_process/record_run.h). The first group
/// consists of the elevator (order 0) and random orders. The second group has only random orders;
/// its pauses end while the disk is busy. Families whose operations must run during background
/// writes use the second group.
constexpr std::uint64_t kOrders = in_process::kFirstBusyOrder;

/// The runs of one workload family in the whole campaign, and the disk on which they take place.
struct FamilyShare {
  std::string_view name, disk;
  std::uint64_t count = 0;
  /// Number of request orders under which each workload runs. A slow processor and a fast one are
  /// used alternately for these orders.
  std::uint64_t orders = 1;
  /// Number of fiber schedules under which each workload also runs. Each schedule uses a different
  /// request order.
  std::uint64_t schedules = 0;
  /// Number of runs of each workload with I/O errors. In all runs but the first, fibers are also
  /// scheduled in random order, because other users may be waiting for the operation that fails.
  std::uint64_t faults = 1;
  /// If false, the family runs only if it is requested by name. It injects few faults, so a control
  /// might pass, which would invalidate a shard of the whole campaign.
  bool in_whole = true;
  /// number of the first request order; must be a multiple of kOrders
  std::uint64_t first_order = 0;
};
constexpr std::array kFamilies = std::to_array<FamilyShare>({
    {"reuse", "tiny", 16},
    {"nearly-full", "tiny", 16},
    {"nearly-full", "deep", 16},
    {"crumbs", "tiny", 10},
    {"no-room", "tiny", 4},
    {"no-room", "deep", 2},
    {"full-users", "tiny", 6, 2, 4, 4},
    {"full-users", "deep", 6, 2, 4, 4},
    {"truncation", "tiny", 12},
    {"truncation", "deep", 8},
    {"indirect", "deep", 20},
    {"fragments", "tiny", 12},
    {"regrowth", "plain", 40},
    {"regrowth", "tiny", 12},
    {"directories", "deep", 12},
    {"renames", "tiny", 12},
    {"exchanges", "tiny", 6},
    {"exchanges", "plain", 6},
    {"long-renames", "deep", 4},
    {"moves", "tiny", 12},
    {"replacements", "tiny", 10},
    {"large-directories", "deep", 12},
    {"large-directories", "plain", 3},
    {"journal-wrap", "deep", 3},
    {"journal-wrap", "used", 1},
    {"open-files", "tiny", 10},
    {"overwrites", "tiny", 8},
    {"crowded", "tiny", 8},
    {"appends", "tiny", 4},
    {"appends", "plain", 4},
    {"paths", "tiny", 8, 1, 2},
    {"paths", "deep", 8, 1, 2},
    {"holes", "deep", 6, 1, 2},
    {"syncs", "tiny", 6, 2, 4, 8},
    {"fsyncs", "deep", 8, 2, 4, 8},
    // These families run without injected faults. Their `rest` operations promise that earlier
    // changes are on the disk, but an I/O error may prevent this.
    {"rests", "tiny", 6, 1, 0, 0},
    {"rests", "plain", 6, 1, 0, 0},
    {"many-users", "tiny", 8, 2, 4, 4},
    {"attributes", "tiny", 4, 2, 4, 4},
    {"attributes", "deep", 6, 2, 4, 4},
    {"transactions", "tiny", 6, 2, 4, 4},
    {"transactions", "deep", 6, 2, 4, 4},
    {"histories", "tiny", 12, 1, 1},
    {"histories", "deep", 6, 1, 1},
    {"histories", "used", 6},
    {"damage", "tiny", 12, 1, 0, 0},
    {"damage", "deep", 12, 1, 0, 0},
    {"shared-names", "plain", 120, 0, 4, 0},
    {"shared-names", "tiny", 120, 0, 4, 0},
    {"shared-names", "deep", 60, 0, 4, 0},
    {"enumerated", "plain", workload::kShortSharedLists, 1, 0, 0},
    {"enumerated", "tiny", workload::kShortSharedLists, 1, 0, 0},
    {"io-errors", "plain", 8, 1, 0, 0, false},
    {"io-errors", "tiny", 4, 1, 0, 0, false},
    {"edges", "tiny", 6},
    {"edges", "deep", 6},
    {"open-users", "tiny", 4, 1, 3, 4},
    {"open-users", "deep", 2, 1, 3, 4},
    {"nearly-full", "tiny", 12, 1, 0, 0, true, kOrders},
    {"crumbs", "tiny", 6, 1, 0, 0, true, kOrders},
    {"edges", "tiny", 6, 1, 0, 0, true, kOrders},
    {"last-blocks", "tiny", 8, 1, 1, 1},
    {"last-blocks", "deep", 8, 1, 1, 1},
    {"histories", "tiny", 6, 1, 0, 0, true, kOrders},
});
/// Workload N is number N of the family `histories`, with faults generated from seed N.
constexpr std::string_view kIoErrors = "io-errors/", kWithIoErrors = "histories/";
/// Workload N is number N of one of these families. The image that the workload leaves is then
/// damaged.
constexpr std::string_view kDamage = "damage/", kDamageFamily = "damage";
/// Workload N is the history shared_names(N).
constexpr std::string_view kShared = "shared-names/";
/// Workload N is the history short_shared_names(N).
constexpr std::string_view kEnumerated = "enumerated/";
constexpr auto kDamaged = std::to_array<std::string_view>(
    {"histories", "large-directories", "nearly-full", "directories", "indirect", "moves", "crumbs",
     "renames", "fragments", "many-users", "truncation", "replacements"});

std::string with_disk_and_order(std::string name, std::string_view disk, std::uint64_t order) {
  if (disk != in_process::kPlainDisk) name += fmt::format("@{}", disk);
  if (order != 0) name += fmt::format("~{}", order);
  return name;
}

/// Interleaves several lists so that the elements of each are evenly spread.
class Turns {
 public:
  void add(std::vector<std::string> list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      places_.emplace_back((static_cast<double>(i) + 0.5) / static_cast<double>(list.size()),
                           std::move(list[i]));
  }
  std::vector<std::string> take() {
    std::ranges::stable_sort(places_, {}, &Place::first);
    std::vector<std::string> all;
    all.reserve(places_.size());
    for (Place& place : places_) all.push_back(std::move(place.second));
    return all;
  }

 private:
  using Place = std::pair<double, std::string>;
  std::vector<Place> places_;
};

std::vector<std::string> members(const FamilyShare& family) {
  std::vector<std::string> list;
  // The rows of kFamilies use disjoint ranges of fault seeds.
  const auto first_faults = static_cast<std::uint64_t>(&family - kFamilies.data()) * kFaultsPerRow;
  for (std::uint64_t i = 0; i < family.count; ++i) {
    const std::string name = fmt::format("{}/{}", family.name, i);
    for (std::uint64_t order = i + 1; order <= i + family.orders; ++order)
      list.push_back(with_disk_and_order(name, family.disk, family.first_order + order % kOrders));
    for (std::uint64_t one = 1; one <= family.schedules; ++one)
      list.push_back(with_disk_and_order(name, family.disk, (i + one) % kOrders) +
                     fmt::format(":{}", i * family.schedules + one));
    for (std::uint64_t one = 0; one < family.faults; ++one)
      list.push_back(with_disk_and_order(name, family.disk, (i + 2 + one) % kOrders) +
                     (one == 0 ? "" : fmt::format(":{}", family.schedules * i + one)) +
                     fmt::format("^{}", first_faults + one * kFaultsPerRun + i));
    // Clean blocks are evicted in this run, so reads reach the disk, and some of them fail.
    if (family.faults != 0 && family.in_whole)
      list.push_back(with_disk_and_order(name, family.disk, kEvictingOrder) +
                     fmt::format("^{}", first_faults + in_process::kFirstReadFaults + i));
  }
  return list;
}

std::vector<std::string> all_of_seq1(std::uint64_t order) {
  std::vector<std::string> list;
  const std::uint64_t count = workload::Ace(1).count();
  list.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i)
    list.push_back(
        with_disk_and_order(fmt::format("ace-seq1/{}", i), in_process::kPlainDisk, order));
  return list;
}

std::vector<std::string> sample_of_seq2(std::uint64_t count, std::uint64_t seed) {
  std::vector<std::string> list;
  for (const std::uint64_t number : workload::sample_numbers(workload::Ace(2).count(), count, seed))
    list.push_back(with_disk_and_order(fmt::format("ace-seq2/{}", number), in_process::kPlainDisk,
                                       list.size() % kOrders));
  return list;
}

bool is_family(std::string_view name) {
  return std::ranges::find(kFamilies, name, &FamilyShare::name) != kFamilies.end();
}

/// Returns true if the family can run on all `systems`. They must have the family's disk and, for
/// the family `damage`, repair trials.
bool is_possible(const FamilyShare& family,
                 std::span<const adapters::SystemUnderTest* const> systems) {
  return std::ranges::all_of(systems, [&](const adapters::SystemUnderTest* system) {
    return system->lab_disk(family.disk) &&
           (family.name != kDamageFamily || system->type().has_repair_trials());
  });
}

/// Removes the suffix that begins at the last `sign`, and returns the number after `sign`. Returns
/// nullopt if `text` does not contain `sign`. Fails if the rest of the suffix is not a number.
Result<std::optional<std::uint64_t>> parse_suffix(std::string_view& text, char sign,
                                                  std::string_view what) {
  const std::size_t at = text.rfind(sign);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(at + 1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size())
    return fail(std::string(text), fmt::format("\"{}\" is not a valid {}", digits, what),
                "use a number, as in reuse/3@tiny~2:5^7");
  text = text.substr(0, at);
  return number;
}

}  // namespace

std::optional<SchemesCampaign> parse_schemes_campaign(std::string_view name) {
  const std::size_t end = std::min(name.find('/'), name.size());
  SchemesCampaign campaign;
  const auto is_named = [&](const adapters::FileSystemType* type) {
    return SchemesCampaign{.type = type}.name() == name.substr(0, end);
  };
  const auto types = adapters::file_system_types();
  const auto type = std::ranges::find_if(types, is_named);
  if (type == types.end()) return {};
  campaign.type = *type;
  name.remove_prefix(end);
  if (name.empty()) return campaign;
  name.remove_prefix(1);
  const std::size_t slash = std::min(name.find('/'), name.size());
  if (name.substr(0, slash) != kAllSchemes) campaign.scheme = name.substr(0, slash);
  if (slash < name.size()) campaign.workload = name.substr(slash + 1);
  return campaign;
}

CampaignSummary schemes_campaign_summary(const adapters::FileSystemType& type) {
  const SchemesCampaign campaign{.type = &type};
  const auto plan = SchemesPlan::create(campaign);
  const std::uint64_t trials = plan ? plan->size() : 0;
  return {.name = campaign.name(),
          .title = fmt::format(
              "Our own {} under every scheme, without guests: all seq-1 workloads, some seq-2 "
              "workloads, and the families of workloads",
              type.name()),
          .takes = trials > 5000 ? "half an hour" : "a few minutes",
          .trials = trials,
          .states = trials * campaign.budget};
}

Result<SchemesWorkload> parse_schemes_workload(std::string_view text) {
  SchemesWorkload workload;
  const std::string whole(text);
  TRY(auto faults, parse_suffix(text, '^', "seed of faults"));
  workload.faults = faults;
  TRY(const auto schedule, parse_suffix(text, ':', "seed of a schedule"));
  workload.schedule = schedule.value_or(0);
  TRY(const auto order, parse_suffix(text, '~', "order"));
  workload.order = order.value_or(0);
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    workload.disk = text.substr(at + 1);
    text = text.substr(0, at);
    TRY(in_process::check_lab_disk_name(workload.disk));
  }
  workload.name = text;
  if (text.starts_with(kIoErrors)) {
    std::string_view number = text;
    TRY(const auto seed, parse_suffix(number, '/', "number"));
    if (workload.faults)
      return fail(whole, "sets the seed of its faults twice",
                  "use either io-errors/7 or histories/7^7");
    workload.name = std::string(kWithIoErrors) + std::string(text.substr(kIoErrors.size()));
    workload.faults = seed;
  }
  if (text.starts_with(kDamage)) {
    std::string_view number = text;
    TRY(const auto seed, parse_suffix(number, '/', "number"));
    if (workload.faults)
      return fail(whole, "requires a successful unmount, which faults may prevent",
                  "use either damage/7 or histories/7^7");
    workload.damage = seed;
    workload.name = fmt::format("{}/{}", kDamaged.at(*seed % kDamaged.size()), *seed);
  }
  if (text.starts_with(kShared)) {
    std::string_view number = text;
    TRY(workload.shared, parse_suffix(number, '/', "number"));
    if (workload.faults)
      return fail(whole, "cannot be combined with faults, which would change its results",
                  "use histories/7^7");
  }
  if (text.starts_with(kEnumerated)) {
    std::string_view number = text;
    TRY(workload.enumerated, parse_suffix(number, '/', "number"));
    if (*workload.enumerated >= workload::kShortSharedLists)
      return fail(whole, "there is no list with this number",
                  fmt::format("use a number below {}", workload::kShortSharedLists));
    if (workload.faults)
      return fail(whole, "cannot be combined with faults, which would change its results",
                  "use histories/7^7");
  }
  if (!workload.disk.empty()) return workload;
  const auto family =
      std::ranges::find(kFamilies, text.substr(0, text.find('/')), &FamilyShare::name);
  workload.disk = family == kFamilies.end() ? in_process::kPlainDisk : family->disk;
  return workload;
}

Result<std::vector<workload::Operation>> SchemesWorkload::operations() const {
  if (shared) return workload::shared_names(*shared);
  if (enumerated) return workload::short_shared_names(*enumerated);
  return workload::make_workload({.name = name});
}

Result<SchemesPlan> SchemesPlan::create(const SchemesCampaign& campaign, const run::Shard& shard) {
  SchemesPlan plan;
  for (const auto& system : campaign.type->systems()) plan.systems_.push_back(system.get());
  const std::uint64_t schemes = plan.systems_.size();
  if (!campaign.scheme.empty()) {
    plan.systems_.clear();
    for (std::string_view rest = campaign.scheme; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      TRY(const auto one, campaign.type->find_system(rest.substr(0, comma)));
      plan.systems_.push_back(one);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  plan.shard_ = shard;
  if (campaign.workload.empty()) plan.set_controls_apart();
  Turns turns;
  const auto add_families = [&](std::string_view name) {
    for (const FamilyShare& family : kFamilies)
      if ((name.empty() ? family.in_whole : family.name == name) &&
          is_possible(family, plan.systems_))
        turns.add(members(family));
  };
  if (campaign.workload == "ace-seq1") {
    turns.add(all_of_seq1(0));
  } else if (campaign.workload == "ace-seq2") {
    plan.seq2_ = workload::Ace(2).count();
  } else if (is_family(campaign.workload)) {
    add_families(campaign.workload);
  } else if (!campaign.workload.empty()) {
    turns.add({campaign.workload});
  } else {
    add_families({});
    turns.add(all_of_seq1(0));
    turns.add(all_of_seq1(1));
    turns.add(sample_of_seq2((campaign.seq2_workloads + schemes - 1) / schemes, campaign.seed));
  }
  plan.listed_ = turns.take();
  const std::uint64_t all = plan.listed_.size() + plan.seq2_;
  plan.workloads_ = all > shard.index ? (all - shard.index + shard.count - 1) / shard.count : 0;
  return plan;
}

void SchemesPlan::set_controls_apart() {
  std::uint64_t number = 0;
  std::erase_if(systems_, [&](const adapters::SystemUnderTest* system) {
    const std::string& workload = system->description().shown_by;
    if (workload.empty()) return false;
    if (number++ % shard_.count == shard_.index) controls_.push_back({system, workload});
    return true;
  });
}

SchemesPlan::Trial SchemesPlan::at(std::uint64_t number) const {
  if (number >= workloads_ * systems_.size())
    return controls_.at(number - workloads_ * systems_.size());
  const std::uint64_t workload = number / systems_.size() * shard_.count + shard_.index;
  return {.system = systems_.at(number % systems_.size()),
          .workload = seq2_ != 0 ? fmt::format("ace-seq2/{}", workload) : listed_.at(workload)};
}

}  // namespace headcrash::campaign
