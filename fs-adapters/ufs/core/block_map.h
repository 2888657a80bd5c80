#pragma once
// A bitmap of owned fragments. Each group has a row of whole words, so that the row can be compared
// with the group's map word by word. A run of fragments is within one block, and therefore within
// one word.

#include <bit>
#include <cstdint>
#include <vector>

#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs {

class BlockMap {
 public:
  /// Resets the map. Only data fragments are then free: metadata and the padding bits after the
  /// last fragment of each group count as taken.
  void reset(const Geometry& geometry) {
    geometry_ = geometry;
    row_words_ = (geometry.fragments_per_group() + 63) / 64;
    words_.assign(std::size_t{row_words_} * geometry.groups(), 0);
    for (std::uint32_t group = 0; group < geometry.groups(); ++group) {
      const FragmentAddress base = geometry.group_base(group);
      take(group, geometry.early_data_end(group) == 0 ? 0 : geometry.early_data_end(group) - base,
           geometry.data_start(group) - base);
      take(group, geometry.group_fragments(group), row_words_ * 64);
    }
  }

  /// Claims all fragments of a run. Returns false if any of them had already been claimed.
  bool claim(FragmentAddress at, std::uint32_t count) {
    std::uint64_t& word = word_of(at);
    const std::uint64_t mask = mask_of(at, count);
    const bool free = (word & mask) == 0;
    word |= mask;
    return free;
  }
  void release(FragmentAddress at, std::uint32_t count) { word_of(at) &= ~mask_of(at, count); }
  bool taken(FragmentAddress at, std::uint32_t count) {
    return (word_of(at) & mask_of(at, count)) != 0;
  }

  std::uint32_t row_words() const { return row_words_; }
  const std::uint64_t* row(std::uint32_t group) const {
    return words_.data() + std::size_t{group} * row_words_;
  }

  /// Claims the first free run of `count` fragments within one block, and returns its address.
  /// Returns 0 if there is no such run.
  FragmentAddress allocate(std::uint32_t count) {
    const std::uint32_t width = geometry_.fragments_per_block();
    for (std::uint32_t group = 0; group < geometry_.groups(); ++group) {
      for (std::uint32_t f = 0; f + count <= geometry_.group_fragments(group); f += width) {
        const FragmentAddress at = geometry_.group_base(group) + f;
        if (at == 0 || taken(at, count)) continue;
        claim(at, count);
        return at;
      }
    }
    return 0;
  }

 private:
  std::uint64_t& word_of(FragmentAddress at) {
    const std::uint32_t group = geometry_.group_of_fragment(at);
    return words_[std::size_t{group} * row_words_ + (at - geometry_.group_base(group)) / 64];
  }
  std::uint64_t mask_of(FragmentAddress at, std::uint32_t count) const {
    return ((std::uint64_t{1} << count) - 1) << (geometry_.index_in_group(at) % 64);
  }
  void take(std::uint32_t group, std::uint32_t from, std::uint32_t end) {
    std::uint64_t* const words = words_.data() + std::size_t{group} * row_words_;
    while (from < end) {
      const std::uint32_t count = std::min(64 - from % 64, end - from);
      const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      words[from / 64] |= ones << (from % 64);
      from += count;
    }
  }

  Geometry geometry_;
  std::uint32_t row_words_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace headcrash::ufs
