#include "harness/explorer/guests/stage_machine.h"

#include <gtest/gtest.h>

namespace headcrash::explorer {
namespace {

TEST(StageMachine, FormatsItsOptions) {
  EXPECT_EQ(StageMachine{}.as_options(), "");
  EXPECT_EQ(StageMachine{}.name(), "stage");
  const StageMachine machine{"arrays/mine.toml", {"dead:hd0.1"}, {"dead:hd0.2"}};
  EXPECT_EQ(machine.name(), "mine");
  EXPECT_EQ(machine.as_options(),
            " --machine arrays/mine.toml --fault dead:hd0.1 --fault-after-cut dead:hd0.2");
  EXPECT_EQ(machine.faults_in_recovery(), (std::vector<std::string>{"dead:hd0.1", "dead:hd0.2"}));
}

}  // namespace
}  // namespace headcrash::explorer
