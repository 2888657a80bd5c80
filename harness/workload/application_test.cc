#include "harness/workload/application.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "plugin/base/scratch_folder.h"

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

TEST(Application, ParsesAFile) {
  const auto application = parse_application(kSmall, "mine.toml");
  ASSERT_TRUE(application) << application.error().message();
  EXPECT_EQ(application->files.at("go"), "echo persisted 1");
  EXPECT_EQ(application->expected, adapters::Expectation::clean);
  EXPECT_FALSE(application->each_command_persists);
  EXPECT_EQ(argvs(*application, application->run, "/mnt")[0],
            (std::vector<std::string>{"sh", "-c", "sh /run/application/go /mnt"}));
  EXPECT_EQ(program_in(argvs(*application, application->run, "/mnt")[0]), "sh");
}

TEST(Application, RunsWordsWithoutAShellInItsRootFileSystem) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const std::filesystem::path folder = scratch->path();
  std::ofstream(folder / "image") << "squashfs";
  const auto load = [&](const std::string& text) {
    std::ofstream(folder / "mine.toml") << text << "verify = [\"true\"]\n";
    return load_application((folder / "mine.toml").string());
  };
  const std::string rootfs = "rootfs = \"image\"\nfolder = \"/d\"\nenvironment = [\"A=1\"]\n";
  const std::string run = "run = [\"ls {root}\", [\"./t\", \"{root} '\"]]\n";
  const auto application = load(rootfs + run);
  ASSERT_TRUE(application) << application.error().message();
  const auto made = argvs(*application, application->run, "/mnt");
  const std::vector<std::string> start{kAgentProgram, "inside", "/mnt", kInsideDisk,
                                       kApplicationFolder};
  auto line = start;
  for (const char* word : {"/", "--", kInsideBusybox, "sh", "-c", "ls /mnt"}) line.push_back(word);
  auto words = start;
  for (const char* word : {"/d", "A=1", "--", "./t", "{root} '"}) words.push_back(word);
  EXPECT_EQ(made, (std::vector<std::vector<std::string>>{line, words}));
  EXPECT_EQ(program_in(line), kInsideBusybox);
  EXPECT_EQ(program_in(words), "./t");

  EXPECT_NE(load(run).error().message().find("./t"), std::string::npos);
  EXPECT_NE(load("folder = \"/d\"\nrun = [\"a\"]\n").error().message().find("folder"),
            std::string::npos);
  for (const char* wrong :
       {"run = []\n", "run = \"a\"\n", "run = [[]]\n", "run = [1]\n", "run = [[\"a\", 1]]\n"})
    EXPECT_NE(load(rootfs + wrong).error().message().find("mine.toml: run"), std::string::npos)
        << wrong;
}

TEST(Application, ToolsMayBeProgramsOfTheHost) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const std::filesystem::path folder = scratch->path();
  std::ofstream(folder / "prog") << "#!/bin/sh\n";
  const auto load = [&](const std::string& tools) {
    std::ofstream(folder / "mine.toml") << tools << "run = [\"a\"]\nverify = [\"b\"]\n";
    return load_application((folder / "mine.toml").string());
  };
  EXPECT_NE(load("tools = [\"./prog\"]\n").error().message().find("executable"), std::string::npos);
  std::filesystem::permissions(folder / "prog", std::filesystem::perms::owner_all);
  const auto application = load("tools = [\"sh\", \"./prog\"]\n");
  ASSERT_TRUE(application) << application.error().message();
  EXPECT_EQ(application->tools, (std::vector<std::string>{"sh", "prog"}));
  EXPECT_EQ(application->own_tools, std::vector<std::string>{folder / "prog"});
  adapters::GuestParts parts;
  application->add_to(parts);
  EXPECT_EQ(parts.application_tools, application->own_tools);
  const std::string packages = "packages = [\"absent\"]\n";
  for (const std::string& wrong :
       {std::string("tools = [\"./none\"]\n"), packages + "tools = [\"./none\"]\n",
        std::string("tools = [\"/none\"]\n")})
    EXPECT_NE(load(wrong).error().message().find("tools"), std::string::npos) << wrong;
  EXPECT_TRUE(load(packages + "tools = [\"/none\"]\n")) << "the package may provide it";
  for (const char* version : {"15", "17"}) {
    std::filesystem::create_directories(folder / version);
    std::filesystem::copy(folder / "prog", folder / version / "prog");
  }
  EXPECT_EQ(load("tools = [\"./*/prog\"]\n")->own_tools,
            std::vector<std::string>{folder / "17" / "prog"});
}

