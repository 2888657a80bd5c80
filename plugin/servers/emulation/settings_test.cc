// Tests that every parameter of a served machine survives the way to a child process.
#include "plugin/servers/emulation/settings.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace headcrash::emulation {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

/// One value for each parameter of a single emulated device that has a text.
const Texts kValues{{"profile", "hp-c2447"},      {"size", "1048576"},   {"write-cache", "off"},
                    {"tear", "unreadable"},       {"store", "/a"},       {"record", "/b"},
                    {"clock", "real:5"},          {"cut", "at-flush:3"}, {"fault", "dead:hd0"},
                    {"fault", "lying-flush:hd0"}, {"seed", "7"}};

Settings parsed(const Texts& texts) {
  Settings settings;
  for (const auto& [name, value] : texts) EXPECT_TRUE(settings.set(name, value)) << name;
  return settings;
}

TEST(Settings, TextsContainEveryParameter) {
  for (const Parameter& row : parameters()) {
    if (!row.in_serve || row.name == "machine") continue;
    EXPECT_TRUE(
        std::ranges::any_of(kValues, [&](const auto& one) { return one.first == row.name; }))
        << row.name << " is not tested";
  }
  EXPECT_EQ(parsed(kValues).texts(), kValues);
  EXPECT_EQ(parsed({{"machine", "/m.toml"}}).texts(),
            (Texts{{"machine", "/m.toml"}, {"seed", "1"}}));
}

TEST(Settings, ParametersOfADeviceDoNotApplyToMachines) {
  for (const Parameter& row : parameters()) {
    if (row.server != Parameter::Server::one_device) continue;
    const auto value = std::ranges::find(kValues, std::string(row.name), &Texts::value_type::first);
    const auto checked = parsed({{"machine", "m.toml"}, *value}).check("--");
    ASSERT_FALSE(checked) << row.name;
    EXPECT_EQ(checked.error().subject, "--" + std::string(row.name));
  }
}

TEST(Settings, NamesTheParameterInErrors) {
  Settings settings;
  for (const auto& [name, value] : Texts{{"size", "513"}, {"tear", "gently"}, {"colour", "red"}}) {
    const auto refused = settings.set(name, value, "--");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().subject, "--" + name);
  }
}

}  // namespace
}  // namespace headcrash::emulation
