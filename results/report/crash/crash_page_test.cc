#include "results/report/crash/crash_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "results/report/crash/crash_picture.h"

namespace headcrash::report {
namespace {

Moment at(std::uint64_t event) {
  return {event, static_cast<std::int64_t>(event) * 1'000'000};
}

/// Returns a page with writes 1 to 4 on one disk and a flush after the first write. In the shown
/// state, write 2 is lost, 3 is torn, and 4 is kept.
CrashPage a_page() {
  CrashPage page{.title = "ext4: lost-synced-data",
                 .summary = "1 object is not as promised",
                 .devices = {{"hd0", "stage"}}};
  for (std::uint64_t i = 0; i < 4; ++i) {
    page.requests.push_back({.request = i + 1,
                             .lba = 100 * (i + 1),
                             .sectors = 8,
                             .submitted = at(1 + 2 * i),
                             .acked = at(2 + 2 * i),
                             .block = i < 2 ? BlockClass::data : BlockClass::journal,
                             .what = "write number " + std::to_string(i + 1)});
  }
  page.requests[0].durable = at(10);
  page.flushes.push_back({.request = 5, .submitted = at(3), .acked = at(10)});
  page.marks.push_back({at(11), "persisted 2", true, 2});
  for (const char* text : {"create f", "write f 0 4096 1 1", "fsync f"})
    page.operations.push_back({text, text[1] == 's'});
  page.states.push_back({.name = "w12-2~3:0x4",
                         .strategy = "torn",
                         .verdict = "lost-synced-data",
                         .outcome = TimelineState::Outcome::failed,
                         .event = 12,
                         .lost = {1},
                         .torn = {{2, 0, 4}}});
  page.shown = 0;
  page.cut = page.events = page.last_event = 12;
  page.findings.push_back(
      {"lost-synced-data", "posix", "f", "the name to be there", "no such name"});
  page.requests[1].finding = 0;
  return page;
}

/// Returns the text between two strings, or "" if either string is missing.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t from = text.find(before);
  if (from == std::string::npos) return {};
  const std::size_t to = text.find(after, from + before.size());
  return text.substr(from + before.size(), to - from - before.size());
}
nlohmann::json data_of(const std::string& html) {
  return nlohmann::json::parse(between(html, "id=\"crash-data\">", "</script>"));
}
std::string row_of(const std::string& html, const std::string& text) {
  const std::size_t at = html.find("<td data-label=\"what\">" + text);
  const std::size_t from = html.rfind("<tr>", at);
  return at == std::string::npos ? "" : html.substr(from, html.find("</tr>", at) - from);
}

TEST(CrashPage, DistinguishesLostTornAndKeptWrites) {
  const std::string html = crash_page(a_page());
  EXPECT_NE(row_of(html, "write number 2").find("lost</b>"), std::string::npos);
  EXPECT_NE(row_of(html, "write number 2").find(">f</td>"), std::string::npos)
      << "the finding for its file";
  EXPECT_NE(row_of(html, "write number 3").find("torn</b>"), std::string::npos);
  EXPECT_NE(row_of(html, "write number 4").find("there</span>"), std::string::npos);
  EXPECT_EQ(row_of(html, "write number 1"), "") << "it was flushed";
  EXPECT_NE(
      html.find("3 writes (12.0\xc2\xa0KiB) were not covered by a completed flush; 1 lost, 1 torn"),
      std::string::npos);
}

/// For each fate, one mark of the right shape must be at the bar of the write.
TEST(CrashPage, DrawsLostTornAndKeptWritesAsDistinctShapes) {
  const CrashPage page = a_page();
  const PicturePlan plan = plan_picture(page);
  const std::string svg = draw_picture(page, plan, 1180);
  const std::string fates = between(svg, "<g class=\"fates\">", "</g>");
  const auto y = [&](std::size_t request) {
    return plan.tops(1180)[plan.requests[request].row] + plan.requests[request].y;
  };
  const auto d = [&](const std::string& name) {
    return between(fates, "class=\"" + name + "\" d=\"", "\"");
  };
  const auto place_of = [](const std::string& path) {
    return std::stod(path.substr(path.find(' ') + 1));
  };
  EXPECT_NEAR(place_of(d("lost-tail")), y(1), 0.1);
  EXPECT_NEAR(place_of(d("torn-tail")), y(2), 0.1);
  EXPECT_NEAR(place_of(d("kept-tail")), y(3), 0.1);
  EXPECT_EQ(d("risk"), "") << "all fates are known";
  // The symbol of a lost or torn write is centred on the line of the write, so its path begins
  // above the line.
  EXPECT_NEAR(place_of(d("lost")), y(1) - 3.5, 0.1);
  EXPECT_NEAR(place_of(d("torn")), y(2) - 4.5, 0.1);
  EXPECT_NEAR(place_of(d("kept")), y(3), 0.1);
  EXPECT_NE(d("lost").find("l7 7m0-7l-7 7"), std::string::npos);
  EXPECT_NE(d("torn").find("l5 8h-10z"), std::string::npos);
  EXPECT_NE(d("kept").find("h0"), std::string::npos);
}

TEST(CrashPage, WritesAreAtRiskUntilFlushedOrThePowerCycleEnds) {
  CrashPage page = a_page();
  EXPECT_FALSE(at_risk(page.requests[0], 1)) << "submitted by event 1";
  EXPECT_TRUE(at_risk(page.requests[0], 2));
  EXPECT_TRUE(at_risk(page.requests[0], 10)) << "the flush has not completed";
  EXPECT_FALSE(at_risk(page.requests[0], 11));
  page.requests[1].cycle_ended = 6;
  EXPECT_TRUE(at_risk(page.requests[1], 6));
  EXPECT_FALSE(at_risk(page.requests[1], 7)) << "another power cycle";
  page.requests[1].op = TimelineRequest::Op::read;
  EXPECT_FALSE(at_risk(page.requests[1], 6));
}

/// Every string that can come from a guest, an imported recording or a file name contains markup.
TEST(CrashPage, EscapesTextFromTheGuestEverywhere) {
  const std::string hostile =
      "</script><script>alert(1)</script><!-- \"'&<img src=x onerror=alert(2)>\xff\x1b";
  CrashPage page = a_page();
  page.title = page.summary = page.log = hostile;
  page.facts.emplace_back(hostile, hostile);
  page.devices.push_back({hostile, hostile});
  page.requests[3].device = 1;
  for (TimelineRequest& request : page.requests) request.what = request.file = hostile;
  page.marks = {{at(4), hostile, true, {}}, {at(11), hostile, false, 2}};
  page.operations[2].text = hostile;
  TimelineState& state = page.states[0];
  state.name = state.strategy = state.verdict = state.summary = hostile;
  page.states.push_back(state);
  page.findings = {{hostile, hostile, hostile, hostile, hostile}};
  page.reproduce = page.left_out = {hostile};
  const std::string html = crash_page(page);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("<!--"), std::string::npos);
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  // The page must contain no script elements except its own two.
  std::size_t scripts = 0, ends = 0;
  for (std::size_t from = 0; (from = html.find("<script", from)) != std::string::npos; ++from)
    ++scripts;
  for (std::size_t from = 0; (from = html.find("</script", from)) != std::string::npos; ++from)
    ++ends;
  EXPECT_EQ(scripts, 2U);
  EXPECT_EQ(ends, 2U);
  const auto data = data_of(html);
  EXPECT_EQ(data["states"][0]["summary"].get<std::string>().substr(0, 20), "</script><script>ale");
}

