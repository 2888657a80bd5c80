// Fuzzes images of every registered format. Each input is a list of edits to a small image.
// Checking, repairing, reading and mounting must terminate, and an unmount must not crash.
#include <gtest/gtest.h>

#include <algorithm>

#include "fs-adapters/testing/damaged_image.h"
#include "plugin/base/testing/fuzz.h"
#include "plugin/base/testing/image_edits.h"

namespace headcrash::adapters::damaged {
namespace {

class Fuzz : public testing::TestWithParam<ImageFormat> {};

TEST_P(Fuzz, Image) {
  const ImageTarget target(GetParam());
  fuzz::Options options;
  options.name = target.name() + "-image";
  options.size_max = fuzz::kImageEditBytes * kEditsMax;
  options.corpus = {"", std::string(fuzz::kImageEditBytes, '\0')};
  // A sample of the crafted images; damaged_images_test.cc runs all of them.
  constexpr std::size_t kCorpus = 48;
  for (std::string& program : target.crafted(kCorpus)) options.corpus.push_back(std::move(program));
  fuzz::run(options, [&](std::string_view input) {
    return target.run(input, fuzz::novelty(input));  // the input selects the system
  });
}

INSTANTIATE_TEST_SUITE_P(Registry, Fuzz, testing::ValuesIn(image_formats()),
                         [](const auto& format) {
                           std::string name = format.param.name;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '@'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace headcrash::adapters::damaged
