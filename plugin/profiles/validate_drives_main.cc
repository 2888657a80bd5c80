// headcrash_validate_drives prints the table of VALIDATION.md.
//
//   headcrash_validate_drives TRACES            all traces in TRACES with built-in profiles
//   headcrash_validate_drives PROFILE TRACE     one trace; --each as third argument lists requests:
//                                               op lbn sectors measured_ms model_ms
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/profiles/profile.h"
#include "plugin/profiles/validation.h"

namespace headcrash::profiles {
namespace {

/// Values that DiskSim's own validation prints for a whole trace.
struct DiskSimFigures {
  double demerit_percent;
  double within_1ms_percent;
};
struct Drive {
  std::string_view trace;  ///< prefix of the trace's file name
  std::string_view profile;
  std::optional<DiskSimFigures> disksim;
};
constexpr std::array<Drive, 11> kDrives = {
    {{"hp_c2247a", "hp-c2247a", DiskSimFigures{0.61, 95.6}},
     {"hp_c2490a", "hp-c2490a", DiskSimFigures{2.03, 88.6}},
     {"hp_c3323a", "hp-c3323a", DiskSimFigures{1.83, 37.5}},
     {"dec_rz26", "dec-rz26", DiskSimFigures{2.16, 72.4}},
     {"barracuda", "barracuda-4lp+measured-host", DiskSimFigures{5.26, 63.8}},
     {"cheetah4LP", "cheetah-4lp+measured-host", DiskSimFigures{5.97, 65.9}},
     {"cheetah9LP", "cheetah-9lp+measured-host", DiskSimFigures{2.52, 64.7}},
     {"ibm18es", "ibm-dnes-309170w+measured-host", DiskSimFigures{2.59, 63.8}},
     {"atlas_III", "atlas-3+measured-host", DiskSimFigures{6.04, 49.6}},
     {"atlas10k", "atlas-10k+measured-host", DiskSimFigures{6.89, 66.2}},
     {"st41601n", "seagate-st41601n", {}}}};

int complain(const Error& error) {
  fmt::print(stderr, "headcrash_validate_drives: {}\n", error.message());
  return 2;
}

struct Validated {
  Agreement whole;
  /// How well the model agrees with each half of the trace. The profile's constants were fitted to
  /// the first half.
  Agreement first, second;
};

Result<Validated> validate(const std::string& profile_name, const std::string& trace_path,
                           bool each) {
  TRY(const auto profile, load_profile(profile_name));
  TRY(const auto trace, read_closed_trace(trace_path));
  for (const replay::TraceRequest& request : trace) {
    if (request.lbn + request.blocks > profile.capacity_sectors)
      return fail(trace_path, "a request extends beyond the drive's last sector",
                  "choose the drive that was measured");
  }
  const std::vector<model::TimeNs> responses = replay_closed(profile, trace);
  for (std::size_t i = 0; each && i < trace.size(); ++i) {
    const replay::TraceRequest& r = trace[i];
    fmt::print("{} {} {} {:.6f} {:.6f}\n", r.read ? 'R' : 'W', r.lbn, r.blocks,
               static_cast<double>(r.measured_ns) / model::kNsPerMs,
               static_cast<double>(responses[i]) / model::kNsPerMs);
  }
  const std::span requests(trace);
  const std::span answers(responses);
  const std::size_t half = requests.size() / 2;
  return Validated{compare(requests, answers), compare(requests.first(half), answers.first(half)),
                   compare(requests.subspan(half), answers.subspan(half))};
}

int validate_all(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    files.push_back(entry.path());
  if (error)
    return complain({folder, error.message(), "name the folder that contains the .closed traces"});
  std::sort(files.begin(), files.end());
  fmt::print("{:30} {:>8} {:>9} {:>9} | {:^35} | {:^35}\n", "", "", "measured", "model",
             "demerit %", "within 1 ms, %");
  fmt::print("{:30} {:>8} {:>9} {:>9} | {:>6} {:>8} {:>8} {:>10} | {:>6} {:>8} {:>8} {:>10}\n",
             "profile", "requests", "mean ms", "mean ms", "whole", "1st half", "2nd half",
             "DiskSim's", "whole", "1st half", "2nd half", "DiskSim's");
  int status = 0;
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).filename();
    const auto drive = std::find_if(kDrives.begin(), kDrives.end(), [&name](const Drive& d) {
      return name.rfind(std::string(d.trace) + '.', 0) == 0;
    });
    if (drive == kDrives.end()) continue;
    const auto found = validate(std::string(drive->profile), file, false);
    if (!found) {
      status = complain(found.error());
      continue;
    }
    const auto figure = [](std::optional<double> value) {
      return value ? fmt::format("{:.2f}", *value) : std::string("-");
    };
    const auto& theirs = drive->disksim;
    const auto demerit = theirs ? std::optional(theirs->demerit_percent) : std::nullopt;
    const auto within = theirs ? std::optional(theirs->within_1ms_percent) : std::nullopt;
    fmt::print(
        "{:30} {:8} {:9.3f} {:9.3f} | {:6.2f} {:8.2f} {:8.2f} {:>10} | {:6.2f} {:8.2f} {:8.2f} {:>10}\n",
        drive->profile, found->whole.requests, found->whole.measured_mean_ms,
        found->whole.model_mean_ms, found->whole.demerit_percent, found->first.demerit_percent,
        found->second.demerit_percent, figure(demerit), found->whole.within_1ms_percent,
        found->first.within_1ms_percent, found->second.within_1ms_percent, figure(within));
  }
  return status;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments[0].rfind('-', 0) != 0) return validate_all(arguments[0]);
  const bool each = arguments.size() == 3 && arguments[2] == "--each";
  if (arguments.size() != 2 && !each) {
    fmt::print(stderr, "usage: headcrash_validate_drives TRACES | PROFILE TRACE [--each]\n");
    return 2;
  }
  const auto agreement = validate(arguments[0], arguments[1], each);
  if (!agreement) return complain(agreement.error());
  fmt::print(each ? stderr : stdout,
             "demerit {:.2f} %  within 1 ms {:.2f} %  mean {:.3f} ms, measured {:.3f} ms\n",
             agreement->whole.demerit_percent, agreement->whole.within_1ms_percent,
             agreement->whole.model_mean_ms, agreement->whole.measured_mean_ms);
  return 0;
}

}  // namespace
}  // namespace headcrash::profiles

int main(int argc, char** argv) {
  return headcrash::profiles::run(std::vector<std::string>(argv + 1, argv + argc));
}
