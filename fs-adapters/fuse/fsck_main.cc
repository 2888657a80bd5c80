// fsck.headcrash-TYPE checks and repairs a file system on a device (adapters::ImageChecker). The
// program's name contains the type. The program asks no questions:
//
//   -n  only checks (the default)
//   -p  recovers the log and repairs the residue that a power cut may leave even though all
//       promises are kept (FileSystemType::left_by_a_cut), like BSD's "preen". Other findings are
//       damage and need -y.
//   -F  checks only busy areas if the file system marks them (ufs: fast-check); otherwise like -p
//   -y  repairs everything
//   --log DEVICE    device of an external log (ufs: external-journal)
//   --without-log   the external log is lost, with the changes that only the log contained. This is
//                   damage: -y repairs it and converts the file system to one without such a log
//
// With -n, the check examines the state that a recovery of the log would produce.
//
// The exit codes are those of fsck(8): 0 nothing to do, 1 repaired, 4 findings remain, 8
// operational error, 16 usage error.
#include <fmt/core.h>
#include <getopt.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>

#include "fs-adapters/fuse/device_store.h"
#include "fs-adapters/fuse/file_systems.h"

namespace headcrash::fuse {
namespace {

constexpr int kFine = 0, kRepaired = 1, kLeft = 4, kNotDone = 8, kWrongCall = 16;
constexpr std::size_t kFindingsMax = 100'000;
constexpr const char* kToBeReplayed = "to be replayed";
constexpr const char* kUsage =
    "Usage: {} [-n | -p | -F | -y]{} DEVICE\n"
    "  -n  only checks (the default)\n"
    "  -p  recovers the log and repairs only the residue of power cuts (same as -a)\n"
    "  -F  checks only areas marked as busy, if supported; otherwise like -p\n"
    "  -y  repairs everything\n"
    "{}"
    "Exit code: 0 nothing to do, 1 repaired, 4 findings remain, 8 failed, 16 invalid usage\n";

constexpr const char* kLogUsage =
    "  --log DEVICE   device of an external log\n"
    "  --without-log  assumes that the external log is lost; with -y, discards changes that only "
    "it contained\n";

enum class Mode : std::uint8_t { look, preen, fast, repair };
enum class Extent : std::uint8_t { all, busy };

int report_error(const Error& error, int code) {
  fmt::print(stderr, "{}\n", error.message());
  return code;
}

/// Prints the report. `replay` says whether the log's transactions have been replayed.
void print(const adapters::CheckReport& report, const char* replay) {
  for (const adapters::CheckFinding& finding : report.findings)
    fmt::print("{}: {}{}\n", finding.kind.name, finding.text,
               finding.repaired ? " (repaired)" : "");
  if (report.more_findings > 0) fmt::print("and {} more\n", report.more_findings);
  if (report.replayed == 0) return;
  if (report.log.empty())
    fmt::print("journal: {} transactions {}\n", report.replayed, replay);
  else
    fmt::print("log: {}, {}\n", report.log, replay);
}

/// A device and the options for checking it.
struct Check {
  const adapters::FileSystemType& type;
  OpenedDevices& devices;
  adapters::ImageChecker& checker;
  bool without_log = false;

