#!/usr/bin/env python3
"""Compares operators with eager PyTorch on random shapes, dtypes and memory layouts.

    ninja pteron_operator_probe && against_eager.py lib/libpteron_operator_probe.so [--seed N] [--cases N] [FAMILY...]

Each case is run as it is, prepared with constant weights, and with another number of threads, which must give the same
bits. 16-bit floats are compared with the float32 result rounded once. A failure prints what reproduces it.
"""
import argparse
import itertools
import math
import random
import sys
import traceback

import torch

from operator_call import OperatorFailure, OperatorLibrary

aten = torch.ops.aten
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
HALVES = (torch.float16, torch.bfloat16)


class Case:
    """One call: name, inputs, expected outputs; `constants` are positions of inputs that a program could hold."""

    def __init__(self, name, inputs, expected, constants=(), rtol=2e-5, atol=2e-5, layouts=None):
        self.name, self.inputs, self.constants = name, inputs, constants
        self.expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
        self.rtol, self.atol, self.layouts = rtol, atol, layouts


class Draw:
    """Random ingredients of cases."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)

    def int(self, low, high):
        return self.random.randint(low, high)

    def pick(self, things):
        return self.random.choice(things)

    def chance(self, probability):
        return self.random.random() < probability

    def dense(self, shape, dtype, order=None):
        """Empty memory without gaps in a random (or the given) order of dimensions."""
        rank = len(shape)
        if order is None:
            order = list(range(rank))
            if rank >= 3 and self.chance(0.3):
                order = [0, *range(2, rank), 1]
            elif self.chance(0.15):
                self.random.shuffle(order)
        strides, stride = [0] * rank, 1
        for d in reversed(order):
            strides[d] = stride
            stride *= max(shape[d], 1)
        return torch.empty_strided(list(shape), strides, dtype=dtype)

    def tensor(self, shape, dtype, low=-3, high=3, order=None):
        out = self.dense(shape, dtype, order)
        if dtype == torch.bool:
            out.copy_(torch.rand(list(shape), generator=self.generator) < 0.5)
        elif dtype.is_floating_point:
            out.copy_(torch.rand(list(shape), generator=self.generator, dtype=torch.float64) * (high - low) + low)
        else:
            out.copy_(torch.randint(int(low) if dtype != torch.uint8 else 0, int(high) + 1, list(shape),
                                    generator=self.generator))
        return out

    def index(self, shape, low, high, dtype=None):
        """Integers in [low, high)."""
        dtype = dtype or self.pick([torch.int64, torch.int32])
        out = self.dense(shape, dtype)
        if math.prod(shape):
            out.copy_(torch.randint(low, high, list(shape), generator=self.generator))
        return out

    def shape(self, rank, low=1, high=7):
        return [self.int(low, high) for _ in range(rank)]


def widened(thing):
    """16-bit floats as float32, whatever holds them."""
    if isinstance(thing, torch.Tensor):
        return thing.float() if thing.dtype in HALVES else thing
    if isinstance(thing, (list, tuple)):
        return [widened(item) for item in thing]
    return thing


def eager(function, *args, dtype=None):
    """The eager result; for 16-bit floats that of float32, rounded to `dtype`."""
    result = function(*[widened(a) for a in args])
    many = isinstance(result, (tuple, list))
    outs = [out.to(dtype) if dtype in HALVES and out.is_floating_point() else out for out in (result if many else [result])]
    return outs if many else outs[0]


# ---- Families --------------------------------------------------------------------------------------------------------


def matmul(draw):
    dtype = draw.pick(FLOATS + INTEGERS + [torch.float32] * 4)
    m, k, n = draw.int(0, 40), draw.int(0, 40), draw.int(0, 40)
    if draw.chance(0.1):
        m, k, n = draw.int(1, 200), draw.int(1, 600), draw.int(1, 200)
    a, b = draw.tensor([m, k], dtype), draw.tensor([k, n], dtype)
    kind = draw.pick(["mm", "addmm", "bmm", "linear"])
    if kind == "mm":
        return Case("aten::mm.out", [a, b], eager(aten.mm, a, b, dtype=dtype), [1], atol=1e-4)
    if kind == "addmm":
        c = draw.tensor(draw.pick([[n], [m, n], [1, n], [m, 1], [1], []]), dtype)
        whole = not dtype.is_floating_point
        beta, alpha = draw.pick([(1, 1), (1, 1), (2, 3), (0, 1), (1, 0)] + ([] if whole else [(0.5, -1.5)]))
        expected = eager(lambda c, a, b: aten.addmm(c, a, b, beta=beta, alpha=alpha), c, a, b, dtype=dtype)
        return Case("aten::addmm.out", [c, a, b, beta, alpha], expected, [2], atol=1e-4)
    if kind == "bmm":
        batch = draw.int(0, 5)
        a, b = draw.tensor([batch, m, k], dtype), draw.tensor([batch, k, n], dtype)
        return Case("aten::bmm.out", [a, b], eager(aten.bmm, a, b, dtype=dtype), [], atol=1e-4)
    dtype = draw.pick(FLOATS)
    x = draw.tensor(draw.shape(draw.int(0, 3), 0, 5) + [k], dtype)
    w = draw.tensor([n, k] if draw.chance(0.9) else [k], dtype)
    bias = draw.tensor([n] if w.dim() == 2 else [], dtype) if draw.chance(0.6) else None
    return Case("aten::linear.out", [x, w, bias], eager(torch.nn.functional.linear, x, w, bias, dtype=dtype), [1],
                atol=1e-4)


def convolution_backward(draw):
    return convolution(draw, backward=True)


def convolution(draw, backward=False):
    dtype = draw.pick(FLOATS + [torch.float32] * 6)
    dims = draw.pick([1, 2, 2, 2, 3])
    transposed = draw.chance(0.25)
    groups = draw.pick([1, 1, 1, 2, 3, 4])
    cin, cout = groups * draw.int(1, 6), groups * draw.int(1, 6)
    if draw.chance(0.15):
        cin = cout = groups = draw.int(1, 40)
    if draw.chance(0.1):
        groups, cin, cout = 1, draw.int(16, 70), draw.int(16, 70)
    kernel = [draw.int(1, 4) for _ in range(dims)]
    stride = [draw.int(1, 3) for _ in range(dims)]
    padding = [draw.int(0, 2) for _ in range(dims)]
    dilation = [draw.int(1, 2) for _ in range(dims)]
    if draw.chance(0.2):
        kernel, stride, padding = [1] * dims, [1] * dims, [0] * dims
    output_padding = [draw.int(0, max(s, d) - 1) if transposed else 0 for s, d in zip(stride, dilation)]
    least = [max(1, d * (k - 1) + 1 - 2 * p) for d, k, p in zip(dilation, kernel, padding)]
    size = [low + draw.int(0, 9 if dims == 3 else 18) for low in least]
    if transposed:
        size = [draw.int(3, 9) for _ in range(dims)]
    if backward:
        size = [min(s, low + 5) for s, low in zip(size, least)]
    x = draw.tensor([draw.int(0 if draw.chance(0.1) else 1, 3), cin, *size], dtype)
    w = draw.tensor([cin, cout // groups, *kernel] if transposed else [cout, cin // groups, *kernel], dtype)
    bias = draw.tensor([cout], dtype) if draw.chance(0.7) else None
    settings = [stride, padding, dilation, transposed, output_padding, groups]
    if draw.chance(0.2):
        settings[:3] = [[s[0]] for s in settings[:3]]
        settings[4] = [settings[4][0]]
        if settings[4][0] >= max(settings[0][0], settings[2][0]):
            settings[4] = [0]
    try:
        expected = eager(lambda x, w, b: aten.convolution(x, w, b, *settings), x, w, bias, dtype=dtype)
        if backward:
            args = [draw.tensor(list(expected.shape), dtype), x, w, [cout], *settings, [True, True, True]]
            expected = eager(aten.convolution_backward, *args, dtype=dtype)
            return Case("aten::convolution_backward.out", args, expected, atol=1e-3, rtol=1e-4)
    except RuntimeError:
        return None
    return Case("aten::convolution.out", [x, w, bias, *settings], expected, [1, 2], atol=2e-4, rtol=1e-4)


def pooling(draw):
    rank = draw.pick([3, 4, 4])
    kind = draw.pick(["avg", "max", "max", "adaptive", "backward"])
    dtype = draw.pick(FLOATS + [torch.float32] * 3 + ([torch.int64] if kind == "avg" else []) +
                      (INTEGERS if kind == "max" else []))
    shape = ([draw.int(0 if draw.chance(0.1) else 1, 3)] if rank == 4 else []) + [draw.int(1, 20), *draw.shape(2, 1, 18)]
    x = draw.tensor(shape, dtype, -20, 20)
    if kind == "adaptive":
        size = draw.shape(2, 1, 9)
        return Case("aten::_adaptive_avg_pool2d.out", [x, size], eager(aten._adaptive_avg_pool2d, x, size, dtype=dtype))
    kernel, stride, dilation = draw.shape(2, 1, 4), draw.shape(2, 1, 3), draw.shape(2, 1, 2)
    padding = [draw.int(0, k // 2) for k in kernel]
    if draw.chance(0.2):
        kernel, padding, dilation = kernel[:1], [min(padding[0], kernel[0] // 2)], dilation[:1]
        stride = draw.pick([stride[:1], []])
    ceil = draw.chance(0.4)
    try:
        if kind == "avg":
            args = [x, kernel, stride, padding, ceil, draw.chance(0.5), draw.pick([None, None, 3, -2])]
            return Case("aten::avg_pool2d.out", args, eager(aten.avg_pool2d, *args, dtype=dtype))
        if dtype.is_floating_point and draw.chance(0.3) and x.numel():
            x.view(-1) if x.is_contiguous() else x
            for _ in range(3):
                x[tuple(draw.int(0, s - 1) for s in x.shape)] = draw.pick([math.nan, math.inf, -math.inf])
        args = [x, kernel, stride, padding, dilation, ceil]
        values, indices = eager(aten.max_pool2d_with_indices, *args, dtype=dtype)
        if kind == "max" or not dtype.is_floating_point or dtype in HALVES:
            return Case("aten::max_pool2d_with_indices.out", args, [values, indices])
        grad = draw.tensor(list(values.shape), dtype)
        args = [grad, x, kernel, stride or kernel, padding, dilation, ceil, indices]
        return Case("aten::max_pool2d_with_indices_backward.grad_input", args,
                    eager(aten.max_pool2d_with_indices_backward, *args, dtype=dtype))
    except RuntimeError:
        return None


def normalization(draw):
    dtype = draw.pick(FLOATS + [torch.float32] * 3)
    kind = draw.pick(["layer", "group", "inference", "training", "no_stats"])
    maybe = lambda shape: draw.tensor(shape, dtype) if draw.chance(0.7) else None
    tolerance = dict(rtol=1e-4, atol=1e-4)
    if kind == "layer":
        shape = draw.shape(draw.int(1, 4), 1, 30)
        inner = shape[draw.int(0, len(shape) - 1):]
        args = [draw.tensor(shape, dtype), inner, maybe(inner), maybe(inner), draw.pick([1e-5, 0.1])]
        return Case("aten::native_layer_norm.out", args, eager(aten.native_layer_norm, *args, dtype=dtype), [2, 3],
                    **tolerance)
    groups = draw.int(1, 4)
    channels = groups * draw.int(1, 9)
    shape = [draw.int(1, 4), channels, *draw.shape(draw.int(0, 3), 1, 9)]
    x, w, b = draw.tensor(shape, dtype), maybe([channels]), maybe([channels])
    if kind == "group":
        args = [x.contiguous(), w, b, shape[0], channels, math.prod(shape[2:]), groups, 1e-3]
        expected = eager(aten.native_group_norm, *args, dtype=dtype)
        args[0] = x
        return Case("aten::native_group_norm.out", args, expected, [1, 2], **tolerance)
    mean, var = draw.tensor([channels], dtype), draw.tensor([channels], dtype, 0.1, 3)
    if kind == "inference":
        args = [x, w, b, mean, var, 0.1, 1e-3]
        expected = eager(aten._native_batch_norm_legit_no_training, *args, dtype=dtype)
        return Case("aten::_native_batch_norm_legit_no_training.out", args, expected, [1, 2, 3, 4], **tolerance)
    if math.prod(shape) // channels < 2:
        return None
    if kind == "no_stats":
        args = [x, w, b, True, 0.1, 1e-3]
        expected = eager(aten._native_batch_norm_legit.no_stats, *args, dtype=dtype)
        return Case("aten::_native_batch_norm_legit.no_stats_out", args, expected, **tolerance)
    training = draw.chance(0.7)
    args = [x, w, b, mean, var, training, 0.3, 1e-3]
    copies = [x, w, b, mean.clone(), var.clone(), training, 0.3, 1e-3]
    expected = eager(aten._native_batch_norm_legit, *copies, dtype=dtype)
    case = Case("aten::_native_batch_norm_legit.out", args, expected, **tolerance)
    if dtype not in HALVES and training:
        case.written_inputs = {3: copies[3], 4: copies[4]}
    return case


def softmax(draw):
    dtype = draw.pick(FLOATS + [torch.float32] * 2)
    shape = draw.shape(draw.int(0, 4), 0 if draw.chance(0.1) else 1, 40 if draw.chance(0.3) else 9)
    x = draw.tensor(shape, dtype, -10, 10)
    if x.numel() and draw.chance(0.2):
        x[tuple(draw.int(0, s - 1) for s in shape)] = draw.pick([math.nan, math.inf, -math.inf])
    dim = draw.int(-max(len(shape), 1), max(len(shape), 1) - 1)
    name = draw.pick(["_softmax", "_log_softmax"])
    return Case(f"aten::{name}.out", [x, dim, False], eager(getattr(aten, name), x, dim, False, dtype=dtype),
                rtol=1e-5, atol=1e-6)


def any_dtype(draw):
    return draw.pick(FLOATS + INTEGERS + [torch.bool, torch.float32])


def indexing(draw):
    dtype = any_dtype(draw)
    kind = draw.pick(["embedding", "select", "gather", "scatter", "value", "add", "index", "index", "put", "put",
                      "put_", "nonzero", "topk"])
    if kind == "embedding":
        w = draw.tensor(draw.shape(2, 1, 20), dtype)
        i = draw.index(draw.shape(draw.int(0, 3), 0, 5), 0, w.shape[0])
        return Case("aten::embedding.out", [w, i, -1, False, False], w[i.long()], [0])
    if kind == "nonzero":
        x = draw.tensor(draw.shape(draw.int(0, 4), 0 if draw.chance(0.2) else 1, 6), dtype, -1, 1)
        return Case("aten::nonzero.out", [x], torch.nonzero(x))
    rank = draw.int(1, 4)
    x = draw.tensor(draw.shape(rank, 1, 7), dtype, 0, 9)
    dim = draw.int(-rank, rank - 1)
    if kind == "topk":
        x = draw.tensor(draw.shape(rank, 1, 9), draw.pick(FLOATS + INTEGERS), -99, 99)
        if x.dtype.is_floating_point and draw.chance(0.3):
            x[tuple(draw.int(0, s - 1) for s in x.shape)] = math.nan
        k = draw.int(0, x.shape[dim])
        largest = draw.chance(0.5)
        order = torch.sort(x, dim=dim, descending=largest, stable=True)
        return Case("aten::topk.values", [x, k, dim, largest, True],
                    [order.values.narrow(dim, 0, k), order.indices.narrow(dim, 0, k)])
    if kind == "select":
        i = draw.index([draw.int(0, 9)] if draw.chance(0.9) else [], 0, x.shape[dim])
        return Case("aten::index_select.out", [x, dim, i], torch.index_select(x, dim, i))
    if kind in ("gather", "scatter", "value", "add"):
        shape = [draw.int(1, s) for s in x.shape]
        shape[dim] = draw.int(0, 9) if kind in ("gather", "add") else draw.int(0, x.shape[dim])
        i = draw.index(shape, 0, x.shape[dim])
        if kind == "gather":
            return Case("aten::gather.out", [x, dim, i, False], torch.gather(x, dim, i.long()))
        if kind == "add":
            source = draw.tensor([s + draw.int(0, 2) for s in shape], dtype, 0, 3)
            expected = torch.scatter_add(widened(x), dim, i.long(), widened(source)).to(dtype)
            return Case("aten::scatter_add.out", [x, dim, i, source], expected)
        if shape[dim]:  # without repetition, where eager's order would count
            i = torch.argsort(torch.rand([*shape[:dim % rank], x.shape[dim], *shape[dim % rank + 1:]]), dim).narrow(
                dim, 0, shape[dim])
        if kind == "value":
            value = draw.pick([1, 0, 2.5, True])
            return Case("aten::scatter.value_out", [x, dim, i, value], torch.scatter(x, dim, i.long(), value))
        source = draw.tensor([s + draw.int(0, 2) for s in shape], dtype, 0, 3)
        return Case("aten::scatter.src_out", [x, dim, i, source], torch.scatter(x, dim, i.long(), source))
    # Advanced indexing.
    indices, d, common = [], 0, draw.shape(draw.int(0, 2), 0 if draw.chance(0.1) else 1, 4)
    while d < rank:
        choice = draw.pick(["none", "index", "index", "mask", "stop"])
        if choice == "stop":
            break
        if choice == "none":
            indices.append(None)
            d += 1
        elif choice == "mask" and draw.chance(0.4) and not any(i is not None for i in indices):
            taken = draw.int(1, rank - d)
            mask = draw.tensor(list(x.shape[d:d + taken]), torch.bool)
            indices.append(mask if draw.chance(0.8) else mask.to(torch.uint8))
            d += taken
            indices += [None] * draw.int(0, rank - d)
            break
        else:
            shape = [1 if draw.chance(0.2) else s for s in common[draw.int(0, len(common)):]]
            indices.append(draw.index(shape, -x.shape[d], x.shape[d]))
            d += 1
    if not any(i is not None for i in indices):
        return None
    wide = [i if i is None or i.dtype == torch.bool else i.bool() if i.dtype == torch.uint8 else i.long()
            for i in indices]
    selected = aten.index.Tensor(x, wide)
    if kind == "index":
        return Case("aten::index.Tensor_out", [x, indices], selected)
    shape = list(selected.shape)
    values = draw.tensor(draw.pick([shape, [], [1] if shape else [], shape[1:]]), dtype, 0, 3)
    accumulate = draw.chance(0.5)
    if not accumulate:  # repeated positions: the order is eager's own
        positions = aten.index.Tensor(torch.arange(x.numel()).view(x.shape), wide)
        if positions.unique().numel() != positions.numel():
            return None
    expected = aten.index_put(widened(x), wide, widened(values), accumulate).to(dtype)
    if kind == "put_":
        case = Case("aten::index_put_", [x, indices, values, accumulate], [])
        case.written_inputs = {0: expected}
        return case
    return Case("aten::index_put.out", [x, indices, values, accumulate], expected)


def upsample(draw):
    dtype = draw.pick(FLOATS + [torch.float32] * 2)
    x = draw.tensor([draw.int(1, 2), draw.int(1, 5), *draw.shape(2, 1, 12)], dtype)
    kind = draw.pick(["bilinear", "nearest", "aa", "grid"])
    if kind == "aa":
        x = draw.tensor([draw.int(1, 2), draw.int(1, 5), *draw.shape(2, 2, 12)], dtype)
    size = draw.shape(2, 1 if kind != "aa" else 2, 20)
    align = draw.chance(0.4)
    scales = [draw.pick([0.5, 0.7, 1.0, 1.5, 2.0, 2.3]) for _ in range(2)]
    if any(int(s * f) < 1 for s, f in zip(x.shape[2:], scales)):
        scales = None
    by_scale = scales is not None and draw.chance(0.5)
    tolerance = dict(rtol=1e-4, atol=1e-4)
    if kind == "bilinear":
        args = [x, None if by_scale else size, align, scales if by_scale else None]
        return Case("aten::upsample_bilinear2d.vec_out", args, eager(aten.upsample_bilinear2d.vec, *args, dtype=dtype),
                    **tolerance)
    if kind == "nearest":
        args = [x, None if by_scale else size, scales if by_scale else None]
        return Case("aten::upsample_nearest2d.vec_out", args, eager(aten.upsample_nearest2d.vec, *args, dtype=dtype))
    if kind == "aa":
        if by_scale:  # eager reads beyond its weights where scales and sizes do not fit
            size = [int(s * f) for s, f in zip(x.shape[2:], scales)]
        if size[1] < 2:  # eager repeats rows of images that are one pixel wide
            return None
        args = [x, size, align, *(scales if by_scale else [None, None])]
        return Case("aten::_upsample_bilinear2d_aa.out", args,
                    eager(aten._upsample_bilinear2d_aa, *args, dtype=dtype), **tolerance)
    dtype = draw.pick([torch.float32, torch.float64])
    x = draw.tensor([draw.int(1, 2), draw.int(1, 5), *draw.shape(2, 1, 12)], dtype)
    grid = draw.tensor([x.shape[0], *draw.shape(2, 1, 9), 2], dtype, -1.6, 1.6)
    args = [x, grid, draw.int(0, 2), draw.int(0, 2), align]
    return Case("aten::grid_sampler_2d.out", args, eager(aten.grid_sampler_2d, *args, dtype=dtype), **tolerance)


def distance(draw):
    dtype = draw.pick([torch.float32, torch.float64])
    p = draw.pick([0.0, 1.0, 2.0, math.inf, 3.0, 0.5])
    size = draw.int(0, 9)
    if draw.chance(0.5):
        x = draw.tensor([draw.int(0, 9), size], dtype)
        return Case("aten::_pdist_forward.out", [x, p], eager(aten._pdist_forward, x.contiguous(), p), rtol=1e-4)
    batch = draw.shape(draw.int(0, 2), 1, 3)
    shapes = [[1 if draw.chance(0.3) else s for s in batch] + [draw.int(0, 7), size] for _ in range(2)]
    a, b = (draw.tensor(s, dtype) for s in shapes)
    return Case("aten::_cdist_forward.out", [a, b, p, None], torch.cdist(a, b, p, "donot_use_mm_for_euclid_dist"),
                rtol=1e-4)


FAMILIES = [matmul, convolution, convolution_backward, pooling, normalization, softmax, indexing, upsample, distance]


# ---- Running ---------------------------------------------------------------------------------------------------------


def describe(thing):
    if isinstance(thing, torch.Tensor):
        return f"{str(thing.dtype)[6:]}{list(thing.shape)}/{list(thing.stride())}"
    if isinstance(thing, (list, tuple)):
        return "[" + ", ".join(describe(item) for item in thing) + "]"
    return repr(thing)


def difference(got, expected, case):
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"got {describe(got)}, expected {describe(expected)}"
    if not expected.dtype.is_floating_point:
        same = torch.equal(got, expected)
    else:
        rtol = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2}.get(expected.dtype, case.rtol)
        same = torch.allclose(got.double(), expected.double(), rtol=rtol, atol=case.atol, equal_nan=True)
    if same:
        return None
    wrong = ~torch.isclose(got.double(), expected.double(), rtol=case.rtol, atol=case.atol, equal_nan=True)
    where = wrong.nonzero()
    place = tuple(where[0].tolist()) if len(where) else ()
    return f"{int(wrong.sum())} of {wrong.numel()} differ, first at {list(place)}: {got[place]} for {expected[place]}"


def copies(things):
    def copy(thing):
        if isinstance(thing, torch.Tensor):
            return torch.empty_strided(thing.shape, thing.stride(), dtype=thing.dtype).copy_(thing)
        if isinstance(thing, (list, tuple)):
            return [copy(item) for item in thing]
        return thing

    return [copy(thing) for thing in things]


def check(library, draw, case):
    """None, or what went wrong."""
    outputs = [draw.dense(list(e.shape), e.dtype) for e in case.expected]
    written = getattr(case, "written_inputs", {})
    first = None
    for threads, constants in ((1, None), (3, None), (2, set(case.constants))):
        library.set_threads(threads)
        inputs = copies(case.inputs)
        try:
            results = library.run(case.name, inputs, outputs, constants)
        except OperatorFailure as failure:
            return str(failure)
        results += [inputs[i] for i in written]
        for i, (got, expected) in enumerate(zip(results, case.expected + list(written.values()))):
            wrong = difference(got, expected.contiguous(), case)
            if wrong:
                return f"output {i} with {threads} threads, constants {constants}: {wrong}"
        bits = [r.reshape(-1).clone().view(torch.uint8) if r.numel() else None for r in results]
        if first is not None and constants is None:
            if not all(a is b or torch.equal(a, b) for a, b in zip(first, bits)):
                return f"other bits with {threads} threads than with 1"
        first = bits
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("families", nargs="*", help=", ".join(f.__name__ for f in FAMILIES))
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--cases", type=int, default=300, help="for each family")
    arguments = parser.parse_args()
    library = OperatorLibrary(arguments.library)
    failures = 0
    for family in FAMILIES:
        if arguments.families and family.__name__ not in arguments.families:
            continue
        run = 0
        for seed in range(arguments.seed, arguments.seed + arguments.cases):
            draw = Draw(seed)
            case = family(draw)
            if case is None:
                continue
            run += 1
            try:
                wrong = check(library, draw, case)
            except Exception:  # a mistake in this script: say for which case
                wrong = traceback.format_exc()
            if wrong:
                failures += 1
                print(f"{case.name} {', '.join(describe(i) for i in case.inputs)}\n  {wrong}\n"
                      f"  again: against_eager.py {arguments.library} {family.__name__} --seed {seed} --cases 1")
        print(f"{family.__name__}: {run} cases")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
