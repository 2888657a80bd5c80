// Runs, packs and describes a program under test (test_program.h).
#include "harness/check/test_program.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "harness/check/host_program.h"
#include "harness/check/program_image.h"
#include "harness/workload/application.h"
#include "plugin/base/command_text.h"
#include "plugin/base/printable.h"
#include "plugin/base/scratch_folder.h"
#include "plugin/base/text_file.h"

namespace headcrash::check {
namespace {

namespace fs = std::filesystem;

using Environment = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kLineBytesMost = 200;  // must equal kPersistedTextMost in harness/guest
constexpr std::size_t kLineBytesShown = 40;
constexpr fs::perms kTraversable =
    fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec;
constexpr const char* kLineBuffering = "/usr/libexec/coreutils/libstdbuf.so";
constexpr const char* kGuestCommands = ":/.headcrash/bin";  // made by harness/guest/inside.cc
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

/// Returns an environment in which programs flush their output after every line, even to a pipe. A
/// promise counts only once its line has been read, so a delayed line would weaken the test.
Environment environment_of(const TestProgram& program) {
  Environment all{{"PATH", variable("PATH", kPath)},
                  {"HOME", variable("HOME", "/root")},
                  {"LANG", "C.UTF-8"},
                  {"PYTHONUNBUFFERED", "1"}};
  std::error_code error;
  if (fs::exists(kLineBuffering, error)) {
    all.emplace_back("_STDBUF_O", "L");
    all.emplace_back("LD_PRELOAD", kLineBuffering);
  }
  for (const std::string& each : program.environment) {
    const std::size_t at = each.find('=');
    const std::string name = each.substr(0, at);
    std::erase_if(all, [&](const auto& known) { return known.first == name; });
    all.emplace_back(name, each.substr(std::min(at, each.size() - 1) + 1));
  }
  return all;
}

Result<void> check_variables(const TestProgram& program) {
  for (const std::string& each : program.environment)
    if (const std::size_t at = each.find('='); at == 0 || at == std::string::npos)
      return fail("--env", fmt::format("\"{}\" is not NAME=VALUE", each), "use --env NAME=VALUE");
  return {};
}

/// Returns for example: exits with 3; or: is terminated by signal 11 (Segmentation fault).
std::string end_text(int exit_code) {
  constexpr int kSignal = 128;
  const char* const signal = exit_code > kSignal ? ::sigdescr_np(exit_code - kSignal) : nullptr;
  if (signal == nullptr) return fmt::format("exits with {}", exit_code);
  return fmt::format("is terminated by signal {} ({})", exit_code - kSignal, signal);
}

std::string last_words(const HostRun& run) {
  const std::string said = base::last_line(run.errors.empty() ? run.output : run.errors);
  return said.empty() ? said : ": " + said;
}

/// Returns advice for a program that failed without a power cut. The program runs in an empty
/// directory, so a file that its command line names without a '/' is missing there. The advice
/// mentions such a file.
std::string advice(const std::vector<std::string>& argv) {
  std::istringstream words(fmt::format("{}", fmt::join(argv, " ")));
  std::error_code error;
  for (std::string word; words >> word;)
    if (word.find('/') == std::string::npos && fs::is_regular_file(word, error))
      return fmt::format(
          "the command runs in an empty folder; to use the file {0} of the current folder, write "
          "./{0}",
          word);
  return "the command runs in an empty folder, and must exit with 0 when the power does not fail";
}

/// Returns the reason why a line cannot be a promise; empty if it can be one.
std::string problem_of(std::string_view line, bool is_open) {
  if (line.size() > kLineBytesMost) return fmt::format("is {} bytes long", line.size());
  const auto bad = std::ranges::find_if(line, [](char c) { return c < ' ' || c > '~'; });
  if (bad != line.end())
    return fmt::format("contains the byte 0x{:02x}, which is not printable ASCII",
                       static_cast<unsigned char>(*bad));
  return is_open ? "does not end with a newline" : "";
}

Result<std::size_t> count_promises(const std::string& output) {
  std::size_t lines = 0, number = 0;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string_view line(output.data() + at, end - at);
    at = end + 1;
    ++number;
    if (line.empty()) continue;
    if (const std::string problem = problem_of(line, end == output.size()); !problem.empty())
      return fail(fmt::format("line {} of the program's output (\"{}\")", number,
                              base::printable(line, kLineBytesShown)),
                  problem,
                  fmt::format("end each line with a newline, use 1 to {} printable ASCII "
                              "characters, and send other output to standard error",
                              kLineBytesMost));
    ++lines;
  }
  return lines;
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.is_regular_file(error)) bytes += entry.file_size(error);
  return bytes;
}