  adapters::CheckOptions options() const {
    return {.findings_max = kFindingsMax,
            .time = static_cast<std::uint32_t>(std::time(nullptr)),
            .without_log = without_log};
  }
};

int look(const Check& check) {
  const auto report = check.checker.check(check.devices.store(), check.options());
  if (!report) return report_error(report.error(), kNotDone);
  print(*report, kToBeReplayed);
  fmt::print("{} files, {} directories, {}\n", report->files, report->directories,
             !report->nothing_found() ? "not clean"
             : report->was_clean
                 ? "clean"
                 : "no damage was found, but the file system was not cleanly unmounted");
  return report->nothing_found() ? kFine : kLeft;
}

int repair(const Check& check, Extent extent = Extent::all) {
  adapters::CheckOptions options = check.options();
  options.fast = extent == Extent::busy;
  const auto report = check.checker.repair(check.devices.store(), options);
  if (!report) return report_error(report.error(), kNotDone);
  if (const auto synced = check.devices.sync(); !synced)
    return report_error(synced.error(), kNotDone);
  print(*report, "replayed");
  const bool modified = check.devices.writes() > 0;
  if (modified) fmt::print("FILE SYSTEM WAS MODIFIED\n");
  if (extent == Extent::busy)
    fmt::print("{}\n", report->unrepaired
                           ? "checking only the busy areas is not sufficient; run a full check"
                           : "clean");
  else
    fmt::print("{} files, {} directories, {}\n", report->files, report->directories,
               report->unrepaired ? "some damage was not repaired" : "clean");
  if (report->unrepaired) return kLeft;
  return modified ? kRepaired : kFine;
}

int preen(const Check& check) {
  const auto report = check.checker.check(check.devices.store(), check.options());
  if (!report) return report_error(report.error(), kNotDone);
  if (check.type.left_by_a_cut(*report)) return repair(check);
  print(*report, kToBeReplayed);
  fmt::print(
      "this is damage, not residue of a power cut: nothing was changed (use -y to repair)\n");
  return kLeft;
}

int fast(const Check& check) {
  const int code = repair(check, Extent::busy);
  return code == kLeft ? preen(check) : code;
}

int run_check(const Check& check, Mode mode) {
  switch (mode) {
    case Mode::look:
      return look(check);
    case Mode::preen:
      return preen(check);
    case Mode::fast:
      return fast(check);
    case Mode::repair:
      break;
  }
  return repair(check);
}

struct Call {
  Mode mode = Mode::look;
  std::string log;
  bool without_log = false, help = false;
};

/// Returns nullopt if the command line is invalid; getopt has then printed the error.
std::optional<Call> read_call(int argc, char** argv, const adapters::FileSystemType& type) {
  constexpr int kLog = 256, kWithoutLog = 257;
  const ::option help{"help", no_argument, nullptr, 'h'};
  const bool may = type.may_have_log_device();
  const ::option log{"log", required_argument, nullptr, kLog},
      without{"without-log", no_argument, nullptr, kWithoutLog}, end{};
  const std::array<::option, 4> table{help, may ? log : end, may ? without : end, end};
  Call call;
  for (int option = 0;
       (option = ::getopt_long(argc, argv, "hnpaFy", table.data(), nullptr)) != -1;) {
    if (option == '?') return std::nullopt;
    if (option == 'h') call.help = true;
    if (option == 'n') call.mode = Mode::look;
    if (option == 'p' || option == 'a') call.mode = Mode::preen;
    if (option == 'F') call.mode = Mode::fast;
    if (option == 'y') call.mode = Mode::repair;
    if (option == kLog) call.log = ::optarg;
    if (option == kWithoutLog) call.without_log = true;
  }
  return call;
}

int run(int argc, char** argv) {
  const auto found = type_of_program(argv[0], kFsckPrefix);
  if (!found) return report_error(found.error(), kWrongCall);
  const adapters::FileSystemType& type = **found;
  const std::string program = std::string(kFsckPrefix) + std::string(type.name());
  const auto call = read_call(argc, argv, type);
  if (!call) return kWrongCall;
  if (call->help) {
    const bool may = type.may_have_log_device();
    fmt::print(kUsage, program, may ? " [--log DEVICE | --without-log]" : "", may ? kLogUsage : "");
    return kFine;
  }
  if (argc - ::optind != 1)
    return report_error({program, "needs one device", program + " -h prints help"}, kWrongCall);
  if (call->without_log && !call->log.empty())
    return report_error({"--without-log", "conflicts with --log", "omit --log or --without-log"},
                        kWrongCall);
  const auto access =
      call->mode == Mode::look ? DeviceStore::Access::read_only : DeviceStore::Access::repair;
  const auto devices = OpenedDevices::open(argv[::optind], call->log, access);
  if (!devices) return report_error(devices.error(), kNotDone);
  const auto checker = type.checker();
  return run_check({type, **devices, *checker, call->without_log}, call->mode);
}

}  // namespace
}  // namespace headcrash::fuse

int main(int argc, char** argv) {
  return headcrash::fuse::run(argc, argv);
}
