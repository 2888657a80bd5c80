#include "results/report/contract/contract_page.h"

#include <gtest/gtest.h>

namespace headcrash::report {
namespace {

ContractPage small_page() {
  ContractPage page{.systems = {"ext4", "xfs"}, .rows = {}, .commit = "abc", .command = ""};
  ContractRow row{.number = "39",
                  .title = "rename <over>",
                  .group = "replace",
                  .relies = "an editor",
                  .initial = {"create f"},
                  .operations = {"rename t f"},
                  .allowed = {"f is old|new"},
                  .defect = {"empty f"}};
  row.cells.resize(2);
  row.cells[0].answer = ContractCell::Answer::kept;
  row.cells[0].text = "kept 0/412";
  row.cells[0].promise = "documented";
  row.cells[1].answer = ContractCell::Answer::broken;
  row.cells[1].text = "broken 3/388+";
  row.cells[1].promise = "not promised";
  row.cells[1].state = "w12-";
  row.cells[1].found = "f: an empty file";
  page.rows.push_back(row);
  return page;
}

bool has(const std::string& html, const std::string& part) {
  return html.find(part) != std::string::npos;
}

TEST(ContractPage, ShowsCellsAndTheSmallestCrash) {
  const std::string html = contract_page(small_page());
  EXPECT_TRUE(has(html, "kept 0/412"));
  EXPECT_TRUE(has(html, "f: an empty file"));
  EXPECT_TRUE(has(html, "w12-"));
  EXPECT_TRUE(has(html, "rename &lt;over&gt;"));
  EXPECT_FALSE(has(html, "rename <over>"));
  EXPECT_TRUE(has(html, "1 broken and not promised"));
}

TEST(ContractPage, HighlightsOnlyBrokenPromises) {
  ContractPage page = small_page();
  EXPECT_FALSE(has(contract_page(page), "class=\"hbad\""));
  page.rows[0].cells[1].promised = true;
  EXPECT_TRUE(has(contract_page(page), "class=\"hbad\""));
}

TEST(ContractPage, ACellWithoutAnAnswerGivesTheReason) {
  ContractPage page = small_page();
  page.rows[0].cells[1].answer = ContractCell::Answer::unsupported;
  page.rows[0].cells[1].text = "unsupported";
  page.rows[0].cells[1].problem = "clone f: not supported";
  EXPECT_TRUE(has(contract_page(page), "clone f: not supported"));
}

}  // namespace
}  // namespace headcrash::report
