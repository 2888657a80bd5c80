// Tests the requests that are parsed from each format, the recognition of formats, and errors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plugin/base/testing/temporary_folder.h"
#include "plugin/replay/trace_file.h"

// Some presets compile all tests as one source file. This namespace prevents name collisions.
namespace headcrash::replay::trace_formats_test {
namespace {

using model::kMicrosecondNs;
using model::kMillisecondNs;
using model::kSecondNs;

struct Replayed {
  std::vector<TraceRequest> requests;
  bool closed_loop = false;
  TraceFormat format = TraceFormat::trace;
  std::vector<std::string> remarks;
};

Result<Replayed> parse(const std::string& text, std::optional<TraceFormat> format = {},
                       const char* name = "trace.txt") {
  const TemporaryFolder folder;
  folder.put(name, text);
  TRY(auto source, TraceFile::open(folder / name, format));
  Replayed all{{}, source->closed_loop(), source->format().format, {}};
  for (;;) {
    TRY(const auto chunk, source->next());
    if (chunk.empty()) break;
    all.requests.insert(all.requests.end(), chunk.begin(), chunk.end());
  }
  all.remarks = source->remarks();
  return all;
}

/// Formats requests as "wait_ns device read|write lbn+blocks measured_ns", one per line.
std::string shown(const Replayed& all) {
  std::string text;
  for (const TraceRequest& r : all.requests)
    text += fmt::format("{} {} {} {}+{} {}\n", r.wait_ns, r.device, r.read ? "read" : "write",
                        r.lbn, r.blocks, r.measured_ns);
  return text;
}

struct Sample {
  TraceFormat format;
  bool recognised;
  const char* text;
  const char* requests;
};

constexpr Sample kSamples[] = {
    {TraceFormat::msr, true,
     "128166372003061629,hm,1,Read,383496192,32768,56557\n"
     "128166372016382155,hm,1,Write,2822144000,4096,103694\r\n"
     "128166372026382245,prxy,0,Read,0,512,5\n",
     "0 0 read 749016+64 5655700\n"
     "1332052600 0 write 5512000+8 10369400\n"
     "2332061600 1 read 0+1 500\n"},
    {TraceFormat::spc, true,
     "0,303567,3584,w,0.000000\n1,55590,3072,W,0.026214\n0,303574,700,r,0.078643,more\n",
     "0 0 write 303567+7 0\n26214000 1 write 55590+6 0\n78643000 0 read 303574+2 0\n"},
    {TraceFormat::alibaba, true,
     "device_id,opcode,offset,length,timestamp\n"
     "419,W,8792731648,16384,1577808000000041\n725,R,512,4096,1577808000001041\n",
     "0 0 write 17173304+32 0\n1000000 1 read 1+8 0\n"},
    {TraceFormat::tencent, false,
     "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1628\n1538323201,7,1,0,1063\n",
     "0 0 read 12910952+128 0\n1000000000 1 write 6338688+8 0\n1000000000 0 read 7+1 0\n"},
    {TraceFormat::blkparse, true,
     "  8,0    3        1     5.000000100   697  Q  WS 223490 + 8 [kjournald]\n"
     "  8,0    3        2     5.000001829   697  G  WS 223490 + 8 [kjournald]\n"
     "  8,0    3        0     5.000002000     0  m   N cfq697S alloced\n"
     "  8,0    3        3     5.000002197   697  D  WS 223490 + 8 [kjournald]\n"
     "  8,16   1        4     5.000010100   697  Q   R 16 + 32 [cat]\n"
     "  8,0    3        5     5.000010101   697  Q   D 16 + 32 [fstrim]\n"
     "  8,0    3        6     5.000010102   697  Q FWS [kjournald]\n"
     "CPU0 (sda):\n Reads Queued:           0,        0KiB\n\nTotal (sda):\n",
     "0 0 write 223490+8 0\n10000 1 read 16+32 0\n"},
    {TraceFormat::fio2, true,
     "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda write 0 4096\n/dev/sda wait 1000 0\n"
     "/dev/sda wait 99 0\n/dev/sda read 1024 512\n/dev/sdb write 4096 100\n/dev/sda sync 0 0\n"
     "/dev/sda close\n",
     "1000000 0 write 0+8 0\n0 0 read 2+1 0\n0 1 write 8+1 0\n"},
    {TraceFormat::fio3, true,
     "fio version 3 iolog\n16 /tmp/f add\n281 /tmp/f open\n285 /tmp/f write 0 4096\n"
     "250239 /tmp/f read 4096 4096\n250240 /tmp/f trim 0 4096\n751187 /tmp/f close\n",
     "0 0 write 0+8 0\n249954000 0 read 8+8 0\n"},
    {TraceFormat::trace, false, "62.687285 0 1777192 8 1\n138.732586 1 132344 8 0\n",
     "62687285 0 read 1777192+8 0\n138732586 1 write 132344+8 0\n"},
    {TraceFormat::closed, false, "R Hit 0 8 9000.0 0.5\nW Miss 8 8 0.0 0\n",
     "500 0 read 0+8 9000000\n0 0 write 8+8 0\n"},
};

TEST(TraceFormats, HaveATableRowAndATestSampleEach) {
  for (const TraceFormatRow& row : trace_formats()) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(&row_of(row.format), &row);
    EXPECT_EQ(trace_format_named(row.name), row.format);
    EXPECT_TRUE(std::any_of(std::begin(kSamples), std::end(kSamples),
                            [&](const Sample& sample) { return sample.format == row.format; }));
  }
  EXPECT_FALSE(trace_format_named("nonsense"));
}

TEST(TraceFormats, ParseLinesIntoRequests) {
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(row_of(sample.format).name);
    const auto all = parse(sample.text, sample.format);
    ASSERT_TRUE(all) << all.error().message();
    EXPECT_EQ(shown(*all), sample.requests);
    EXPECT_EQ(all->closed_loop,
              sample.format == TraceFormat::closed || sample.format == TraceFormat::fio2);
  }
}

