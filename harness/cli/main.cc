// The `headcrash` command: one subcommand a file.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "harness/cli/command.h"

int main(int argc, char** argv) {
  using namespace headcrash::cli;
  try {
    CLI::App app{
        "headcrash: a laboratory for storage and file systems.\n"
        "Emulated timed disks for QEMU guests, power cuts at an exact instant, recovery, verdicts, reports."};
    app.name("headcrash");
    app.set_version_flag("--version", std::string("headcrash ") + HEADCRASH_VERSION);
    app.require_subcommand(1);
    app.footer(
        "Exit codes: 0 fine, 1 a data loss or regression was found, 2 usage or configuration error, 77 "
        "skipped.\n"
        "`headcrash COMMAND --help` shows examples.");
    int exit_code = kFine;
    add_doctor(app, exit_code);
    add_list(app, exit_code);
    add_serve(app, exit_code);
    add_simulate(app, exit_code);
    add_campaign(app, exit_code);
    add_bench(app, exit_code);
    add_experiment(app, exit_code);
    add_report(app, exit_code);
    add_query(app, exit_code);
    add_merge(app, exit_code);
    add_gc(app, exit_code);
    add_recording(app, exit_code);
    add_explore(app, exit_code);
    add_replay(app, exit_code);
    add_extract(app, exit_code);
    add_predict(app, exit_code);
    add_image(app, exit_code);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? kFine : kUsage;
    }
    return exit_code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "headcrash: internal error: {}; please report it with the command that led here\n",
               error.what());
    return kUsage;
  }
}
