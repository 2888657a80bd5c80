#pragma once
// How the parts write down what no cell has.

#include <string>
#include <utility>

#include "harness/experiment/judge.h"

namespace headcrash::experiment::peacock98 {

/// Without a number of ours the remark says why.
inline void add_row(ClaimAnswer& answer, std::string cell, std::string quantity, std::string unit,
                    Figure paper, Figure ours, const std::string& remark) {
  answer.numbers.push_back({.cell = std::move(cell),
                            .quantity = std::move(quantity),
                            .unit = std::move(unit),
                            .paper = paper,
                            .ours = ours,
                            .remark = ours ? "" : remark});
}

}  // namespace headcrash::experiment::peacock98
