// Lists the variants of all schemes (scheme_variants.h).
#include "fs-adapters/ufs/schemes/scheme_variants.h"

#include <algorithm>
#include <ostream>

#include "fs-adapters/substrate/tree/exchange_name.h"
#include "fs-adapters/ufs/format/mkfs.h"

namespace headcrash::ufs {
namespace {

using os::FlagMeaning;

enum class Init : std::uint8_t { off, on };
enum class Bypass : std::uint8_t { off, on };
enum class Copy : std::uint8_t { off, on };

SchemeVariant scheme(std::string name, std::string title, SchemeKind kind, Init init = Init::off) {
  SchemeVariant made{.name = std::move(name), .title = std::move(title)};
  made.mount.scheme = kind;
  made.mount.options.allocation_initialization = init == Init::on;
  return made;
}

SchemeVariant flag(std::string name, std::string title, FlagMeaning meaning, Bypass bypass,
                   Copy copy) {
  SchemeVariant made = scheme(std::move(name), std::move(title), SchemeKind::scheduler_flag);
  made.queue.flag = meaning;
  made.queue.reads_bypass = bypass == Bypass::on;
  made.block_copy = copy == Copy::on;
  made.control = meaning == FlagMeaning::ignore;
  return made;
}

SchemeVariant chains(std::string name, std::string title, Deallocation deallocation, Copy copy) {
  SchemeVariant made = scheme(std::move(name), std::move(title), SchemeKind::scheduler_chains);
  made.mount.options.deallocation = deallocation;
  made.block_copy = copy == Copy::on;
  return made;
}

/// Returns a variant with a journal. A replay leaves neither residue nor stale maps, so only
/// findings of severity `stale` are permitted.
SchemeVariant journal(std::string name, std::string title, const JournalOptions& options) {
  SchemeVariant made = scheme(std::move(name), std::move(title), SchemeKind::journal, Init::on);
  made.mount.options.journal = options;
  made.may_leave = Severity::stale;
  made.maps_lag = false;
  made.control = options.record == JournalOptions::CommitRecord::unordered ||
                 options.broken != JournalOptions::Rule::all_kept;
  return made;
}

/// Returns the variant with its log moved to a separate device.
SchemeVariant external(SchemeVariant made, std::string name, std::string title) {
  made.name = std::move(name);
  made.title = std::move(title);
  made.mount.options.journal.place = JournalOptions::Place::external;
  made.features.external_journal = true;
  return made;
}

/// Adds the logging systems of Peacock 1998. VxFS with VxLD logs names and data on a separate
/// drive. Solaris logging (SDS) logs only names, without batching.
void add_external_journals(std::vector<SchemeVariant>& table) {
  using Options = JournalOptions;
  constexpr Options kData{.contents = Options::Contents::data};
  constexpr Options kUnbatched{.sharing = Options::Sharing::none};
  constexpr Options kDataUnbatched{.sharing = Options::Sharing::none,
                                   .contents = Options::Contents::data};
  table.push_back(
      journal("journal-unbatched", "Journal, ordered, one commit per waiting caller", kUnbatched));
  table.push_back(journal("journal-data-unbatched",
                          "Journal with data, one commit per waiting caller", kDataUnbatched));
  const auto add = [&](std::string name, std::string title, const Options& options) {
    table.push_back(external(journal({}, {}, options), std::move(name), std::move(title)));
  };
  add("journal-external", "External journal, ordered, group commit", {});
  add("journal-external-data", "External journal with data, group commit", kData);
  add("journal-external-unbatched", "External journal, ordered, one commit per waiting caller",
      kUnbatched);
  add("journal-external-data-unbatched",
      "External journal with data, one commit per waiting caller", kDataUnbatched);
  using Rule = Options::Rule;
  const auto control = [&](std::string name, std::string title, Rule broken) {
    add(std::move(name), std::move(title), {.broken = broken});
    table.back().shown_by = "reuse/0@tiny~1";
  };
  control("journal-external-homes-early",
          "External journal that is written only after the blocks are in place", Rule::homes_early);
  control("journal-external-data-unawaited",
          "External journal whose commit record does not wait for data", Rule::data_unawaited);
  control("journal-external-answered-early",
          "External journal that reports a commit when its record is issued", Rule::answered_early);
}

/// A change is on the disk after the syncer's delay plus one tick, and one more tick for each write
/// that must wait for another write.
constexpr std::int64_t kDelayS = 5, kTickS = 1, kTicksOfStages = 2;

SchemeVariant with_delay(SchemeVariant made, std::string name, std::string title) {
  made.name = std::move(name);
  made.title = std::move(title);
  made.syncer = os::SyncerOptions{.policy = os::SyncerOptions::Policy::interval,
                                  .interval_ns = kDelayS * model::kSecondNs};
  made.keeps_after_s = kDelayS + kTickS + kTicksOfStages;
  return made;
}

SchemeVariant netra(std::string name, std::string title, const Features& features,
                    const NetraOptions& options = {}) {
  SchemeVariant made = scheme(std::move(name), std::move(title), SchemeKind::netra);
  made.features = made.mount.needs = features;
  // The feature foreign_block is optional. Without it, foreign inodes are listed only in a group's
  // header, and if that list is full, a full check is required.
  made.mount.needs.foreign_block = false;
  made.mount.options.netra = options;
  made.mount.allocation.placement = Placement::hot_spot;
  made.control = options.broken != NetraOptions::Rule::all_kept;
  return made;
}

void add_netra(std::vector<SchemeVariant>& table) {
  constexpr Features kAll{
      .fast_check = true, .bmap_cache = true, .lazy_inodes = true, .foreign_block = true};
  using Rule = NetraOptions::Rule;
  table.push_back(netra(
      "netra", "Netra: Conventional with fast check, bmap cache, hot spot, flusher, lazy inodes",
      kAll));
  table.push_back(netra("netra-flush", "Netra whose flusher runs 40 % of each second", kAll,
                        {.flush_interval_ns = model::kSecondNs, .flush_share_percent = 40}));
  Features with_map = kAll;
  with_map.busy_map = true;
  table.push_back(netra("netra-map", "Netra with a map of busy groups", with_map));
  table.push_back(netra(
      "netra-map-flush", "Netra with a map of busy groups, whose flusher runs 40 % of each second",
      with_map, {.flush_interval_ns = model::kSecondNs, .flush_share_percent = 40}));
  table.push_back(
      netra("netra-foreign-block",
            "Netra with one foreign inode per header, so that the foreign block is used", kAll,
            {.foreign_in_header_max = 1}));
  table.back().mount.needs.foreign_block = true;
  table.push_back(netra("netra-fast", "Netra without the bmap cache",
                        {.fast_check = true, .lazy_inodes = true}));
  table.push_back(netra("netra-bmap",
                        "Conventional with the bmap cache, and no other part of Netra",
                        {.bmap_cache = true}, {.flush_interval_ns = 0}));
  table.back().mount.allocation = {};
  table.push_back(netra("netra-check", "Conventional with fast check, and no other part of Netra",
                        {.fast_check = true}, {.flush_interval_ns = 0}));
  table.back().mount.allocation = {};
  const auto control = [&](std::string name, std::string title, Rule broken,
                           std::string shown_by = {}) {
    table.push_back(netra(std::move(name), std::move(title), kAll, {.broken = broken}));
    table.back().shown_by = std::move(shown_by);
  };
  control("netra-marks-late", "Netra that does not wait for busy marks", Rule::marks_late);
  control("netra-freed-unmarked", "Netra that does not mark freed space", Rule::freed_unmarked,
          "ace-seq2/3302");
  control("netra-generation-unwritten",
          "Netra that does not write the next generation to the superblock",
          Rule::generation_unwritten, "many-users/0@tiny~1");
  control("netra-unmerged", "Netra that truncates before the bmap cache is merged",
          Rule::cache_unmerged, "indirect/2@deep~3");
  control("netra-tag-late", "Netra that writes directory entries before their link tags",
          Rule::tag_late);
  control("netra-map-late", "Netra that does not wait for the map of busy groups", Rule::map_late);
  table.back().features = with_map;
  table.back().mount.needs.busy_map = true;
}

std::vector<SchemeVariant> whole_table() {
  std::vector<SchemeVariant> table;
  table.push_back(scheme("no-order", "No Order: all writes are delayed", SchemeKind::no_order));
  table.back().control = true;
  table.push_back(flag("ignore", "Scheduler Flag, with a driver that ignores it",
                       FlagMeaning::ignore, Bypass::on, Copy::on));
  table.push_back(scheme("conventional", "Conventional, with the last write delayed",
                         SchemeKind::conventional));
  table.push_back(scheme("conventional-init", "Conventional with allocation initialization",
                         SchemeKind::conventional, Init::on));
  table.push_back(scheme("conventional-bsd",
                         "Conventional, with a synchronous last write as in 4.4BSD",
                         SchemeKind::conventional));
  table.back().mount.options.last_write = LastWrite::synchronous;
  table.push_back(flag("full", "Scheduler Flag, Full", FlagMeaning::full, Bypass::off, Copy::off));
  table.push_back(flag("back", "Scheduler Flag, Back", FlagMeaning::back, Bypass::off, Copy::off));
  table.push_back(flag("part", "Scheduler Flag, Part", FlagMeaning::part, Bypass::off, Copy::off));
  table.push_back(
      flag("part-nr", "Scheduler Flag, Part-NR", FlagMeaning::part, Bypass::on, Copy::off));
  table.push_back(
      flag("part-nr-cb", "Scheduler Flag, Part-NR-CB", FlagMeaning::part, Bypass::on, Copy::on));
  table.push_back(flag("part-nr-cb-init",
                       "Scheduler Flag, Part-NR-CB with allocation initialization",
                       FlagMeaning::part, Bypass::on, Copy::on));
  table.back().mount.options.allocation_initialization = true;
  table.push_back(chains("chains", "Scheduler Chains", Deallocation::tracked, Copy::off));
  table.push_back(chains("chains-cb", "Scheduler Chains, -CB", Deallocation::tracked, Copy::on));
  table.push_back(chains("chains-cb-init", "Scheduler Chains, -CB, with allocation initialization",
                         Deallocation::tracked, Copy::on));
  table.back().mount.options.allocation_initialization = true;
  table.push_back(chains("chains-barrier-cb",
                         "Scheduler Chains, -CB, with de-allocations as barriers",
                         Deallocation::barrier, Copy::on));
  table.push_back(scheme("soft-updates", "Soft Updates", SchemeKind::soft_updates));
  table.push_back(scheme("soft-updates-init", "Soft Updates with allocation initialization",
                         SchemeKind::soft_updates, Init::on));
  table.push_back(scheme("soft-updates-init-cb",
                         "Soft Updates, -CB, with allocation initialization",
                         SchemeKind::soft_updates, Init::on));
  table.back().block_copy = true;
  using Journal = JournalOptions;
  table.push_back(journal("journal", "Journal, ordered, group commit", {}));
  table.push_back(journal("journal-sync", "Journal, ordered, one commit per operation on names",
                          {.commit = Journal::Commit::synchronous}));
  table.push_back(journal("journal-data", "Journal with data, group commit",
                          {.contents = Journal::Contents::data}));
  table.push_back(
      journal("journal-late-removal",
              "Journal, ordered, group commit; the syncer frees the space of removed files",
              {.removal = Journal::Removal::by_syncer}));
  table.push_back(journal(
      "journal-unordered", "Journal whose commit record does not wait for other writes",
      {.commit = Journal::Commit::synchronous, .record = Journal::CommitRecord::unordered}));
  const auto of = [&](std::string_view its_name) {
    return *std::ranges::find(table, its_name, &SchemeVariant::name);
  };
  table.push_back(
      with_delay(of("conventional"), "conventional-5s",
                 "Conventional; writes data at an age of 5 s (interval periodic update)"));
  table.push_back(
      with_delay(of("soft-updates-init"), "soft-updates-5s",
                 "Soft Updates with allocation initialization; writes data at an age of 5 s"));
  table.push_back(
      with_delay(of("journal"), "journal-5s", "Journal, ordered; writes data at an age of 5 s"));
  table.push_back(with_delay(
      of("conventional"), "late-update",
      "Promises to write changes within 5 s, but writes everything every 30 s (periodic update)"));
  table.back().control = true;
  table.back().syncer->policy = os::SyncerOptions::Policy::periodic;
  table.back().syncer->interval_ns = 30 * model::kSecondNs;
  table.back().shown_by = "rests/0@tiny~3";
  add_external_journals(table);
  add_netra(table);
  return table;
}

}  // namespace

std::vector<SchemeVariant> scheme_variants() {
  return whole_table();
}

Result<SchemeVariant> find_scheme_variant(std::string_view name) {
  const auto table = scheme_variants();
  const auto found = std::ranges::find(table, name, &SchemeVariant::name);
  if (found != table.end()) return *found;
  std::string names;
  for (const SchemeVariant& one : table) names += (names.empty() ? "" : ", ") + one.name;
  return fail("scheme", "unknown scheme '" + std::string(name) + "'", "use one of: " + names);
}

adapters::Promises promises_of(const SchemeVariant& scheme) {
  return {.fsync_keeps_name = true,
          .fsync_keeps_moved_path = true,
          .keeps_after_s = scheme.keeps_after_s,
          .renamed_file_survives = true,
          .names = scheme.mount.scheme == SchemeKind::journal ? adapters::NameOrder::atomic
                                                              : adapters::NameOrder::ordered,
          .exposes_stale_data = !scheme.mount.options.allocation_initialization,
          .allocation_bytes = MkfsOptions{}.block_bytes,
          .keeps_allocation = true,
          .passing_names = {std::string(tree::kExchangeNameStart)}};
}

void PrintTo(const SchemeVariant& scheme, std::ostream* out) {
  *out << scheme.name;
}

bool permitted(const SchemeVariant& scheme, FindingKind kind) {
  if (severity_of(kind) <= scheme.may_leave) return true;
  if (scheme.may_leave < Severity::residue) return false;
  if (kind == FindingKind::bad_sectors) return true;
  if (kind == FindingKind::directory_second_name || kind == FindingKind::dot_dot_elsewhere)
    return !scheme.control;
  return scheme.maps_lag &&
         (kind == FindingKind::block_marked_free || kind == FindingKind::inode_marked_free);
}

bool permitted(const FsckReport& report) {
  const auto table = scheme_variants();
  const auto may_be_left = [&](const Finding& finding) {
    return std::ranges::any_of(table, [&](const SchemeVariant& scheme) {
      return !scheme.control && (scheme.mount.scheme == SchemeKind::journal) == report.journalled &&
             permitted(scheme, finding.kind);
    });
  };
  return report.more_findings == 0 && std::ranges::all_of(report.findings, may_be_left);
}

}  // namespace headcrash::ufs
