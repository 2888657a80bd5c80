// The systems with their own times, as their papers have them, and with one delay for all, at each of a declared sweep.
//
// Own times: buffers are swept, a thirtieth of the cache each second; a journal commits 5 s after its first change, LFS
// writes what is 30 s old and makes a checkpoint each minute, a generation is spawned after 10 s.
#include <fmt/format.h>

#include <array>

#include "harness/experiment/compare/compare.h"
#include "harness/experiment/compare/session.h"
#include "harness/experiment/in_parallel.h"

namespace headcrash::experiment::compare {
namespace {

struct DelaySetting {
  const char* name;
  double seconds;  ///< 0: own times
};
constexpr std::array kDelaySettings{DelaySetting{"own times", 0}, DelaySetting{"5 s", 5},
                                    DelaySetting{"10 s", 10}, DelaySetting{"30 s", 30}};

MachineChoice delayed(const Context& context, const DelaySetting& setting) {
  MachineChoice choice = choice_of(context, Device::drive);
  choice.own_times = setting.seconds == 0;
  choice.delay_ns = static_cast<os::TimeNs>(setting.seconds * static_cast<double>(model::kSecondNs));
  return choice;
}

std::string best_setting(const std::vector<Outcome>& outcomes) {
  std::vector<const Sample*> samples;
  samples.reserve(outcomes.size());
  for (const Outcome& each : outcomes) samples.push_back(&each.of(Quantity::user));
  std::string names;
  for (const std::size_t i : best_of(samples))
    names += (names.empty() ? "" : ", ") + std::string(kDelaySettings.at(i).name);
  return names;
}

}  // namespace

std::vector<ClaimAnswer> delays(Context& context) {
  std::vector<std::size_t> numbers;
  for (const std::size_t i : rows_of(context))
    if (rows()[i].durability != Durability::each_call) numbers.push_back(i);
  const std::vector<Column> some{column("copy"), column("postmark"), column("mail")};
  const std::size_t settings = kDelaySettings.size();
  // By row, column and setting.
  std::vector<Outcome> outcomes(numbers.size() * some.size() * settings);
  const bool done = in_parallel(context, numbers.size(), [&](std::size_t r) {
    const Row& row = rows()[numbers[r]];
    const auto image = ModelledMachine::image_of(machine_of(row, choice_of(context, Device::drive)));
    for (std::size_t i = 0; i < some.size() * settings; ++i)
      outcomes[r * some.size() * settings + i] =
          image ? measure(context, row, delayed(context, kDelaySettings.at(i % settings)), some[i / settings],
                          {*image})
                : Outcome{.error = image.error().message()};
  });
  if (!done) return {};
  std::vector<ClaimAnswer> answers;
  for (std::size_t c = 0; c < some.size(); ++c) {
    ClaimAnswer answer{.id = "delays-" + some[c].name,
                       .part = "delays",
                       .title = "Own times, and one delay for all: " + some[c].title,
                       .tables_tell_all = true};
    for (const Quantity quantity : {Quantity::user, Quantity::busy}) {
      Table shown{.name = name(quantity),
                  .title = fmt::format("{} ({})", name(quantity), unit(quantity)),
                  .columns = {"system"}};
      for (const DelaySetting& setting : kDelaySettings) shown.columns.emplace_back(setting.name);
      if (quantity == Quantity::user) shown.columns.emplace_back("best, and not beaten by it");
      for (std::size_t r = 0; r < numbers.size(); ++r) {
        const std::string row = full_name(rows()[numbers[r]]);
        const auto from = outcomes.begin() + static_cast<std::ptrdiff_t>((r * some.size() + c) * settings);
        const std::vector<Outcome> its(from, from + static_cast<std::ptrdiff_t>(settings));
        std::vector<std::string> cells{row};
        for (std::size_t s = 0; s < settings; ++s) {
          context.modelled_s += quantity == Quantity::user ? its[s].modelled_s : 0;
          add_sample(answer, fmt::format("{}; {}", row, kDelaySettings.at(s).name), name(quantity),
                     unit(quantity), its[s].of(quantity), its[s].error);
          cells.push_back(told(its[s].of(quantity)));
        }
        if (quantity == Quantity::user) cells.push_back(best_setting(its));
        shown.rows.push_back(std::move(cells));
      }
      answer.tables.push_back(std::move(shown));
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace headcrash::experiment::compare
