// Section 6: the changes that are on the disk when a call returns, the duration of fsync after a
// burst of creations, and the number of lines of code.
#include "fs-adapters/ufs/format/image_reader.h"
#include "harness/papers/ganger94/ganger94.h"
#include "harness/papers/judge.h"
#include "harness/papers/probe_files.h"
#include "headcrash_experiment_schemes_embedded.h"

namespace headcrash::experiment::ganger94 {
namespace {

const char* scheme_name(ComparedScheme scheme) {
  constexpr const char* kNames[] = {"Conventional", "Flag", "Chains", "Soft Updates", "No Order"};
  return kNames[static_cast<std::size_t>(scheme)];
}

/// The state of a file system when a call returns, as 1 (true) or 0 (false). A permanent change is
/// on the medium. Reusable space is available to the allocator.
struct AtReturn {
  Figure created_is_permanent, removed_is_permanent, freed_is_reusable;
  std::string remark;
};

bool has_name(const model::SectorStore& medium, const std::string& name) {
  const auto image = ufs::ImageReader::open(medium);
  return image && image->lookup(name).has_value();
}

constexpr std::uint64_t kByte = 0x5a;  // value of every byte in the files

AtReturn probe_returns(ComparedScheme scheme) {
  AtReturn at;
  const auto machine = usual(scheme).start();
  if (!machine) {
    at.remark = machine.error().message();
    return at;
  }
  ufs::FileSystem& fs = mounted_ufs(**machine);
  const auto free_bytes = [&fs] { return fs.space()->free_bytes; };
  VfsResult<void> done;
  os::Account account{.name = "probe"};
  (*machine)->system().run_as(account, [&] {
    done = make_file(fs, "old", kByte, 64 << 10);
    if (done) done = fs.syncfs();
    if (done) done = make_file(fs, "new", kByte, 1024);
    if (!done) return;
    at.created_is_permanent = has_name(*(*machine)->medium(), "new") ? 1 : 0;
    const std::uint64_t before = free_bytes();
    done = fs.unlink("old");
    if (!done) return;
    at.removed_is_permanent = has_name(*(*machine)->medium(), "old") ? 0 : 1;
    at.freed_is_reusable = free_bytes() > before ? 1 : 0;
  });
  if (!done) at.remark = "a file system call failed";
  return at;
}

/// Returns the duration of fsync for one more file directly after `files` files were created.
Figure fsync_seconds(ComparedScheme scheme, int files, std::string& remark) {
  const auto machine = usual(scheme).start();
  if (!machine) {
    remark = machine.error().message();
    return std::nullopt;
  }
  ufs::FileSystem& fs = mounted_ufs(**machine);
  VfsResult<void> done;
  Figure seconds;
  os::Account account{.name = "probe"};
  (*machine)->system().run_as(account, [&] {
    done = fs.mkdir("burst", 0755);
    for (int i = 0; done && i < files; ++i)
      done = make_file(fs, fmt::format("burst/f{}", i), kByte, 1024);
    if (done) done = make_file(fs, "last", kByte, 1024);
    if (!done) return;
    const auto file = fs.open("last", {});
    if (!file) return;
    const os::TimeNs begun_at = (*machine)->now();
    done = fs.fsync(*file);
    seconds =
        static_cast<double>((*machine)->now() - begun_at) / static_cast<double>(model::kSecondNs);
    (void)fs.close(*file);
  });
  if (!done) remark = "a file system call failed";
  return done ? seconds : std::nullopt;
}

/// Returns the number of lines that contain code, that is, lines that are neither blank nor only a
/// comment.
std::size_t code_lines(std::string_view text) {
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos && !line.substr(first).starts_with("//")) ++lines;
  }
  return lines;
}

Figure lines_of(std::string_view prefix) {
  std::size_t lines = 0;
  for (const auto& file : schemes::embedded_files()) {
    const bool test = file.name.find("_test.") != std::string_view::npos;
    if (file.name.starts_with(prefix) && !test) lines += code_lines(file.text);
  }
  return lines == 0 ? Figure() : Figure(static_cast<double>(lines));
}

}  // namespace

std::vector<ClaimAnswer> semantics(Context&) {
  ClaimAnswer answer{.id = "GP-29",
                     .part = "semantics",
                     .title =
                         "When a call returns: is the data on the medium, is the space "
                         "reusable? (1: yes)"};
  const struct {
    ComparedScheme scheme;
    double removed, reusable;
  } kPaper[] = {{ComparedScheme::conventional, 1, 1},
                {ComparedScheme::flag, 0, 1},
                {ComparedScheme::chains, 0, 1},
                {ComparedScheme::soft_updates, 0, 0}};
  for (const auto& row : kPaper) {
    const AtReturn at = probe_returns(row.scheme);
    const std::string name = scheme_name(row.scheme);
    const auto add = [&](const char* quantity, double paper, const Figure& ours) {
      answer.numbers.push_back(
          {.cell = name, .quantity = quantity, .paper = paper, .ours = ours, .remark = at.remark});
      add_rule(answer, fmt::format("{}: {}: {}", name, quantity, paper == 1 ? "yes" : "no"),
               {{quantity, ours}}, [&] { return *ours == paper; });
    };
    add("new file permanent", 0, at.created_is_permanent);
    add("removal permanent", row.removed, at.removed_is_permanent);
    add("freed space reusable", row.reusable, at.freed_is_reusable);
  }
  answer.remarks.push_back(
      "Permanent: the independent reader finds the data in the image of the medium at that "
      "instant. Reusable: by the allocator's count of free space.");
  return {answer};
}

