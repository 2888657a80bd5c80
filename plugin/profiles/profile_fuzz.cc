// Fuzzes profiles. Any input must either be rejected with a reason, or describe a drive that serves
// requests on its whole surface in finite time.
#include <gtest/gtest.h>

#include <algorithm>

#include "headcrash_profiles_embedded.h"
#include "plugin/base/testing/fuzz.h"
#include "plugin/model/core/machine.h"
#include "plugin/model/core/null_observer.h"
#include "plugin/model/disk/disk.h"
#include "plugin/profiles/build.h"
#include "plugin/profiles/profile.h"

namespace headcrash::profiles {
namespace {

class Nobody final : public model::NullObserver, public model::Initiator {
 public:
  void completed(const model::Completion& completion) override {
    EXPECT_EQ(completion.status, model::Status::ok);
    EXPECT_GE(completion.completed_at, completion.submitted_at);
    ++answers;
  }
  std::uint64_t answers = 0;
};

/// Reads and writes the first sector, a middle sector and the last sector.
void serve(const model::DiskProfile& profile) {
  Nobody nobody;
  model::Machine machine(nobody);
  model::DiskOptions options{profile, machine.simulation(), nobody};
  options.write_cache = true;
  machine.add_device("disk", std::make_unique<model::Disk>(options));
  const std::uint64_t end = machine.device(0).characteristics().sectors;
  std::uint64_t asked = 0;
  for (const model::Op op : {model::Op::read, model::Op::write, model::Op::flush}) {
    for (const std::uint64_t lba : {std::uint64_t{0}, end / 2, end - 1}) {
      model::Request request;
      request.op = op;
      if (op != model::Op::flush) {
        request.lba = lba;
        request.sectors = static_cast<std::uint32_t>(std::min<std::uint64_t>(8, end - lba));
      }
      machine.submit(0, request, nobody);
      ++asked;
    }
  }
  for (int events = 0; events < 1000 && machine.simulation().run_next(); ++events) {
  }
  EXPECT_EQ(nobody.answers, asked);
}

TEST(Fuzz, Profile) {
  fuzz::Options options;
  options.name = "profile";
  for (const EmbeddedFile& file : embedded_files()) options.corpus.emplace_back(file.text);
  options.dictionary = {"[[zone]]\n", "[seek]\n",   "[queue]\n", " = ",   "origin = \"estimate\"\n",
                        "[1, 2]",     "{}",         "\"\"",      "true",  "nan",
                        "inf",        "0x7fffffff", "1e-9",      "\n#\n", "heads = 1\n"};
  fuzz::run(options, [](std::string_view text) {
    const auto profile = parse_profile(text, "fuzz.toml");
    if (!profile) {
      EXPECT_FALSE(profile.error().problem.empty());
      return fuzz::novelty(profile.error().problem);
    }
    serve(*profile);
    return std::uint64_t{profile->heads} * 31 + profile->zones.size();
  });
}

/// Each stack is either rejected with a reason, or it can be planned, built, and read at its first
/// and last sectors.
TEST(Fuzz, Stack) {
  fuzz::Options options;
  options.name = "stack";
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.text.find("\nkind = \"") != std::string_view::npos)
      options.corpus.emplace_back(file.text);
  }
  options.dictionary = {"[memory]\n",
                        "[over.member]\n",
                        "\"hp-c2447\"",
                        "\"netra-raid5\"",
                        "kind = \"nvram\"\n",
                        "\"raid6\"",
                        "\"prewrite\"",
                        "[0, 4096]",
                        "{}",
                        "true",
                        "1",
                        "64",
                        "1_000_000_000",
                        "nan",
                        "-1"};
  fuzz::run(options, [](std::string_view text) {
    const auto stack = parse_stack(text, "fuzz.toml");
    if (!stack) {
      EXPECT_FALSE(stack.error().problem.empty());
      return fuzz::novelty(stack.error().problem);
    }
    MachineDevice device{"hd0", *stack};
    const auto planned = plan({device});
    if (!planned) return fuzz::novelty(planned.error().problem);
    Nobody nobody;
    const auto built = build(*planned, nobody, {});
    if (!built) return fuzz::novelty(built.error().problem);
    const std::uint64_t end = planned->all[0].sectors;
    for (const std::uint64_t lba : {std::uint64_t{0}, end - 1}) {
      model::Request request;
      request.op = model::Op::write;
      request.lba = lba;
      request.sectors = 1;
      built->machine->submit(0, request, nobody);
    }
    for (int events = 0;
         events < 10'000 && nobody.answers < 2 && built->machine->simulation().run_next();
         ++events) {
    }
    EXPECT_EQ(nobody.answers, 2U);
    return std::uint64_t{planned->all.size()} * 31 + (*stack)->profile.index();
  });
}

}  // namespace
}  // namespace headcrash::profiles
