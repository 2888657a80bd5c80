// The table of schemes: names, controls, what may be left.
#include "fs-adapters/ufs/scheme_variants.h"

#include <gtest/gtest.h>

#include <set>

namespace headcrash::ufs {
namespace {

TEST(SchemeVariants, HaveNamesOfTheirOwn) {
  std::set<std::string> names, controls;
  for (const SchemeVariant& variant : scheme_variants()) {
    EXPECT_TRUE(names.insert(variant.name).second) << variant.name;
    EXPECT_FALSE(variant.title.empty()) << variant.name;
    if (variant.control) controls.insert(variant.name);
    const auto found = find_scheme_variant(variant.name);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->title, variant.title);
  }
  EXPECT_EQ(controls, (std::set<std::string>{"ignore", "journal-unordered", "no-order"}));
}

TEST(SchemeVariants, AnUnknownNameTellsTheOthers) {
  const auto found = find_scheme_variant("soft-update");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message().find("soft-updates"), std::string::npos);
}

TEST(SchemeVariants, MayLeaveWhatFsckMendsWithoutAsking) {
  const auto scheme = find_scheme_variant("soft-updates");
  ASSERT_TRUE(scheme);
  for (const FindingKind kind : {FindingKind::totals, FindingKind::leaked_blocks, FindingKind::links_too_high,
                                 FindingKind::block_marked_free, FindingKind::bad_sectors})
    EXPECT_TRUE(permitted(*scheme, kind)) << name_of(kind);
  for (const FindingKind kind :
       {FindingKind::dangling_entry, FindingKind::duplicate_block, FindingKind::links_too_low,
        FindingKind::bad_pointer, FindingKind::bad_chunk, FindingKind::bad_dot})
    EXPECT_FALSE(permitted(*scheme, kind)) << name_of(kind);
}

}  // namespace
}  // namespace headcrash::ufs
