#pragma once
// Reusable buffers for stripes in flight, aligned for ISA-L. A device may still use a buffer after
// a power cut has destroyed the coroutine that passed it. All memory therefore remains valid until
// the pool is destroyed.

#include <array>
#include <bit>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace headcrash::model {

class BufferPool;

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : pool_(other.pool_), bytes_(std::exchange(other.bytes_, nullptr)), order_(other.order_) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(bytes_, other.bytes_);
    std::swap(order_, other.order_);
    return *this;
  }
  ~AlignedBuffer();
  std::byte* data() const { return bytes_; }  ///< null if the array stores no bytes

 private:
  friend class BufferPool;
  BufferPool* pool_ = nullptr;
  std::byte* bytes_ = nullptr;
  unsigned order_ = 0;
};

class BufferPool {
 public:
  BufferPool() = default;
  ~BufferPool() {
    for (auto& blocks : free_) {
      for (std::byte* block : blocks) ::operator delete[](block, kAlignment);
    }
  }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  AlignedBuffer take(std::size_t bytes) {
    AlignedBuffer buffer;
    buffer.pool_ = this;
    buffer.order_ = static_cast<unsigned>(std::bit_width(bytes > 0 ? bytes - 1 : 0));
    auto& blocks = free_[buffer.order_];
    if (blocks.empty()) {
      buffer.bytes_ =
          static_cast<std::byte*>(::operator new[](std::size_t{1} << buffer.order_, kAlignment));
    } else {
      buffer.bytes_ = blocks.back();
      blocks.pop_back();
    }
    return buffer;
  }

 private:
  friend class AlignedBuffer;
  static constexpr std::align_val_t kAlignment{64};
  std::array<std::vector<std::byte*>, 48> free_;
};

inline AlignedBuffer::~AlignedBuffer() {
  if (bytes_ != nullptr) pool_->free_[order_].push_back(bytes_);
}

}  // namespace headcrash::model
