#include "format/tensor_reader.h"

#include <cinttypes>

#include "base/checked.h"
#include "base/error.h"
#include "format/name.h"
#include "format/shape.h"

namespace pteron::format {
namespace {

enum Location : int8_t { kInSegment = 0, kExternal = 1 };
enum Dynamism : int8_t { kStatic = 0, kBounded = 1, kUnbounded = 2 };

Status check_plain(const pte::Tensor& tensor) {
  if (tensor.storage_offset() != 0) {
    return error(PTERON_INVALID_FILE, "the storage offset is %d, expected 0", tensor.storage_offset());
  }
  if (tensor.layout() != 0) {
    return error(PTERON_UNSUPPORTED, "the layout is %d, expected 0 (strided)", tensor.layout());
  }
  return {};
}

Status read_dynamism(const pte::Tensor& from, Tensor* to) {
  switch (from.shape_dynamism()) {
    case kStatic:
      return {};
    case kBounded:
      to->bounded = true;
      return {};
    case kUnbounded:
      return error(PTERON_UNSUPPORTED,
                   "its shape has no upper bound; export it again with an upper bound for every "
                   "dynamic size (torch.export.Dim(name, max=...))");
    default:
      return error(PTERON_INVALID_FILE, "the shape dynamism is %d, expected 0 (static), 1 (bounded) or 2 (unbounded)",
                   from.shape_dynamism());
  }
}

// Id and offset of a planned tensor.
Status read_allocation(const pte::AllocationDetails& from, const std::vector<uint64_t>& buffer_bytes,
                       const std::vector<BufferDevice>& buffer_devices, Tensor* to) {
  to->memory_id = from.memory_id();
  if (to->memory_id == 0 || to->memory_id > buffer_bytes.size()) {
    return error(PTERON_INVALID_FILE, "its memory id is %u, expected 1 to %zu (the method's planned buffers)",
                 to->memory_id, buffer_bytes.size());
  }
  to->memory_offset = uint64_t{from.memory_offset_high()} << 32 | from.memory_offset_low();
  const uint64_t room = buffer_bytes[to->memory_id - 1];
  if (!range_fits(to->memory_offset, to->bytes, room)) {
    return error(PTERON_INVALID_FILE,
                 "%" PRIu64 " bytes at offset %" PRIu64 " do not fit planned buffer %u of %" PRIu64 " bytes", to->bytes,
                 to->memory_offset, to->memory_id, room);
  }
  if (to->memory_offset % pteron_dtype_size(to->dtype) != 0) {
    return error(PTERON_INVALID_FILE, "the offset %" PRIu64 " in planned buffer %u is misaligned for %s",
                 to->memory_offset, to->memory_id, pteron_dtype_name(to->dtype));
  }
  const uint8_t buffer_device = buffer_devices[to->memory_id - 1].type;
  if (buffer_device != PTERON_DEVICE_CPU && buffer_device != to->device_type) {
    return error(PTERON_INVALID_FILE, "it is a tensor of device type %d in planned buffer %u of device type %d",
                 to->device_type, to->memory_id, buffer_device);
  }
  return {};
}

Status use_bytes(const ByteView& entry, MethodContext& context, Tensor* to) {
  if (to->bytes > entry.size) {
    return error(PTERON_INVALID_FILE, "%s needs %" PRIu64 " bytes, the file stores %" PRIu64,
                 shape_text(to->dtype, to->sizes).c_str(), to->bytes, entry.size);
  }
  PTERON_ASSIGN(to->data, context.copies.aligned(entry, pteron_dtype_size(to->dtype)));
  return {};
}

Status read_external(const pte::Tensor& from, Tensor* to) {
  if (to->name.empty()) {
    return error(PTERON_INVALID_FILE, "its data is in a data file, but it has no name to find it by");
  }
  const bool planned = from.allocation_info() != nullptr;
  to->storage = planned ? Storage::kPlannedExternalInit : Storage::kExternalConstant;
  if (!planned) to->bounded = false;
  return {};
}

Status read_internal(const pte::Tensor& from, MethodContext& context, Tensor* to) {
  const uint32_t index = from.data_buffer_idx();
  const bool planned = from.allocation_info() != nullptr;
  if (index == 0) {
    to->storage = planned ? Storage::kPlanned : Storage::kUnplanned;
    return {};
  }
  if (!planned) {
    to->storage = Storage::kConstant;
    to->bounded = false;  // stored bytes have one size
    Result<ByteView> entry = context.constants.constant(index);
    if (!entry) return with_place(std::move(entry).status(), "its constant");
    return with_place(use_bytes(*entry, context, to), "constant %u", index);
  }
  to->storage = Storage::kPlannedInitialised;
  const pte::ExtraTensorInfo* extra = from.extra_tensor_info();
  Result<ByteView> entry = context.constants.initial(extra == nullptr ? 0 : extra->mutable_data_segments_idx(), index);
  if (!entry) return with_place(std::move(entry).status(), "its initial state");
  return with_place(use_bytes(*entry, context, to), "initial state %u", index);
}

}  // namespace

Status check_device(int8_t device_type) {
  if (device_type == PTERON_DEVICE_CPU || device_type == PTERON_DEVICE_CUDA) return {};
  return error(PTERON_INVALID_FILE, "device type %d is unknown, expected 0 (CPU) or 1 (CUDA)", device_type);
}

Result<Tensor> read_tensor(const pte::Tensor& tensor, const std::vector<uint64_t>& buffer_bytes,
                           const std::vector<BufferDevice>& buffer_devices, MethodContext& context) {
  PTERON_TRY(context.budget.take(tensor.sizes() == nullptr ? 0 : uint64_t{tensor.sizes()->size()} * 5));
  PTERON_ASSIGN(Shape shape, read_shape(tensor.scalar_type(), tensor.sizes(), tensor.dim_order()));
  PTERON_TRY(check_plain(tensor));

  Tensor result;
  result.dtype = shape.dtype;
  result.bytes = shape.bytes;
  result.sizes = std::move(shape.sizes);
  result.dim_order = std::move(shape.dim_order);
  PTERON_TRY(read_dynamism(tensor, &result));

  int8_t location = kInSegment;
  if (const pte::ExtraTensorInfo* extra = tensor.extra_tensor_info()) {
    PTERON_ASSIGN(result.name, read_optional_name(extra->fully_qualified_name(), "its name"));
    PTERON_TRY(check_device(extra->device_type()));
    result.device_type = static_cast<uint8_t>(extra->device_type());
    result.device_index = extra->device_index();
    location = extra->location();
  }
  if (tensor.allocation_info() != nullptr) {
    PTERON_TRY(read_allocation(*tensor.allocation_info(), buffer_bytes, buffer_devices, &result));
  }
  switch (location) {
    case kInSegment:
      PTERON_TRY(read_internal(tensor, context, &result));
      break;
    case kExternal:
      PTERON_TRY(read_external(tensor, &result));
      break;
    default:
      return error(PTERON_INVALID_FILE, "the location of its data is %d, expected 0 (this file) or 1 (a data file)",
                   location);
  }
  return result;
}

}  // namespace pteron::format