TEST(Application, ErrorsNameTheKey) {
  EXPECT_NE(error_of("run = [\"a\"]\n").find("verify"), std::string::npos);
  EXPECT_NE(error_of("verify = [\"a\"]\n").find("run"), std::string::npos);
  EXPECT_NE(error_of(std::string("expect = \"loss\"\n") + kSmall).find("expected"),
            std::string::npos);
  EXPECT_NE(error_of(std::string("expected = \"some\"\n") + kSmall).find("mine.toml: expected"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(kSmall) + "\"../x\" = \"\"\n").find("files.../x"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(kSmall) + "x = 1\n").find("files.x"), std::string::npos);
  EXPECT_NE(load_application("sqlit").error().message().find("sqlite"), std::string::npos);
  EXPECT_FALSE(load_application("/no/such.toml"));
  EXPECT_NE(error_of("packages = [\"a b\"]\n" + std::string(kSmall)).find("packages"),
            std::string::npos);
}

constexpr const char* kSet = R"(
title = "A set one"
run = ["go {setting} {root}"]
verify = ["look {setting}"]
setting = "weak"
[settings.weak]
words = "w 1"
promise = "little"
expected = "any"
[settings.strong]
words = "s 2"
promise = "all"
)";

TEST(Application, SettingsReplaceTheirPlaceholder) {
  const auto weak = parse_application(kSet, "mine.toml");
  ASSERT_TRUE(weak) << weak.error().message();
  EXPECT_EQ(weak->run, std::vector<Command>{{.words = {"go w 1 {root}"}}});
  EXPECT_EQ(weak->verify, std::vector<Command>{{.words = {"look w 1"}}});
  EXPECT_EQ(weak->promise, "little");
  EXPECT_EQ(weak->expected, adapters::Expectation::any);

  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const std::string file = (scratch->path() / "mine.toml").string();
  std::ofstream(file) << kSet;
  const auto strong = load_application(file + "+strong");
  ASSERT_TRUE(strong) << strong.error().message();
  EXPECT_EQ(strong->name, "mine+strong");
  EXPECT_EQ(strong->run, std::vector<Command>{{.words = {"go s 2 {root}"}}});
  EXPECT_EQ(strong->expected, adapters::Expectation::clean);
  EXPECT_EQ(load_application(strong->origin)->verify, strong->verify)
      << "the origin must identify the application";
  const auto each = load_applications(file + "+*");
  ASSERT_TRUE(each) << each.error().message();
  ASSERT_EQ(each->size(), 2U);
  EXPECT_EQ((*each)[0].name, "mine+strong");
  EXPECT_EQ((*each)[1].name, "mine+weak");
  EXPECT_EQ(load_applications(file)->size(), 1U);

  EXPECT_NE(load_application(file + "+stong").error().message().find("strong"), std::string::npos);
  std::ofstream(file) << kSmall;
  EXPECT_NE(load_application(file + "+strong").error().message().find("has no settings"),
            std::string::npos);
  EXPECT_NE(load_applications(file + "+*").error().message().find("has no settings"),
            std::string::npos);
}

TEST(Application, ErrorsInSettingsNameTheKey) {
  std::string text = kSet;
  EXPECT_NE(error_of(text + "words2 = \"\"\n").find("settings.strong.words2"), std::string::npos);
  EXPECT_NE(error_of(text + "[settings.third]\n").find("settings.third.words"), std::string::npos);
  EXPECT_NE(error_of(text + "[settings.\"a b\"]\n").find("letters"), std::string::npos);
  text.replace(text.find("setting = \"weak\""), 16, "setting = \"waek\"");
  EXPECT_NE(error_of(text).find("did you mean \"weak\""), std::string::npos) << error_of(text);
  text.erase(text.find("setting = \"waek\""), 16);
  EXPECT_NE(error_of(text).find("mine.toml: setting: is missing"), std::string::npos)
      << error_of(text);
}

