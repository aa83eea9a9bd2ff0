// Tensors of a method: their description, and where their memory comes from.
#pragma once

#include <vector>

#include "format/method_context.h"
#include "format/program_file.h"

namespace pteron::format {

// Reads one tensor. `buffer_bytes` are the method's planned buffers, against which a planned tensor is checked.
Result<Tensor> read_tensor(const pte::Tensor& tensor, const std::vector<uint64_t>& buffer_bytes,
                           const std::vector<BufferDevice>& buffer_devices, MethodContext& context);

// 0 or 1 for the devices there are, otherwise a failure.
Status check_device(int8_t device_type);

}  // namespace pteron::format
