// Tensors: views of memory that somebody else owns, and tensors that own theirs.
//
//   std::vector<float> pixels(64);
//   auto image = pteron::TensorView::of(pixels, {1, 1, 8, 8});     // Result<TensorView>; no copy
//   pteron::Span<const float> values = *image->data<float>();      // typed access, checked
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pteron/c/tensor.h"
#include "pteron/dtype.h"
#include "pteron/result.h"

namespace pteron {
inline namespace v1_0 {

// `size` elements at `data`, owned by somebody else.
//
//   const pteron::Span<const float> values = *tensor.data<float>();
//   for (float value : values) total += value;
//
// Copying copies the pointer. Indexing is not checked.
template <typename T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  // Span<const T> from Span<T>.
  template <typename U, typename = std::enable_if_t<std::is_same_v<const U, T>>>
  constexpr Span(Span<U> other) : data_(other.data()), size_(other.size()) {}

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](size_t index) const { return data_[index]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Up to 16 sizes (or strides), held inside: no allocation.
//
//   pteron::Shape shape = {1, 3, 224, 224};
//   shape.rank() == 4 && shape[1] == 3;
//
// A shape of more than 16 dimensions can be made, has is_valid() false, and is refused by whatever takes it.
class Shape {
 public:
  Shape() = default;  // rank 0: a single element
  Shape(std::initializer_list<int64_t> sizes) { assign(sizes.begin(), sizes.size()); }
  Shape(const std::vector<int64_t>& sizes) { assign(sizes.data(), sizes.size()); }
  template <size_t N>
  Shape(const std::array<int64_t, N>& sizes) {
    assign(sizes.data(), N);
  }
  Shape(const int64_t* sizes, size_t rank) { assign(sizes, rank); }

  size_t rank() const { return rank_; }
  bool is_valid() const { return rank_ <= PTERON_MAX_RANK; }
  const int64_t* data() const { return sizes_.data(); }
  const int64_t* begin() const { return sizes_.data(); }
  const int64_t* end() const { return sizes_.data() + stored(); }
  // `dimension` below rank().
  int64_t operator[](size_t dimension) const { return sizes_[dimension]; }

  // "[1, 3, 8, 8]"
  std::string to_string() const {
    std::string text = "[";
    for (size_t i = 0; i < stored(); ++i) {
      if (i != 0) text += ", ";
      text += std::to_string(sizes_[i]);
    }
    return text + (is_valid() ? "]" : ", ...]");
  }

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (size_t i = 0; i < a.stored(); ++i) {
      if (a.sizes_[i] != b.sizes_[i]) return false;
    }
    return true;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

 private:
  friend class TensorView;

  size_t stored() const { return is_valid() ? rank_ : static_cast<size_t>(PTERON_MAX_RANK); }
  void assign(const int64_t* sizes, size_t rank) {
    rank_ = rank;
    for (size_t i = 0; i < stored(); ++i) sizes_[i] = sizes[i];
  }

  std::array<int64_t, PTERON_MAX_RANK> sizes_{};
  size_t rank_ = 0;
};

class Tensor;

// A view of a dense or strided array in memory that somebody else owns.
//
//   std::array<int32_t, 6> numbers = {1, 2, 3, 4, 5, 6};
//   pteron::Result<pteron::TensorView> matrix = pteron::TensorView::of(numbers, {2, 3});
//   int32_t last = *matrix->at<int32_t>({1, 2});
//
// Ownership: none; the elements must live as long as the view and what was made of it. Copying copies the view, not the
// elements. Shape and strides are the view's own. Threads: as a plain struct.
class TensorView {
 public:
  // No elements: float32 of shape [0].
  TensorView() {
    shape_ = Shape{0};
    strides_ = Shape{1};
    raw_.dtype = PTERON_FLOAT32;
    point();
  }
  TensorView(const TensorView& other) : raw_(other.raw_), shape_(other.shape_), strides_(other.strides_) { point(); }
  TensorView& operator=(const TensorView& other) {
    raw_ = other.raw_;
    shape_ = other.shape_;
    strides_ = other.strides_;
    point();
    return *this;
  }
  // A view of a tensor that is about to die.
  TensorView(Tensor&&) = delete;
  TensorView& operator=(Tensor&&) = delete;

  // A view of contiguous elements; a pointer to const gives a read-only view. Fails with PTERON_INVALID_ARGUMENT for a
  // bad shape, or a null pointer where the shape has elements.
  template <typename T>
  static Result<TensorView> of(T* data, const Shape& shape) {
    return make(erase(data), element<T>(), std::is_const_v<T>, SIZE_MAX, shape, nullptr);
  }
  // The same with strides, counted in elements; none may be negative.
  template <typename T>
  static Result<TensorView> of(T* data, const Shape& shape, const Shape& strides) {
    return make(erase(data), element<T>(), std::is_const_v<T>, SIZE_MAX, shape, &strides);
  }

  // A view of a vector or array whose count of elements is that of the shape (one dimension, if none is given).
  template <typename T>
  static Result<TensorView> of(std::vector<T>& data, const Shape& shape) {
    return counted(data.data(), data.size(), shape);
  }
  template <typename T>
  static Result<TensorView> of(const std::vector<T>& data, const Shape& shape) {
    return counted(data.data(), data.size(), shape);
  }
  template <typename T>
  static Result<TensorView> of(std::vector<T>& data) {
    return counted(data.data(), data.size(), Shape{static_cast<int64_t>(data.size())});
  }
  template <typename T>
  static Result<TensorView> of(const std::vector<T>& data) {
    return counted(data.data(), data.size(), Shape{static_cast<int64_t>(data.size())});
  }
  template <typename T, size_t N>
  static Result<TensorView> of(std::array<T, N>& data, const Shape& shape) {
    return counted(data.data(), N, shape);
  }
  template <typename T, size_t N>
  static Result<TensorView> of(const std::array<T, N>& data, const Shape& shape) {
    return counted(data.data(), N, shape);
  }
  template <typename T, size_t N>
  static Result<TensorView> of(std::array<T, N>& data) {
    return counted(data.data(), N, Shape{static_cast<int64_t>(N)});
  }
  template <typename T, size_t N>
  static Result<TensorView> of(const std::array<T, N>& data) {
    return counted(data.data(), N, Shape{static_cast<int64_t>(N)});
  }
  // The elements would be gone before the view is used.
  template <typename T>
  static Result<TensorView> of(const std::vector<T>&& data, const Shape& shape) = delete;
  template <typename T>
  static Result<TensorView> of(const std::vector<T>&& data) = delete;
  template <typename T, size_t N>
  static Result<TensorView> of(const std::array<T, N>&& data, const Shape& shape) = delete;
  template <typename T, size_t N>
  static Result<TensorView> of(const std::array<T, N>&& data) = delete;

  // A view whose element type is known at run time only: `bytes` bytes at `data`, which must hold the shape.
  static Result<TensorView> of_bytes(void* data, size_t bytes, DType dtype, const Shape& shape) {
    return make(data, dtype, false, bytes, shape, nullptr);
  }
  static Result<TensorView> of_bytes(const void* data, size_t bytes, DType dtype, const Shape& shape) {
    return make(erase(data), dtype, true, bytes, shape, nullptr);
  }
  static Result<TensorView> of_bytes(void* data, size_t bytes, DType dtype, const Shape& shape, const Shape& strides) {
    return make(data, dtype, false, bytes, shape, &strides);
  }

  // A view of a tensor of the C interface, whose struct is copied.
  static TensorView from_raw(const pteron_tensor& raw) {
    TensorView view;
    view.raw_ = raw;
    const auto rank = static_cast<size_t>(raw.rank);
    view.shape_ = Shape(raw.sizes, rank);
    view.strides_ = Shape(raw.strides, rank);
    view.point();
    return view;
  }

  DType dtype() const { return static_cast<DType>(raw_.dtype); }
  size_t rank() const { return shape_.rank(); }
  const Shape& shape() const { return shape_; }
  const Shape& strides() const { return strides_; }  // in elements
  int64_t size(size_t dimension) const { return shape_[dimension]; }
  // Elements; 1 for rank 0.
  int64_t numel() const { return pteron_tensor_numel(&raw_); }
  // Bytes of the elements, gaps between them not counted.
  size_t bytes() const { return static_cast<size_t>(numel()) * dtype_size(dtype()); }
  bool is_read_only() const { return (raw_.flags & PTERON_TENSOR_READ_ONLY) != 0; }

  // True when the elements lie without gaps, last dimension innermost. Strides of dimensions of size 1 do not matter.
  bool is_contiguous() const {
    int64_t expected = 1;
    if (numel() == 0) return true;
    for (size_t i = rank(); i-- > 0;) {
      if (shape_[i] == 1) continue;
      if (strides_[i] != expected) return false;
      expected *= shape_[i];
    }
    return true;
  }

  // The elements in row-major order. Fails with PTERON_INVALID_ARGUMENT when T is not the tensor's type, or the tensor
  // is not contiguous: use at(), data_pointer() with strides(), or clone().
  template <typename T>
  Result<Span<const T>> data() const {
    PTERON_TRY(check<T>(true));
    return Span<const T>(static_cast<const T*>(raw_.data), static_cast<size_t>(numel()));
  }
  // The same for writing; fails for a read-only view as well.
  template <typename T>
  Result<Span<T>> mutable_data() {
    PTERON_TRY(check<T>(true));
    PTERON_TRY(check_writable());
    return Span<T>(static_cast<T*>(raw_.data), static_cast<size_t>(numel()));
  }

  // One element, whatever the layout. Fails for another type than the tensor's or an index out of range.
  template <typename T>
  Result<T> at(const Shape& index) const {
    PTERON_TRY(check<T>(false));
    if (index.rank() != rank()) {
      return invalid("index " + index.to_string() + " does not fit a tensor of shape " + shape_.to_string());
    }
    int64_t offset = 0;
    for (size_t i = 0; i < rank(); ++i) {
      if (index[i] < 0 || index[i] >= shape_[i]) {
        return invalid("index " + index.to_string() + " is outside of shape " + shape_.to_string());
      }
      offset += index[i] * strides_[i];
    }
    return static_cast<const T*>(raw_.data)[offset];
  }

  // The first element; walk with strides(). Null only when there are no elements.
  const void* data_pointer() const { return raw_.data; }

  // Lets the runtime change the sizes, within the bytes the view was made with: for outputs whose shape varies.
  TensorView& set_resizable(bool resizable) {
    raw_.flags =
        resizable ? raw_.flags | PTERON_TENSOR_RESIZABLE : raw_.flags & ~static_cast<uint32_t>(PTERON_TENSOR_RESIZABLE);
    return *this;
  }

  // A contiguous copy that owns its elements. Fails with PTERON_OUT_OF_MEMORY.
  Result<Tensor> clone() const;

  // For the C interface. The struct points into this view: it is valid as long as the view lives and stays in place.
  const pteron_tensor* raw() const { return &raw_; }
  pteron_tensor* raw() { return &raw_; }

 protected:
  static Status invalid(const std::string& message) { return Status(PTERON_INVALID_ARGUMENT, message.c_str()); }

  // The bytes that a shape with strides spans; checked.
  static Result<size_t> span_bytes(DType dtype, const Shape& shape, const Shape& strides) {
    const size_t width = dtype_size(dtype);
    if (width == 0) return invalid("there is no dtype " + std::to_string(static_cast<int>(dtype)));
    int64_t last = 0;  // the largest offset
    bool empty = false;
    for (size_t i = 0; i < shape.rank(); ++i) {
      if (shape[i] < 0) return invalid("shape " + shape.to_string() + " has a negative size");
      if (strides[i] < 0) return invalid("strides " + strides.to_string() + " have a negative entry");
      if (shape[i] == 0) {
        empty = true;
        continue;
      }
      int64_t step;
      if (__builtin_mul_overflow(shape[i] - 1, strides[i], &step) || __builtin_add_overflow(last, step, &last)) {
        return invalid("shape " + shape.to_string() + " is too large");
      }
    }
    if (empty) return size_t{0};
    size_t bytes;
    if (__builtin_mul_overflow(static_cast<size_t>(last) + 1, width, &bytes) ||
        bytes > static_cast<size_t>(PTRDIFF_MAX)) {
      return invalid("shape " + shape.to_string() + " is too large");
    }
    return bytes;
  }

  // Row-major strides. Fails when their product does not fit, or the rank is above 16.
  static Result<Shape> contiguous_strides(const Shape& shape) {
    if (!shape.is_valid()) {
      return invalid("a tensor has at most " + std::to_string(static_cast<int>(PTERON_MAX_RANK)) + " dimensions, not " +
                     std::to_string(shape.rank()));
    }
    Shape strides = shape;
    int64_t step = 1;
    for (size_t i = shape.rank(); i-- > 0;) {
      strides.sizes_[i] = step;
      if (shape[i] > 1 && __builtin_mul_overflow(step, shape[i], &step)) {
        return invalid("shape " + shape.to_string() + " is too large");
      }
    }
    return strides;
  }

  static Result<TensorView> make(void* data, DType dtype, bool read_only, size_t capacity, const Shape& shape,
                                 const Shape* strides) {
    TensorView view;
    PTERON_ASSIGN(view.strides_, contiguous_strides(shape));
    if (strides != nullptr) {
      if (strides->rank() != shape.rank()) {
        return invalid("strides " + strides->to_string() + " do not fit shape " + shape.to_string());
      }
      view.strides_ = *strides;
    }
    view.shape_ = shape;
    PTERON_ASSIGN(const size_t bytes, span_bytes(dtype, view.shape_, view.strides_));
    if (bytes != 0 && data == nullptr) {
      return invalid("a tensor of shape " + shape.to_string() + " needs elements, the pointer is null");
    }
    if (capacity != SIZE_MAX && bytes > capacity) {
      return invalid("a tensor of shape " + shape.to_string() + " and dtype " + dtype_name(dtype) + " needs " +
                     std::to_string(bytes) + " bytes, there are " + std::to_string(capacity));
    }
    view.raw_.data = data;
    view.raw_.dtype = static_cast<uint8_t>(dtype);
    view.raw_.capacity = capacity == SIZE_MAX ? bytes : capacity;
    view.raw_.flags = read_only ? static_cast<uint32_t>(PTERON_TENSOR_READ_ONLY) : 0u;
    view.point();
    return view;
  }

 private:
  template <typename T>
  static constexpr DType element() {
    return DTypeOf<std::remove_const_t<T>>::value;
  }
  static void* erase(const void* data) { return const_cast<void*>(data); }

  template <typename T>
  static Result<TensorView> counted(T* data, size_t count, const Shape& shape) {
    PTERON_ASSIGN(TensorView view,
                  make(erase(data), element<T>(), std::is_const_v<T>, count * sizeof(T), shape, nullptr));
    if (static_cast<size_t>(view.numel()) != count) {
      return invalid("a tensor of shape " + shape.to_string() + " has " + std::to_string(view.numel()) +
                     " elements, the memory holds " + std::to_string(count));
    }
    return view;
  }

  template <typename T>
  Status check(bool contiguous) const {
    if (element<T>() != dtype()) {
      return invalid(std::string("asked for elements of ") + dtype_name(element<T>()) + ", the tensor holds " +
                     dtype_name(dtype()));
    }
    if (raw_.device_type != PTERON_DEVICE_CPU) return invalid("the elements are not in the CPU's memory");
    if (contiguous && !is_contiguous()) {
      return invalid("the tensor is not contiguous: shape " + shape_.to_string() + ", strides " + strides_.to_string() +
                     "; use at(), strides() or clone()");
    }
    return Status();
  }
  Status check_writable() const { return is_read_only() ? invalid("the tensor is read-only") : Status(); }

  void point() {
    raw_.sizes = shape_.sizes_.data();
    raw_.strides = strides_.sizes_.data();
    raw_.dim_order = nullptr;
    raw_.rank = static_cast<int32_t>(shape_.rank());
  }

  pteron_tensor raw_{};
  Shape shape_;
  Shape strides_;
};

// A tensor that owns its elements: contiguous, aligned to 64 bytes.
//
//   pteron::Result<pteron::Tensor> zeros = pteron::Tensor::create(pteron::DType::kFloat32, {2, 3});
//   (*zeros->mutable_data<float>())[5] = 1;
//
// Move-only; clone() copies. Copying it to a TensorView makes a view of its elements, valid as long as the tensor.
class Tensor : public TensorView {
 public:
  Tensor() = default;  // no elements
  Tensor(Tensor&& other) noexcept
      : TensorView(static_cast<const TensorView&>(other)), storage_(std::move(other.storage_)) {
    other.forget();
  }
  Tensor& operator=(Tensor&& other) noexcept {
    if (this != &other) {
      TensorView::operator=(static_cast<const TensorView&>(other));
      storage_ = std::move(other.storage_);
      other.forget();
    }
    return *this;
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  // All elements zero. Fails with PTERON_INVALID_ARGUMENT for a bad shape, PTERON_OUT_OF_MEMORY.
  static Result<Tensor> create(DType dtype, const Shape& shape) {
    PTERON_ASSIGN(const Shape strides, contiguous_strides(shape));
    PTERON_ASSIGN(const size_t bytes, span_bytes(dtype, shape, strides));
    Tensor tensor;
    // At least one byte, so that the pointer is never null.
    const size_t capacity = bytes == 0 ? 1 : bytes;
    tensor.storage_.reset(::operator new(capacity, std::align_val_t{kAlignment}, std::nothrow));
    if (tensor.storage_ == nullptr) {
      return Status(PTERON_OUT_OF_MEMORY, ("no memory for a tensor of " + std::to_string(bytes) + " bytes").c_str());
    }
    std::memset(tensor.storage_.get(), 0, capacity);
    PTERON_ASSIGN(static_cast<TensorView&>(tensor),
                  make(tensor.storage_.get(), dtype, false, capacity, shape, nullptr));
    return tensor;
  }

  // A copy of a vector's elements.
  template <typename T>
  static Result<Tensor> copy_of(const std::vector<T>& data, const Shape& shape) {
    PTERON_ASSIGN(const TensorView view, TensorView::of(data, shape));
    return view.clone();
  }

 private:
  static constexpr size_t kAlignment = 64;
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t{kAlignment}); }
  };

