// headcrash recording: inspects recordings, and converts them to and from other formats.
#include "plugin/record/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "harness/cli/command.h"
#include "harness/cli/crash_file.h"
#include "plugin/base/size.h"
#include "plugin/profiles/profile.h"
#include "plugin/record/dm_log_writes.h"
#include "plugin/record/text_export.h"
#include "plugin/states/run_history.h"

namespace headcrash::cli {
namespace {

using nlohmann::json;

struct RecordingArguments {
  std::string file, output, format, device, size, html, state, filesystem;
  bool as_json = false;
};

struct DeviceTotals {
  std::map<std::string, std::uint64_t> requests, failures, media;
  std::uint64_t bytes_written = 0;
};

struct RecordingTotals {
  std::uint64_t events = 0, marks = 0, incidents = 0, power_cuts = 0, servers = 1;
  std::uint64_t moved_bytes = 0;
  model::TimeNs last_at = 0;
  std::vector<DeviceTotals> devices;
};

void count(const record::Event& event, RecordingTotals& totals) {
  using record::Kind;
  ++totals.events;
  totals.last_at = std::max(totals.last_at, event.at);
  if (event.kind == Kind::mark) ++totals.marks;
  if (event.kind == Kind::fault) ++totals.incidents;
  if (event.kind == Kind::power && event.detail == 0) ++totals.power_cuts;
  if (event.kind == Kind::opened) ++totals.servers;
  if (event.moved) totals.moved_bytes += event.payload_bytes;
  if (event.device >= totals.devices.size() || event.moved) return;
  DeviceTotals& device = totals.devices[event.device];
  if (event.kind == Kind::submit) {
    ++device.requests[record::name_of(event.op)];
    if (event.op == model::Op::write)
      device.bytes_written += std::uint64_t{event.sectors} * model::kSectorBytes;
  }
  if (event.kind == Kind::ack && event.detail != 0)
    ++device.failures[record::name_of(static_cast<model::Status>(event.detail))];
  if (event.kind == Kind::media)
    ++device.media[record::name_of(static_cast<model::MediaWrite::Outcome>(event.detail))];
}

json describe(const record::RecordingHeader& header, const RecordingTotals& totals) {
  json devices = json::array();
  for (std::size_t i = 0; i < header.devices.size(); ++i) {
    const record::RecordedDevice& device = header.devices[i];
    const DeviceTotals& total = totals.devices[i];
    devices.push_back({{"name", device.name},
                       {"profile", device.profile},
                       {"bytes", device.sectors * model::kSectorBytes},
                       {"medium", device.medium},
                       {"requests", total.requests},
                       {"failures", total.failures},
                       {"media", total.media},
                       {"bytes_written", total.bytes_written}});
  }
  return {{"origin", header.origin},
          {"seed", header.seed},
          {"media", header.media},
          {"events", totals.events},
          {"marks", totals.marks},
          {"incidents", totals.incidents},
          {"power_cuts", totals.power_cuts},
          {"servers", totals.servers},
          {"moved_bytes", totals.moved_bytes},
          {"last_at_ns", totals.last_at},
          {"devices", devices}};
}

std::string listed(const std::map<std::string, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [name, number] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, name);
  return text.empty() ? "none" : text;
}

void print_info(const record::RecordingHeader& header, const RecordingTotals& totals) {
  fmt::print("origin {}, seed {}, {} events in {:.6f} s of model time, {} server{}\n",
             header.origin, header.seed, totals.events, static_cast<double>(totals.last_at) / 1e9,
             totals.servers, totals.servers == 1 ? "" : "s");
  fmt::print("{} marks, {} incidents, {} power cuts\n", totals.marks, totals.incidents,
             totals.power_cuts);
  for (std::size_t i = 0; i < header.devices.size(); ++i) {
    const record::RecordedDevice& device = header.devices[i];
    const DeviceTotals& total = totals.devices[i];
    fmt::print("{} {} ({}, {} bytes)\n", i, device.name, device.profile,
               device.sectors * model::kSectorBytes);
    fmt::print("    requests: {}; {} bytes written\n", listed(total.requests), total.bytes_written);
    if (!total.failures.empty()) fmt::print("    failures: {}\n", listed(total.failures));
    if (header.media && device.medium) fmt::print("    media writes: {}\n", listed(total.media));
  }
}

int run_info(const RecordingArguments& arguments) {
  auto reader = record::RecordingReader::open(arguments.file);
  if (!reader) return report_error(reader.error(), arguments.as_json);
  RecordingTotals totals;
  totals.devices.resize(reader->header().devices.size());
  while (true) {
    // next() also reads the payload of the event, so this loop verifies the whole file.
    const auto event = reader->next();
    if (!event) return report_error(event.error(), arguments.as_json);
    if (!*event) break;
    count(**event, totals);
  }
  const auto tail_error = reader->tail_error();
  if (arguments.as_json) {
    json value = describe(reader->header(), totals);
    value["whole"] = !tail_error;
    if (tail_error) value["complaint"] = tail_error->message();
    print(value);
  } else {
    print_info(reader->header(), totals);
    if (tail_error) fmt::print(stderr, "headcrash: {}\n", tail_error->message());
  }
  return reader->tail() == record::Tail::damaged ? kUsage : kFine;
}

/// Returns the device that the user has named or, by default, the first device.
Result<model::DeviceId> find_device(const RecordingArguments& arguments) {
  TRY(auto reader, record::RecordingReader::open(arguments.file));
  const auto& devices = reader.header().devices;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (arguments.device.empty() || devices[i].name == arguments.device)
      return static_cast<model::DeviceId>(i);
  return fail(arguments.file, fmt::format("has no device \"{}\"", arguments.device),
              "`headcrash recording info` lists the devices");
}

json describe(const record::DmLogSummary& summary) {
  return {{"entries", summary.entries},
          {"writes", summary.writes},
          {"flushes", summary.flushes},
          {"discards", summary.discards},
          {"marks", summary.marks},
          {"data_bytes", summary.data_bytes},
          {"unacknowledged", summary.unacknowledged},
          {"marks_cut", summary.marks_cut},
          {"uncounted", summary.uncounted},
          {"without_super_block", summary.without_super}};
}

void print_line(const record::DmLogSummary& summary, const std::string& output) {
  fmt::print("{}: {} entries: {} writes with {} bytes, {} flushes, {} discards, {} marks\n", output,
             summary.entries, summary.writes, summary.data_bytes, summary.flushes, summary.discards,
             summary.marks);
  if (summary.unacknowledged > 0)
    fmt::print("{} writes were never acknowledged and are omitted\n", summary.unacknowledged);
  if (summary.marks_cut > 0)
    fmt::print("{} marks were truncated, because the format limits their length\n",
               summary.marks_cut);
  if (summary.without_super) {
    fmt::print("the log has no superblock: its writer was killed before the first flush\n");
  } else if (summary.uncounted > 0) {
    fmt::print("{} entries are not counted in the superblock: the log's writer was killed\n",
               summary.uncounted);
  }
}

int report_result(const Result<record::DmLogSummary>& done, const RecordingArguments& arguments) {
  if (!done) return report_error(done.error(), arguments.as_json);
  if (arguments.as_json) {
    print(describe(*done));
  } else {
    print_line(*done, arguments.output);
  }
  return kFine;
}

/// Returns the content of the recording's base, which is included in the exported log. A log in the
/// dm-log-writes format cannot refer to another log.
Result<record::DmLogBase> base_of(const std::string& file, model::DeviceId device) {
  TRY(const auto reader, record::RecordingReader::open(file));
  if (!reader.header().base || !reader.header().devices.at(device).medium)
    return record::DmLogBase();
  TRY(const auto run, states::RunHistory::load(file));
  TRY(auto made, run->image({.device = device}, device));
  const auto image = std::make_shared<const states::StateImage>(std::move(made));
  return [run, image](const record::DmLogPut& put) {
    constexpr std::uint64_t kRunSectors = 2048;
    Result<void> done;
    std::vector<std::byte> buffer;
    image->visit_written([&](std::uint64_t lba, std::uint64_t sectors) {
      while (done && sectors > 0) {
        const std::uint64_t now = std::min(sectors, kRunSectors);
        buffer.resize(now * model::kSectorBytes);
        done = image->read(lba, buffer);
        if (done) done = put(lba, buffer);
        lba += now;
        sectors -= now;
      }
    });
    return done;
  };
}

int run_export(const RecordingArguments& arguments) {
  if (arguments.format == "dm-log-writes") {
    const auto device = find_device(arguments);
    if (!device) return report_error(device.error(), arguments.as_json);
    const auto base = base_of(arguments.file, *device);
    if (!base) return report_error(base.error(), arguments.as_json);
    return report_result(
        record::export_dm_log_writes(arguments.file, *device, arguments.output, *base), arguments);
  }
  const auto written = arguments.format == "csv"
                           ? record::export_csv(arguments.file, arguments.output)
                           : record::export_blkparse(arguments.file, arguments.output);
  if (!written) return report_error(written.error(), arguments.as_json);
  if (arguments.as_json) {
    print(
        {{"events", written->events}, {"lines", written->lines}, {"whole", !written->tail_error}});
  } else {
    fmt::print("{}: {} events in {} lines\n", arguments.output, written->events, written->lines);
    if (written->tail_error) fmt::print(stderr, "headcrash: {}\n", written->tail_error->message());
  }
  return kFine;
}

/// Returns the state that the user has named. The default is the state at the power cut. Returns
/// nullopt if the user has named no state and the recording has no power cut.
Result<std::optional<states::CrashState>> state_to_show(const RecordingArguments& arguments,
                                                        const states::RunHistory& run) {
  if (!arguments.state.empty() && arguments.state != "cut") {
    TRY(auto state, states::parse_crash_state(arguments.state));
    return std::optional(std::move(state));
  }
  if (!run.has_media_events()) return std::nullopt;
  TRY(auto reader, record::RecordingReader::open(run.path()));
  for (std::uint64_t ordinal = 0; ordinal < run.events(); ++ordinal) {
    TRY(const auto event, reader.next(record::PayloadUse::skip));
    if (!event) break;
    if (event->kind == record::Kind::power && event->detail == 0)
      return std::optional(
          states::CrashState{.base = states::CrashState::Base::physical, .event = ordinal});
  }
  return std::nullopt;
}

std::unique_ptr<model::Geometry> geometry_of(const std::string& profile) {
  const auto disk = profiles::load_profile(profile);
  return disk ? std::make_unique<model::Geometry>(*disk) : nullptr;
}

int run_show(const RecordingArguments& arguments) {
  std::optional<adapters::LinuxAdapter> filesystem;
  if (!arguments.filesystem.empty()) {
    auto loaded = adapters::load_adapter(arguments.filesystem);
    if (!loaded) return report_error(loaded.error(), false);
    filesystem = std::move(*loaded);
  }
  const auto run = states::RunHistory::load(arguments.file);
  if (!run) return report_error(run.error(), false);
  const auto workload = explorer::open_recorded_workload(arguments.file);
  if (!workload) return report_error(workload.error(), false);
  const auto state = state_to_show(arguments, **run);
  if (!state) return report_error(state.error(), false);
  const auto written = write_crash_file({.run = run->get(),
                                         .filesystem = filesystem ? &*filesystem : nullptr,
                                         .workload = &*workload,
                                         .state = *state,
                                         .hardware = geometry_of},
                                        arguments.html);
  if (!written) return report_error(written.error(), false);
  return kFine;
}

int run_import(const RecordingArguments& arguments) {
  std::uint64_t bytes = 0;
  if (!arguments.size.empty()) {
    const auto asked = base::parse_size(arguments.size, "--size");
    if (!asked) return report_error(asked.error(), arguments.as_json);
    bytes = *asked;
  }
  return report_result(
      record::import_dm_log_writes(arguments.file, arguments.output, bytes / model::kSectorBytes),
      arguments);
}

}  // namespace

