// Measures each table when it is first requested (session.h).
#include "harness/papers/comparison/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/papers/comparison/ageing.h"
#include "harness/papers/in_parallel.h"

namespace headcrash::experiment::compare {
namespace {

using Images = std::vector<std::shared_ptr<const MachineImage>>;

struct Aged {
  std::shared_ptr<const MachineImage> image;
  AgedDisk disk;
  std::string error;
};

/// Creates an image that is aged by the row's own system, because the system determines the layout
/// of the files.
Aged aged_image(const Row& row, const MachineChoice& choice, const AgeingOptions& options) {
  constexpr std::uint64_t kImageCacheBytes = 16 << 20;
  ModelledMachineOptions machine = machine_of(row, choice);
  machine.image_cache_bytes = kImageCacheBytes;
  Aged made;
  machine.populate = [&](Vfs& vfs) -> VfsResult<void> {
    const auto disk = age(vfs, options);
    if (!disk) {
      made.error = fmt::format("cannot be aged: errno {}", disk.error().value);
      return forward_errno(disk);
    }
    made.disk = *disk;
    return {};
  };
  auto image = ModelledMachine::image_of(machine);
  if (image)
    made.image = *std::move(image);
  else if (made.error.empty())
    made.error = image.error().message();
  return made;
}

void count_time(Context& context, const TimedTable& table) {
  for (const auto& row : table.outcomes)
    for (const Outcome& one : row) context.modelled_s += one.modelled_s;
}

}  // namespace

Session& Session::of(Context& context) {
  if (!context.shared) context.shared = std::make_shared<Session>();
  return *static_cast<Session*>(context.shared.get());
}

const TimedTable* Session::on(Context& context, Device device) {
  if (const auto known = tables_.find(device); known != tables_.end()) return &known->second;
  TimedTable table{.name = name(device), .row_numbers = rows_of(context), .columns = columns()};
  const std::size_t width = table.columns.size();
  table.outcomes.assign(table.row_numbers.size(), std::vector<Outcome>(width));
  const auto formats = grouped(table.row_numbers, &Row::format);
  std::vector<Result<std::shared_ptr<const MachineImage>>> images(table.row_numbers.size());
  bool done = in_parallel(context.interrupt_requested, formats.size(), [&](std::size_t i) {
    const Row& row = rows()[table.row_numbers[formats[i].front()]];
    const auto image = ModelledMachine::image_of(machine_of(row, choice_of(context, device)));
    for (const std::size_t place : formats[i]) images[place] = image;
  });
  if (!done) return nullptr;
  done = in_parallel(
      context.interrupt_requested, table.row_numbers.size() * width, [&](std::size_t i) {
        const std::size_t place = i / width, column = i % width;
        table.outcomes[place][column] =
            images[place]
                ? measure(context, rows()[table.row_numbers[place]], choice_of(context, device),
                          table.columns[column], {*images[place]})
                : Outcome{.error = images[place].error().message()};
      });
  if (!done) return nullptr;
  count_time(context, table);
  return &tables_.emplace(device, std::move(table)).first->second;
}

std::string AgedOn::name() const {
  return fmt::format("{}aged, {} % full",
                     device == Device::drive ? "" : compare::name(device) + std::string(", "),
                     percent_full);
}

std::string AgedOn::id() const {
  const char* where = device == Device::raid5         ? "-raid5"
                      : device == Device::raid5_nvram ? "-nvram"
                                                      : "";
  return fmt::format("aged{}{}", percent_full, where);
}

const TimedTable* Session::aged(Context& context, const AgedOn& on) {
  if (const auto known = aged_.find(on); known != aged_.end()) return &known->second;
  TimedTable table{.name = on.name(), .row_numbers = rows_of(context), .columns = aged_columns()};
  const std::size_t height = table.row_numbers.size(), width = table.columns.size();
  table.outcomes.assign(height, std::vector<Outcome>(width));
  table.notes.resize(height);
  // If a system has a row in two groups, both rows use the same images.
  const auto systems = grouped(table.row_numbers, [](const Row& row) {
    return row.system->full_name() + " " + row.format();
  });
  const bool done = in_parallel(context.interrupt_requested, systems.size(), [&](std::size_t job) {
    const Row& row = rows()[table.row_numbers[systems[job].front()]];
    MachineChoice choice = choice_of(context, on.device);
    choice.size_bytes =
        static_cast<std::uint64_t>(context.scaled ? 32 : context.parameter("aged-mib")) << 20U;
    // A scaled run uses a lower fill level. At the usual level, its small disk would leave the
    // cleaner too little space.
    const double full = on.percent_full / 100. * (context.scaled ? .8 : 1);
    const double turnovers = context.scaled ? 1 : context.parameter("turnovers");
    Images images;
    std::string error;
    Sample reached;
    for (std::size_t seed = 0; error.empty() && seed < seeds_of(context); ++seed) {
      Aged made = aged_image(row, choice,
                             {.full = full, .turnovers = turnovers, .seed = context.seed + seed});
      error = made.error;
      images.push_back(std::move(made.image));
      reached.push_back(100 * made.disk.full);
    }
    for (const std::size_t place : systems[job]) {
      table.notes[place] = error.empty() ? fmt::format("{:.1f}", *mean_of(reached)) : "-";
      for (std::size_t column = 0; column < width; ++column)
        table.outcomes[place][column] = error.empty()
                                            ? measure(context, rows()[table.row_numbers[place]],
                                                      choice, table.columns[column], images)
                                            : Outcome{.error = error};
    }
  });
  if (!done) return nullptr;
  count_time(context, table);
  return &aged_.emplace(on, std::move(table)).first->second;
}

ClaimAnswer answer_of(const TimedTable& table, std::size_t column, const std::string& part,
                      const std::string& id) {
  const Column& what = table.columns[column];
  ClaimAnswer answer{.id = fmt::format("{}-{}", id, what.name),
                     .part = part,
                     .title = fmt::format("{}: {}", table.name, what.title),
                     .tables_tell_all = true};
  Table shown{.name = "cells",
              .title = fmt::format(
                  "means over seeds, with the half-width of the 95 % confidence interval if the "
                  "half-width is 0.5 % or more; response times of {}",
                  what.operation),
              .columns = {"system", "a cut may lose"}};
  for (const Quantity quantity : kQuantities)
    shown.columns.push_back(fmt::format("{} ({})", name(quantity), unit(quantity)));
  if (!table.notes.empty()) shown.columns.push_back("full (%)");
  for (std::size_t i = 0; i < table.row_numbers.size(); ++i) {
    const Row& row = rows()[table.row_numbers[i]];
    const Outcome& outcome = table.outcomes[i][column];
    std::vector<std::string> cells{row.name, name(row.durability)};
    for (const Quantity quantity : kQuantities) {
      add_sample(answer, full_name(row), name(quantity), unit(quantity), outcome.of(quantity),
                 outcome.error);
      cells.push_back(text_of(outcome.of(quantity)));
    }
    if (!table.notes.empty()) cells.push_back(table.notes[i]);
    shown.rows.push_back(std::move(cells));
    if (!outcome.error.empty())
      answer.remarks.push_back(fmt::format("{}: {}", full_name(row), outcome.error));
  }
  answer.tables.push_back(std::move(shown));
  return answer;
}

}  // namespace headcrash::experiment::compare
