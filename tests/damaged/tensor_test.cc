// Descriptions of tensors: checks T1 to T15, cases A01, A06 and A19.
#include "program_edit.h"

namespace pteron::damaged {
namespace {

// linear.pte with its first planned tensor (value 2, the input) changed.
template <typename Change>
Outcome load_changed(const Change& change) {
  ProgramEdit edit("linear.pte");
  change(edit.tensor(edit.planned()));
  return load(edit.pack());
}

FileBytes without(flatbuffers::voffset_t field) {
  ProgramEdit edit("linear.pte");
  const size_t index = edit.planned();
  FileBytes file = edit.pack();
  const auto* values = root_of(&file)->execution_plan()->Get(0)->values();
  drop_field(values->Get(static_cast<uint32_t>(index))->val_as_Tensor(), field);
  return file;
}

TEST(Tensor, T1_SizesAbsent) {
  expect_invalid(load(without(pte::Tensor::VT_SIZES)), {"value 2", "sizes are absent"});
}

TEST(Tensor, T1_DimOrderAbsent) {
  expect_invalid(load(without(pte::Tensor::VT_DIM_ORDER)), {"value 2", "dim order is absent"});
}

TEST(Tensor, T2_DimOrderShorterThanSizes) {
  expect_invalid(load_changed([](pte::TensorT& t) { t.dim_order.pop_back(); }),
                 {"value 2", "dim order has 1 entries", "2"});
}

TEST(Tensor, T2_DimOrderLongerThanSizes) {
  expect_invalid(load_changed([](pte::TensorT& t) { t.dim_order.push_back(2); }), {"dim order has 3 entries"});
}

TEST(Tensor, T3_A06_RankAboveTheLimit) {
  expect_invalid(load_changed([](pte::TensorT& t) {
                   t.sizes.assign(17, 1);
                   t.dim_order.clear();
                   for (uint8_t i = 0; i < 17; ++i) t.dim_order.push_back(i);
                 }),
                 {"value 2", "rank is 17", "at most 16"});
}

TEST(Tensor, T3_RankAtTheLimitIsAllowed) {
  expect_loads(load_changed([](pte::TensorT& t) {
    t.sizes.assign(16, 1);
    t.dim_order.clear();
    for (uint8_t i = 0; i < 16; ++i) t.dim_order.push_back(i);
  }));
}

TEST(Tensor, T4_NegativeSize) {
  expect_invalid(load_changed([](pte::TensorT& t) { t.sizes.at(0) = -1; }), {"value 2", "hold a negative one", "[-1,"});
}

TEST(Tensor, T4_MostNegativeSize) {
  expect_invalid(load_changed([](pte::TensorT& t) { t.sizes.at(0) = INT32_MIN; }), {"hold a negative one"});
}

void set_sizes(pte::TensorT& tensor, std::vector<int32_t> sizes) {
  tensor.dim_order.clear();
  for (size_t i = 0; i < sizes.size(); ++i) tensor.dim_order.push_back(static_cast<uint8_t>(i));
  tensor.sizes = std::move(sizes);
}

TEST(Tensor, T5_A01_ByteCountOverflows) {
  expect_invalid(load_changed([](pte::TensorT& t) {
                   set_sizes(t, {INT32_MAX, INT32_MAX, 4});
                 }),
                 {"value 2", "byte count", "[2147483647, 2147483647, 4]", "overflows"});
}

TEST(Tensor, T5_ALaterZeroDoesNotHideIt) {
  expect_invalid(load_changed([](pte::TensorT& t) {
                   set_sizes(t, {INT32_MAX, INT32_MAX, INT32_MAX, 0});
                 }),
                 {"byte count", "overflows"});
}

TEST(Tensor, T5_AnEarlierZeroDoesNotHideIt) {
  expect_invalid(load_changed([](pte::TensorT& t) {
                   set_sizes(t, {0, INT32_MAX, INT32_MAX, INT32_MAX});
                 }),
                 {"byte count", "overflows"});
}

TEST(Tensor, T6_StridesAreWiderThanThirtyTwoBits) {
  // The outermost stride is 2^33 elements; the byte count fits, the planned buffer does not.
  expect_invalid(load_changed([](pte::TensorT& t) {
                   set_sizes(t, {2, 1 << 20, 1 << 13});
                 }),
                 {"68719476736 bytes at offset", "do not fit planned buffer"});
}

TEST(Tensor, T7_A19_DimOrderRepeats) {
  expect_invalid(load_changed([](pte::TensorT& t) {
                   set_sizes(t, {2, 3, 4});
                   t.dim_order = {0, 0, 0};
                 }),
                 {"value 2", "[0, 0, 0] is not a permutation of 0..2"});
}

TEST(Tensor, T7_DimOrderOutOfRange) {
  expect_invalid(load_changed([](pte::TensorT& t) { t.dim_order.at(0) = 255; }), {"[255, 1] is not a permutation"});
}

TEST(Tensor, T8_UnknownElementType) {
  expect_invalid(load_changed([](pte::TensorT& t) { t.scalar_type = 77; }), {"value 2", "element type 77 is unknown"});
}

TEST(Tensor, T8_NegativeElementType) {
  expect_invalid(load_changed([](pte::TensorT& t) { t.scalar_type = -1; }), {"element type -1 is unknown"});
}

TEST(Tensor, T8_QuantizedElementType) {
  expect_refused(load_changed([](pte::TensorT& t) { t.scalar_type = 12; }), PTERON_UNSUPPORTED,
                 {"value 2", "element type 12", "quantized"});
}

TEST(Tensor, T8_PackedElementType) {
  expect_refused(load_changed([](pte::TensorT& t) { t.scalar_type = 16; }), PTERON_UNSUPPORTED, {"element type 16"});
}

TEST(Tensor, T9_UnknownDynamism) {
  expect_invalid(load_changed([](pte::TensorT& t) { t.shape_dynamism = 3; }), {"value 2", "shape dynamism is 3"});
}

TEST(Tensor, T9_UnboundShape) {
  expect_refused(load_changed([](pte::TensorT& t) { t.shape_dynamism = 2; }), PTERON_UNSUPPORTED,
                 {"method 'forward'", "value 2", "no upper bound", "Dim"});
}

TEST(Tensor, T10_StorageOffset) {
  expect_invalid(load_changed([](pte::TensorT& t) { t.storage_offset = 1; }), {"value 2", "storage offset is 1"});
}

TEST(Tensor, UnknownLayout) {
  expect_refused(load_changed([](pte::TensorT& t) { t.layout = 1; }), PTERON_UNSUPPORTED, {"value 2", "layout is 1"});
}

TEST(Tensor, T11_ConstantIndexOutOfRange) {
  ProgramEdit edit("linear.pte");
  edit.tensor(edit.constant()).data_buffer_idx = 0xffffffff;
  expect_invalid(load(edit.pack()), {"constant", "entry 4294967295", "there are 3"});
}

TEST(Tensor, T11_ConstantShorterThanItsTensor) {
  ProgramEdit edit("linear.pte");
  edit.tensor(edit.constant()).sizes.at(0) += 1000;
  expect_invalid(load(edit.pack()), {"constant 1", "needs", "the file stores 48"});
}

TEST(Tensor, T11_InlineConstantShorterThanItsTensor) {
  ProgramEdit edit("linear.pte");
  edit.root().constant_segment.reset();
  for (int i = 0; i < 3; ++i) edit.root().constant_buffer.push_back(std::make_unique<pte::BufferT>());
  expect_invalid(load(edit.pack()), {"constant 1", "the file stores 0"});
}

TEST(Tensor, T11_InlineConstantWithoutBytes) {
  ProgramEdit edit("linear.pte");
  edit.root().constant_segment.reset();
  for (int i = 0; i < 3; ++i) edit.root().constant_buffer.push_back(std::make_unique<pte::BufferT>());
  FileBytes file = edit.pack();
  drop_field(root_of(&file)->constant_buffer()->Get(1), pte::Buffer::VT_STORAGE);
  expect_invalid(load(file), {"constant 1 has no bytes"});
}

TEST(Tensor, T12_PlannedConstantNeedsAnInitialState) {
  ProgramEdit edit("linear.pte");
  auto& tensor = edit.tensor(edit.planned());
  tensor.data_buffer_idx = 1;
  expect_invalid(load(edit.pack()), {"value 2", "initial state 0 is referred to, the program has 0"});
}

TEST(Tensor, T14_MoveOntoAConstant) {
  ProgramEdit edit("linear.pte");
  const size_t constant = edit.constant();
  const pte::TensorT& shape = edit.tensor(constant);
  pte::TensorT source;
  source.scalar_type = shape.scalar_type;
  source.sizes = shape.sizes;
  source.dim_order = shape.dim_order;
  const size_t from = edit.add_value(std::move(source));
  pte::MoveCallT move;
  move.move_from = static_cast<int32_t>(from);
  move.move_to = static_cast<int32_t>(constant);
  edit.add_instruction(move);
  expect_invalid(load(edit.pack()), {"chain 0", "instruction 2", "which is a constant"});
}

void set_extra(pte::TensorT& tensor) {
  tensor.extra_tensor_info = std::make_unique<pte::ExtraTensorInfoT>();
}

TEST(Tensor, T15_UnknownDevice) {
  expect_invalid(load_changed([](pte::TensorT& t) {
                   set_extra(t);
                   t.extra_tensor_info->device_type = 5;
                 }),
                 {"value 2", "device type 5 is unknown"});
}

TEST(Tensor, UnknownLocation) {
  expect_invalid(load_changed([](pte::TensorT& t) {
                   set_extra(t);
                   t.extra_tensor_info->location = 2;
                 }),
                 {"value 2", "location of its data is 2"});
}

TEST(Tensor, ExternalWithoutAName) {
  expect_invalid(load_changed([](pte::TensorT& t) {
                   set_extra(t);
                   t.extra_tensor_info->location = 1;
                 }),
                 {"value 2", "no name to find it by"});
}

TEST(Tensor, V4_ZeroInAName) {
  expect_invalid(load_changed([](pte::TensorT& t) {
                   set_extra(t);
                   t.extra_tensor_info->fully_qualified_name = std::string("a\0b", 3);
                 }),
                 {"value 2", "name has a zero byte"});
}

}  // namespace
}  // namespace pteron::damaged