TEST(Application, BuiltInApplicationsAreComplete) {
  for (const std::string& name : built_in_applications()) {
    const auto application = load_application(name);
    ASSERT_TRUE(application) << application.error().message();
    EXPECT_EQ(application->name, name + "+" + application->setting);
    const auto each = load_applications(name + "+*");
    ASSERT_TRUE(each) << each.error().message();
    bool control = false;
    for (const Application& one : *each) {
      EXPECT_FALSE(one.title.empty());
      EXPECT_FALSE(one.promise.empty()) << one.name << " must state its documented promise";
      for (const auto* commands : {&one.prepare, &one.run, &one.verify})
        for (const Command& command : *commands)
          EXPECT_EQ(command.words[0].find("{setting}"), std::string::npos) << command.words[0];
      control = control || one.expected == adapters::Expectation::loss;
    }
    EXPECT_TRUE(control) << name << " must have a setting that loses data";
  }
  EXPECT_EQ(load_applications("sqlite+*")->size(), 16U)
      << "four journal modes with four values of synchronous";
}

/// Runs a shell command with the given standard input, and returns its output.
std::string said_by(const std::string& command, const std::string& input,
                    const std::string& folder) {
  std::ofstream(folder + "/input") << input;
  const std::string line = "cd " + folder + " && " + command + " < input";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(line.c_str(), "r"), ::pclose);
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

struct Held {
  const char* promised;
  /// One character per transaction: the number of its parts that are found, '-' for no parts, or
  /// 'x' if their contents are wrong.
  const char* there;
  const char* says;  ///< expected output for an application that reported three transactions
};

/// Tests all verifiers of numbered transactions with the same cases. Some cases contain damage, so
/// a verifier that detects nothing fails the test.
TEST(Application, VerifiersDetectMissingAndUnexpectedData) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const std::string folder = scratch->path().string();
  const Application sqlite = *load_application("sqlite"), lmdb = *load_application("lmdb");
  std::ofstream(folder + "/judge.sh") << sqlite.files.at("judge.sh");
  std::ofstream(folder + "/held.py") << lmdb.files.at("held.py");
  const bool python = said_by("python3 -c 'print(1)'", "", folder) == "1\n";
  for (const Held& held : {
           Held{"all", "333", ""},
           Held{"all", "3333", ""},  // the fourth transaction is committed but not reported yet
           Held{"all", "33-", "lost: transaction 3\n"},
           Held{"all", "---", "lost: transaction 1\nlost: transaction 2\nlost: transaction 3\n"},
           Held{"all-but-last", "33-", "permitted: the last 1 of 3 commits are undone\n"},
           Held{"all-but-last", "3--",
                "lost: transaction 2\npermitted: the last 1 of 3 commits are undone\n"},
           Held{"order", "3--", "permitted: the last 2 of 3 commits are undone\n"},
           Held{"order", "3-3",
                "wrong: transaction 2 is missing, but 3 is present\n"
                "permitted: the last 1 of 3 commits are undone\n"},
           Held{"order", "32-",
                "wrong: transaction 2 is only partly present\n"
                "permitted: the last 1 of 3 commits are undone\n"},
           Held{"order", "3x3", "wrong: transaction 2 contains other data\n"},
       }) {
    std::string lines = "told 1\ntold 2\ntold 3\n", parts, strange;
    for (int tx = 1; held.there[tx - 1] != 0; ++tx) {
      const char seen = held.there[tx - 1];
      if (seen == '-') continue;
      const std::string number = std::to_string(tx);
      lines += "there " + number + (seen == '2' ? " 2 2\n" : seen == 'x' ? " 3 2\n" : " 3 3\n");
      parts += number + (seen == '2' ? ": [0, 1], " : ": [0, 1, 2], ");
      if (seen == 'x') strange += number;
    }
    EXPECT_EQ(said_by(std::string("sh judge.sh ") + held.promised, lines, folder), held.says)
        << held.there;
    if (!python) continue;
    std::string said = said_by("python3 -c 'from held import judge; judge({" + parts + "}, [" +
                                   strange + "], \"" + held.promised + "\")'",
                               "1\n2\n3\n", folder);
    if (said == "\n") said.clear();
    EXPECT_EQ(said, held.says) << held.there << " by held.py";
  }
  EXPECT_EQ(said_by("sh judge.sh all", "health row 3 missing from index\n", folder),
            "wrong: integrity check: health row 3 missing from index\n");
}

}  // namespace
}  // namespace headcrash::workload
