#pragma once
// Parity of real bytes, computed by ISA-L. P is the exclusive OR of the data columns. Q = sum of
// 2^i * D_i in GF(2^8) with the polynomial x^8+x^4+x^3+x^2+1, as in H. P. Anvin, "The mathematics
// of RAID-6".
//
// Buffers are aligned to 64 bytes, and lengths are whole sectors. `columns` are data 0..data-1,
// then P, then Q if there are two parities.

#include <cstddef>
#include <cstdint>
#include <span>

namespace headcrash::model {

/// Computes the last `parities` columns (1 or 2) from the data columns.
void make_parity(std::span<std::byte* const> columns, std::uint32_t parities, std::size_t bytes);

/// Reconstructs the columns in the bit mask `missing` (at most `parities` columns) from the other
/// columns.
void recover_columns(std::span<std::byte* const> columns, std::uint32_t parities,
                     std::uint64_t missing, std::size_t bytes);

/// Computes `into ^= from` for each byte.
void add_into(std::byte* into, const std::byte* from, std::size_t bytes);

/// Computes `q ^= 2^column * delta`. All three buffers have a length of `bytes`.
void add_into_q(std::byte* q, const std::byte* delta, std::byte* scratch, std::uint32_t column,
                std::size_t bytes);

}  // namespace headcrash::model
