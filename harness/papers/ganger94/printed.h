#pragma once
// The values in tables 1 and 2, as printed in the paper.

#include "harness/papers/ganger94/ganger94.h"

namespace headcrash::experiment::ganger94 {

struct PrintedRow {
  ComparedScheme scheme;
  Initialization initialization;
  const char* name;
  double elapsed_s, percent, cpu_s, requests, response_ms;
};

/// Table 1: the 4-user copy benchmark.
inline constexpr PrintedRow kTable1[] = {
    {ComparedScheme::conventional, Initialization::off, "Conventional", 390.7, 123.9, 72.8, 36075,
     293.3},
    {ComparedScheme::conventional, Initialization::on, "Conventional, init", 732.3, 232.3, 82.4,
     51419, 140.1},
    {ComparedScheme::flag, Initialization::off, "Flag", 381.3, 120.9, 72.8, 36038, 477.3},
    {ComparedScheme::flag, Initialization::on, "Flag, init", 545.7, 173.1, 90.0, 51028, 2297},
    {ComparedScheme::chains, Initialization::off, "Chains", 375.1, 119.0, 76.0, 36019, 304.1},
    {ComparedScheme::chains, Initialization::on, "Chains, init", 530.6, 168.3, 86.0, 51248, 423.8},
    {ComparedScheme::soft_updates, Initialization::off, "Soft Updates", 319.8, 101.4, 69.6, 31840,
     368.7},
    {ComparedScheme::soft_updates, Initialization::on, "Soft Updates, init", 330.9, 104.9, 80.0,
     31880, 262.1},
    {ComparedScheme::no_order, Initialization::off, "No Order", 315.3, 100.0, 68.4, 31574, 304.1}};
/// Table 2: the 4-user remove benchmark. Soft Updates uses allocation initialization.
inline constexpr PrintedRow kTable2[] = {
    {ComparedScheme::conventional, Initialization::off, "Conventional", 80.24, 1050, 12.68, 4600,
     68.02},
    {ComparedScheme::flag, Initialization::off, "Flag", 24.97, 326.8, 13.64, 4631, 22173},
    {ComparedScheme::chains, Initialization::off, "Chains", 31.03, 406.2, 14.80, 4618, 2495},
    {ComparedScheme::soft_updates, Initialization::on, "Soft Updates", 6.71, 87.83, 5.64, 391,
     73.53},
    {ComparedScheme::no_order, Initialization::off, "No Order", 7.64, 100.0, 7.44, 278, 84.03}};

}  // namespace headcrash::experiment::ganger94
