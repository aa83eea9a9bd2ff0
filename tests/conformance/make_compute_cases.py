"""Cases of the operators that compute over many elements: products, convolutions, pooling, normalisation, indexing,
resizing. Usage and format as make_operator_cases.py.

Inputs are small multiples of 1/8, so that sums are exact in any order; for 16-bit floats the expected result is that
of float32, rounded once.
"""

import math
import sys

import torch

from make_operator_cases import ALL, FLOATS, INF, INTEGERS, NAN, REAL, Cases, sample

aten = torch.ops.aten
HALVES = [torch.float16, torch.bfloat16]
F32 = torch.float32
LAST = torch.channels_last


def wide(thing):
    if isinstance(thing, torch.Tensor):
        return thing.float() if thing.dtype in HALVES else thing
    if isinstance(thing, (list, tuple)):
        return [wide(item) for item in thing]
    return thing


def rounded(function, *args):
    """The results of `function`, computed in float32 for 16-bit floats."""
    dtype = next(a.dtype for a in args if isinstance(a, torch.Tensor))
    results = function(*wide(args))
    many = isinstance(results, (tuple, list))
    outs = [r.to(dtype) if r.is_floating_point() else r for r in (results if many else [results])]
    return outs if many else outs[0]


def products():
    cases = Cases("products")
    for dtype in REAL:
        for m, k, n in [(3, 4, 5), (1, 7, 1), (17, 9, 33), (2, 0, 3), (0, 3, 2)]:
            a, b = sample(dtype, m, k), sample(dtype, k, n, seed=1)
            cases.add("aten::mm.out", a, b, expect=rounded(aten.mm, a, b))
        a, b = sample(dtype, 4, 6).t().contiguous().t(), sample(dtype, 5, 6, seed=1).t()
        cases.add("aten::mm.out", a, b, expect=rounded(aten.mm, a, b))
        a, b = sample(dtype, 3, 4), sample(dtype, 4, 5, seed=1)
        for bias in [[5], [3, 5], [3, 1], [1], []]:
            c = sample(dtype, *bias, seed=2)
            for beta, alpha in [(1, 1), (2, 3), (0, 1), (1, 0)]:
                expect = rounded(lambda c, a, b: aten.addmm(c, a, b, beta=beta, alpha=alpha), c, a, b)
                cases.add("aten::addmm.out", c, a, b, beta, alpha, expect=expect)
        a, b = sample(dtype, 2, 3, 4), sample(dtype, 2, 4, 5, seed=1)
        cases.add("aten::bmm.out", a, b, expect=rounded(aten.bmm, a, b))
        b = b.transpose(1, 2).contiguous().transpose(1, 2)
        cases.add("aten::bmm.out", a, b, expect=rounded(aten.bmm, a, b))
        if dtype in FLOATS:
            for shape in [[4], [2, 4], [2, 3, 4], [0, 4]]:
                x, w, bias = sample(dtype, *shape), sample(dtype, 5, 4, seed=1), sample(dtype, 5, seed=2)
                cases.add("aten::linear.out", x, w, bias, expect=rounded(torch.nn.functional.linear, x, w, bias))
                cases.add("aten::linear.out", x, w, expect=rounded(torch.nn.functional.linear, x, w))
    # Not a number in self does not matter when beta is 0.
    bad = torch.full((2, 2), NAN)
    cases.add("aten::addmm.out", bad, sample(F32, 2, 3), sample(F32, 3, 2), 0, 1)
    # Integers wrap around.
    big = torch.full((1, 3), 100, dtype=torch.int8)
    cases.add("aten::mm.out", big, big.t().contiguous())
    a, b = sample(F32, 2, 3), sample(F32, 3, 2)
    cases.fails("aten::mm.out", a, sample(F32, 2, 2), out=[(F32, (2, 2))])
    cases.fails("aten::mm.out", a, b.double(), out=[(F32, (2, 2))])
    cases.fails("aten::mm.out", a, sample(F32, 3), out=[(F32, (2,))])
    cases.fails("aten::addmm.out", sample(F32, 3), a, b, 1, 1, out=[(F32, (2, 2))])
    cases.fails("aten::addmm.out", a.int()[0, :2], a.int(), b.int(), 1, 0.5, out=[(torch.int32, (2, 2))])
    cases.fails("aten::bmm.out", sample(F32, 2, 2, 3), sample(F32, 3, 3, 2), out=[(F32, (2, 2, 2))])
    cases.fails("aten::linear.out", a, sample(F32, 4, 2), out=[(F32, (2, 4))])
    cases.save()


