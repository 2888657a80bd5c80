// Executes lists of operations on the model and applies a defect to the tree (seeded_defect.h).
#include "harness/contract/seeded_defect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <sstream>

#include "harness/contract/memory_file_system.h"
#include "harness/workload/open_files.h"
#include "plugin/base/errno_text.h"
#include "plugin/base/nearest.h"

namespace headcrash::contract {
namespace {

using oracle::ContentRun;
using oracle::ObservedObject;
using workload::Operation;
using Kind = DefectStep::Kind;

struct StepWord {
  Kind kind;
  std::string_view word;
};
constexpr std::array<StepWord, 11> kStepWords{{{Kind::forget, "forget"},
                                               {Kind::cut, "cut"},
                                               {Kind::remove, "remove"},
                                               {Kind::empty, "empty"},
                                               {Kind::zero, "zero"},
                                               {Kind::stale, "stale"},
                                               {Kind::tear, "tear"},
                                               {Kind::half, "half"},
                                               {Kind::restore, "restore"},
                                               {Kind::add, "add"},
                                               {Kind::plain, "plain"}}};

constexpr std::uint64_t kBlockBytes = 512;

/// Executes an operation in memory. Does not wait during a `rest` operation.
VfsResult<void> execute(const Operation& operation, MemoryFileSystem& files,
                        workload::OpenFiles& open_files) {
  if (operation.kind == Operation::Kind::rest) return {};
  return workload::execute(operation, files, open_files);
}

ObservedObject* find(Tree& tree, std::string_view path) {
  const auto found = std::ranges::find(tree, path, &ObservedObject::path);
  return found == tree.end() ? nullptr : &*found;
}

void remove(Tree& tree, const std::string& path) {
  std::erase_if(tree, [&](const ObservedObject& object) {
    return object.path == path || object.path.starts_with(path + "/");
  });
}

/// Replaces the whole content with one run of the given kind.
void fill(ObservedObject& object, ContentRun::Kind kind) {
  object.runs.clear();
  const std::uint64_t blocks = (object.size_bytes + kBlockBytes - 1) / kBlockBytes;
  object.runs.push_back({.kind = kind, .first_block = 0, .blocks = blocks});
}

/// Replaces the second half of the contents with the second half of `other`.
void tear(ObservedObject& object, const ObservedObject& other) {
  const std::uint64_t half = object.size_bytes / kBlockBytes / 2;
  std::erase_if(object.runs, [&](const ContentRun& run) { return run.first_block >= half; });
  for (const ContentRun& run : other.runs)
    if (run.first_block >= half) object.runs.push_back(run);
}

void halve(ObservedObject& object) {
  object.size_bytes /= 2;
  std::erase_if(object.runs, [&](const ContentRun& run) {
    return run.first_block * kBlockBytes >= object.size_bytes;
  });
}

void make_plain(ObservedObject& object) {
  object.mode = 0;
  object.modified_seconds = 0;
  object.attributes.clear();
  object.allocated_bytes = 0;
}

void apply(const DefectStep& step, const Tree& old, Tree& tree) {
  const ObservedObject* const before = find_object(old, step.path);
  if (step.kind == Kind::remove) return remove(tree, step.path);
  if (step.kind == Kind::restore) {
    remove(tree, step.path);
    for (const ObservedObject& each : old)
      if (each.path == step.path || each.path.starts_with(step.path + "/")) tree.push_back(each);
    return;
  }
  if (step.kind == Kind::add) {
    const ObservedObject* const other = find(tree, step.other);
    ObservedObject copy = other == nullptr ? *find_object(old, step.other) : *other;
    copy.path = step.path;
    remove(tree, step.path);
    tree.push_back(std::move(copy));
    return;
  }
  ObservedObject* const object = find(tree, step.path);
  if (object == nullptr) return;
  switch (step.kind) {
    case Kind::empty:
      object->size_bytes = 0;
      object->runs.clear();
      object->link_target.clear();
      return;
    case Kind::zero:
      return fill(*object, ContentRun::Kind::zero);
    case Kind::stale:
      return fill(*object, ContentRun::Kind::before_mkfs);
    case Kind::tear:
      if (before != nullptr) tear(*object, *before);
      return;
    case Kind::half:
      return halve(*object);
    case Kind::plain:
      return make_plain(*object);
    default:
      return;
  }
}

std::optional<std::size_t> last_persistent(std::span<const Operation> operations) {
  for (std::size_t i = operations.size(); i > 0; --i)
    if (workload::is_persistence_point(operations[i - 1])) return i - 1;
  return std::nullopt;
}

}  // namespace

Result<DefectStep> parse_defect_step(const std::string& text, std::size_t operations,
                                     const std::string& subject) {
  std::istringstream words(text);
  std::string word, argument, rest;
  words >> word >> argument;
  const auto known = std::ranges::find(kStepWords, word, &StepWord::word);
  if (known == kStepWords.end()) {
    std::vector<std::string> all;
    for (const StepWord& each : kStepWords) all.emplace_back(each.word);
    return fail(subject, fmt::format("unknown step \"{}\"", text), base::suggest(word, all));
  }
  DefectStep step{.kind = known->kind, .path = argument, .other = {}};
  if (argument.empty()) return fail(subject, fmt::format("\"{}\" lacks an argument", text));
  if (step.kind == Kind::add && !(words >> step.other))
    return fail(subject, fmt::format("\"{}\" lacks the second path", text), "use add PATH OTHER");
  if (words >> rest)
    return fail(subject, fmt::format("\"{}\": unexpected \"{}\"", text, rest),
                "remove the unexpected word");
  if (step.kind != Kind::forget && step.kind != Kind::cut) return step;
  const auto read =
      std::from_chars(argument.data(), argument.data() + argument.size(), step.operation);
  if (read.ec != std::errc{} || step.operation > operations ||
      (step.kind == Kind::forget && step.operation == 0))
    return fail(subject, fmt::format("\"{}\": no such operation", text),
                fmt::format("operations are numbered from 1 to {}", operations));
  return step;
}

std::string format(const DefectStep& step) {
  const auto word = std::ranges::find(kStepWords, step.kind, &StepWord::kind);
  std::string text(word->word);
  if (step.kind == Kind::forget || step.kind == Kind::cut)
    return text + fmt::format(" {}", step.operation);
  text += " " + step.path;
  return step.other.empty() ? text : text + " " + step.other;
}

Result<std::vector<Tree>> states_of(std::span<const Operation> initial,
                                    std::span<const Operation> operations,
                                    const std::string& subject) {
  MemoryFileSystem files;
  workload::OpenFiles open_files(files);
  std::vector<Tree> states;
  const auto execute_one = [&](const Operation& operation) -> Result<void> {
    const auto done = execute(operation, files, open_files);
    if (done) return {};
    return fail(subject, fmt::format("operation \"{}\" fails: {}", workload::format(operation),
                                     base::errno_text(done.error().value)));
  };
  for (const Operation& operation : initial) TRY(execute_one(operation));
  states.push_back(files.tree());
  for (const Operation& operation : operations) {
    TRY(execute_one(operation));
    states.push_back(files.tree());
  }
  return states;
}

std::vector<ModelledCut> correct_cuts(std::span<const Operation> operations,
                                      const std::vector<Tree>& states) {
  std::vector<ModelledCut> cuts;
  for (std::size_t done = 0; done < states.size(); ++done)
    cuts.push_back({states[done], last_persistent(operations.first(done))});
  return cuts;
}

ModelledCut defective_cut(std::span<const Operation> initial, std::span<const Operation> operations,
                          const std::vector<Tree>& states, const SeededDefect& defect) {
  std::set<std::size_t> forgotten;
  std::size_t end = operations.size();
  for (const DefectStep& step : defect) {
    if (step.kind == Kind::forget) forgotten.insert(step.operation - 1);
    if (step.kind == Kind::cut) end = step.operation;
  }
  MemoryFileSystem files;
  workload::OpenFiles open_files(files);
  for (const Operation& operation : initial) (void)execute(operation, files, open_files);
  // The defect omits the operations in `forgotten`. An operation that depends on an omitted one
  // fails and has no effect.
  for (std::size_t i = 0; i < end; ++i)
    if (!forgotten.contains(i)) (void)execute(operations[i], files, open_files);
  ModelledCut cut{files.tree(), last_persistent(operations.first(end))};
  for (const DefectStep& step : defect) apply(step, states.front(), cut.tree);
  return cut;
}

}  // namespace headcrash::contract
