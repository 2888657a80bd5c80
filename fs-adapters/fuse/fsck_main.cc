// fsck.headcrash-TYPE: checks and repairs a file system on a device (adapters::ImageChecker). The type is in
// the program's name. It asks no questions:
//
//   -n  only checks (the default)
//   -p  recovers the log, and repairs what a power cut may leave behind when promises are kept
//       (FileSystemType::left_by_a_cut), and nothing else: what it finds beyond that is damage, for which
//       somebody has to call it with -y (BSD's "preen")
//   -F  looks only at what was busy, where the file system notes that (ufs: fast-check), and else does as -p
//   -y  repairs everything
//
// With -n the disk is seen as it will be when its log has been recovered.
//
// Exit codes as fsck(8): 0 nothing to do, 1 repaired, 4 something is left, 8 it could not be done, 16 wrong
// call.
#include <fmt/core.h>
#include <getopt.h>

#include <cstdio>
#include <ctime>
#include <string>

#include "fs-adapters/fuse/device_store.h"
#include "fs-adapters/fuse/file_systems.h"

namespace headcrash::fuse {
namespace {

constexpr int kFine = 0, kRepaired = 1, kLeft = 4, kNotDone = 8, kWrongCall = 16;
constexpr std::size_t kFindingsMax = 100'000;
constexpr const char* kToBeReplayed = "to be replayed";
constexpr const char* kUsage =
    "Usage: {} [-n | -p | -F | -y] DEVICE\n"
    "  -n  only checks (the default)\n"
    "  -p  recovers the log and repairs what a power cut may leave, and nothing else (also -a)\n"
    "  -F  looks only at what was busy, where that is noted; else as -p\n"
    "  -y  repairs everything\n"
    "Exit code: 0 nothing to do, 1 repaired, 4 something is left, 8 failed, 16 invalid usage\n";

enum class Mode : std::uint8_t { look, preen, fast, repair };
enum class Extent : std::uint8_t { all, busy };

int report_error(const Error& error, int code) {
  fmt::print(stderr, "{}\n", error.message());
  return code;
}

/// `replay`: what becomes of the log's transactions.
void print(const adapters::CheckReport& report, const char* replay) {
  for (const adapters::CheckFinding& finding : report.findings)
    fmt::print("{}: {}{}\n", finding.kind.name, finding.text, finding.repaired ? " (repaired)" : "");
  if (report.more_findings > 0) fmt::print("and {} more\n", report.more_findings);
  if (report.replayed == 0) return;
  if (report.log.empty())
    fmt::print("journal: {} transactions {}\n", report.replayed, replay);
  else
    fmt::print("log: {}, {}\n", report.log, replay);
}

int look(DeviceStore& device, adapters::ImageChecker& checker) {
  const auto report = checker.check(device, {.findings_max = kFindingsMax});
  if (!report) return report_error(report.error(), kNotDone);
  print(*report, kToBeReplayed);
  fmt::print("{} files, {} directories, {}\n", report->files, report->directories,
             !report->nothing_found() ? "not clean"
             : report->was_clean      ? "clean"
                                      : "nothing found, but it was not unmounted");
  return report->nothing_found() ? kFine : kLeft;
}

int repair(DeviceStore& device, adapters::ImageChecker& checker, Extent extent = Extent::all) {
  const auto report = checker.repair(device, {.findings_max = kFindingsMax,
                                              .time = static_cast<std::uint32_t>(std::time(nullptr)),
                                              .fast = extent == Extent::busy});
  if (!report) return report_error(report.error(), kNotDone);
  if (const auto synced = device.sync(); !synced) return report_error(synced.error(), kNotDone);
  print(*report, "replayed");
  if (device.writes() > 0) fmt::print("FILE SYSTEM WAS MODIFIED\n");
  if (extent == Extent::busy)
    fmt::print("{}\n", report->unrepaired ? "what was busy does not tell all" : "clean");
  else
    fmt::print("{} files, {} directories, {}\n", report->files, report->directories,
               report->unrepaired ? "not all repaired" : "clean");
  if (report->unrepaired) return kLeft;
  return device.writes() > 0 ? kRepaired : kFine;
}

int preen(DeviceStore& device, const adapters::FileSystemType& type, adapters::ImageChecker& checker) {
  const auto report = checker.check(device, {.findings_max = kFindingsMax});
  if (!report) return report_error(report.error(), kNotDone);
  if (type.left_by_a_cut(*report)) return repair(device, checker);
  print(*report, kToBeReplayed);
  fmt::print("this is damage, not what a power cut leaves: nothing was changed; call it with -y\n");
  return kLeft;
}

int fast(DeviceStore& device, const adapters::FileSystemType& type, adapters::ImageChecker& checker) {
  const int code = repair(device, checker, Extent::busy);
  return code == kLeft ? preen(device, type, checker) : code;
}

int run(int argc, char** argv) {
  const auto found = type_of_program(argv[0], kFsckPrefix);
  if (!found) return report_error(found.error(), kWrongCall);
  const adapters::FileSystemType& type = **found;
  const std::string program = std::string(kFsckPrefix) + std::string(type.name());
  Mode mode = Mode::look;
  for (int option = 0; (option = ::getopt(argc, argv, "hnpaFy")) != -1;) {
    if (option == 'h') {
      fmt::print(kUsage, program);
      return kFine;
    }
    if (option == '?') return kWrongCall;  // getopt has said why
    if (option == 'n') mode = Mode::look;
    if (option == 'p' || option == 'a') mode = Mode::preen;
    if (option == 'F') mode = Mode::fast;
    if (option == 'y') mode = Mode::repair;
  }
  if (argc - ::optind != 1)
    return report_error({program, "wants one device", program + " -h prints help"}, kWrongCall);
  const auto access = mode == Mode::look ? DeviceStore::Access::read_only : DeviceStore::Access::repair;
  const auto device = DeviceStore::open(argv[::optind], access);
  if (!device) return report_error(device.error(), kNotDone);
  const auto checker = type.checker();
  switch (mode) {
    case Mode::look:
      return look(**device, *checker);
    case Mode::preen:
      return preen(**device, type, *checker);
    case Mode::fast:
      return fast(**device, type, *checker);
    case Mode::repair:
      break;
  }
  return repair(**device, *checker);
}

}  // namespace
}  // namespace headcrash::fuse

int main(int argc, char** argv) {
  return headcrash::fuse::run(argc, argv);
}
