// Simulates the clients of a file server. Each client executes the same load in its own directory.
//
// Source: Tridgell's dbench 1.x, as used by Soares, Krieger and Da Silva, section IV-E and table
// II: 1 to 32 clients start together, and each creates its own directory and executes all
// operations of the load. The metric is megabytes per second. In dbench 1 to 3, a Flush does
// nothing; from version 4 on, it is an fsync. `fsync` selects one of the two. Our choices: the load
// is generated (dbench_load.h); a query looks up the name of a file, which may be open or missing;
// clients are threads instead of processes; data that is read is verified.
#include <fmt/format.h>

#include <memory>

#include "harness/workload/timed/dbench_load.h"
#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

class Client {
 public:
  Client(User& user, const DbenchLoad& load)
      : user_(user),
        load_(load),
        work_(user, 64 << 10),
        flush_(argument(user.arguments, "fsync") != 0) {}

  PhaseResult make_folders() {
    TRY(work_.make_folder(home()));
    for (std::uint32_t i = 0; i < kDbenchFolders; ++i) {
      TRY(work_.make_folder(folder(i)));
    }
    return {};
  }

  /// Executes all sessions, one after the other. A session consists of the operations on a file
  /// from its open to its close.
  PhaseResult play() {
    const auto& operations = load_.operations;
    for (std::size_t next = 0; next < operations.size();) {
      const DbenchOperation& first = operations[next++];
      const bool opens = first.kind == DbenchKind::create || first.kind == DbenchKind::open;
      const auto done = work_.operation([&] { return opens ? session(first, next) : act(first); });
      if (!done) return done;
    }
    user_.tally.operations = operations.size();
    return {};
  }

  PhaseResult check() {
    for (const DbenchFile& left : load_.left) {
      TimedFile file = named(left.number, left.renames);
      file.bytes = left.bytes;
      TRY(work_.read(file));
    }
    return {};
  }

 private:
  std::string home() const { return fmt::format("client{}", user_.number); }
  std::string folder(std::uint32_t number) const {
    return fmt::format("{}/d{}", home(), number % kDbenchFolders);
  }
  TimedFile named(std::uint32_t number, std::uint32_t renames) const {
    const std::string suffix = renames == 0 ? "" : fmt::format(".{}", renames);
    return {.path = fmt::format("{}/f{}{}", folder(number), number, suffix),
            .number = static_cast<std::uint32_t>(user_.number << 20U) + number};
  }

  PhaseResult session(const DbenchOperation& opening, std::size_t& next) {
    const bool create = opening.kind == DbenchKind::create;
    const TimedFile file = named(opening.number, opening.renames);
    return work_.with_open(file, {.create = create, .exclusive = create},
                           create ? "create" : "open", [&](FileHandle handle) -> PhaseResult {
                             while (load_.operations[next].kind != DbenchKind::close) {
                               const auto done = transfer(handle, file, load_.operations[next++]);
                               if (!done) return done;
                             }
                             ++next;
                             return {};
                           });
  }

  PhaseResult transfer(FileHandle handle, const TimedFile& file, const DbenchOperation& operation) {
    switch (operation.kind) {
      case DbenchKind::read:
        return work_.read_at(handle, file, operation.offset, operation.length);
      case DbenchKind::write:
        return work_.write_at(handle, file, operation.offset, operation.length);
      case DbenchKind::flush:
        return flush_ ? FileWork::phase_result(user_.vfs.fsync(handle), "fsync", file.path)
                      : PhaseResult{};
      default:
        return act(operation);
    }
  }

  PhaseResult act(const DbenchOperation& operation) {
    const TimedFile file = named(operation.number, operation.renames);
    switch (operation.kind) {
      case DbenchKind::missing:
        return work_.expect_missing(
            fmt::format("{}/none{}", folder(operation.number), operation.number));
      case DbenchKind::unlink:
        return work_.remove(file.path);
      case DbenchKind::rename:
        return FileWork::phase_result(
            user_.vfs.rename(file.path, named(operation.number, operation.renames + 1).path,
                             RenameMode::replace),
            "rename", file.path);
      case DbenchKind::list:
        return work_.list(folder(operation.number));
      case DbenchKind::query_space:
        return FileWork::phase_result(user_.vfs.space().map([](const SpaceStatus&) {}), "statfs",
                                      home());
      default:
        return work_.stat(file.path);
    }
  }

  User& user_;
  const DbenchLoad& load_;
  FileWork work_;
  bool flush_;
};

std::vector<Phase> dbench_phases(const Arguments& arguments) {
  const auto load = std::make_shared<const DbenchLoad>(dbench_load(argument(arguments, "percent")));
  const std::size_t clients = argument(arguments, "clients");
  const auto phase = [&](std::string name, bool measured, PhaseResult (Client::*act)()) {
    return Phase{.name = std::move(name),
                 .users = clients,
                 .measured = measured,
                 .body = [load, act](User& user) { return (Client(user, *load).*act)(); }};
  };
  return {phase("prepare", false, &Client::make_folders), phase("load", true, &Client::play),
          phase("verify", false, &Client::check)};
}

}  // namespace

TimedWorkload dbench() {
  return {
      .name = "dbench",
      .title = "clients of a file server replay a load of many operations, as dbench does",
      .source =
          "dbench 1.x; Soares, Krieger and Da Silva, section IV-E, table II; the load is generated",
      .operation = "operations",
      .parameters = {{"clients", 4, 2, 1, 64, "table II: 1, 4, 8, 16, 32"},
                     {"percent", 100, 5, 1, 100,
                      "percentage of the load's 122808 operations that each client executes"},
                     {"fsync", 0, 0, 0, 1,
                      "0: Flush does nothing, as in dbench 1 to 3; 1: Flush is an fsync"}},
      .phases = dbench_phases};
}

}  // namespace headcrash::timed