Result<void> add_files(const std::vector<std::string>& files, std::set<fs::path>& paths) {
  for (const std::string& file : files) {
    const fs::path path = fs::absolute(file).lexically_normal();
    std::error_code error;
    if (!fs::exists(path, error))
      return fail("--files", fmt::format("{} does not exist", file),
                  "name an existing file or folder");
    paths.insert(path);
    if (!fs::is_directory(path, error)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(path, error))
      paths.insert(entry.path());
    if (error) return fail(path.string(), error.message());
  }
  return {};
}

/// Returns true if the kernel can execute the file. The kernel cannot execute a script without
/// "#!", although sh(1) can run such a script.
bool is_executable(const std::string& path) {
  if (::access(path.c_str(), X_OK) != 0) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(4, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == ELFMAG || begin.starts_with("#!");
}

/// Returns the words of the command line if it needs no shell; otherwise, returns a call to sh(1).
/// The shell is avoided because each further process costs time for every state that is verified.
std::vector<std::string> argv_of(const std::string& line) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 /._-+:,@%=";
  std::istringstream text(line);
  std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
  const bool plain = line.find_first_not_of(kPlain) == std::string::npos;
  const bool known =
      !words.empty() &&
      (words.front() == "sh" || (words.front().starts_with('/') && is_executable(words.front())));
  if (plain && known) return words;
  return {"sh", "-c", line};
}

/// Runs init, program and verifier as they will run in the guest, but without a power cut.
Result<PreparedProgram> run_all(const TestProgram& program, std::set<fs::path>& paths) {
  TRY(const auto scratch, base::ScratchFolder::make());
  const fs::path folder = scratch.path() / kTestFolder;
  std::error_code error;
  fs::create_directory(folder, error);
  // The program may drop root's privileges, so other users must be able to enter the scratch
  // directory. They need not be able to list it.
  if (!error) fs::permissions(scratch.path(), kTraversable, error);
  if (error) return fail(folder.string(), error.message());
  HostCommand command{.argv = {},
                      .environment = environment_of(program),
                      .folder = folder,
                      .input = {},
                      .limit = program.limit,
                      .interrupted = program.interrupted};
  std::uint64_t preallocated = 0;
  fs::path program_of_32_bits;
  const auto run = [&](std::vector<std::string> argv, const std::string& what) -> Result<HostRun> {
    command.argv = std::move(argv);
    command.name = what;
    TRY(auto done, run_on_host(command, scratch.path()));
    if (done.exit_code != 0)
      return fail(what,
                  fmt::format("{} on this host, without a power cut{}", end_text(done.exit_code),
                              last_words(done)),
                  advice(command.argv));
    paths.insert(done.paths.begin(), done.paths.end());
    preallocated += done.preallocated;
    if (!done.program_of_32_bits.empty()) program_of_32_bits = done.program_of_32_bits;
    return done;
  };
  if (!program.init.empty()) TRY(run(argv_of(program.init), "--init"));
  TRY(const auto ran, run(program.argv, program.argv.front()));
  PreparedProgram prepared{.application = {},
                           .lines = 0,
                           .seconds = ran.seconds,
                           .bytes = bytes_below(folder),
                           .ran_on_host = true};
  TRY(prepared.lines, count_promises(ran.output));
  command.input = ran.output;
  if (program.verify.empty())
    TRY(run(program.argv, program.argv.front() + " (when started again)"));
  else
    TRY(run(argv_of(program.verify), "--verify"));
  prepared.preallocated = preallocated;
  prepared.program_of_32_bits = program_of_32_bits;
  return prepared;
}

