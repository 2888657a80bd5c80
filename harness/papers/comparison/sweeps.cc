// Measures every system at each setting of a sweep, and finds the best settings. The sweeps were
// chosen before the measurements.
//
//   delays   each system with the delay in its paper, and all systems with a common delay of 5, 10
//            and 30 s. In the papers, the syncer writes a thirtieth of the cache every second; a
//            journal commits 5 s after its first change; LFS writes data that is 30 s old and makes
//            a checkpoint every minute; snapfs spawns a generation every 10 s
//   memory   each system with a file cache of half and of twice the size used in the other parts
#include <fmt/format.h>

#include <functional>

#include "harness/papers/comparison/compare.h"
#include "harness/papers/comparison/session.h"
#include "harness/papers/in_parallel.h"

namespace headcrash::experiment::compare {
namespace {

struct Setting {
  std::string name;
  std::function<void(MachineChoice&)> apply;
};

struct Sweep {
  std::string part;
  std::string title;
  std::vector<Setting> settings;
  std::vector<Column> columns;
  std::vector<std::size_t> numbers;  ///< the rows in the sweep, as indices in rows()
};

Sweep of_delays(const Context& context) {
  Sweep sweep{.part = "delays",
              .title = "Each system's own update intervals, and a common delay",
              .settings = {{"own times", [](MachineChoice& choice) { choice.own_times = true; }}},
              .columns = {column("copy"), column("postmark"), column("mail")}};
  for (const int seconds : {5, 10, 30})
    sweep.settings.push_back({fmt::format("{} s", seconds), [seconds](MachineChoice& choice) {
                                choice.delay_ns = seconds * model::kSecondNs;
                              }});
  for (const std::size_t i : rows_of(context))
    if (rows()[i].durability != Durability::each_call) sweep.numbers.push_back(i);
  return sweep;
}

Sweep of_memory(const Context& context) {
  Sweep sweep{.part = "memory",
              .title = "File caches of 18, 36 and 72 MB",
              .columns = {column("copy"), column("postmark")},
              .numbers = rows_of(context)};
  for (const std::uint64_t mb : {18, 36, 72})
    sweep.settings.push_back(
        {fmt::format("{} MB", mb), [mb](MachineChoice& choice) { choice.cache_bytes = mb << 20; }});
  return sweep;
}

std::string best_setting(const Sweep& sweep, const std::vector<Outcome>& outcomes) {
  std::vector<const Sample*> samples;
  samples.reserve(outcomes.size());
  for (const Outcome& each : outcomes) samples.push_back(&each.of(Quantity::user));
  const Ranking ranking(samples);
  std::string names;
  for (const std::size_t i : ranking.unbeaten())
    names += (names.empty() ? "" : ", ") + sweep.settings[i].name;
  return names;
}

std::vector<ClaimAnswer> run(Context& context, const Sweep& sweep) {
  const std::size_t settings = sweep.settings.size();
  // Indexed by row, column and setting.
  std::vector<Outcome> outcomes(sweep.numbers.size() * sweep.columns.size() * settings);
  const bool done =
      in_parallel(context.interrupt_requested, sweep.numbers.size(), [&](std::size_t r) {
        const Row& row = rows()[sweep.numbers[r]];
        const auto image =
            ModelledMachine::image_of(machine_of(row, choice_of(context, Device::drive)));
        for (std::size_t i = 0; i < sweep.columns.size() * settings; ++i) {
          MachineChoice choice = choice_of(context, Device::drive);
          sweep.settings[i % settings].apply(choice);
          outcomes[r * sweep.columns.size() * settings + i] =
              image ? measure(context, row, choice, sweep.columns[i / settings], {*image})
                    : Outcome{.error = image.error().message()};
        }
      });
  if (!done) return {};
  std::vector<ClaimAnswer> answers;
  for (std::size_t c = 0; c < sweep.columns.size(); ++c) {
    ClaimAnswer answer{.id = sweep.part + "-" + sweep.columns[c].name,
                       .part = sweep.part,
                       .title = sweep.title + ": " + sweep.columns[c].title,
                       .tables_tell_all = true};
    for (const Quantity quantity : {Quantity::user, Quantity::busy}) {
      Table shown{.name = name(quantity),
                  .title = fmt::format("{} ({})", name(quantity), unit(quantity)),
                  .columns = {"system"}};
      for (const Setting& setting : sweep.settings) shown.columns.push_back(setting.name);
      if (quantity == Quantity::user) shown.columns.emplace_back("not beaten");
      for (std::size_t r = 0; r < sweep.numbers.size(); ++r) {
        const std::string row = full_name(rows()[sweep.numbers[r]]);
        const auto from = outcomes.begin() +
                          static_cast<std::ptrdiff_t>((r * sweep.columns.size() + c) * settings);
        const std::vector<Outcome> its(from, from + static_cast<std::ptrdiff_t>(settings));
        std::vector<std::string> cells{row};
        for (std::size_t s = 0; s < settings; ++s) {
          context.modelled_s += quantity == Quantity::user ? its[s].modelled_s : 0;
          add_sample(answer, fmt::format("{}; {}", row, sweep.settings[s].name), name(quantity),
                     unit(quantity), its[s].of(quantity), its[s].error);
          cells.push_back(text_of(its[s].of(quantity)));
        }
        if (quantity == Quantity::user) cells.push_back(best_setting(sweep, its));
        shown.rows.push_back(std::move(cells));
      }
      answer.tables.push_back(std::move(shown));
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace

std::vector<ClaimAnswer> delays(Context& context) {
  return run(context, of_delays(context));
}

std::vector<ClaimAnswer> memory(Context& context) {
  return run(context, of_memory(context));
}

}  // namespace headcrash::experiment::compare
