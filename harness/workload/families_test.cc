// Tests the families and the numbering of their workloads.
#include "harness/workload/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/workload/catalogue.h"

namespace headcrash::workload {
namespace {

TEST(Families, AreReproducibleByNumberAndEndWithAPersistencePoint) {
  for (const Family& family : families()) {
    const std::string name(family.name);
    std::set<std::string> different;
    for (std::uint64_t number = 0; number < 12; ++number) {
      const auto list = make_workload({.name = name + "/" + std::to_string(number)});
      ASSERT_TRUE(list) << list.error().message();
      EXPECT_EQ(*list, *make_workload({.name = name, .seed = number}));
      EXPECT_TRUE(is_persistence_point(list->back()));
      std::string text;
      for (const Operation& operation : *list) text += format(operation) + "\n";
      const auto parsed = parse_operations(text, name);
      EXPECT_TRUE(parsed) << parsed.error().message();
      different.insert(text);
    }
    EXPECT_EQ(different.size(), 12U) << name;
  }
  EXPECT_FALSE(make_workload({.name = "reuse/x"}));
}

TEST(Families, CoverTheirTargetOperations) {
  std::uint64_t farthest = 0, most_threads = 0;
  for (std::uint64_t number = 0; number < 8; ++number) {
    const auto list = family_member("indirect", number);
    const auto users = family_member("many-users", number);
    ASSERT_TRUE(list && users);
    for (const Operation& operation : *list) farthest = std::max(farthest, operation.offset);
    most_threads = std::max<std::uint64_t>(most_threads, threads_of(*users));
  }
  EXPECT_GT(farthest, (12 + 128 + 128 * 128) * 512U) << "triple indirect blocks of 512 bytes";
  EXPECT_EQ(most_threads, 3U);
}

}  // namespace
}  // namespace headcrash::workload