std::string folder_in_guest() {
  return fmt::format("{}/{}", workload::kInsideDisk, kTestFolder);
}

/// Returns the words that precede a command so that it runs under the tracer. The agent provides
/// the tracer below /.headcrash (harness/guest/inside.h).
std::vector<std::string> tracer_words(const Tracing& tracing) {
  std::vector<std::string> words{"/.headcrash/" + tracing.tracer.filename().string(), "--report",
                                 fmt::format("/.headcrash/files/{}", kTraceName)};
  words.insert(words.end(), tracing.options.begin(), tracing.options.end());
  words.emplace_back("--");
  return words;
}

std::string application_text(const TestProgram& program, const std::optional<Tracing>& tracing) {
  using nlohmann::json;
  const auto quoted = [](const std::string& text) { return json(text).dump(); };
  json environment = json::array();
  for (const auto& [variable, value] : environment_of(program)) {
    // A script may run a command only after a crash, for example to describe a loss. Such a command
    // is not in the image, so busybox provides it.
    const bool extend = variable == "PATH" && program.rootfs.empty();
    environment.push_back(variable + "=" + value + (extend ? kGuestCommands : ""));
  }
  environment.push_back("HEADCRASH_FOLDER=" + folder_in_guest());
  json prepare = json::array({"mkdir " + folder_in_guest()});
  if (!program.init.empty()) prepare.push_back(argv_of(program.init));
  std::vector<std::string> run = tracing ? tracer_words(*tracing) : std::vector<std::string>();
  run.insert(run.end(), program.argv.begin(), program.argv.end());
  const std::vector<std::string> verify =
      program.verify.empty() ? program.argv : argv_of(program.verify);
  const std::string traced = tracing
                                 ? fmt::format("tools = [{}]\nreport = {}\n",
                                               quoted(tracing->tracer.string()), quoted(kTraceName))
                                 : std::string();
  return fmt::format(
      "# A program under test, made by headcrash check or headcrash audit.\n"
      "title = {}\n"
      "promise = \"every line that the program prints\"\n"
      "rootfs = {}\n"
      "folder = {}\n"
      "environment = {}\n"
      "every-line-persists = true\n"
      "verify-by-exit-code = true\n"
      "{}"
      "prepare = {}\n"
      "run = [{}]\n"
      "verify = [{}]\n",
      quoted(fmt::format("{}", fmt::join(program.argv, " "))), quoted(kImageName),
      quoted(folder_in_guest()), environment.dump(), traced, prepare.dump(), json(run).dump(),
      json(verify).dump());
}

}  // namespace

std::vector<std::string> with_absolute_files(std::vector<std::string> words) {
  for (std::string& word : words) {
    std::error_code error;
    if (!word.empty() && word.front() != '-' && fs::exists(word, error))
      word = fs::absolute(word).lexically_normal().string();
  }
  return words;
}

std::string with_absolute_files(const std::string& line) {
  std::string made;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = std::min(line.find_first_not_of(' ', at), line.size());
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    std::string word = line.substr(begin, end - begin);
    const bool plain = word.find_first_of("'\"\\$`*?~|&;<>()") == std::string::npos;
    made += line.substr(at, begin - at);
    made += plain && word.find('/') != std::string::npos
                ? with_absolute_files(std::vector<std::string>{word}).front()
                : word;
    at = end;
  }
  return made;
}

Result<void> write_application(const TestProgram& program, const fs::path& file,
                               const std::optional<Tracing>& tracing) {
  return base::write_text_file(file.string(), application_text(program, tracing));
}

Result<PreparedProgram> prepare(const TestProgram& program, const fs::path& folder) {
  TRY(check_variables(program));
  PreparedProgram prepared;
  const fs::path image = folder / kImageName;
  if (program.rootfs.empty()) {
    std::set<fs::path> paths;
    TRY(prepared, run_all(program, paths));
    TRY(add_files(program.files, paths));
    TRY(pack_paths(paths, image));
  } else {
    TRY(pack_rootfs(program.rootfs, image));
  }
  prepared.application = folder / kApplicationName;
  TRY(write_application(program, prepared.application));
  return prepared;
}

}  // namespace headcrash::check
