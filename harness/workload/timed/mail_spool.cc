// Simulates the deliveries of a mail server. Each message is persistent before it is acknowledged.
//
// Source: Bernstein, "Using maildir format", 1995 (cr.yp.to/proto/maildir.html). A message is
// written to a file in tmp and synced with fsync. The file is then moved into new, where the reader
// finds it.
//
// The following choices are ours. A user is a mailbox with one delivery at a time. Lengths are
// uniformly distributed, with a mean of a few kilobytes like messages of that time. The file is
// moved by a rename instead of a link, and the delivery does not wait until the rename is on the
// disk. When a mailbox has more than `kept` messages, the delivery also reads and removes the
// oldest one.
#include <fmt/format.h>

#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/random_source.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

class Mailbox {
 public:
  explicit Mailbox(User& user)
      : work_(user),
        number_(user.number),
        messages_(argument(user.arguments, "messages")),
        kept_(argument(user.arguments, "kept")),
        least_bytes_(argument(user.arguments, "least-bytes")),
        most_bytes_(std::max(argument(user.arguments, "most-bytes"), least_bytes_)),
        seed_(user.seed) {}

  PhaseResult make() {
    for (const std::string& folder : {box(), box() + "/tmp", box() + "/new"})
      TRY(work_.make_folder(folder));
    return {};
  }

  PhaseResult deliver_all() {
    for (std::uint64_t i = 0; i < messages_; ++i) {
      if (const auto done = work_.operation([&] { return deliver(i); }); !done) return done;
    }
    return {};
  }

  PhaseResult verify() {
    const std::uint64_t first = messages_ > kept_ ? messages_ - kept_ : 0;
    TRY(work_.expect_entries(box() + "/tmp", 0));
    TRY(work_.expect_entries(box() + "/new", messages_ - first));
    for (std::uint64_t i = first; i < messages_; ++i) TRY(work_.read(message("new", i)));
    return {};
  }

 private:
  std::string box() const { return fmt::format("box{}", number_); }
  TimedFile message(const char* folder, std::uint64_t number) const {
    RandomSource random(mixed_seed(seed_, number_, number + 1));
    return {.path = fmt::format("{}/{}/{}", box(), folder, number),
            .number = static_cast<std::uint32_t>(number_ * messages_ + number),
            .bytes = least_bytes_ + random.below(most_bytes_ - least_bytes_ + 1)};
  }

  PhaseResult deliver(std::uint64_t number) {
    const TimedFile file = message("tmp", number);
    const auto safe = work_.with_open(
        file, {.create = true, .exclusive = true}, "create", [&](FileHandle handle) -> PhaseResult {
          TRY(work_.write_at(handle, file, 0, file.bytes));
          return FileWork::phase_result(work_.user().vfs.fsync(handle), "fsync", file.path);
        });
    if (!safe) return safe;
    const auto moved = FileWork::phase_result(
        work_.user().vfs.rename(file.path, message("new", number).path, RenameMode::no_replace),
        "rename", file.path);
    if (!moved || number < kept_) return moved;
    const TimedFile oldest = message("new", number - kept_);
    TRY(work_.read(oldest));
    return work_.remove(oldest.path);
  }

  FileWork work_;
  std::uint64_t number_, messages_, kept_, least_bytes_, most_bytes_, seed_;
};

std::vector<Phase> mail_spool_phases(const Arguments& arguments) {
  const std::size_t users = argument(arguments, "users");
  return {
      {.name = "prepare",
       .users = users,
       .measured = false,
       .body = [](User& user) { return Mailbox(user).make(); }},
      {.name = "deliver",
       .users = users,
       .body = [](User& user) { return Mailbox(user).deliver_all(); }},
      {.name = "verify", .users = users, .measured = false, .cold = true, .body = [](User& user) {
         return Mailbox(user).verify();
       }}};
}

}  // namespace

TimedWorkload mail_spool() {
  return {
      .name = "mail-spool",
      .title = "messages are delivered (each synced with fsync), read and removed, as in maildir",
      .source = "Bernstein 1995 (maildir); lengths and numbers are ours",
      .operation = "messages",
      .parameters = {{"users", 4, 2, 1, 64, "mailboxes: our choice"},
                     {"messages", 1'000, 50, 1, 10'000'000, "messages per mailbox: our choice"},
                     {"kept", 50, 20, 0, 10'000'000,
                      "messages in a mailbox before the oldest is removed: our choice"},
                     {"least-bytes", 1024, 1024, 0, 1 << 20, "our choice"},
                     {"most-bytes", 8192, 8192, 0, 1 << 20, "our choice"}},
      .phases = mail_spool_phases};
}

}  // namespace headcrash::timed
