#pragma once
// The parts of the experiment that reproduces Rosenblum 1992, "The Design and Implementation of a
// Log-structured File System" (dissertation, Berkeley).

#include "harness/papers/paper.h"

namespace headcrash::experiment::rosenblum92 {

Paper paper();

}  // namespace headcrash::experiment::rosenblum92
