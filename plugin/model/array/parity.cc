// Parity (parity.h). A square matrix maps the data to the surviving columns: identity rows for
// data, a row of ones for P, a row of powers of 2 for Q. The inverse of the matrix gives the lost
// data columns. Lost parity columns are then computed from the complete data.
#include "plugin/model/array/parity.h"

#include <isa-l/erasure_code.h>
#include <isa-l/gf_vect_mul.h>
#include <isa-l/raid.h>

#include <array>
#include <bit>
#include <cstring>

#include "plugin/base/invariant.h"
#include "plugin/model/array/raid_layout.h"

namespace headcrash::model {
namespace {

constexpr std::size_t kTableBytes = 32;  // size of ISA-L's table for each coefficient

unsigned char power_of_two(std::uint32_t exponent) {
  unsigned char value = 1;
  for (std::uint32_t i = 0; i < exponent; ++i) value = gf_mul(value, 2);
  return value;
}

unsigned char coefficient(std::uint32_t role, std::uint32_t column, std::uint32_t data) {
  if (role < data) return role == column ? 1 : 0;
  return role == data ? 1 : power_of_two(column);
}

void xor_columns(std::span<std::byte* const> sources, std::byte* into, std::size_t bytes) {
  std::array<void*, kArrayMembersMax + 1> vectors{};
  std::size_t count = 0;
  for (std::byte* const source : sources) vectors[count++] = source;
  vectors[count++] = into;
  invariant(xor_gen(static_cast<int>(count), static_cast<int>(bytes), vectors.data()) == 0,
            "ISA-L must accept the arguments");
}

void recover_data(std::span<std::byte* const> columns, std::uint32_t data, std::uint64_t missing,
                  std::size_t bytes) {
  std::array<unsigned char*, kArrayMembersMax> sources{};
  std::array<unsigned char, kArrayMembersMax * kArrayMembersMax> matrix{};
  std::array<unsigned char, kArrayMembersMax * kArrayMembersMax> inverse{};
  std::uint32_t found = 0;
  for (std::uint32_t role = 0; role < columns.size() && found < data; ++role) {
    if ((missing >> role & 1) != 0) continue;
    for (std::uint32_t c = 0; c < data; ++c) matrix[found * data + c] = coefficient(role, c, data);
    sources[found++] = reinterpret_cast<unsigned char*>(columns[role]);
  }
  invariant(found == data, "enough columns must have survived");
  invariant(gf_invert_matrix(matrix.data(), inverse.data(), static_cast<int>(data)) == 0,
            "the matrix must be invertible");
  std::array<unsigned char, kArrayMembersMax * 2> rows{};
  std::array<unsigned char*, 2> results{};
  std::uint32_t lost = 0;
  for (std::uint32_t c = 0; c < data; ++c) {
    if ((missing >> c & 1) == 0) continue;
    std::memcpy(rows.data() + lost * data, inverse.data() + c * data, data);
    results[lost++] = reinterpret_cast<unsigned char*>(columns[c]);
  }
  std::array<unsigned char, kTableBytes * kArrayMembersMax * 2> tables{};
  ec_init_tables(static_cast<int>(data), static_cast<int>(lost), rows.data(), tables.data());
  ec_encode_data(static_cast<int>(bytes), static_cast<int>(data), static_cast<int>(lost),
                 tables.data(), sources.data(), results.data());
}

}  // namespace

void make_parity(std::span<std::byte* const> columns, std::uint32_t parities, std::size_t bytes) {
  const std::size_t data = columns.size() - parities;
  // ISA-L needs at least two sources. With one data column, each parity is a copy of it, because
  // 2^0 = 1.
  if (data == 1) {
    for (std::size_t p = data; p < columns.size(); ++p) std::memcpy(columns[p], columns[0], bytes);
  } else if (parities == 1) {
    xor_columns(columns.first(data), columns[data], bytes);
  } else {
    std::array<void*, kArrayMembersMax> vectors{};
    for (std::size_t i = 0; i < columns.size(); ++i) vectors[i] = columns[i];
    invariant(
        pq_gen(static_cast<int>(columns.size()), static_cast<int>(bytes), vectors.data()) == 0,
        "ISA-L must accept the arguments");
  }
}

void recover_columns(std::span<std::byte* const> columns, std::uint32_t parities,
                     std::uint64_t missing, std::size_t bytes) {
  const auto data = static_cast<std::uint32_t>(columns.size()) - parities;
  invariant(static_cast<std::uint32_t>(std::popcount(missing)) <= parities,
            "enough columns must have survived");
  if ((missing & ((1ULL << data) - 1)) != 0) recover_data(columns, data, missing, bytes);
  if (missing >> data != 0) make_parity(columns, parities, bytes);
}

void add_into(std::byte* into, const std::byte* from, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t sum = 0, added = 0;
    std::memcpy(&sum, into + at, sizeof sum);
    std::memcpy(&added, from + at, sizeof added);
    sum ^= added;
    std::memcpy(into + at, &sum, sizeof sum);
  }
  for (; at < bytes; ++at) into[at] ^= from[at];
}

void add_into_q(std::byte* q, const std::byte* delta, std::byte* scratch, std::uint32_t column,
                std::size_t bytes) {
  std::array<unsigned char, kTableBytes> table{};
  gf_vect_mul_init(power_of_two(column), table.data());
  // ISA-L 2.30 does not modify the source, although its parameter is not const.
  invariant(gf_vect_mul(static_cast<int>(bytes), table.data(), const_cast<std::byte*>(delta),
                        scratch) == 0,
            "ISA-L must accept the arguments");
  add_into(q, scratch, bytes);
}

}  // namespace headcrash::model
