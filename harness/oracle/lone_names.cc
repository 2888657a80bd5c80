// Finds the names that can be judged independently of all others (lone_names.h).
#include "harness/oracle/lone_names.h"

namespace headcrash::oracle {
namespace {

class LoneNameMarker {
 public:
  explicit LoneNameMarker(WorkloadHistory& history) : history_(history) {}

  LoneNames mark() {
    visit(kRoot, "");
    return std::move(names_);
  }

 private:
  void visit(ObjectId directory, const std::string& path) {
    for (auto& [name, slot] : history_.objects[directory].entries) {
      const Binding& first = slot.bindings.front();
      if (!first.token || first.by_rename || slot.bindings.size() > 2) continue;
      TokenHistory& token = history_.tokens[*first.token];
      const ObjectHistory& object = history_.objects[token.object];
      if (token.slots.size() != 1 || object.tokens.size() != 1) continue;
      std::string full = path;
      if (!full.empty()) full += '/';
      full += name;
      const bool removed = slot.bindings.size() == 2;
      if (removed && (slot.bindings[1].token || slot.bindings[1].by_rename)) continue;
      if (object.type != FileType::directory) {
        slot.lone = token.lone = static_cast<LoneName>(names_.size());
        names_.emplace(full, slot.lone);
      } else if (!removed) {
        visit(token.object, full);
      }
    }
  }

  WorkloadHistory& history_;
  LoneNames names_;
};

}  // namespace

LoneNames mark_lone_names(WorkloadHistory& history) {
  return LoneNameMarker(history).mark();
}

}  // namespace headcrash::oracle
