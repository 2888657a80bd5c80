#include "harness/check/test_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <utility>
#include <vector>

#include "plugin/base/scratch_folder.h"
#include "plugin/base/text_file.h"

namespace headcrash::check {
namespace {

class Prepare : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(scratch_); }
  std::string error_of(const TestProgram& program) {
    const auto prepared = prepare(program, scratch_->path());
    return prepared ? "none" : prepared.error().message();
  }
  Result<base::ScratchFolder> scratch_ = base::ScratchFolder::make();
};

TEST_F(Prepare, TurnsAProgramIntoAnApplication) {
  const auto prepared = prepare({.argv = {"sh", "-c", "cat given; echo done | tee log"},
                                 .init = "echo first > given",
                                 .verify = "test \"$(cat log)\" = \"$(tail -n 1)\""},
                                scratch_->path());
  ASSERT_TRUE(prepared) << prepared.error().message();
  EXPECT_EQ(prepared->lines, 2U);
  EXPECT_GT(prepared->bytes, 0U);
  EXPECT_TRUE(std::filesystem::is_regular_file(scratch_->path() / kImageName));
  const auto text = base::read_text_file(prepared->application.string());
  ASSERT_TRUE(text);
  for (const char* line :
       {"every-line-persists = true\n", "verify-by-exit-code = true\n",
        "rootfs = \"program.squashfs\"\n", "prepare = [\"mkdir /.headcrash/disk/check\","})
    EXPECT_NE(text->find(line), std::string::npos) << line;
}

TEST_F(Prepare, StartsAPlainCommandWithoutAShell) {
  const std::string script = (scratch_->path() / "verify").string(), unmarked = script + "-plain";
  std::ofstream(script) << "#!/bin/sh\nexit 0\n";
  std::ofstream(unmarked) << "exit 0\n";
  for (const std::string& file : {script, unmarked})
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  for (const auto& [line, verify] : std::vector<std::pair<std::string, std::string>>{
           {script + " 1  a=b", "[\"" + script + "\",\"1\",\"a=b\"]"},
           {"sh " + unmarked, "[\"sh\",\"" + unmarked + "\"]"},
           {script + " $HOME", "[\"sh\",\"-c\",\"" + script + " $HOME\"]"},
           {unmarked, "[\"sh\",\"-c\",\"" + unmarked + "\"]"},
           {"true", "[\"sh\",\"-c\",\"true\"]"}}) {
    const auto prepared = prepare({.argv = {"true"}, .verify = line}, scratch_->path());
    ASSERT_TRUE(prepared) << prepared.error().message();
    const auto text = base::read_text_file(prepared->application.string());
    ASSERT_TRUE(text);
    EXPECT_NE(text->find("verify = [" + verify + "]\n"), std::string::npos) << *text;
  }
}

TEST_F(Prepare, AProgramThatDropsRootCanStillAccessItsFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto prepared = prepare({.argv = {"setpriv", "--reuid=65534", "--clear-groups", "sh", "-c",
                                          "cd \"$HEADCRASH_FOLDER\" && echo done > log"},
                                 .init = "chmod 777 ."},
                                scratch_->path());
  EXPECT_TRUE(prepared) << prepared.error().message();
}

TEST_F(Prepare, AProgramThatFailsWithoutAPowerCutIsAnError) {
  EXPECT_NE(error_of({.argv = {"sh", "-c", "echo why >&2; exit 4"}})
                .find("exits with 4 on this host, without a power cut: why"),
            std::string::npos);
  EXPECT_NE(error_of({.argv = {"true"}, .verify = "false"}).find("--verify"), std::string::npos);
  EXPECT_NE(error_of({.argv = {"true"}, .init = "false"}).find("--init"), std::string::npos);
  EXPECT_NE(error_of({.argv = {"true"}, .verify = "sh verifier"}).find("exit with 0"),
            std::string::npos);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch_->path());
  std::ofstream("verifier") << "exit 0";
  EXPECT_NE(error_of({.argv = {"true"}, .verify = "sh verifier"}).find("./verifier"),
            std::string::npos);
  std::filesystem::current_path(before);
  EXPECT_NE(error_of({.argv = {"mkdir", "d"}}).find("when started again"), std::string::npos);
  EXPECT_NE(error_of({.argv = {"printf", "a\\nb\\001\\n"}}).find("line 2"), std::string::npos);
  EXPECT_NE(
      error_of({.argv = {"printf", "a\\001\\n"}}).find("(\"a\\x01\"): contains the byte 0x01"),
      std::string::npos);
  EXPECT_NE(error_of({.argv = {"printf", "%0201d\\n", "0"}}).find("is 201 bytes long"),
            std::string::npos);
  EXPECT_NE(error_of({.argv = {"printf", "a"}}).find("does not end with a newline"),
            std::string::npos);
  EXPECT_NE(error_of({.argv = {"sh", "-c", "kill -SEGV $$"}}).find("signal 11"), std::string::npos);
  EXPECT_TRUE(error_of({.argv = {"true"}, .verify = "there-is-no-such"}).starts_with("--verify"));
  EXPECT_NE(error_of({.argv = {"true"}, .environment = {"=x"}}).find("NAME=VALUE"),
            std::string::npos);
  EXPECT_NE(error_of({.argv = {"true"}, .files = {"/there/is/no/such"}}).find("--files"),
            std::string::npos);
}

TEST(WithAbsoluteFiles, ChangesOnlyNamesOfExistingFiles) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch->path());
  std::ofstream("verify.sh") << "true\n";
  const std::string absolute = (std::filesystem::current_path() / "verify.sh").string();
  EXPECT_EQ(
      with_absolute_files(std::vector<std::string>{"./verify.sh", "-x", "absent", "verify.sh"}),
      (std::vector<std::string>{absolute, "-x", "absent", absolute}));
  EXPECT_EQ(with_absolute_files(std::string("sh ./verify.sh  'a ./verify.sh' | ./absent")),
            "sh " + absolute + "  'a ./verify.sh' | ./absent");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace headcrash::check