void add_recording(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("recording", "Inspects, imports and exports recordings");
  command->require_subcommand(1);
  const auto arguments = std::make_shared<RecordingArguments>();

  CLI::App* info = command->add_subcommand(
      "info", "Shows the content of a recording, and whether it is complete");
  info->add_option("FILE", arguments->file, "Recording")->required();
  info->add_flag("--json", arguments->as_json, "Print the content as JSON");
  info->callback([arguments, &exit_code] { exit_code = run_info(*arguments); });

  CLI::App* shown = command->add_subcommand(
      "show", "Draws a recording as a page: requests, flushes and a movable power cut");
  shown->add_option("FILE", arguments->file, "Recording")->required();
  shown
      ->add_option("--html", arguments->html,
                   "Page to write: a single file that needs no network access")
      ->required();
  shown->add_option(
      "--state", arguments->state,
      "Crash state to show, by name; default: the power cut, if any, or the whole recording");
  shown->add_option("--fs", arguments->filesystem,
                    "File system, to identify its blocks; default: detected from the superblock");
  shown->callback([arguments, &exit_code] { exit_code = run_show(*arguments); });

  CLI::App* exported = command->add_subcommand("export", "Writes a recording in another format");
  exported->add_option("FILE", arguments->file, "Recording")->required();
  accept_only(exported->add_option("--format", arguments->format, "csv, blkparse or dm-log-writes"),
              {"csv", "blkparse", "dm-log-writes"})
      ->required();
  exported->add_option("--device", arguments->device,
                       "dm-log-writes: name of the device; default: the first device");
  exported->add_option("-o,--output", arguments->output, "File to write")->required();
  exported->add_flag("--json", arguments->as_json, "Print the result as JSON");
  exported->callback([arguments, &exit_code] { exit_code = run_export(*arguments); });

  CLI::App* imported =
      command->add_subcommand("import", "Converts a recording from another format");
  imported->add_option("FILE", arguments->file, "Log of dm-log-writes or of QEMU's blklogwrites")
      ->required();
  accept_only(imported->add_option("--format", arguments->format, "dm-log-writes"),
              {"dm-log-writes"})
      ->required();
  imported->add_option("-o,--output", arguments->output, "Recording to write")->required();
  imported->add_option(
      "--size", arguments->size,
      "Size of the device, because the log does not contain it; default: the end of the last "
      "write");
  imported->add_flag("--json", arguments->as_json, "Print the result as JSON");
  imported->callback([arguments, &exit_code] { exit_code = run_import(*arguments); });

  command->footer(
      "Examples:\n"
      "  headcrash recording info run.hcrec --json\n"
      "  headcrash recording show run.hcrec --html run.html\n"
      "  headcrash recording export run.hcrec --format blkparse -o run.txt\n"
      "  headcrash recording import guest.log --format dm-log-writes -o guest.hcrec\n\n"
      "Reads the complete part of a truncated recording. Exit code 2: the recording is damaged.");
}

}  // namespace headcrash::cli