TEST(TraceFormats, AreRecognisedOnlyIfUnambiguous) {
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(row_of(sample.format).name);
    const auto all = parse(std::string("# from a colleague\n\n") + sample.text);
    EXPECT_EQ(all.has_value(), sample.recognised);
    if (all) {
      EXPECT_EQ(all->format, sample.format);
      EXPECT_EQ(shown(*all), sample.requests);
    } else {
      EXPECT_NE(all.error().hint.find("--format"), std::string::npos);
    }
  }
  EXPECT_FALSE(parse("1,2,3\n"));
  EXPECT_FALSE(parse(std::string(100'000, 'x')));
  EXPECT_TRUE(parse("1 0 8 8 1\n", {}, "day.trace")) << "by its name";
  EXPECT_FALSE(parse(""));
  const auto empty = parse("", {}, "day.trace");
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->requests.empty());
}

TEST(TraceFormats, ReportLinesWithUnsupportedOperations) {
  const auto all = parse(kSamples[4].text);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->remarks.size(), 2U) << "a discard and a flush";
  EXPECT_NE(all->remarks[0].find("1 lines with the operation discard"), std::string::npos);
}

/// In fio's log, the wait after a request may be in the next chunk of the file.
TEST(TraceFormats, ReadWaitsInTheNextChunkOfTheFile) {
  std::string text = "fio version 2 iolog\n";
  for (int i = 0; i < 9000; ++i)
    text += fmt::format("/f read {} 512\n/f wait {} 0\n", i * 512, 1000 + i);
  const auto all = parse(text);
  ASSERT_TRUE(all) << all.error().message();
  ASSERT_EQ(all->requests.size(), 9000U);
  for (std::size_t i = 0; i < all->requests.size(); ++i) {
    ASSERT_EQ(all->requests[i].wait_ns, static_cast<TimeNs>(1000 + i) * kMicrosecondNs);
    ASSERT_EQ(all->requests[i].lbn, i);
  }
}

/// If the first request arrives more than one day after time zero, arrivals are counted from that
/// request. Otherwise, the device would appear to be idle until then. Earlier first arrivals are
/// kept unchanged, as in DiskSim's traces.
TEST(TraceFormats, MeasureArrivalTimesFromTheFirstArrival) {
  const auto late =
      parse("1577808144360.767 0 17173304 32 0\n1577808144361.767 0 8 8 1\n", TraceFormat::trace);
  ASSERT_TRUE(late) << late.error().message();
  EXPECT_EQ(shown(*late), "0 0 write 17173304+32 0\n1000000 0 read 8+8 0\n");
  EXPECT_EQ(parse("86400000 0 8 8 1\n", TraceFormat::trace)->requests[0].wait_ns, 0);
  EXPECT_EQ(parse("86399999 0 8 8 1\n", TraceFormat::trace)->requests[0].wait_ns,
            86399999 * kMillisecondNs);
}