  void forget() { TensorView::operator=(static_cast<const TensorView&>(TensorView())); }

  std::unique_ptr<void, Free> storage_;
};

namespace detail {

// Copies elements of `width` bytes from strides to row-major order.
inline void copy_strided(const TensorView& from, size_t width, unsigned char* to) {
  const size_t rank = from.rank();
  const auto* source = static_cast<const unsigned char*>(from.data_pointer());
  std::array<int64_t, PTERON_MAX_RANK> index{};
  const int64_t count = from.numel();
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + static_cast<size_t>(i) * width, source + static_cast<size_t>(offset) * width, width);
    for (size_t d = rank; d-- > 0;) {
      offset += from.strides()[d];
      if (++index[d] < from.size(d)) break;
      offset -= from.strides()[d] * from.size(d);
      index[d] = 0;
    }
  }
}

}  // namespace detail

inline Result<Tensor> TensorView::clone() const {
  if (raw_.device_type != PTERON_DEVICE_CPU) return invalid("the elements are not in the CPU's memory");
  PTERON_ASSIGN(Tensor copy, Tensor::create(dtype(), shape_));
  auto* to = static_cast<unsigned char*>(copy.raw()->data);
  if (is_contiguous()) {
    if (bytes() != 0) std::memcpy(to, raw_.data, bytes());
  } else {
    detail::copy_strided(*this, dtype_size(dtype()), to);
  }
  return copy;
}

}  // namespace v1_0
}  // namespace pteron
