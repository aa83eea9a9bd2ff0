#include "format/delegate_reader.h"

#include "base/error.h"
#include "format/name.h"

namespace pteron::format {
namespace {

enum Location : int8_t { kInline = 0, kSegment = 1 };

Result<ByteView> read_inline(uint32_t index, const pte::Program& program) {
  const auto* list = program.backend_delegate_data();
  const uint32_t count = list == nullptr ? 0 : list->size();
  if (index >= count) {
    return error(PTERON_INVALID_FILE, "its payload is inline entry %u, the program has %u", index, count);
  }
  const flatbuffers::Vector<uint8_t>* data = list->Get(index)->data();
  if (data == nullptr) return error(PTERON_INVALID_FILE, "its payload, inline entry %u, has no data", index);
  return ByteView{data->data(), data->size()};
}

Result<ByteView> read_payload(const pte::BackendDelegate& from, MethodContext& context) {
  const pte::BackendDelegateDataReference* reference = from.processed();
  if (reference == nullptr) return error(PTERON_INVALID_FILE, "the reference to its payload ('processed') is absent");
  switch (reference->location()) {
    case kInline:
      return read_inline(reference->index(), context.program);
    case kSegment: {
      Result<ByteView> segment = context.segments.segment(reference->index());
      if (!segment) return with_place(std::move(segment).status(), "its payload");
      return segment;
    }
    default:
      return error(PTERON_INVALID_FILE, "the location of its payload is %d, expected 0 (inline) or 1 (segment)",
                   reference->location());
  }
}

Status read_specs(const pte::BackendDelegate& from, MethodContext& context, Delegate* to) {
  if (from.compile_specs() == nullptr) return {};
  PTERON_TRY(context.budget.take(uint64_t{from.compile_specs()->size()} * 4));
  for (const pte::CompileSpec* entry : *from.compile_specs()) {
    const size_t index = to->specs.size();
    Result<std::string_view> key = read_name(entry->key(), "its key");
    if (!key) return with_place(std::move(key).status(), "compile spec %zu", index);
    if (entry->value() == nullptr) {
      return error(PTERON_INVALID_FILE, "compile spec %zu ('%s'): its value is absent", index,
                   printable(key->data(), key->size()).c_str());
    }
    to->specs.push_back({*key, ByteView{entry->value()->data(), entry->value()->size()}});
  }
  return {};
}

Result<Delegate> read_delegate(const pte::BackendDelegate& from, MethodContext& context) {
  Delegate delegate;
  PTERON_ASSIGN(delegate.id, read_name(from.id(), "its id"));
  PTERON_ASSIGN(delegate.payload, read_payload(from, context));
  PTERON_TRY(read_specs(from, context, &delegate));
  return delegate;
}

}  // namespace

Status read_delegates(const pte::ExecutionPlan& plan, MethodContext& context, Method* method) {
  for (const pte::BackendDelegate* from : *plan.delegates()) {
    Result<Delegate> delegate = read_delegate(*from, context);
    if (!delegate) return with_place(std::move(delegate).status(), "delegate %zu", method->delegates.size());
    method->delegates.push_back(*std::move(delegate));
  }
  return {};
}

}  // namespace pteron::format