TEST(CrashPage, NeedsNoExternalFiles) {
  std::string html = crash_page(a_page());
  // Browsers use SVG's namespace URI only as a name and do not load it.
  const std::string name_of_svg = "http://www.w3.org/2000/svg";
  html.erase(html.find(name_of_svg), name_of_svg.size());
  for (const char* reference : {"http://", "https://", "src=", "@import", "url(h"})
    EXPECT_EQ(html.find(reference), std::string::npos) << reference;
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(CrashPage, EmbedsTheSameNumbersForItsScript) {
  const CrashPage page = a_page();
  const auto data = data_of(crash_page(page));
  EXPECT_EQ(data["requests"]["id"], nlohmann::json({1, 2, 3, 4}));
  EXPECT_EQ(data["requests"]["de"], nlohmann::json({10, -1, -1, -1}));
  EXPECT_EQ(data["states"][0]["lost"], nlohmann::json({1}));
  EXPECT_EQ(data["states"][0]["torn"], nlohmann::json({{2, 0, 4}}));
  EXPECT_EQ(data["shown"], 0);
  EXPECT_EQ(data["cut"], 12);
}

TEST(CrashPage, DrawsHardwareActivityOverTime) {
  CrashPage page = a_page();
  page.series = {
      {.label = "throughput",
       .unit = TimelineSeries::Unit::bytes_per_second,
       .values = {{1'000'000, 1048576}, {3'000'000, 0}}},
      {.label = "head",
       .unit = TimelineSeries::Unit::cylinders,
       .shape = TimelineSeries::Shape::line,
       .values = {{2'000'000, 10}, {5'000'000, 400}}},
      {.label = "rebuilt", .unit = TimelineSeries::Unit::bytes, .values = {{2'000'000, 4096}}}};
  page.series_notes = {"The way between is <not> recorded."};
  const std::string html = crash_page(page);
  for (const char* label : {">throughput<", ">head<", ">rebuilt<"})
    EXPECT_NE(html.find(label), std::string::npos) << label;
  EXPECT_NE(html.find("at most 1.00\u00a0MiB/s"), std::string::npos);
  EXPECT_NE(html.find("at most 400 cylinders"), std::string::npos);
  EXPECT_NE(html.find("is &lt;not&gt; recorded"), std::string::npos);
  EXPECT_NE(html.find("<path class=\"head\" d=\"M"), std::string::npos);
}

TEST(CrashPage, AcceptsAnEmptyRecording) {
  const std::string html = crash_page({.title = "nothing", .devices = {{"hd0", "stage"}}});
  EXPECT_NE(html.find("0 writes"), std::string::npos);
}

TEST(TimeScale, ShortensOnlyQuietIntervals) {
  const TimeScale scale({0, 1'000, 2'000, 3'000, 1'000'003'000, 1'000'004'000});
  EXPECT_EQ(scale.place(2'000) - scale.place(1'000), 1'000);
  EXPECT_EQ(scale.place(1'000'004'000) - scale.place(1'000'003'000), 1'000);
  ASSERT_EQ(scale.quiet().size(), 1U);
  EXPECT_EQ(scale.knots()[scale.quiet()[0]].at_ns, 3'000);
  const double gap = scale.place(1'000'003'000) - scale.place(3'000);
  EXPECT_GT(gap, 0);
  EXPECT_LT(gap, scale.length() / 2) << "two fifths, of an axis of five stretches";
  for (const std::int64_t time : {500, 3'000, 500'000'000, 1'000'003'500})
    EXPECT_LT(scale.place(time), scale.place(time + 10)) << time;
}

TEST(TimeScale, HasAPositiveLengthForASingleInstant) {
  EXPECT_GT(TimeScale({5}).length(), 0);
}

}  // namespace
}  // namespace headcrash::report
