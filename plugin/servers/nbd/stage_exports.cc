// Implements the exports of a crash-state server: stages, their marks, and single states.
#include <fmt/core.h>

#include <cerrno>
#include <charconv>

#include "plugin/servers/nbd/export.h"
#include "plugin/stages/stage_server.h"

namespace headcrash::nbd {
namespace {

constexpr std::string_view kStagePrefix = "stage/";
constexpr std::string_view kMarkPrefix = "mark/";
constexpr std::string_view kStatePrefix = "state/";

/// Returns a short cause for the log; details are in the stage's status.
const char* cause_of(int error) {
  switch (error) {
    case ENOSPC:
      return "the overlay is full: start the server with a larger overlay-max";
    case ENOMEM:
      return "the server is out of memory";
    case EINVAL:
      return "the request extends beyond the end of the disk";
    default:
      return "the sectors are unreadable in this state, or its array or the recording has failed";
  }
}

/// A connection to a stage. Owns the stage if it is private to the connection.
class StageDisk final : public Export {
 public:
  StageDisk(std::unique_ptr<stages::Stage::Connection> connection,
            std::unique_ptr<stages::Stage> own)
      : own_(std::move(own)), connection_(std::move(connection)) {
    traits_ = {.bytes = connection_->sectors() * model::kSectorBytes,
               .trim = true,
               // a later load may select a used disk, on which trims have no effect
               .trim_zeroes = false,
               .fast_zero = true,
               .extents = true,
               .shared = own_ == nullptr};
  }
  const ExportTraits& traits() const override { return traits_; }
  std::string description() const override {
    return fmt::format("{}, {} sectors", own_ ? "a crash state" : "a stage for crash states",
                       connection_->sectors());
  }
  emulation::Answer serve(const model::Request& request) override {
    const int error = connection_->serve(request);
    return {error, cause_of(error)};
  }
  media::WrittenMap::Run written(std::uint64_t lba, std::uint64_t limit) override {
    return connection_->written(lba, limit);
  }

 private:
  std::unique_ptr<stages::Stage> own_;
  std::unique_ptr<stages::Stage::Connection> connection_;
  ExportTraits traits_;
};

class StageMark final : public MarkExport {
 public:
  static constexpr const char* kDescription =
      "writes add marks to the stage's recording; reads return the stage's nonce";
  explicit StageMark(stages::Stage& stage) : stage_(stage) {}
  std::string description() const override { return kDescription; }

  emulation::Answer serve(const model::Request& request) override {
    return emulation::serve_mark_disk(request, stage_);
  }

 private:
  stages::Stage& stage_;
};

/// The name of a stage or of one of its disks, such as "3" or "3/hd0.1".
struct StageName {
  std::size_t number = 0;
  std::optional<std::string> disk_name;
};
std::optional<StageName> parse_stage_name(std::string_view text) {
  StageName name;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), name.number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with('/') && text.size() > 1) {
    name.disk_name = std::string(text.substr(1));
  } else if (!text.empty()) {
    return std::nullopt;
  }
  return name;
}

class StageExports final : public ExportTable {
 public:
  explicit StageExports(stages::StageServer& stage_server) : server_(stage_server) {}

  std::vector<ListedExport> list() const override {
    std::vector<ListedExport> all;
    for (std::size_t i = 0; i < server_.stage_count(); ++i) {
      all.push_back({fmt::format("{}{}", kStagePrefix, i), "a stage for crash states"});
      all.push_back({fmt::format("{}{}", kMarkPrefix, i), StageMark::kDescription});
    }
    return all;
  }

  std::string default_name() const override { return std::string(kStagePrefix) + "0"; }

  Result<std::unique_ptr<Export>> open(std::string_view name) override {
    if (name.starts_with(kStatePrefix)) return open_state(name.substr(kStatePrefix.size()));
    if (name.starts_with(kStagePrefix))
      if (const auto found = parse_stage_name(name.substr(kStagePrefix.size())))
        return open_stage(*found);
    if (name.starts_with(kMarkPrefix))
      if (const auto found = parse_stage_name(name.substr(kMarkPrefix.size()));
          found && !found->disk_name)
        return open_mark(found->number);
    return fail(fmt::format("export \"{}\"", name.substr(0, 64)), "no such export",
                "use stage/N, mark/N or state/ID");
  }

 private:
  Result<std::unique_ptr<Export>> open_stage(const StageName& name) {
    TRY(const auto stage, server_.stage(name.number));
    TRY(auto connection, stage->connect(name.disk_name));
    return std::make_unique<StageDisk>(std::move(connection), nullptr);
  }

  Result<std::unique_ptr<Export>> open_mark(std::size_t number) {
    TRY(const auto stage, server_.stage(number));
    return std::make_unique<StageMark>(*stage);
  }

  Result<std::unique_ptr<Export>> open_state(std::string_view name) {
    const std::size_t slash = name.find('/');
    std::optional<std::string> disk_name;
    if (slash != std::string_view::npos) disk_name = std::string(name.substr(slash + 1));
    TRY(auto own, server_.private_stage(std::string(name.substr(0, slash))));
    TRY(auto connection, own->connect(disk_name));
    return std::make_unique<StageDisk>(std::move(connection), std::move(own));
  }

  stages::StageServer& server_;
};

}  // namespace

std::unique_ptr<ExportTable> exports_of(stages::StageServer& stage_server) {
  return std::make_unique<StageExports>(stage_server);
}

}  // namespace headcrash::nbd
