#include "harness/workload/application.h"

#include <gtest/gtest.h>

namespace headcrash::workload {
namespace {

constexpr const char* kSmall = R"(
title = "A small one"
tools = ["sh"]
prepare = ["mkdir {root}/d"]
run = ["sh {files}/go {root}", "true"]
verify = ["sh {files}/look {root}"]
[files]
go = "echo persisted 1"
look = "true"
)";

std::string error_of(const std::string& text) {
  const auto application = parse_application(text, "mine.toml");
  return application ? "" : application.error().message();
}

TEST(Application, IsReadFromItsFile) {
  const auto application = parse_application(kSmall, "mine.toml");
  ASSERT_TRUE(application) << application.error().message();
  EXPECT_EQ(application->files.at("go"), "echo persisted 1");
  EXPECT_EQ(application->expected, adapters::Expectation::clean);
  EXPECT_FALSE(application->each_command_persists);
  EXPECT_EQ(commands(application->run, "/mnt")[0],
            (std::vector<std::string>{"sh", "-c", "sh /run/application/go /mnt"}));
}

TEST(Application, BadFilesNameTheKey) {
  EXPECT_NE(error_of("run = [\"a\"]\n").find("verify"), std::string::npos);
  EXPECT_NE(error_of("verify = [\"a\"]\n").find("run"), std::string::npos);
  EXPECT_NE(error_of(std::string("expect = \"loss\"\n") + kSmall).find("expected"), std::string::npos);
  EXPECT_NE(error_of(std::string("expected = \"some\"\n") + kSmall).find("mine.toml: expected"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(kSmall) + "\"../x\" = \"\"\n").find("files.../x"), std::string::npos);
  EXPECT_NE(error_of(std::string(kSmall) + "x = 1\n").find("files.x"), std::string::npos);
  EXPECT_NE(load_application("sqlit").error().message().find("sqlite"), std::string::npos);
  EXPECT_FALSE(load_application("/no/such.toml"));
}

TEST(Application, ThoseBuiltInAreComplete) {
  for (const std::string& name : built_in_applications()) {
    const auto application = load_application(name);
    ASSERT_TRUE(application) << application.error().message();
    EXPECT_EQ(application->name, name);
    EXPECT_FALSE(application->title.empty());
    EXPECT_EQ(application->files.size(), 3U) << name;
  }
  EXPECT_EQ(load_application("sqlite-off")->expected, adapters::Expectation::loss);
}

}  // namespace
}  // namespace headcrash::workload
