// Fuzzes parsers of untrusted input: names of crash states, and recordings with their bases. In
// half of the mutated recordings, the checksums are corrected, because the code behind the checksum
// test would not be reached otherwise.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "plugin/base/testing/fuzz.h"
#include "plugin/record/event_format.h"
#include "plugin/states/state_enumerator.h"
#include "plugin/states/state_source.h"
#include "plugin/states/testing/random_run.h"

namespace headcrash::states {
namespace {

namespace fs = std::filesystem;

/// Mutations may give a device any size. Devices larger than this are loaded, but not read sector
/// by sector.
constexpr std::uint64_t kSectorsMax = 1 << 16;

TEST(Fuzz, StateNames) {
  fuzz::Options options;
  options.name = "state-names";
  options.corpus = {"p1234",       "w1234-17.21",         "w1234+17.21~23:2x6",
                    "d2w1234!55-", "m1234:3@1201.5@1190", "a1234!55-17~23:2x6"};
  options.dictionary = {"w", "a", "p", "m", "d0", ":", "@", "~", "x", "!", "-", "+", "."};
  options.size_max = 4096;
  fuzz::run(options, [](std::string_view input) {
    const auto state = parse_crash_state(input);
    if (!state) {
      EXPECT_LE(state.error().message().size(), 600U);
      return fuzz::novelty(state.error().problem);
    }
    // Each state has exactly one name, so formatting a parsed name must reproduce it (except for
    // d0, which is never printed).
    const std::string name = format(*state);
    EXPECT_EQ(input.substr(input.substr(0, 3) == "d0w" ? 2 : 0), name);
    const auto again = parse_crash_state(name);
    EXPECT_TRUE(again && *again == *state);
    return static_cast<std::uint64_t>(state->base) * 64 +
           std::min<std::uint64_t>(state->listed.size(), 3) * 16 +
           std::min<std::uint64_t>(state->torn.size(), 3) * 4 + state->stopped.size() % 4;
  });
}

std::string contents_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string with_right_checksums(std::string file) {
  std::uint32_t text_bytes = 0;
  if (file.size() < record::kTextAt) return file;
  std::memcpy(&text_bytes, file.data() + 8, sizeof(text_bytes));
  if (text_bytes > file.size() - record::kTextAt) return file;
  const auto bytes = std::as_writable_bytes(std::span(file));
  const std::uint32_t text_crc = crc32c(bytes.subspan(record::kTextAt, text_bytes));
  std::memcpy(file.data() + 12, &text_crc, sizeof(text_crc));
  std::uint64_t at = record::kTextAt + record::padded(text_bytes);
  while (at + sizeof(record::EventHeader) <= file.size()) {
    record::EventHeader header;
    std::memcpy(&header, file.data() + at, sizeof(header));
    if (record::padded(header.payload_bytes) > file.size() - at - sizeof(header))
      header.payload_bytes = 0;
    header.payload_crc = crc32c(bytes.subspan(at + sizeof(header), header.payload_bytes));
    header.header_crc = record::crc_of(header);
    std::memcpy(file.data() + at, &header, sizeof(header));
    at += sizeof(header) + record::padded(header.payload_bytes);
  }
  return file;
}

bool small(const record::RecordingHeader& header) {
  return header.devices.size() <= 8 && std::all_of(header.devices.begin(), header.devices.end(),
                                                   [](const record::RecordedDevice& device) {
                                                     return device.sectors <= kSectorsMax;
                                                   });
}

/// Makes a recording of a few random requests to two disks.
std::string contents_of_two_disks(const fs::path& path) {
  record::RecordingHeader header{.seed = 1, .devices = {{"hd0", "t", 16, 1}, {"log", "t", 16, 2}}};
  {
    auto writer = record::RecordingWriter::create(path, header);
    EXPECT_TRUE(writer);
    Random random(5);
    for (model::RequestId id = 1; id <= 16; ++id) {
      const auto device = static_cast<model::DeviceId>(random.below(2));
      const Bytes data(2 * model::kSectorBytes, static_cast<std::byte>(id));
      model::Request request{.id = id};
      request.op = id % 4 == 0 ? model::Op::flush : model::Op::write;
      if (request.op == model::Op::write) {
        request.lba = random.below(14);
        request.sectors = 2;
        request.data = data;
      }
      (*writer)->submitted(device, 0, request);
      if (id % 3 != 0) (*writer)->acknowledged(device, {.id = id});
      if (id % 4 == 1)
        (*writer)->media_written(device, 0,
                                 {id, request.lba, 2, model::MediaWrite::Outcome::written, data});
    }
  }
  return contents_of(path);
}

/// Returns the digest that the enumerator must report for a state.
Result<std::uint64_t> digest_of(const RunHistory& run, const CrashState& state, bool all_disks) {
  if (!all_disks) {
    const auto image = run.image(state, 0);
    EXPECT_TRUE(image) << format(state) << ": " << image.error().message();
    return image ? image->digest() : Result<std::uint64_t>(forward_error(image));
  }
  std::uint64_t sum = 0;
  for (const model::DeviceId device : run.disks()) {
    const auto image = run.image(state, device);
    EXPECT_TRUE(image) << format(state) << ": " << image.error().message();
    if (!image) return forward_error(image);
    const auto digest = image->digest();
    if (!digest) return digest;
    sum += share_of(device, *digest);
  }
  return sum;
}

/// Enumerates up to 12 states of a strategy and checks each of them. A strategy that the recording
/// does not support must fail with an error message.
std::uint64_t explore(const std::shared_ptr<const RunHistory>& run, Strategy strategy,
                      bool all_disks = false) {
  ExploreOptions options;
  options.all_disks = all_disks;
  options.strategies = {strategy};
  options.budget = 12;
  options.reorder_per_cut = 6;
  auto enumerator = StateEnumerator::create(run, options);
  if (!enumerator) {
    EXPECT_FALSE(enumerator.error().message().empty());
    return 1;
  }
  std::uint64_t count = 2;
  for (;; ++count) {
    const auto found = enumerator->next();
    if (!found || !*found) break;
    EXPECT_EQ(*parse_crash_state((*found)->name), (*found)->state);
    if (!run->header().devices[0].medium) continue;
    const auto digest = digest_of(*run, (*found)->state, all_disks);
    if (digest) {
      EXPECT_EQ(*digest, (*found)->digest) << (*found)->name;
    }
  }
  EXPECT_FALSE(enumerator->coverage().empty());
  return count;
}

TEST(Fuzz, RunHistory) {
  const TemporaryFolder folder;
  const RandomRun below(folder / "below", 1, {.steps = 30});
  RandomRunOptions on_it{.steps = 20, .media = false};
  on_it.base = {"below", format({.event = below.events()})};
  const RandomRun based(folder / "based", 2, on_it);
  const RandomRun with_media(folder / "media", 3, {.steps = 40});
  fuzz::Options options;
  options.name = "run-history";
  options.corpus = {contents_of(folder / "based"), contents_of(folder / "media"),
                    contents_of_two_disks(folder / "two")};
  options.dictionary = {R"("base":{"recording":"below","state":")",
                        R"("sectors":)",
                        R"("medium":false)",
                        std::string(8, '\0'),
                        std::string(8, '\xff'),
                        std::string("\x06\0\0\0", 4),
                        std::string("\x01\0\0\0", 4)};
  std::uint64_t run_number = 0;
  fuzz::run(options, [&](std::string_view input) {
    std::string bytes(input);
    if (++run_number % 2 == 0) bytes = with_right_checksums(std::move(bytes));
    fs::remove(folder / "x");
    std::ofstream(folder / "x", std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto run = RunHistory::load(folder / "x");
    if (!run) {
      EXPECT_FALSE(run.error().hint.empty());
      return fuzz::novelty(run.error().problem.substr(0, 12));
    }
    if (!small((*run)->header())) return std::uint64_t{7};
    std::uint64_t kind = (*run)->tail_error() ? 1 : 2;
    for (const Strategy strategy :
         {Strategy::physical, Strategy::prefix, Strategy::reorder, Strategy::torn,
          Strategy::lose_all, Strategy::lying_flush, Strategy::member})
      kind = kind * 16 + explore(*run, strategy) % 16;
    if ((*run)->disks().size() > 1) {
      for (const Strategy strategy : {Strategy::physical, Strategy::reorder, Strategy::torn})
        kind = kind * 16 + explore(*run, strategy, true) % 16;
    }
    return kind;
  });
}

}  // namespace
}  // namespace headcrash::states
