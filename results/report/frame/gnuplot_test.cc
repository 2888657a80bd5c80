#include "results/report/frame/gnuplot.h"

#include <gtest/gtest.h>

#include "results/report/frame/svg.h"

namespace headcrash::report {
namespace {

TEST(Gnuplot, DrawsAPlotThatFitsIntoAPage) {
  const auto svg = run_gnuplot(
      "set terminal svg size 100,80 dynamic noenhanced\n$d << E\n1 2\n2 3\nE\n"
      "plot $d with dots lc rgb '#0072b2' title '<&>'\n");
  ASSERT_TRUE(svg) << svg.error().message();
  const auto inlined = inline_svg(*svg, "a \"label\"");
  EXPECT_TRUE(inlined.starts_with(
      "<svg viewBox=\"0 0 100 80\" role=\"img\" aria-label=\"a &quot;label&quot;\">"))
      << inlined;
  EXPECT_NE(inlined.find("stroke=\"var(--fs0)\""), std::string::npos);
  EXPECT_NE(inlined.find("&lt;&amp;>"), std::string::npos);
  for (const char* unwanted :
       {" id=", "<rect", "<script", "<?xml", "color=\"black\"", "<use", "xlink"}) {
    EXPECT_EQ(inlined.find(unwanted), std::string::npos) << unwanted;
  }
  EXPECT_TRUE(inlined.ends_with("</svg>\n"));
}

TEST(Gnuplot, ReportsAMissingProgramWithAHint) {
  GnuplotLimits limits;
  limits.program = "no-such-gnuplot";
  const auto missing = run_gnuplot("", limits);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("not installed"), std::string::npos);
  EXPECT_FALSE(missing.error().hint.empty());
}

TEST(Gnuplot, ReportsTheErrorOfAFailingScript) {
  const auto failed = run_gnuplot("plot nonsense nonsense\n");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message().find("nonsense"), std::string::npos)
      << failed.error().message();
}

TEST(Gnuplot, StopsAfterTheTimeLimit) {
  GnuplotLimits limits;
  limits.time = std::chrono::milliseconds(200);
  const auto stopped = run_gnuplot("while (1) { x = 1 }\n", limits);
  ASSERT_FALSE(stopped);
  EXPECT_NE(stopped.error().message().find("timed out"), std::string::npos)
      << stopped.error().message();
}

TEST(Gnuplot, StopsAtTheOutputLimit) {
  GnuplotLimits limits;
  limits.output_bytes = 10'000;
  const auto stopped = run_gnuplot("set print '-'\nwhile (1) { print 'more and more' }\n", limits);
  ASSERT_FALSE(stopped);
  EXPECT_NE(stopped.error().message().find("more than 10000 bytes"), std::string::npos)
      << stopped.error().message();
}

TEST(Gnuplot, ReportsAProgramThatDoesNotReadItsInput) {
  GnuplotLimits limits;
  limits.program = "false";
  EXPECT_FALSE(run_gnuplot(std::string(4 << 20, '#'), limits));
}

}  // namespace
}  // namespace headcrash::report
