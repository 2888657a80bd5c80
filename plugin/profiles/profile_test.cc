// Tests the built-in profiles. Also tests that the error for each kind of mistake names the file
// and the key, and gives a hint.
#include "plugin/profiles/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "headcrash_profiles_embedded.h"
#include "plugin/profiles/stack.h"

namespace headcrash::profiles {
namespace {

std::string text_of(const std::string& profile) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == profile + ".toml") return std::string(file.text);
  }
  ADD_FAILURE() << "no built-in profile " << profile;
  return {};
}

std::string changed(const std::string& from, const std::string& to,
                    const char* profile = "hp-c2447") {
  std::string text = text_of(profile);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Profile, TheC2447HasItsPublishedParameters) {
  const auto profile = load_profile("hp-c2447");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->name, "hp-c2447");
  EXPECT_EQ(profile->capacity_sectors, 2'054'864U);
  EXPECT_EQ(profile->zones.size(), 8U);
  EXPECT_EQ(profile->zones[0].slipped_tracks.size(), 12U);
  EXPECT_EQ(profile->overhead.read_miss_command.after_read_ns, 558'210);
  EXPECT_EQ(profile->seek.linear_per_cylinder_ns, 5'900);
  EXPECT_EQ(profile->revolution_ps, 11'111'111'111);
  EXPECT_EQ(profile->tear, model::Tear::silent);
}

TEST(Profile, ReadsTheTearSetting) {
  const auto disk =
      parse_profile(changed("trim = false", "trim = false\ntear = \"unreadable\""), "drive.toml");
  ASSERT_TRUE(disk) << disk.error().message();
  EXPECT_EQ(disk->tear, model::Tear::unreadable);
  const auto flash =
      parse_stack(changed("trim = true", "trim = true\ntear = \"any\"", "sata-ssd"), "ssd.toml");
  ASSERT_TRUE(flash) << flash.error().message();
  EXPECT_EQ(std::get<model::FlashProfile>((*flash)->profile).tear, model::Tear::any);
}

TEST(Profile, ListContainsASummaryOfEachProfile) {
  const auto list = list_profiles();
  const auto is_variant = [](const ProfileSummary& s) {
    return s.name.find('+') != std::string::npos;
  };
  const auto variants =
      static_cast<std::size_t>(std::count_if(list.begin(), list.end(), is_variant));
  ASSERT_EQ(list.size() - variants, embedded_files().size()) << "a built-in profile fails to parse";
  EXPECT_EQ(variants, 6U);
  const auto found = std::find_if(list.begin(), list.end(), [](const ProfileSummary& summary) {
    return summary.name == "hp-c2447";
  });
  ASSERT_NE(found, list.end());
  const ProfileSummary& c2447 = *found;
  EXPECT_EQ(c2447.rpm, 5400);
  EXPECT_NEAR(c2447.average_seek_ms, 11.5, 0.5);
  EXPECT_NEAR(c2447.outer_bytes_per_second / c2447.inner_bytes_per_second, 96.0 / 56, 1e-9);
  ASSERT_GE(c2447.origins.size(), 8U);
  EXPECT_EQ(c2447.origins[0].table, "geometry");
  EXPECT_EQ(c2447.origins[0].kind, "measured");
  EXPECT_EQ(c2447.origins[1].kind, "data-sheet");
}

TEST(Profile, LoadsAFileAndNamesAMissingKey) {
  const auto file = std::filesystem::temp_directory_path() / "headcrash_profile_test.toml";
  std::ofstream(file) << changed("name = \"hp-c2447\"", "name = \"mine\"");
  const auto profile = load_profile(file.string());
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->name, "mine");
  std::filesystem::remove(file);
  EXPECT_EQ(load_profile(file.string()).error().subject, file.string());
  EXPECT_NE(load_profile("hp-c2448").error().hint.find("hp-c2447"), std::string::npos);
}

TEST(Profile, VariantOverridesTablesOfItsProfile) {
  const auto sold = load_profile("atlas-10k");
  const auto measured = load_profile("atlas-10k+measured-host");
  ASSERT_TRUE(sold && measured);
  EXPECT_EQ(measured->name, "atlas-10k+measured-host");
  EXPECT_EQ(measured->title, sold->title + ", measured-host");
  EXPECT_EQ(sold->overhead.bus_read_sector_ns, 3'200);
  EXPECT_EQ(measured->overhead.bus_read_sector_ns, 101'000);
  EXPECT_EQ(measured->overhead.write_data_start_ns, sold->overhead.write_data_start_ns);
  EXPECT_EQ(measured->capacity_sectors, sold->capacity_sectors);
}

TEST(Profile, ErrorsNameAMissingVariantAndAMistakeInAVariant) {
  const Error other = load_profile("atlas-10k+measured-hosts").error();
  EXPECT_NE((other.problem + other.hint).find("did you mean \"measured-host\""), std::string::npos)
      << other.message();
  EXPECT_NE(load_profile("hp-c2447+measured-host").error().hint.find("has no variants"),
            std::string::npos);
  const auto wrong = parse_profile(
      changed("[variant.measured-host.bus]", "[variant.measured-host.buss]", "atlas-10k"),
      "d.toml");
  ASSERT_FALSE(wrong) << "a mistake in a variant must fail the whole file";
  EXPECT_NE(wrong.error().message().find("buss"), std::string::npos) << wrong.error().message();
}

struct Wrong {
  const char* from;
  const char* to;
  const char* key;   ///< expected in the error's subject
  const char* said;  ///< expected in the error's problem or hint
  const char* profile = "hp-c2447";
};

class ProfileErrors : public testing::TestWithParam<Wrong> {};

TEST_P(ProfileErrors, NameFileKeyAndHint) {
  const Wrong& wrong = GetParam();
  const auto profile = parse_profile(changed(wrong.from, wrong.to, wrong.profile), "drive.toml");
  ASSERT_FALSE(profile);
  const Error& error = profile.error();
  EXPECT_TRUE(error.subject.starts_with("drive.toml:")) << error.message();
  EXPECT_NE(error.subject.find(wrong.key), std::string::npos) << error.message();
  EXPECT_NE((error.problem + error.hint).find(wrong.said), std::string::npos) << error.message();
  EXPECT_FALSE(error.hint.empty()) << error.message();
}

INSTANTIATE_TEST_SUITE_P(
    All, ProfileErrors,
    testing::Values(
        Wrong{"heads = 13", "", "geometry.heads", "missing"},
        Wrong{"heads = 13", "haeds = 13", "geometry.haeds", "did you mean \"heads\""},
        Wrong{"heads = 13", "heads = 13\nheight-mm = 41", "geometry.height-mm", "unknown"},
        Wrong{"heads = 13", "heads = \"13\"", "geometry.heads", "whole number"},
        Wrong{"heads = 13", "heads = 13.5", "geometry.heads", "whole number"},
        Wrong{"= 2_054_864", "= 2_054_865", "geometry.capacity-sectors", "zones hold"},
        Wrong{"heads = 13", "heads = ", "drive.toml:", ""},
        Wrong{"\n[rotation]", "\n[rotations]", "rotations", "did you mean \"rotation\""},
        Wrong{"period-ps = 11_111_111_111", "period-ps = 8_333_333_333", "rotation.period-ps",
              "rpm"},
        Wrong{"head-switch-ms = 0.89", "head-switch-ms = -0.89", "seek.head-switch-ms",
              "number from 0 to 1000000"},
        Wrong{"head-switch-ms = 0.89", "head-switch-ms = nan", "seek.head-switch-ms",
              "number from 0 to 1000000"},
        Wrong{"short-ms = [2.89", "short-ms = [\"2.89\"", "seek.short-ms", "list of numbers"},
        Wrong{"\"estimate: size", "\"guess: size", "write-cache.origin", "calibration"},
        Wrong{"trim = false", "trim = 0", "features.trim", "true or false"},
        Wrong{"trim = false", "trim = false\ntear = \"some\"", "features.tear", "known"},
        Wrong{"slipped-tracks = [468", "slipped-tracks = [4680", "zone[0].slipped-tracks",
              "ascending"},
        Wrong{"first-cylinder = 559", "first-cylinder = 1559", "first-cylinder", "order"},
        Wrong{"spare-tracks = 325", "spare-tracks = 7267", "zone[0].spare-tracks",
              "no room for data"},
        Wrong{"track-skew-sectors = 14", "track-skew-sectors = 96", "zone[0].track-skew-sectors",
              "below"},
        Wrong{"high-water-sectors = 192", "high-water-sectors = 300", "write-cache.high-water",
              "at most"},
        Wrong{"read-hit-command-ms = 0.95343", "read-hit-command-ms = [0.9]",
              "command.read-hit-command-ms", "list of two"},
        Wrong{"segments = 1", "segments = 0", "read-buffer.segments", "whole number"},
        Wrong{"distances = [1, 2,", "distances = [2, 1,", "seek.distances", "ascending",
              "barracuda-4lp"},
        Wrong{"times-ms = [1.943, ", "times-ms = [", "seek.times-ms", "shorter", "barracuda-4lp"},
        Wrong{"cylinders = 1128", "cylinders = 1130", "zone[0].cylinders", "next zone",
              "barracuda-4lp"},
        Wrong{"\"cylinder-range\"", "\"cylinder-rang\"", "geometry.sparing", "did you mean",
              "barracuda-4lp"},
        Wrong{"spare-sectors = 88", "spare-sectors = 0", "zone[0].slipped-sectors", "spares",
              "barracuda-4lp"},
        Wrong{"tail-unused-sectors = 107_582", "tail-unused-sectors = 99_999_999",
              "geometry.capacity-sectors", "zones hold 0", "barracuda-4lp"},
        Wrong{"\"aged-sptf\"", "\"aged\"", "queue.policy", "known", "sata-7200"},
        Wrong{"aging-permille = 50", "", "queue.aging-permille", "missing", "sata-7200"},
        Wrong{"depth = 32", "depth = 32\nlength = 3", "queue.length", "unknown", "sata-7200"}));

TEST(Profiles, FlashProfilesHaveTheSizesOfRealDrives) {
  for (const auto& [name, sectors] : {std::pair{"nvme-970pro", 1'000'215'216U},
                                      {"nvme-plp", 1'000'215'216U},
                                      {"sata-ssd", 976'773'168U}}) {
    const auto stack = load_stack(name);
    ASSERT_TRUE(stack) << stack.error().message();
    EXPECT_EQ(capacity_sectors(**stack), sectors) << name;
  }
}

}  // namespace
}  // namespace headcrash::profiles
