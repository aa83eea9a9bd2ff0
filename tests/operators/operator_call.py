"""Calls one operator of libpteron_kernels.so on torch tensors, through pteron_operator_probe.

    library = OperatorLibrary("build/dev/lib/libpteron_operator_probe.so")
    out = library.run("aten::add.out", [a, b, 1], [torch.empty_like(a)])

Outputs are written into memory with a margin on both sides; a changed margin is an error.
"""
import ctypes
import re

import torch

DTYPES = {
    torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5,
    torch.float32: 6, torch.float64: 7, torch.bool: 11, torch.bfloat16: 15, torch.uint16: 27, torch.uint32: 28,
    torch.uint64: 29,
}
MARGIN = 256  # bytes
FILL = 0xA5


class OperatorFailure(Exception):
    pass


class RawTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("sizes", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("dim_order", ctypes.c_void_p),
                ("capacity", ctypes.c_size_t), ("rank", ctypes.c_int32), ("dtype", ctypes.c_uint8),
                ("device_type", ctypes.c_uint8), ("device_index", ctypes.c_int8), ("reserved0", ctypes.c_uint8),
                ("flags", ctypes.c_uint32), ("reserved1", ctypes.c_uint32), ("reserved", ctypes.c_uint8 * 32)]


class RawList(ctypes.Structure):
    _fields_ = [("items", ctypes.c_void_p), ("count", ctypes.c_size_t)]


class RawUnion(ctypes.Union):
    _fields_ = [("as_int", ctypes.c_int64), ("as_double", ctypes.c_double), ("as_bool", ctypes.c_uint8),
                ("tensor", ctypes.c_void_p), ("list", RawList)]


class RawValue(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("flags", ctypes.c_uint32), ("value", RawUnion)]


NONE, INT, BOOL, DOUBLE, TENSOR, STRING, INT_LIST, DOUBLE_LIST, BOOL_LIST, TENSOR_LIST, OPTIONAL_TENSOR_LIST = range(
    1, 12)


def parameters(schema):
    """The types of a schema's parameters, in order: "Tensor", "Tensor?", "int[]", "out" for what is written..."""
    depth, start, parts = 0, 1, []
    for i, c in enumerate(schema):
        if c in "([":
            depth += 1
        if c in ")]":
            depth -= 1
            if depth == 0:
                parts.append(schema[start:i])
                break
        if c == "," and depth == 1:
            parts.append(schema[start:i])
            start = i + 1
    kinds = []
    for part in (p.strip() for p in parts):
        if part in ("*", ""):
            continue
        kind = part.split(" ")[0]
        kinds.append(re.sub(r"\([a-z]!\)", "!", re.sub(r"\[\d+\]", "[]", kind)))
    return kinds


class _Arguments:
    """Keeps everything alive that the raw values point to."""

    def __init__(self):
        self.kept = []
        self.margins = []

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def tensor(self, tensor, present=True):
        raw = RawTensor()
        rank = tensor.dim()
        raw.sizes = self.keep((ctypes.c_int64 * max(rank, 1))(*tensor.shape))
        raw.strides = self.keep((ctypes.c_int64 * max(rank, 1))(*tensor.stride()))
        raw.rank = rank
        raw.dtype = DTYPES[tensor.dtype]
        raw.data = tensor.data_ptr() if present else None
        raw.capacity = tensor.numel() * tensor.element_size()
        self.keep(tensor)
        return self.keep(raw)

    def value(self, kind, thing, present):
        raw = self.keep(RawValue())
        base = kind.rstrip("?!").replace("[]?", "[]")
        if thing is None:
            raw.kind = NONE
        elif isinstance(thing, torch.Tensor):
            raw.kind = TENSOR
            raw.value.tensor = ctypes.addressof(self.tensor(thing, present))
        elif base.startswith("Tensor"):
            pointers = self.keep((ctypes.c_void_p * max(len(thing), 1))())
            for i, item in enumerate(thing):
                pointers[i] = None if item is None else ctypes.addressof(self.tensor(item, present))
            raw.kind = OPTIONAL_TENSOR_LIST if base.startswith("Tensor?") else TENSOR_LIST
            raw.value.list = RawList(ctypes.addressof(pointers), len(thing))
        elif isinstance(thing, str):
            text = self.keep(ctypes.create_string_buffer(thing.encode()))
            raw.kind = STRING
            raw.value.list = RawList(ctypes.addressof(text), len(thing))
        elif isinstance(thing, (list, tuple)):
            element, raw.kind = {"float[]": (ctypes.c_double, DOUBLE_LIST),
                                 "bool[]": (ctypes.c_uint8, BOOL_LIST)}.get(base, (ctypes.c_int64, INT_LIST))
            items = self.keep((element * max(len(thing), 1))(*thing))
            raw.value.list = RawList(ctypes.addressof(items), len(thing))
        elif isinstance(thing, bool):
            raw.kind = BOOL
            raw.value.as_bool = thing
        elif isinstance(thing, float) or base == "float":
            raw.kind = DOUBLE
            raw.value.as_double = thing
        else:
            raw.kind = INT
            raw.value.as_int = thing
        return raw


