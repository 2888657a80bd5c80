// Parses rows and compares recovered objects with their counterparts in a state (allowed_set.h).
#include "harness/contract/allowed_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "harness/oracle/expectation.h"
#include "harness/workload/stamp.h"
#include "plugin/base/nearest.h"

namespace headcrash::contract {
namespace {

using oracle::ContentRun;
using oracle::ObservedObject;
using workload::kStampBytes;

constexpr std::size_t kRunsDescribed = 4;

struct FactWord {
  Fact::Kind kind;
  std::string_view word;
};
constexpr std::array<FactWord, 12> kFactWords{{{Fact::Kind::exists, "exists"},
                                               {Fact::Kind::absent, "absent"},
                                               {Fact::Kind::is, "is"},
                                               {Fact::Kind::size, "size"},
                                               {Fact::Kind::target, "target"},
                                               {Fact::Kind::mode, "mode"},
                                               {Fact::Kind::mtime, "mtime"},
                                               {Fact::Kind::attributes, "attributes"},
                                               {Fact::Kind::reserved, "reserved"},
                                               {Fact::Kind::begins, "begins"},
                                               {Fact::Kind::mixes, "mixes"},
                                               {Fact::Kind::own, "own"}}};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

class RowParser {
 public:
  RowParser(const std::string& text, const RowLimits& limits, const std::string& subject)
      : words_(split(text, ' ')), limits_(limits), subject_(subject) {
    row_.text = text;
  }

  Result<Row> parse() {
    TRY(parse_synced());
    if (next_is("if")) {
      do {
        TRY(auto fact, parse_fact());
        row_.conditions.push_back(std::move(fact));
      } while (next_is("and"));
      if (!next_is("then")) return wrong("then");
    }
    do {
      TRY(auto fact, parse_fact());
      row_.alternatives.push_back(std::move(fact));
    } while (next_is("or"));
    if (at_ < words_.size()) return wrong("or");
    return std::move(row_);
  }

 private:
  bool next_is(std::string_view word) {
    if (at_ >= words_.size() || words_[at_] != word) return false;
    ++at_;
    return true;
  }
  std::string next() { return at_ < words_.size() ? words_[at_++] : std::string(); }
  tl::unexpected<Error> wrong(const std::string& wanted) const {
    return fail(subject_,
                fmt::format("row \"{}\": expected {}, not \"{}\"", row_.text, wanted,
                            at_ < words_.size() ? words_[at_] : "the end"),
                "harness/contract/allowed_set.h describes rows");
  }

  Result<void> parse_synced() {
    if (words_.empty()) return wrong("a fact");
    if (next_is("synced:")) {
      if (!limits_.last_persistent) return wrong("a test with a persistence point");
      row_.synced = limits_.last_persistent;
    } else if (words_.size() > 1 && words_[0] == "synced" && words_[1].ends_with(':')) {
      const auto number = number_of(std::string_view(words_[1]).substr(0, words_[1].size() - 1));
      if (!number || *number == 0 || *number > limits_.operations)
        return wrong("the number of an operation");
      row_.synced = *number - 1;
      at_ = 2;
    }
    return {};
  }

  Result<Fact> parse_fact() {
    Fact fact{.path = next(), .source = {}, .states = {}};
    if (fact.path.empty()) return wrong("a path");
    fact.source = fact.path;
    const auto word = std::ranges::find(
        kFactWords, at_ < words_.size() ? std::string_view(words_[at_]) : "", &FactWord::word);
    if (word == kFactWords.end()) {
      std::vector<std::string> known;
      for (const FactWord& each : kFactWords) known.emplace_back(each.word);
      return fail(subject_, fmt::format("row \"{}\": unknown fact \"{}\"", row_.text, next()),
                  base::suggest(at_ > 0 ? words_[at_ - 1] : "", known));
    }
    ++at_;
    fact.kind = word->kind;
    if (fact.kind == Fact::Kind::exists || fact.kind == Fact::Kind::absent ||
        fact.kind == Fact::Kind::own)
      return fact;
    if (fact.kind == Fact::Kind::mixes) {
      const auto unit = number_of(at_ < words_.size() ? words_[at_] : "");
      if (!unit || *unit == 0 || *unit % kStampBytes != 0) return wrong("a multiple of 512");
      ++at_;
      fact.unit = *unit;
      return fact;
    }
    TRY(parse_states(fact));
    if (next_is("of")) fact.source = next();
    if (fact.source.empty()) return wrong("a path");
    return fact;
  }

