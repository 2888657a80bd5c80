#pragma once
// Rosenblum 1992, "The Design and Implementation of a Log-structured File System" (dissertation,
// Berkeley): the parts by name.

#include "harness/papers/paper.h"

namespace headcrash::experiment::rosenblum92 {

Paper paper();

}  // namespace headcrash::experiment::rosenblum92