def guarded(like):
    """Memory laid out like a tensor, filled with a pattern, and the bytes around it."""
    bytes_needed = like.numel() * like.element_size()
    storage = torch.full((bytes_needed + 2 * MARGIN,), FILL, dtype=torch.uint8)
    view = storage[MARGIN:MARGIN + bytes_needed].view(like.dtype) if bytes_needed else torch.empty(0, dtype=like.dtype)
    return torch.as_strided(view, like.shape, like.stride()) if bytes_needed else like, storage


class OperatorLibrary:
    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        self._library.probe_schema.restype = ctypes.c_char_p
        self._library.probe_name.restype = ctypes.c_char_p
        self._library.probe_count.restype = ctypes.c_size_t
        self._library.probe_dtypes.restype = ctypes.POINTER(ctypes.c_uint32)

    def names(self):
        return [self._library.probe_name(ctypes.c_size_t(i)).decode() for i in range(self._library.probe_count())]

    def schema(self, name):
        text = self._library.probe_schema(name.encode())
        if text is None:
            raise OperatorFailure(f"no operator {name}")
        return text.decode()

    def set_threads(self, threads):
        if self._library.probe_set_threads(threads) != 0:
            raise OperatorFailure(f"{threads} threads are not possible")

    def run(self, name, inputs, outputs, constants=None, runs=1):
        """Runs `name` on inputs and tensors like `outputs`; returns the written tensors.

        constants: the positions of inputs that are constants of the program; the operator is then prepared first.
        Inputs that the operator writes are written in place.
        """
        kinds = parameters(self.schema(name))
        written = [guarded(out) for out in outputs]
        things = list(inputs) + [tensor for tensor, _ in written]
        if len(things) != len(kinds):
            raise ValueError(f"{name} takes {len(kinds)} arguments, got {len(things)}")
        arguments = _Arguments()

        def values(present):
            raw = [arguments.value(kind, thing, present(i)) for i, (kind, thing) in enumerate(zip(kinds, things))]
            return arguments.keep((ctypes.POINTER(RawValue) * len(raw))(*[ctypes.pointer(v) for v in raw]))

        args = values(lambda i: True)
        prepared = None if constants is None else values(lambda i: i in constants)
        error = ctypes.create_string_buffer(2048)
        code = self._library.probe_call(name.encode(), args, ctypes.c_size_t(len(things)), prepared, runs, error,
                                        ctypes.c_size_t(len(error)))
        if code != 0:
            raise OperatorFailure(f"code {code}: {error.value.decode()}")
        for tensor, storage in written:
            end = MARGIN + tensor.numel() * tensor.element_size()
            if tensor.numel() and not ((storage[:MARGIN] == FILL).all() and (storage[end:] == FILL).all()):
                raise OperatorFailure("memory beside an output was written")
        return [tensor for tensor, _ in written]
