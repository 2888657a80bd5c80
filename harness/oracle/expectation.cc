// Converts expectations to text and back (expectation.h).
#include "harness/oracle/expectation.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace headcrash::oracle {
namespace {

using Expected = Expectation::Kind;

/// Kinds whose text is always the same.
constexpr std::array<std::pair<Expected, std::string_view>, 10> kFixed{{
    {Expected::name, "the name to be there"},
    {Expected::no_name, "no such name"},
    {Expected::regular, "a file"},
    {Expected::directory, "a directory"},
    {Expected::symlink, "a symbolic link"},
    {Expected::readable_directory, "a readable directory"},
    {Expected::readable_content, "readable content"},
    {Expected::one_name, "one name"},
    {Expected::zeroes, "zeroes"},
    {Expected::zeroes_or_version_in_flight, "zeroes or a version in flight"},
}};
constexpr std::string_view kTarget = "a link to \"", kAlso = "also \"", kQuote = "\"";
constexpr std::string_view kLinks = "link count ", kNames = ", the number of names";
constexpr std::string_view kAtLeast = "at least ", kTo = " to ", kBytes = " bytes";
constexpr std::string_view kVersion = "version ", kOrNewer = " or newer";
constexpr std::string_view kInBlock = " in block ";

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// If the text starts with `before` and ends with `after`, returns the part between them.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
  if (text.size() < before.size() + after.size() || !text.starts_with(before) ||
      !text.ends_with(after))
    return std::nullopt;
  return text.substr(before.size(), text.size() - before.size() - after.size());
}

std::optional<std::uint64_t> number_between(std::string_view text, std::string_view before,
                                            std::string_view after) {
  const auto part = between(text, before, after);
  return part ? number(*part) : std::nullopt;
}

std::optional<Expectation> size_of(std::string_view text) {
  if (const auto least = number_between(text, kAtLeast, kBytes))
    return Expectation{.kind = Expected::size, .least = *least, .most = Expectation::kOpen};
  const auto part = between(text, "", kBytes);
  if (!part) return std::nullopt;
  const std::size_t to = part->find(kTo);
  const auto least = number(part->substr(0, to));
  const auto most = to == part->npos ? least : number(part->substr(to + kTo.size()));
  if (!least || !most) return std::nullopt;
  return Expectation{.kind = Expected::size, .least = *least, .most = *most};
}

/// Parses an expectation that has no block number.
Expectation parse(std::string_view text) {
  for (const auto& [kind, fixed] : kFixed)
    if (text == fixed) return {.kind = kind};
  if (const auto target = between(text, kTarget, kQuote); target && !target->empty())
    return {.kind = Expected::target, .text = std::string(*target)};
  if (const auto links = number_between(text, kLinks, kNames))
    return {.kind = Expected::links, .least = *links};
  if (const auto version = number_between(text, kVersion, kOrNewer))
    return {.kind = Expected::version, .least = *version};
  return size_of(text).value_or(Expectation{.text = std::string(text)});
}

bool is_of_a_block(Expected kind) {
  return kind == Expected::version || kind == Expected::zeroes ||
         kind == Expected::zeroes_or_version_in_flight;
}

}  // namespace

std::string words(const Expectation& e) {
  for (const auto& [kind, fixed] : kFixed)
    if (e.kind == kind) return std::string(fixed);
  switch (e.kind) {
    case Expected::target:
      return fmt::format("{}{}{}", kTarget, e.text, kQuote);
    case Expected::links:
      return fmt::format("{}{}{}", kLinks, e.least, kNames);
    case Expected::version:
      return fmt::format("{}{}{}", kVersion, e.least, kOrNewer);
    case Expected::size:
      if (e.least == e.most) return fmt::format("{}{}", e.least, kBytes);
      if (e.most == Expectation::kOpen) return fmt::format("{}{}{}", kAtLeast, e.least, kBytes);
      return fmt::format("{}{}{}{}", e.least, kTo, e.most, kBytes);
    default:
      return e.text;
  }
}

std::string words_in_block(std::string_view words, std::uint64_t block) {
  return fmt::format("{}{}{}", words, kInBlock, block);
}

Expectation expectation_of(const Finding& finding) {
  const std::string_view text = finding.expected;
  const std::size_t in = text.rfind(kInBlock);
  const auto block = in == text.npos ? std::nullopt : number(text.substr(in + kInBlock.size()));
  Expectation e = parse(block ? text.substr(0, in) : text);
  if (is_of_a_block(e.kind) != block.has_value()) return {.text = finding.expected};
  e.block = block.value_or(0);
  if (e.kind == Expected::one_name)
    e.text = between(finding.found, kAlso, kQuote).value_or(std::string_view());
  return e;
}

std::string_view kind_of(FileType type) {
  switch (type) {
    case FileType::regular:
      return "a file";
    case FileType::directory:
      return "a directory";
    case FileType::symlink:
      return "a symbolic link";
    case FileType::whiteout:
      return "a whiteout";
    case FileType::fifo:
      return "a fifo";
    case FileType::other:
      break;
  }
  return "another kind of object";
}

std::string also_found_as(std::string_view name) {
  return fmt::format("{}{}{}", kAlso, name, kQuote);
}

}  // namespace headcrash::oracle
