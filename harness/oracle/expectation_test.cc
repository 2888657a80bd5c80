// Tests that the text of each expectation can be parsed. This is necessary because a database
// stores only the text.
#include "harness/oracle/expectation.h"

#include <gtest/gtest.h>

namespace headcrash::oracle {
namespace {

using Expected = Expectation::Kind;

TEST(Expectation, ParsingInvertsFormatting) {
  const std::vector<Expectation> all{
      {.kind = Expected::other, .text = "mode 644"},
      {.kind = Expected::name},
      {.kind = Expected::no_name},
      {.kind = Expected::regular},
      {.kind = Expected::directory},
      {.kind = Expected::symlink},
      {.kind = Expected::readable_directory},
      {.kind = Expected::readable_content},
      {.kind = Expected::target, .text = "a \"b\" in block 7"},
      {.kind = Expected::one_name, .text = "d/b"},
      {.kind = Expected::links, .least = 2},
      {.kind = Expected::size, .least = 0, .most = 0},
      {.kind = Expected::size, .least = 512, .most = 4096},
      {.kind = Expected::size, .least = 512, .most = Expectation::kOpen},
      {.kind = Expected::version, .least = 3, .block = 5},
      {.kind = Expected::zeroes, .block = 5},
      {.kind = Expected::zeroes_or_version_in_flight, .block = Expectation::kOpen}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Expectation& e = all[i];
    const bool of_a_block = e.kind >= Expected::version;
    Finding finding{.expected = of_a_block ? words_in_block(words(e), e.block) : words(e)};
    if (e.kind == Expected::one_name) finding.found = also_found_as(e.text);
    EXPECT_EQ(expectation_of(finding), e) << finding.expected;
  }
}

TEST(Expectation, PreservesUnrecognisedText) {
  for (const char* text : {"", "4096 to bytes", "18446744073709551616 bytes", "zeroes in block x",
                           "zeroes", "at least -1 bytes", "version 3 or newer", "a link to \"\""})
    EXPECT_EQ(expectation_of({.expected = text}), (Expectation{.text = text})) << text;
}

TEST(Expectation, ObjectKindsMatchFileTypes) {
  EXPECT_EQ(words({.kind = Expected::regular}), kind_of(FileType::regular));
  EXPECT_EQ(words({.kind = Expected::directory}), kind_of(FileType::directory));
  EXPECT_EQ(words({.kind = Expected::symlink}), kind_of(FileType::symlink));
}

}  // namespace
}  // namespace headcrash::oracle