  Result<void> parse_states(Fact& fact) {
    std::set<std::size_t> states;
    for (const std::string& word : split(at_ < words_.size() ? words_[at_] : "", '|')) {
      if (word == "any") {
        for (std::size_t i = 0; i <= limits_.operations; ++i) states.insert(i);
      } else if (word == "old" || word == "new") {
        states.insert(word == "old" ? 0 : limits_.operations);
      } else if (const auto number = number_of(word); number && *number <= limits_.operations) {
        states.insert(*number);
      } else {
        return wrong("old, new, any or the number of an operation");
      }
    }
    if (states.empty()) return wrong("old, new, any or the number of an operation");
    ++at_;
    fact.states.assign(states.begin(), states.end());
    return {};
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
  RowLimits limits_;
  std::string subject_;
  Row row_;
};

/// Returns the contents of one block of the object, as a run of length 1. A block beyond the end of
/// the object consists of zeroes.
ContentRun block_at(const ObservedObject& object, std::uint64_t block) {
  for (const ContentRun& run : object.runs) {
    if (block < run.first_block || block >= run.first_block + run.blocks) continue;
    ContentRun one = run;
    one.first_block = block;
    one.blocks = 1;
    if (run.kind == ContentRun::Kind::moved) one.stamped_block += block - run.first_block;
    return one;
  }
  return {.first_block = block, .blocks = 1};
}

bool same_block(const ObservedObject& one, const ObservedObject& other, std::uint64_t block) {
  const ContentRun a = block_at(one, block), b = block_at(other, block);
  return a.kind == b.kind && a.file == b.file && a.version == b.version &&
         a.stamped_block == b.stamped_block && a.digest == b.digest;
}

std::uint64_t blocks_of(const ObservedObject& object) {
  return (object.size_bytes + kStampBytes - 1) / kStampBytes;
}

bool same_content(const ObservedObject& one, const ObservedObject& other, std::uint64_t blocks) {
  for (std::uint64_t block = 0; block < blocks; ++block)
    if (!same_block(one, other, block)) return false;
  return true;
}

bool same_object(const ObservedObject& one, const ObservedObject& other) {
  if (one.type != other.type || one.error != 0) return false;
  if (one.type == FileType::symlink) return one.link_target == other.link_target;
  if (one.type != FileType::regular) return true;
  return one.size_bytes == other.size_bytes && same_content(one, other, blocks_of(one));
}

bool is_own(const ObservedObject& object, const std::set<std::uint32_t>& files) {
  return object.error == 0 && std::ranges::all_of(object.runs, [&](const ContentRun& run) {
           if (run.kind == ContentRun::Kind::zero) return true;
           return run.kind == ContentRun::Kind::stamp && files.contains(run.file);
         });
}

}  // namespace

const ObservedObject* find_object(const Tree& tree, std::string_view path) {
  const auto found = std::ranges::find(tree, path, &ObservedObject::path);
  return found == tree.end() ? nullptr : &*found;
}

std::string describe(const ObservedObject* object) {
  if (object == nullptr) return "absent";
  if (object->error != 0) return fmt::format("unreadable (errno {})", object->error);
  if (object->type == FileType::symlink)
    return fmt::format("a symbolic link to \"{}\"", object->link_target);
  if (object->type != FileType::regular) return std::string(oracle::kind_of(object->type));
  if (object->size_bytes == 0) return "an empty file";
  std::string text = fmt::format("{} bytes", object->size_bytes);
  std::size_t shown = 0;
  for (const ContentRun& run : object->runs) {
    if (++shown > kRunsDescribed) return text + ", ...";
    text += shown == 1 ? ": " : ", ";
    text += fmt::format("{} x ", run.blocks * kStampBytes);
    using enum ContentRun::Kind;
    text += run.kind == zero          ? "zeroes"
            : run.kind == before_mkfs ? "old content of the disk"
            : run.kind == foreign     ? "unknown bytes"
            : run.kind == moved       ? fmt::format("misplaced version {}", run.version)
                                      : fmt::format("version {}", run.version);
  }
  return text;
}

Result<Row> parse_row(const std::string& text, const RowLimits& limits,
                      const std::string& subject) {
  return RowParser(text, limits, subject).parse();
}

bool AllowedSet::holds_in(const Fact& fact, std::size_t state, const ObservedObject* found) const {
  const ObservedObject* const wanted = find_object(states_[state], fact.source);
  if (wanted == nullptr || found == nullptr) return wanted == found;
  switch (fact.kind) {
    case Fact::Kind::is:
      return same_object(*found, *wanted);
    case Fact::Kind::size:
      return found->size_bytes == wanted->size_bytes;
    case Fact::Kind::target:
      return found->link_target == wanted->link_target;
    case Fact::Kind::mode:
      return !found->mode || found->mode == wanted->mode;
    case Fact::Kind::mtime:
      return !found->modified_seconds || found->modified_seconds == wanted->modified_seconds;
    case Fact::Kind::attributes:
      return std::ranges::includes(found->attributes, wanted->attributes) &&
             found->attributes.size() <= wanted->attributes.size();
    case Fact::Kind::reserved:
      return !found->allocated_bytes || *found->allocated_bytes >= *wanted->allocated_bytes;
    case Fact::Kind::begins:
      return found->type == wanted->type && found->size_bytes <= wanted->size_bytes &&
             same_content(*found, *wanted, found->size_bytes / kStampBytes);
    default:
      return false;
  }
}

/// Returns true if the object's size is that in the first or in the last state, and if each unit of
/// its content equals the same unit in one of these states.
bool AllowedSet::mixes(const Fact& fact, const ObservedObject* found) const {
  const ObservedObject* const first = find_object(states_.front(), fact.path);
  const ObservedObject* const last = find_object(states_.back(), fact.path);
  if (first == nullptr || last == nullptr || found == nullptr) return false;
  if (found->size_bytes != first->size_bytes && found->size_bytes != last->size_bytes) return false;
  const std::uint64_t unit = fact.unit / kStampBytes;
  for (std::uint64_t from = 0; from < blocks_of(*found); from += unit) {
    const auto equals = [&](const ObservedObject& wanted) {
      for (std::uint64_t block = from; block < std::min(from + unit, blocks_of(*found)); ++block)
        if (!same_block(*found, wanted, block)) return false;
      return true;
    };
    if (!equals(*first) && !equals(*last)) return false;
  }
  return true;
}

bool AllowedSet::holds(const Fact& fact, const Tree& tree) const {
  const ObservedObject* const found = find_object(tree, fact.path);
  switch (fact.kind) {
    case Fact::Kind::exists:
      return found != nullptr;
    case Fact::Kind::absent:
      return found == nullptr;
    case Fact::Kind::mixes:
      return mixes(fact, found);
    case Fact::Kind::own: {
      if (found == nullptr) return true;
      std::set<std::uint32_t> files;
      for (const Tree& state : states_)
        if (const ObservedObject* object = find_object(state, fact.path))
          for (const ContentRun& run : object->runs) files.insert(run.file);
      return is_own(*found, files);
    }
    default:
      return std::ranges::any_of(fact.states,
                                 [&](std::size_t state) { return holds_in(fact, state, found); });
  }
}

std::vector<oracle::Finding> AllowedSet::judge(std::optional<std::size_t> persisted,
                                               const Tree& tree) const {
  std::vector<oracle::Finding> findings;
  for (const Row& row : rows_) {
    if (row.synced && (!persisted || *persisted < *row.synced)) continue;
    const auto true_now = [&](const Fact& fact) { return holds(fact, tree); };
    if (!std::ranges::all_of(row.conditions, true_now)) continue;
    if (std::ranges::any_of(row.alternatives, true_now)) continue;
    std::string found;
    std::set<std::string> described;
    for (const auto* facts : {&row.conditions, &row.alternatives})
      for (const Fact& fact : *facts)
        if (described.insert(fact.path).second)
          found += fmt::format("{}{}: {}", found.empty() ? "" : "; ", fact.path,
                               describe(find_object(tree, fact.path)));
    findings.push_back(
        {.kind = row.synced ? oracle::Verdict::lost_synced_data : oracle::Verdict::wrong_data,
         .tier = oracle::Tier::litmus,
         .path = row.alternatives.front().path,
         .expected = row.text,
         .found = std::move(found)});
  }
  return findings;
}

}  // namespace headcrash::contract