def convolutions():
    cases = Cases("convolutions")

    def add(x, w, bias, stride, padding, dilation, transposed=False, output_padding=(0,), groups=1, **options):
        dims = x.dim() - 2
        settings = [list(v) * (dims if len(v) == 1 else 1) for v in (stride, padding, dilation, output_padding)]
        expect = rounded(lambda x, w, b: aten.convolution(x, w, b, *settings[:3], transposed, settings[3], groups),
                         x, w, bias)
        cases.add("aten::convolution.out", x, w, bias, list(stride), list(padding), list(dilation), transposed,
                  list(output_padding), groups, expect=expect, **options)

    for dtype in FLOATS:
        x, bias = sample(dtype, 2, 4, 6, 5), sample(dtype, 4, seed=2)
        layouts = [(x, None), (x.contiguous(memory_format=LAST), LAST), (x, LAST),
                   (x.contiguous(memory_format=LAST), torch.contiguous_format)]
        for image, layout in layouts:
            options = {"out_layout": layout} if layout else {}
            add(image, sample(dtype, 4, 4, 3, 3, seed=1), bias, [1], [1], [1], **options)
            add(image, sample(dtype, 3, 4, 1, 1, seed=1), None, [1], [0], [1], **options)
            add(image, sample(dtype, 4, 1, 3, 2, seed=1), bias, [2, 1], [1, 0], [1, 2], groups=4, **options)
            add(image, sample(dtype, 4, 2, 2, 2, seed=1), bias, [1, 2], [0, 1], [2, 1], groups=2, **options)
        channels_last_weight = sample(dtype, 4, 4, 3, 3, seed=1).contiguous(memory_format=LAST)
        add(x, channels_last_weight, bias, [1], [1], [1])
        add(x[:, :1], sample(dtype, 4, 1, 2, 2, seed=1), bias, [1], [0], [1])
        add(sample(dtype, 2, 3, 9), sample(dtype, 4, 3, 4, seed=1), bias, [2], [1], [1])
        add(sample(dtype, 1, 2, 4, 3, 5), sample(dtype, 3, 2, 2, 3, 2, seed=1), None, [1, 1, 2], [1, 0, 1], [1])
        add(sample(dtype, 0, 3, 9), sample(dtype, 4, 3, 4, seed=1), bias, [2], [1], [1])
        add(x, sample(dtype, 4, 3, 3, 3, seed=1), sample(dtype, 3), [2], [1], [1], True, [1])
        add(x, sample(dtype, 4, 2, 2, 3, seed=1), bias, [2, 1], [0], [1, 2], True, [0], 2)
        add(sample(dtype, 2, 3, 5), sample(dtype, 3, 2, 4, seed=1), None, [3], [1], [1], True, [2])
        add(sample(dtype, 1, 2, 2, 3, 2), sample(dtype, 2, 3, 2, 1, 2, seed=1), None, [1, 2, 1], [0], [1], True)
        # A weight of one output channel in a dim order of its own.
        weight = torch.tensor([1, 2, 10, 20], dtype=dtype).view(2, 1, 1, 2).permute(1, 0, 2, 3).contiguous()
        add(torch.tensor([1, 2], dtype=dtype).view(1, 2, 1, 1), weight.permute(1, 0, 2, 3), None, [1], [0], [1], True)
    for dtype in FLOATS:
        for transposed, groups, output_padding, dilation in [(False, 1, 0, 1), (False, 2, 0, 2), (True, 1, 1, 1), (True, 2, 2, 3)]:
            x, w = sample(dtype, 2, 4, 5, 6), sample(dtype, 4, 4 // groups, 3, 2, seed=1)
            settings = [[2, 1] if not transposed else [2, 2], [1, 0], [dilation, dilation], transposed,
                        [output_padding, output_padding], groups]
            y = rounded(lambda x, w: aten.convolution(x, w, None, *settings), x, w)
            args = [sample(dtype, *y.shape, seed=2), x, w, [4], *settings, [True, True, True]]
            cases.add("aten::convolution_backward.out", *args, expect=rounded(aten.convolution_backward, *args))
    image = [(F32, (1, 4, 4, 4))]
    x, w = sample(F32, 1, 4, 4, 4), sample(F32, 4, 4, 3, 3)
    none = [None, [1], [1], [1], False, [0], 1]
    cases.fails("aten::convolution.out", x, w, None, [0], *none[2:], out=image)
    cases.fails("aten::convolution.out", x, w, None, [1], [-1], *none[3:], out=image)
    cases.fails("aten::convolution.out", x, w, None, [1], [2**62], *none[3:], out=image)
    cases.fails("aten::convolution.out", x, w, None, [1], [2**30], [2**30], False, [0], 1, out=image)
    cases.fails("aten::convolution.out", x, w, None, [1, 1, 1], *none[2:], out=image)
    cases.fails("aten::convolution.out", x, w, *none[:-1], 3, out=image)
    cases.fails("aten::convolution.out", x, w, *none[:-1], 0, out=image)
    cases.fails("aten::convolution.out", x, w, sample(F32, 3), *none[1:], out=image)
    cases.fails("aten::convolution.out", x, sample(F32, 4, 4, 9, 3), *none, out=image)
    cases.fails("aten::convolution.out", x, w.double(), *none, out=image)
    cases.fails("aten::convolution.out", x, sample(F32, 4, 4, 3), *none, out=image)
    cases.fails("aten::convolution.out", x, w, None, [2], [1], [1], True, [2], 1, out=[(F32, (1, 4, 9, 9))])
    cases.save()


def pooling():
    cases = Cases("pooling")
    for dtype in FLOATS + [torch.int64]:
        x = sample(dtype, 1, 2, 5, 4)
        for image, layout in [(x, None), (x.contiguous(memory_format=LAST), LAST), (x, LAST), (x[0], None)]:
            options = {"out_layout": layout} if layout else {}
            for window in [([3, 2], [2, 1], [1, 1]), ([2], [], [0]), ([3], [2], [1])]:
                for ceil_mode in [False, True]:
                    args = [image, *window, ceil_mode]
                    for include, divisor in [(True, None), (False, None), (True, -2)]:
                        cases.add("aten::avg_pool2d.out", *args, include, divisor,
                                  expect=rounded(aten.avg_pool2d, *args, include, divisor), **options)
            if dtype in FLOATS:
                for size in [[1, 1], [3, 4], [7, 2]]:
                    cases.add("aten::_adaptive_avg_pool2d.out", image, size,
                              expect=rounded(aten._adaptive_avg_pool2d, image, size), **options)
    for dtype in REAL:
        x = sample(dtype, 1, 2, 5, 4)
        for image, layout in [(x, None), (x.contiguous(memory_format=LAST), LAST), (x[0], None)]:
            options = {"out_layout": layout} if layout else {}
            for window in [([3, 2], [2, 1], [1, 1], [1]), ([2], [], [0], [1]), ([2, 3], [1, 2], [0, 1], [2, 1])]:
                for ceil_mode in [False, True]:
                    cases.add("aten::max_pool2d_with_indices.out", image, *window, ceil_mode, **options)
    # More columns and channels than are worked on at once, and a window too wide for that.
    for image, kernel, stride in [(sample(F32, 1, 1, 2, 700), [2, 3], [1, 1]), (sample(F32, 1, 1, 2, 700), [2, 3], [1, 2]),
                                  (sample(F32, 1, 270, 2, 2).contiguous(memory_format=LAST), [2, 2], [1, 1]),
                                  (sample(F32, 1, 2, 2, 80), [1, 70], [1, 3])]:
        cases.add("aten::max_pool2d_with_indices.out", image, kernel, stride)
    special = torch.tensor([[NAN, NAN, -INF, 2], [3, -INF, -INF, NAN], [-INF, -INF, INF, 0]]).view(1, 3, 4)
    cases.add("aten::max_pool2d_with_indices.out", special, [2, 2], [1, 1], [1, 1], [1, 1], False)
    for dtype in FLOATS:
        x = sample(dtype, 2, 3, 5, 6)
        values, indices = aten.max_pool2d_with_indices(x, [3, 3], [2, 2], [1, 1])
        args = [sample(dtype, *values.shape, seed=4), x, [3, 3], [2, 2], [1, 1], [1, 1], False, indices]
        cases.add("aten::max_pool2d_with_indices_backward.grad_input", *args,
                  expect=rounded(aten.max_pool2d_with_indices_backward, *args))
    x = sample(F32, 1, 1, 4, 4)
    for bad in [[x, [0]], [x, [2], [0]], [x, [2], [2], [2]], [x, [2], [2], [-1]], [x, [5]], [x, [2, 2, 2]], [x[0, 0], [2]],
                [x, [2**62]], [x, [2], [2], [0], False, True, 0]]:
        cases.fails("aten::avg_pool2d.out", *bad, out=[(F32, (1, 1, 2, 2))])
    cases.fails("aten::max_pool2d_with_indices.out", x, [2], [2], [0], [0],
                out=[(F32, (1, 1, 2, 2)), (torch.int64, (1, 1, 2, 2))])
    indices = torch.full((1, 1, 2, 2), 16)
    cases.fails("aten::max_pool2d_with_indices_backward.grad_input", sample(F32, 1, 1, 2, 2), x, [2], [2], [0], [1],
                False, indices, out=[(F32, (1, 1, 4, 4))])
    cases.fails("aten::_adaptive_avg_pool2d.out", x, [-1, 2], out=[(F32, (1, 1, 2, 2))])
    cases.save()


def normalization():
    cases = Cases("normalization")

    def add(name, function, *args, **options):
        cases.add(name, *args, expect=rounded(function, *args), **options)

    for dtype in FLOATS:
        x = sample(dtype, 2, 3, 8)
        w, b = sample(dtype, 8, seed=1), sample(dtype, 8, seed=2)
        for weight, bias in [(w, b), (w, None), (None, b), (None, None)]:
            add("aten::native_layer_norm.out", aten.native_layer_norm, x, [8], weight, bias, 1e-5)
        add("aten::native_layer_norm.out", aten.native_layer_norm, x, [3, 8], sample(dtype, 3, 8), None, 0.1)
        x = sample(dtype, 2, 6, 3, 2)
        w, b = sample(dtype, 6, seed=1), sample(dtype, 6, seed=2)
        for image in [x, x.contiguous(memory_format=LAST)]:
            layout = {"out_layout": LAST} if not image.is_contiguous() else {}
            mean, var = sample(dtype, 6, seed=3), sample(dtype, 6, seed=4).abs() + 1
            for weight, bias in [(w, b), (None, None)]:
                expect = rounded(aten.native_group_norm, image.contiguous(), weight, bias, 2, 6, 6, 3, 1e-3)
                cases.add("aten::native_group_norm.out", image, weight, bias, 2, 6, 6, 3, 1e-3, expect=expect)
                add("aten::_native_batch_norm_legit_no_training.out", aten._native_batch_norm_legit_no_training, image,
                    weight, bias, mean, var, 0.1, 1e-3)
                add("aten::_native_batch_norm_legit.no_stats_out", aten._native_batch_norm_legit.no_stats, image, weight,
                    bias, True, 0.1, 1e-3)
        add("aten::_native_batch_norm_legit_no_training.out", aten._native_batch_norm_legit_no_training,
            sample(dtype, 4, 6), w, b, mean, var, 0.1, 1e-3)
        for name in ["_softmax", "_log_softmax"]:
            function = getattr(aten, name)
            for dim in [0, 1, -1]:
                add(f"aten::{name}.out", function, sample(dtype, 3, 4, 5), dim, False)
            add(f"aten::{name}.out", function, sample(dtype, 2, 3, 4, 5).contiguous(memory_format=LAST), 1, False)
            add(f"aten::{name}.out", function, sample(dtype), 0, False)
            add(f"aten::{name}.out", function, sample(dtype, 0, 3), 1, False)
    for name in ["_softmax", "_log_softmax"]:
        special = torch.tensor([[1, NAN, 2], [-INF, -INF, -INF], [INF, 0, 1], [-INF, 0, 3]])
        cases.add(f"aten::{name}.out", special, 1, False)
        cases.fails(f"aten::{name}.out", special, 2, False, out=[(F32, (4, 3))])
    # A sum in bfloat16 would stop at 256.
    cases.add("aten::_softmax.out", torch.zeros(1, 512, dtype=torch.bfloat16), 1, False)
    x = sample(F32, 2, 6)
    outs = [(F32, (2, 6)), (F32, (2, 1)), (F32, (2, 1))]
    cases.fails("aten::native_layer_norm.out", x, [5], None, None, 1e-5, out=outs)
    cases.fails("aten::native_layer_norm.out", x, [6], sample(F32, 5), None, 1e-5, out=outs)
    cases.fails("aten::native_layer_norm.out", x, [2, 2, 6], None, None, 1e-5, out=outs)
    cases.fails("aten::native_group_norm.out", x, None, None, 2, 6, 1, 4, 1e-5, out=[outs[0], (F32, (2, 4)), (F32, (2, 4))])
    cases.fails("aten::native_group_norm.out", x, None, None, 3, 6, 1, 2, 1e-5, out=[outs[0], (F32, (3, 2)), (F32, (3, 2))])
    cases.fails("aten::_native_batch_norm_legit_no_training.out", x, None, None, sample(F32, 5), sample(F32, 6), 0.1, 1e-5,
                out=[outs[0], (F32, (0,)), (F32, (0,))])
    cases.save()


def indexing():
    cases = Cases("indexing")
    for dtype in ALL:
        x = sample(dtype, 4, 5, 3)
        for integer in [torch.int64, torch.int32]:
            at = lambda *values: torch.tensor(values, dtype=integer)
            cases.add("aten::embedding.out", sample(dtype, 4, 3), torch.tensor([[3, 0, 1], [2, 2, 0]], dtype=integer))
            for dim in [0, 1, -1]:
                cases.add("aten::index_select.out", x, dim, at(2, 0, 2), expect=torch.index_select(x, dim, at(2, 0, 2)))
            index = torch.tensor([[[0, 1, 2]], [[3, 0, 1]]], dtype=integer)
            cases.add("aten::gather.out", x, 0, index, expect=torch.gather(x, 0, index.long()))
            index = torch.tensor([[[0, 1, 2]], [[2, 0, 1]]], dtype=integer)
            source = sample(dtype, 2, 2, 3, seed=5)
            cases.add("aten::scatter.src_out", x, 2, index, source, expect=torch.scatter(x, 2, index.long(), source))
            cases.add("aten::scatter.value_out", x, 2, index, 1, expect=torch.scatter(x, 2, index.long(), 1))
            index = torch.tensor([[[0, 1, 1]], [[0, 0, 0]]], dtype=integer)
            cases.add("aten::scatter_add.out", x, 1, index, source,
                      expect=torch.scatter_add(wide(x), 1, index.long(), wide(source)).to(dtype))
        lists = [[torch.tensor([1, -1])], [None, torch.tensor([[0], [4]])], [torch.tensor([0, 3]), torch.tensor([1, -5])],
                 [torch.tensor([0, 3]), None, torch.tensor([[1], [2]])], [torch.tensor(2)],
                 [torch.tensor([True, False, False, True])], [x.bool()], [None, None, torch.tensor([2, 0])]]
        for indices in lists:
            narrow = [i.int() if i is not None and i.dtype == torch.int64 else i for i in indices]
            selected = aten.index.Tensor(x, indices)
            cases.add("aten::index.Tensor_out", x, narrow, expect=selected)
            for values in [sample(dtype, *selected.shape, seed=6), sample(dtype, seed=7)]:
                for accumulate in [False, True]:
                    expect = aten.index_put(wide(x), indices, wide(values), accumulate).to(dtype)
                    cases.add("aten::index_put.out", x, indices, values, accumulate, expect=expect)
        cases.add_in_place("aten::index_put_", x, [None, torch.tensor([1, 2])], sample(dtype, 4, 2, 3, seed=8), False,
                           expect=aten.index_put(x, [None, torch.tensor([1, 2])], sample(dtype, 4, 2, 3, seed=8)))
        repeated = [torch.tensor([1, 1, 1])]
        cases.add("aten::index_put.out", x, repeated, sample(dtype, 3, 5, 3, seed=9), True,
                  expect=aten.index_put(wide(x), repeated, wide(sample(dtype, 3, 5, 3, seed=9)), True).to(dtype))
        cases.add("aten::nonzero.out", sample(dtype, 3, 4))
        cases.add("aten::nonzero.out", sample(dtype))
    for dtype in REAL:
        x = sample(dtype, 3, 7)
        for dim, k, largest in [(1, 3, True), (1, 7, False), (0, 2, True), (-1, 0, True)]:
            order = torch.sort(x, dim=dim, descending=largest, stable=True)
            cases.add("aten::topk.values", x, k, dim, largest, True,
                      expect=[order.values.narrow(dim, 0, k), order.indices.narrow(dim, 0, k)])
    special = torch.tensor([1, NAN, INF, -INF, NAN, 2])
    for largest in [True, False]:
        order = torch.sort(special, descending=largest, stable=True)
        cases.add("aten::topk.values", special, 4, 0, largest, True, expect=[order.values[:4], order.indices[:4]])
    # Negative indices of both kinds.
    four = torch.tensor([1.0, 2, 3, 4])
    for integer in [torch.int64, torch.int32]:
        cases.add("aten::index.Tensor_out", four, [torch.tensor([-1, -4], dtype=integer)], expect=torch.tensor([4.0, 1]))
        for bad in [4, -5]:
            cases.fails("aten::index.Tensor_out", four, [torch.tensor([bad], dtype=integer)], out=[(F32, (1,))])
            cases.fails("aten::index_put.out", four, [torch.tensor([bad], dtype=integer)], torch.tensor([1.0]), False,
                        out=[(F32, (4,))])
        for bad in [3, -1]:
            cases.fails("aten::embedding.out", sample(F32, 3, 2), torch.tensor([bad], dtype=integer), out=[(F32, (1, 2))])
            cases.fails("aten::index_select.out", sample(F32, 3, 2), 0, torch.tensor([bad], dtype=integer),
                        out=[(F32, (1, 2))])
            cases.fails("aten::gather.out", sample(F32, 3, 2), 0, torch.tensor([[bad]], dtype=integer),
                        out=[(F32, (1, 1))])
            cases.fails("aten::scatter.src_out", sample(F32, 3, 2), 0, torch.tensor([[bad]], dtype=integer),
                        sample(F32, 1, 1), out=[(F32, (3, 2))])
            cases.fails("aten::scatter_add.out", sample(F32, 3, 2), 0, torch.tensor([[bad]], dtype=integer),
                        sample(F32, 1, 1), out=[(F32, (3, 2))])
    x = sample(F32, 3, 2)
    cases.fails("aten::index.Tensor_out", x, [torch.tensor([0]), torch.tensor([0]), torch.tensor([0])], out=[(F32, (1,))])
    cases.fails("aten::index.Tensor_out", x, [torch.tensor([0, 1]), torch.tensor([0, 1, 0])], out=[(F32, (3,))])
    cases.fails("aten::index.Tensor_out", x, [torch.ones(4).bool()], out=[(F32, (3, 2))])
    cases.fails("aten::index_put.out", x, [torch.tensor([0, 1])], sample(F32, 3), False, out=[(F32, (3, 2))])
    cases.fails("aten::gather.out", x, 0, torch.zeros(1, 3).long(), out=[(F32, (1, 3))])
    cases.fails("aten::gather.out", x, 0, torch.zeros(1).long(), out=[(F32, (1,))])
    cases.fails("aten::scatter.src_out", x, 0, torch.zeros(2, 2).long(), sample(F32, 1, 2), out=[(F32, (3, 2))])
    cases.fails("aten::topk.values", x, 3, 1, out=[(F32, (3, 3)), (torch.int64, (3, 3))])
    cases.fails("aten::topk.values", x, -1, 1, out=[(F32, (3, 0)), (torch.int64, (3, 0))])
    cases.save()


def resizing():
    cases = Cases("resizing")

    def positive(dtype, *sizes):
        return sample(dtype, *sizes, low=1, high=9)

    for dtype in FLOATS:
        x = positive(dtype, 1, 2, 4, 5)
        for image, layout in [(x, None), (x.contiguous(memory_format=LAST), LAST)]:
            options = {"out_layout": layout} if layout else {}
            for size in [[8, 10], [3, 4], [4, 5], [1, 1], [7, 2]]:
                for align in [False, True]:
                    args = [image, size, align, None]
                    cases.add("aten::upsample_bilinear2d.vec_out", *args,
                              expect=rounded(aten.upsample_bilinear2d.vec, *args), **options)
                args = [image, size, None]
                cases.add("aten::upsample_nearest2d.vec_out", *args, expect=rounded(aten.upsample_nearest2d.vec, *args),
                          **options)
            for scales in [[2.0, 2.0], [1.5, 0.5], [2.3, 1.0]]:
                args = [image, None, False, scales]
                cases.add("aten::upsample_bilinear2d.vec_out", *args,
                          expect=rounded(aten.upsample_bilinear2d.vec, *args), **options)
                args = [image, None, scales]
                cases.add("aten::upsample_nearest2d.vec_out", *args, expect=rounded(aten.upsample_nearest2d.vec, *args),
                          **options)
    for dtype in FLOATS[2:]:
        x = positive(dtype, 1, 2, 9, 7)
        for size in [[3, 2], [4, 7], [12, 3], [2, 15]]:
            for align in [False, True]:
                cases.add("aten::_upsample_bilinear2d_aa.out", x, size, align)
    # The filter widens with the step: of 8 rows, the last alone is not lost.
    column = torch.zeros(1, 1, 8, 2)
    column[0, 0, 7] = 90
    cases.add("aten::_upsample_bilinear2d_aa.out", column, [3, 2], False)
    for dtype in [torch.float32, torch.float64]:
        x = positive(dtype, 1, 2, 4, 5)
        grid = torch.linspace(-1.5, 1.45, 24, dtype=dtype).view(1, 3, 4, 2)
        for mode in range(3):
            for padding in range(3):
                for align in [False, True]:
                    cases.add("aten::grid_sampler_2d.out", x, grid, mode, padding, align)
        odd = torch.tensor([NAN, 0, 0, NAN, INF, 0, NAN, NAN], dtype=dtype).view(1, 1, 4, 2)
        for mode in range(3):
            for padding in range(3):
                cases.add("aten::grid_sampler_2d.out", x, odd, mode, padding, False)
    x = positive(F32, 1, 1, 4, 4)
    for bad in [[x, [0, 2]], [x, [2]], [x, [-1, 2]], [x, None], [x, [2, 2], [2.0, 2.0]], [x, None, [2.0]],
                [x, None, [1e300, 1.0]], [x, None, [NAN, 1.0]], [x, None, [1e-300, 1.0]], [x[0], [2, 2]]]:
        cases.fails("aten::upsample_nearest2d.vec_out", *bad, *[None] * (3 - len(bad)), out=[(F32, (1, 1, 2, 2))])
    cases.fails("aten::_upsample_bilinear2d_aa.out", x, [2, 2], False, INF, None, out=[(F32, (1, 1, 2, 2))])
    cases.fails("aten::grid_sampler_2d.out", x, sample(F32, 1, 2, 2, 2), 3, 0, False, out=[(F32, (1, 1, 2, 2))])
    cases.fails("aten::grid_sampler_2d.out", x, sample(F32, 1, 2, 2, 3), 0, 0, False, out=[(F32, (1, 1, 2, 2))])
    cases.save()


def distances():
    cases = Cases("distances")
    for dtype in [torch.float32, torch.float64]:
        a, b = sample(dtype, 3, 4), sample(dtype, 2, 4, seed=1)
        for p in [0.0, 1.0, 2.0, INF, 3.0]:
            cases.add("aten::_cdist_forward.out", a, b, p, None, expect=torch.cdist(a, b, p))
            cases.add("aten::_pdist_forward.out", a, p)
        a, b = sample(dtype, 2, 1, 3, 4), sample(dtype, 3, 2, 4, seed=1)
        cases.add("aten::_cdist_forward.out", a, b, 2.0, None, expect=torch.cdist(a, b, 2.0))
        cases.add("aten::_pdist_forward.out", sample(dtype, 1, 4), 2.0)
    cases.fails("aten::_cdist_forward.out", sample(F32, 2, 3), sample(F32, 2, 4), 2.0, None, out=[(F32, (2, 2))])
    cases.fails("aten::_cdist_forward.out", sample(F32, 2, 3), sample(F32, 2, 3), -1.0, None, out=[(F32, (2, 2))])
    cases.fails("aten::_pdist_forward.out", sample(F32, 2), 2.0, out=[(F32, (1,))])
    cases.save()


FAMILIES = [products, convolutions, pooling, normalization, indexing, resizing, distances]

if __name__ == "__main__":
    wanted = set(sys.argv[1:])
    for family in FAMILIES:
        if not wanted or family.__name__ in wanted:
            family()
