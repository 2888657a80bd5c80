// Expectations survive their words, which are all that a database has.
#include "harness/oracle/expectation.h"

#include <gtest/gtest.h>

namespace headcrash::oracle {
namespace {

using Kind = Expectation::Kind;

TEST(Expectation, IsReadBackFromItsWords) {
  const std::vector<Expectation> all{
      {.kind = Kind::other, .text = "mode 644"},
      {.kind = Kind::name},
      {.kind = Kind::no_name},
      {.kind = Kind::regular},
      {.kind = Kind::directory},
      {.kind = Kind::symlink},
      {.kind = Kind::readable_directory},
      {.kind = Kind::readable_content},
      {.kind = Kind::target, .text = "a \"b\" in block 7"},
      {.kind = Kind::one_name, .text = "d/b"},
      {.kind = Kind::links, .least = 2},
      {.kind = Kind::size, .least = 0, .most = 0},
      {.kind = Kind::size, .least = 512, .most = 4096},
      {.kind = Kind::size, .least = 512, .most = Expectation::kOpen},
      {.kind = Kind::version, .least = 3, .block = 5},
      {.kind = Kind::zeroes, .block = 5},
      {.kind = Kind::zeroes_or_version_in_flight, .block = Expectation::kOpen}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Expectation& e = all[i];
    const bool of_a_block = e.kind >= Kind::version;
    Finding finding{.expected = of_a_block ? words_in_block(words(e), e.block) : words(e)};
    if (e.kind == Kind::one_name) finding.found = also_found_as(e.text);
    EXPECT_EQ(expectation_of(finding), e) << finding.expected;
  }
}

TEST(Expectation, OtherWordsAreKept) {
  for (const char* text : {"", "4096 to bytes", "18446744073709551616 bytes", "zeroes in block x",
                           "zeroes", "at least -1 bytes", "version 3 or newer", "a link to \"\""})
    EXPECT_EQ(expectation_of({.expected = text}), (Expectation{.text = text})) << text;
}

TEST(Expectation, KindsOfObjectsHaveTheWordsOfTheirType) {
  EXPECT_EQ(words({.kind = Kind::regular}), kind_of(FileType::regular));
  EXPECT_EQ(words({.kind = Kind::directory}), kind_of(FileType::directory));
  EXPECT_EQ(words({.kind = Kind::symlink}), kind_of(FileType::symlink));
}

}  // namespace
}  // namespace headcrash::oracle