TEST(TraceFormats, ErrorsNameTheLine) {
  const auto says = [](TraceFormat format, const std::string& line, const char* words) {
    SCOPED_TRACE(line);
    const Sample& sample = *std::find_if(std::begin(kSamples), std::end(kSamples),
                                         [&](const Sample& one) { return one.format == format; });
    std::string good = sample.text;
    good = good.substr(0, good.find("CPU0"));
    const auto lines = std::count(good.begin(), good.end(), '\n');
    const auto all = parse(good + line + "\n", format);
    ASSERT_FALSE(all);
    EXPECT_TRUE(all.error().subject.ends_with(fmt::format(": line {}", lines + 1)))
        << all.error().message();
    EXPECT_NE(all.error().problem.find(words), std::string::npos) << all.error().message();
    EXPECT_FALSE(all.error().hint.empty());
  };
  using enum TraceFormat;
  says(msr, "128166372003061629,hm,1,Read,383496192,32768", "7 fields");
  says(msr, "128166372003061629,hm,1,Read,383496192,32768,5",
       "before the request of the preceding line");
  says(msr, "x,hm,1,Read,383496192,32768,5", "arrival");
  says(msr, "18446744073709551615,hm,1,Read,0,512,5", "2262");
  says(msr, "128166372036382245,hm,one,Read,0,512,5", "disk");
  says(msr, "128166372036382245,hm,1,read,0,512,5", "neither Read");
  says(msr, "128166372036382245,hm,1,Read,-1,512,5", "bytes");
  says(msr, "128166372036382245,hm,1,Read,0,0,5", "bytes");
  says(msr, "128166372036382245,hm,1,Read,0,1e3,5", "bytes");
  says(msr, "128166372036382245,hm,1,Read,0,512,", "response");
  says(spc, "0,1,512,r", "fewer");
  says(spc, "0,1,512,x,1.0", "opcode");
  says(spc, "a,1,512,r,1.0", "ASU");
  says(spc, "0,1.5,512,r,1.0", "LBA");
  says(spc, "0,1,512,r,0.01", "before the request of the preceding line");
  says(spc, "0,1,512,r,99999999999999999999", "292 years");
  says(spc, "0,1,512,r,1000000001.5", "31 years");
  says(alibaba, "419,W,0,512", "5 fields");
  says(alibaba, "419,w,0,512,1577808000001042", "opcode");
  says(alibaba, "419,W,0,1073741824,1577808000001042", "bytes");
  says(alibaba, "419,W,0,512,late", "arrival");
  says(tencent, "1538323202,7,1,2,1063", "type");
  says(tencent, "1538323202,7,0,1,1063", "size");
  says(tencent, "1538323202,7,1,1,vol", "volume");
  says(tencent, "1538323202,18446744073709551615,1,1,1", "offset");
  says(blkparse, "8,0 3 7 6.0 697 Q WS 223490 8", "sector");
  says(blkparse, "8,0 3 7 4.0 697 Q WS 223490 + 8 [x]", "before the request of the preceding line");
  says(blkparse, "8 3 7 6.0 697 Q WS 223490 + 8 [x]", "blkparse");
  says(fio2, "/dev/sda erase 0 4096", "unknown action");
  says(fio2, "/dev/sda write 0", "bytes");
  says(fio2, "/dev/sda wait soon 0", "wait");
  says(fio3, "751188 /tmp/f wait 100 0", "unknown action");
  says(fio3, "soon /tmp/f read 0 512", "arrival");
  says(fio3, "751188 /tmp/f read 0 512 1", "too many fields");
  says(fio3, "100 /tmp/f read 0 512", "before the request of the preceding line");
  says(trace, "9223372036854775807 0 8 8 1", "292 years");
  says(closed, "R Hit 0 8 99999999999999999999 0", "measured time exceeds");
  EXPECT_FALSE(parse("/dev/sda write 0 4096\n", fio2)) << "without its first line";
  EXPECT_FALSE(parse(kSamples[5].text, fio3));
}

TEST(TraceFormats, LimitTheNumberOfVolumes) {
  std::string text;
  for (int volume = 0; volume < 65537; ++volume) text += fmt::format("1,8,8,0,{}\n", volume);
  const auto all = parse(text, TraceFormat::tencent);
  ASSERT_FALSE(all);
  EXPECT_TRUE(all.error().subject.ends_with(": line 65537")) << all.error().message();
}

}  // namespace
}  // namespace headcrash::replay::trace_formats_test
