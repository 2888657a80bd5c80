// Tests the table of schemes: names, controls, permitted findings.
#include "fs-adapters/ufs/schemes/scheme_variants.h"

#include <gtest/gtest.h>

#include <set>

namespace headcrash::ufs {
namespace {

TEST(SchemeVariants, HaveUniqueNames) {
  std::set<std::string> names, controls;
  for (const SchemeVariant& variant : scheme_variants()) {
    EXPECT_TRUE(names.insert(variant.name).second) << variant.name;
    EXPECT_FALSE(variant.title.empty()) << variant.name;
    if (variant.control) controls.insert(variant.name);
    const auto found = find_scheme_variant(variant.name);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->title, variant.title);
  }
  EXPECT_EQ(controls,
            (std::set<std::string>{
                "ignore", "journal-external-answered-early", "journal-external-data-unawaited",
                "journal-external-homes-early", "journal-unordered", "late-update",
                "netra-freed-unmarked", "netra-generation-unwritten", "netra-map-late",
                "netra-marks-late", "netra-tag-late", "netra-unmerged", "no-order"}));
}

TEST(SchemeVariants, TheErrorForAnUnknownNameListsKnownNames) {
  const auto found = find_scheme_variant("soft-update");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message().find("soft-updates"), std::string::npos);
}

TEST(SchemeVariants, MayLeaveFindingsThatAPreeningFsckRepairs) {
  const auto scheme = find_scheme_variant("soft-updates");
  ASSERT_TRUE(scheme);
  for (const FindingKind kind :
       {FindingKind::totals, FindingKind::leaked_blocks, FindingKind::links_too_high,
        FindingKind::block_marked_free, FindingKind::bad_sectors})
    EXPECT_TRUE(permitted(*scheme, kind)) << name_of(kind);
  for (const FindingKind kind :
       {FindingKind::dangling_entry, FindingKind::duplicate_block, FindingKind::links_too_low,
        FindingKind::bad_pointer, FindingKind::bad_chunk, FindingKind::bad_dot})
    EXPECT_FALSE(permitted(*scheme, kind)) << name_of(kind);
}

/// A preening fsck sees only the disk and does not know the scheme. Such an fsck must therefore
/// permit every finding that any variant permits.
TEST(SchemeVariants, PermitFindingsOfAnyVariant) {
  constexpr auto kLast = static_cast<int>(FindingKind::no_room);
  for (const SchemeVariant& variant : scheme_variants()) {
    if (variant.control) continue;
    for (int number = 0; number <= kLast; ++number) {
      const auto kind = static_cast<FindingKind>(number);
      FsckReport report{.findings = {{.kind = kind}},
                        .journalled = variant.mount.scheme == SchemeKind::journal};
      if (permitted(variant, kind)) {
        EXPECT_TRUE(permitted(report)) << variant.name << " " << name_of(kind);
      }
    }
  }
  const auto alone = [](FindingKind kind, bool journalled) {
    return permitted(FsckReport{.findings = {{}, {.kind = kind}}, .journalled = journalled});
  };
  for (const FindingKind kind : {FindingKind::leaked_blocks, FindingKind::bad_sectors,
                                 FindingKind::dot_dot_elsewhere, FindingKind::block_marked_free}) {
    EXPECT_TRUE(alone(kind, false)) << name_of(kind);
    EXPECT_FALSE(alone(kind, true)) << name_of(kind);
  }
  EXPECT_FALSE(alone(FindingKind::dangling_entry, false));
  EXPECT_FALSE(permitted(FsckReport{.more_findings = 1}));
}

}  // namespace
}  // namespace headcrash::ufs