std::vector<ClaimAnswer> fsync_after_burst(Context& context) {
  const int files = context.scaled ? 50 : 1000;
  ClaimAnswer answer{.id = "GP-30",
                     .part = "fsync",
                     .title = fmt::format("fsync of one more file after {} creations", files)};
  std::vector<Named> values;
  for (const ComparedScheme scheme : kCompared) {
    std::string remark;
    const Figure seconds = fsync_seconds(scheme, files, remark);
    values.push_back({scheme_name(scheme), seconds});
    answer.numbers.push_back({.cell = scheme_name(scheme),
                              .quantity = "fsync",
                              .unit = "s",
                              .ours = seconds,
                              .remark = remark});
  }
  for (const std::size_t slow : {std::size_t{1}, std::size_t{2}}) {
    const std::vector<Named> compared{values[slow], values[0], values[4]};
    add_rule(answer,
             fmt::format("{}: \"lengthy delays\": waits longer than Conventional and No Order",
                         values[slow].name),
             compared, [&] {
               return *compared[0].value > *compared[1].value &&
                      *compared[0].value > *compared[2].value;
             });
  }
  return {answer};
}

std::vector<ClaimAnswer> lines_of_code(Context&) {
  ClaimAnswer answer{.id = "GP-31",
                     .part = "lines",
                     .title = "Lines of code, without blank and comment lines",
                     .kind = RuleClass::arithmetic};
  const struct {
    const char *name, *prefix;
    Figure paper;
  } kPieces[] = {{"No Order", "no_order.", {}},
                 {"Conventional", "conventional.", {}},
                 {"Scheduler Flag", "scheduler_flag.", {}},
                 {"Scheduler Chains, file system", "scheduler_chains", 250},
                 {"ordering in the driver, flag and chains", "disk_order.", 600},
                 {"Soft Updates", "soft_", 1500}};
  std::vector<Named> values;
  for (const auto& piece : kPieces) {
    const Figure lines = lines_of(piece.prefix);
    values.push_back({piece.name, lines});
    answer.numbers.push_back({.cell = piece.name,
                              .quantity = "lines",
                              .paper = piece.paper,
                              .ours = lines,
                              .remark = lines ? "" : Cell::kNotBuilt});
  }
  add_falling(answer, "Soft Updates > Chains > Flag", {values[5], values[3], values[2]});
  answer.remarks.push_back(
      "The lines are counted when the program is built. The paper's 550 + 50 driver lines are "
      "one file here; its 150 lines for removals belong to Chains.");
  return {answer};
}

std::vector<ClaimAnswer> counterfactuals(Context& context) {
  Cells& cells = context.cells;
  const timed::Arguments four{{"users", 4}};
  const auto elapsed = [](const PhaseOutcome& phase) { return phase.elapsed_s; };
  const auto requests = [](const PhaseOutcome& phase) {
    return static_cast<double>(phase.requests);
  };
  ClaimAnswer answer{
      .id = "causes", .part = "causes", .title = "4-user copy and remove on other machines"};
  const struct {
    const char* name;
    void (*change)(UfsSetup&);
  } kChanges[] = {
      {"as everywhere", [](UfsSetup&) {}},
      {"concatenation up to 64 KiB", [](UfsSetup& s) { s.machine.concatenated_sectors = 128; }},
      {"blocks of 8 KiB",
       [](UfsSetup& s) {
         s.block_bytes = 8192;
         s.machine.concatenated_sectors = 16;
       }},
      {"cache of 12 MiB", [](UfsSetup& s) { s.machine.cache_bytes = 12 << 20; }},
      {"a processor without costs", [](UfsSetup& s) { s.machine.costs = {}; }},
      {"data also delayed", [](UfsSetup& s) { s.write_behind_bytes = 0; }},
      {"directories delayed",
       [](UfsSetup& s) { s.scheme.mount.options.last_write = ufs::LastWrite::delayed; }},
  };
  for (const auto& change : kChanges) {
    for (const ComparedScheme scheme : {ComparedScheme::conventional, ComparedScheme::no_order}) {
      UfsSetup setup = usual(scheme);
      change.change(setup);
      if (&change != kChanges) setup.name += fmt::format(" ({})", change.name);
      const Cell& copy = cell_of(cells, setup, "n-user-copy", four);
      const Cell& remove = cell_of(cells, setup, "n-user-remove", four);
      const std::string name = fmt::format("{}: {}", scheme_name(scheme), change.name);
      add_number(answer, copy, name, "copy elapsed", "s", {}, copy.of("copy", elapsed));
      add_number(answer, copy, name, "copy requests", "", {}, copy.of("copy", requests));
      add_number(answer, remove, name, "remove elapsed", "s", {}, remove.of("remove", elapsed));
    }
  }
  return {answer};
}

}  // namespace headcrash::experiment::ganger94
