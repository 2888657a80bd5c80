// headcrash-tracer: runs a program and reports its flush calls (tracer.h, report.h).
//
//   headcrash-tracer [--report FILE] [--changes] [--skip SITE]... [--flush SITE]... -- PROGRAM ...
//
// Exits with the program's exit code; 126 if the program cannot be traced.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "harness/audit/tracer/report.h"
#include "harness/audit/tracer/tracer.h"

int main(int argc, char** argv) {
  using namespace headcrash::audit;
  constexpr int kCannotTrace = 126;
  TracerOptions options;
  std::string report;
  int i = 1;
  for (; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    const std::string word = argv[i];
    if (word == "--changes") {
      options.list_changes = true;
    } else if (i + 1 < argc && word == "--report") {
      report = argv[++i];
    } else if (i + 1 < argc && word == "--skip") {
      options.skip.insert(argv[++i]);
    } else if (i + 1 < argc && word == "--flush") {
      options.flush.insert(argv[++i]);
    } else {
      std::fprintf(stderr, "headcrash-tracer: unknown option %s\n", argv[i]);
      return kCannotTrace;
    }
  }
  options.argv.assign(argv + std::min(i + 1, argc), argv + argc);
  if (options.argv.empty()) {
    std::fputs("headcrash-tracer: no program is given\n", stderr);
    return kCannotTrace;
  }
  const auto traced = trace(options);
  if (!traced) {
    std::fputs("headcrash-tracer: ptrace is not permitted\n", stderr);
    return kCannotTrace;
  }
  if (!report.empty()) {
    std::ofstream file(report, std::ios::binary | std::ios::trunc);
    file << report_text(*traced);
    file.close();
    if (!file) {
      std::fprintf(stderr, "headcrash-tracer: cannot write %s\n", report.c_str());
      return kCannotTrace;
    }
  }
  return traced->exit_code;
}
