// Values that are not tensors: checks E1 to E5.
#include "program_edit.h"

namespace pteron::damaged {
namespace {

constexpr int32_t kFar = 0x7fffffff;

template <typename List>
Outcome load_with(const List& list) {
  ProgramEdit edit("linear.pte");
  edit.add_value(list);
  return load(edit.pack());
}

template <typename List, typename Item>
List list_of(std::vector<Item> items) {
  List list;
  list.items = std::move(items);
  return list;
}

using IntList = pte::IntListT;
using TensorList = pte::TensorListT;
using OptionalTensorList = pte::OptionalTensorListT;

// Indices in linear.pte of a value of a kind.
int32_t index_of(pte::KernelTypes kind) {
  return static_cast<int32_t>(ProgramEdit("linear.pte").find(kind));
}

TEST(Value, E1_IntListItemNegative) {
  expect_invalid(load_with(list_of<IntList>(std::vector<int64_t>{-1})), {"value 10", "item 0", "value index -1"});
}

TEST(Value, E1_IntListItemBeyondTheValues) {
  expect_invalid(load_with(list_of<IntList>(std::vector<int64_t>{11})), {"value 10", "value index 11", "0 to 10"});
}

TEST(Value, E1_IntListItemBeyondThirtyTwoBits) {
  expect_invalid(load_with(list_of<IntList>(std::vector<int64_t>{int64_t{1} << 32})), {"value index 4294967296"});
}

TEST(Value, E1_IntListItemIsATensor) {
  const int64_t tensor = index_of(pte::KernelTypes::Tensor);
  expect_invalid(load_with(list_of<IntList>(std::vector<int64_t>{tensor})),
                 {"item 0", "kind tensor", "expected kind int"});
}

TEST(Value, E2_TensorListItemNegative) {
  expect_invalid(load_with(list_of<TensorList>(std::vector<int32_t>{-1})), {"value 10", "item 0", "value index -1"});
}

TEST(Value, E2_TensorListItemBeyondTheValues) {
  expect_invalid(load_with(list_of<TensorList>(std::vector<int32_t>{kFar})), {"value index 2147483647"});
}

TEST(Value, E2_TensorListOfItself) {
  expect_invalid(load_with(list_of<TensorList>(std::vector<int32_t>{10})),
                 {"value 10", "item 0", "kind tensor list", "expected kind tensor"});
}

TEST(Value, E2_TensorListItemIsAnInt) {
  const int32_t number = index_of(pte::KernelTypes::Int);
  expect_invalid(load_with(list_of<TensorList>(std::vector<int32_t>{number})), {"kind int", "expected kind tensor"});
}

TEST(Value, E2_ForwardReferenceIsAllowed) {
  ProgramEdit edit("linear.pte");
  edit.add_value(list_of<TensorList>(std::vector<int32_t>{11}));
  pte::TensorT tensor;
  tensor.scalar_type = 6;
  edit.add_value(std::move(tensor));
  expect_loads(load(edit.pack()));
}

TEST(Value, E3_MinusOneIsNone) {
  expect_loads(load_with(list_of<OptionalTensorList>(std::vector<int32_t>{-1, 0})));
}

TEST(Value, E3_OtherNegativesAreRefused) {
  expect_invalid(load_with(list_of<OptionalTensorList>(std::vector<int32_t>{-2})), {"value index -2", "-1 for none"});
}

TEST(Value, E3_ItemBeyondTheValues) {
  expect_invalid(load_with(list_of<OptionalTensorList>(std::vector<int32_t>{11})), {"value index 11"});
}

template <typename List>
Outcome load_without_items(const List* (pte::EValue::*as)() const, pte::KernelTypes kind) {
  ProgramEdit edit("linear.pte");
  const size_t index = edit.add_value(typename List::NativeTableType());
  EXPECT_EQ(edit.value(index).val.type, kind);
  FileBytes file = edit.pack();
  const auto* values = root_of(&file)->execution_plan()->Get(0)->values();
  drop_field((values->Get(static_cast<uint32_t>(index))->*as)(), List::VT_ITEMS);
  return load(file);
}

TEST(Value, ItemsOfAnIntListAbsent) {
  expect_invalid(load_without_items<pte::IntList>(&pte::EValue::val_as_IntList, pte::KernelTypes::IntList),
                 {"items of the list are absent"});
}

TEST(Value, ItemsOfATensorListAbsent) {
  expect_invalid(load_without_items<pte::TensorList>(&pte::EValue::val_as_TensorList, pte::KernelTypes::TensorList),
                 {"value 10", "items of the list are absent"});
}

TEST(Value, ItemsOfADoubleListAbsent) {
  expect_invalid(load_without_items<pte::DoubleList>(&pte::EValue::val_as_DoubleList, pte::KernelTypes::DoubleList),
                 {"value 10", "items of the list are absent"});
}

TEST(Value, E5_BoolListBytes) {
  ProgramEdit edit("linear.pte");
  pte::BoolListT list;
  list.items = {true, false, true};
  const size_t index = edit.add_value(std::move(list));
  FileBytes file = edit.pack();
  const auto* value = root_of(&file)->execution_plan()->Get(0)->values()->Get(static_cast<uint32_t>(index));
  const_cast<uint8_t*>(value->val_as_BoolList()->items()->Data())[1] = 2;
  expect_invalid(load(file), {"value 10", "item 1", "byte 2", "expected 0 or 1"});
}

}  // namespace
}  // namespace pteron::damaged
