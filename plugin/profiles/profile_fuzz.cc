// Fuzzes profiles: whatever stands in one, it is refused with a reason, or a drive can be made of it that
// serves requests on its whole surface in finite time.
#include <gtest/gtest.h>

#include <algorithm>

#include "headcrash_profiles_embedded.h"
#include "plugin/model/disk.h"
#include "plugin/model/fuzz.h"
#include "plugin/model/machine.h"
#include "plugin/profiles/profile.h"

namespace headcrash::profiles {
namespace {

class Nobody final : public model::MachineWitness, public model::Initiator {
 public:
  void submitted(model::DeviceId, model::TimeNs, const model::Request&) override {}
  void acknowledged(model::DeviceId, const model::Completion&) override {}
  void media_written(model::DeviceId, model::TimeNs, const model::MediaWrite&) override {}
  void incident(model::DeviceId, model::TimeNs, std::string_view) override {}
  void marked(model::TimeNs, std::string_view) override {}
  void power_changed(model::TimeNs, model::PowerState) override {}
  void completed(const model::Completion& completion) override {
    EXPECT_EQ(completion.status, model::Status::ok);
    EXPECT_GE(completion.completed_at, completion.submitted_at);
    ++answers;
  }
  std::uint64_t answers = 0;
};

/// Reads and writes at the first, a middle and the last sector.
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

}  // namespace
}  // namespace headcrash::profiles
