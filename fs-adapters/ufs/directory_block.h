#pragma once
// A directory's blocks are the tree's (tree/directory_block.h), under the names that ufs uses.

#include "fs-adapters/tree/directory_block.h"

namespace headcrash::ufs {

using tree::add_entry;
using tree::AddedEntry;
using tree::chunk_with_room;
using tree::damage_of_chunk;
using tree::DirectoryCursor;
using tree::DirectoryDamage;
using tree::Entry;
using tree::entry_at;
using tree::entry_bytes;
using tree::find_entry;
using tree::format_chunks;
using tree::format_directory;
using tree::is_empty_directory_block;
using tree::kChunkBytes;
using tree::kEntryFixedBytes;
using tree::kEntryInodeOffset;
using tree::kEntryTypeOffset;
using tree::kNameBytesMax;
using tree::MovedEntry;
using tree::NameSearch;
using tree::previous_entry;
using tree::remove_entry;
using tree::search_block;
using tree::set_entry;
using tree::set_entry_inode;

}  // namespace headcrash::ufs
