"""Writes tests/data/operators/*.txt: calls of single operators with the results of eager PyTorch.

    python tests/conformance/make_operator_cases.py            # needs torch
    python tests/conformance/make_operator_cases.py reduction  # one file

The files are read by src/kernels/operators_test.cc. A case is a line `case NAME`, then one line an argument in the
schema's order, outputs last:
    t DTYPE SIZES STRIDES : VALUES   tensor; values in logical order     w ...   tensor that is written in place
    o DTYPE SIZES STRIDES : VALUES   output with its expected values     L N     list of the N tensors that follow
    i N   d X   b 0|1   n (none)   s TEXT   I N,N,...   D X,X,...   B 0,1,...  scalars and lists
    x                                output of a call that must fail: `x DTYPE SIZES`
"""

import itertools
import math
import pathlib
import sys

import torch

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "operators"
aten = torch.ops.aten

REAL = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
        torch.float64]
INTEGERS = REAL[:5]
FLOATS = REAL[5:]
ALL = REAL + [torch.bool]


def name_of(dtype):
    return str(dtype).split(".")[1]


def text_of(value):
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return repr(value)
    return str(value)


def tensor_line(letter, tensor):
    sizes = ",".join(map(str, tensor.shape)) or "-"
    strides = ",".join(map(str, tensor.stride())) or "-"
    values = tensor.detach()
    if values.dtype == torch.float32:
        texts = [text_of(float("%.9g" % v)) if math.isfinite(v) else text_of(v) for v in values.double().flatten().tolist()]
    else:
        texts = [text_of(v) for v in values.flatten().tolist()]
    return f"{letter} {name_of(tensor.dtype)} {sizes} {strides} : {' '.join(texts)}"


class DType:
    """An argument of type ScalarType."""
    NUMBERS = {torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5,
               torch.float32: 6, torch.float64: 7, torch.bool: 11, torch.bfloat16: 15}


def argument_lines(value, kind, letter="t"):
    if value is None:
        return ["n"]
    if isinstance(value, torch.Tensor):
        return [tensor_line(letter, value)]
    if isinstance(value, torch.dtype):
        return [f"i {DType.NUMBERS[value]}"]
    if isinstance(value, bool):
        return [f"b {int(value)}"]
    if isinstance(value, int):
        return [f"d {float(value)!r}"] if kind.startswith("float") or kind.startswith("Optional[float") else [f"i {value}"]
    if isinstance(value, float):
        return [f"d {text_of(value)}"]
    if isinstance(value, str):
        return [f"s {value}"]
    if isinstance(value, (list, tuple)):
        if any(isinstance(item, torch.Tensor) for item in value):
            lines = [f"L {len(value)}"]
            for item in value:
                lines += argument_lines(item, "", letter)
            return lines
        if any(isinstance(item, float) for item in value):
            return ["D " + ",".join(text_of(float(item)) for item in value)]
        if any(isinstance(item, bool) for item in value):
            return ["B " + ",".join(text_of(item) for item in value)]
        return ["I " + (",".join(map(str, value)) or "-")]
    raise TypeError(f"{value!r} ({kind})")


def functional_overload(out_overload):
    """The overload that returns new tensors and takes the same arguments."""
    packet = getattr(torch.ops, out_overload._schema.name.split("::")[0])
    packet = getattr(packet, out_overload._schema.name.split("::")[1])
    outs = [a.name for a in out_overload._schema.arguments if a.is_out]
    wanted = [(a.name, str(a.type)) for a in out_overload._schema.arguments if a.name not in outs]
    fallback = None
    for overload in packet.overloads():
        candidate = getattr(packet, overload)
        if any(a.is_out for a in candidate._schema.arguments):
            continue
        have = [(a.name, str(a.type)) for a in candidate._schema.arguments]
        if have[:len(wanted)] == wanted:
            if len(have) == len(wanted):
                return candidate
            fallback = candidate
        names = {n for n, _ in have}
        if fallback is None and [n for n, _ in have if n in {w for w, _ in wanted}] == [n for n, _ in wanted]:
            fallback = candidate
    if fallback is None:
        raise LookupError(f"no functional form of {out_overload}")
    return fallback


class Cases:
    def __init__(self, family):
        self.family = family
        self.lines = []
        self.count = 0

    def save(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{self.family}.txt").write_text("\n".join(self.lines) + "\n")
        print(f"{self.family}: {self.count} cases")

    def add(self, name, *args, out_layout=None, out_dtype=None, expect=None):
        """`name`: overload with out arguments; `args`: everything before them."""
        namespace, rest = name.split("::")
        operator, _, overload = rest.partition(".")
        out_overload = getattr(getattr(getattr(torch.ops, namespace), operator), overload or "default")
        arguments = out_overload._schema.arguments
        inputs = [a for a in arguments if not a.is_out]
        if expect is None:
            function = functional_overload(out_overload)
            named = {a.name: v for a, v in zip(inputs, args)}
            known = [a for a in function._schema.arguments if a.name in named]
            positional = [named[a.name] for a in known if not a.kwarg_only]
            keywords = {a.name: named[a.name] for a in known if a.kwarg_only}
            try:
                expect = function(*positional, **keywords)
            except (RuntimeError, NotImplementedError, IndexError) as error:
                if "not implemented for" in str(error) or "not supported" in str(error):
                    return
                raise
        if isinstance(expect, torch.Tensor):
            expect = [expect]
        self.lines.append(f"case {name}")
        self.add_arguments(inputs, args)
        outs = [a for a in arguments if a.is_out]
        if len(outs) == 1 and "List" in str(outs[0].type):
            self.lines += argument_lines(list(expect), "", "o")
        else:
            for e in expect:
                if out_dtype is not None:
                    e = e.to(out_dtype)
                if out_layout is not None:
                    e = e.contiguous(memory_format=out_layout)
                elif not e.is_contiguous() and not e.is_contiguous(memory_format=torch.channels_last):
                    e = e.contiguous()
                self.lines.append(tensor_line("o", e))
        self.count += 1

    def add_arguments(self, parameters, values):
        """The values, then the defaults of what is left."""
        values = list(values) + [a.default_value for a in parameters[len(values):]]
        for a, v in zip(parameters, values):
            self.lines += argument_lines(v, str(a.type))

    def add_in_place(self, name, written, *args, expect):
        self.lines.append(f"case {name}")
        self.lines.append(tensor_line("w", written))
        self.lines.append(tensor_line("e", expect))
        for v in args:
            self.lines += argument_lines(v, "")
        self.count += 1

    def fails(self, name, *args, out):
        """A call that must be refused; `out`: [(dtype, sizes)] of the outputs."""
        namespace, rest = name.split("::")
        operator, _, overload = rest.partition(".")
        out_overload = getattr(getattr(getattr(torch.ops, namespace), operator), overload or "default")
        self.lines.append(f"case {name}")
        self.add_arguments([a for a in out_overload._schema.arguments if not a.is_out], args)
        if any(a.is_out and "List" in str(a.type) for a in out_overload._schema.arguments):
            self.lines.append(f"L {len(out)}")
        for dtype, sizes in out:
            self.lines.append(f"x {name_of(dtype)} {','.join(map(str, sizes)) or '-'}")
        self.count += 1


def sample(dtype, *sizes, seed=0, low=-5, high=5):
    """Small values that every dtype holds exactly."""
    generator = torch.Generator().manual_seed(seed + sum(sizes))
    if dtype == torch.bool:
        return torch.randint(0, 2, sizes, generator=generator).bool()
    if dtype == torch.uint8:
        low = max(low, 0)
    if dtype.is_floating_point:
        return (torch.randint(low * 8, high * 8, sizes, generator=generator).double() / 8).to(dtype)
    return torch.randint(low, high, sizes, generator=generator).to(dtype)


NAN, INF = float("nan"), float("inf")


def binary():
    cases = Cases("binary")
    for dtype in ALL:
        a, b = sample(dtype, 2, 3), sample(dtype, 2, 3, seed=1)
        for op in ["mul", "maximum", "minimum", "div"]:
            cases.add(f"aten::{op}.out", a, b)
        cases.add("aten::add.out", a, b, 1)
        if dtype != torch.bool:
            cases.add("aten::add.out", a, b, 2)
            cases.add("aten::sub.out", a, b, 1)
            cases.add("aten::rsub.Scalar_out", a, 3, 1)
            cases.add("aten::sub.Scalar_out", a, 3, 2)
        cases.add("aten::add.Scalar_out", a, 2, 1)
        cases.add("aten::add.Scalar_out", a, 1.5, 1)
        cases.add("aten::mul.Scalar_out", a, 0.3)
        cases.add("aten::mul.Scalar_out", a, True)
        cases.add("aten::div.Scalar_out", a, 3)
        cases.add("aten::add.out", a, torch.tensor(2.5), 1)
        cases.add("aten::mul.out", torch.tensor(3), b)
    nonzero = lambda dtype, *sizes: torch.where(sample(dtype, *sizes, seed=3) == 0, torch.ones(1, dtype=dtype),
                                                sample(dtype, *sizes, seed=3))
    for dtype in REAL:
        a, b = sample(dtype, 3, 4, low=-9, high=9), nonzero(dtype, 3, 4)
        for op in ["fmod.Tensor_out", "remainder.Tensor_out", "floor_divide.out", "atan2.out"]:
            cases.add(f"aten::{op}", a, b)
        for mode in ["floor", "trunc", None]:
            cases.add("aten::div.out_mode", a, b, mode)
            cases.add("aten::div.Scalar_mode_out", a, 2, mode)
        cases.add("aten::fmod.Scalar_out", a, 3)
        cases.add("aten::remainder.Scalar_out", a, 3)
        cases.add("aten::remainder.Scalar_out", a, -2.5)
        positive = sample(dtype, 5, low=0, high=4)
        cases.add("aten::pow.Tensor_Tensor_out", sample(dtype, 5, low=1, high=4), positive)
        for exponent in [2, 3, 0, 1]:
            cases.add("aten::pow.Tensor_Scalar_out", a, exponent)
        cases.add("aten::pow.Tensor_Scalar_out", positive, 0.5)
        cases.add("aten::pow.Tensor_Scalar_out", sample(dtype, 5, low=1, high=4), -1.5)
        cases.add("aten::pow.Scalar_out", 2, positive)
        cases.add("aten::pow.Scalar_out", 1.5, positive)
    for dtype in INTEGERS + [torch.bool]:
        a, b = sample(dtype, 4, low=-9, high=9), sample(dtype, 4, seed=2, low=-9, high=9)
        for op in ["and", "or", "xor"]:
            cases.add(f"aten::bitwise_{op}.Tensor_out", a, b)
            cases.add(f"aten::bitwise_{op}.Scalar_out", a, True if dtype == torch.bool else 5)
        if dtype != torch.bool:
            shifts = torch.tensor([0, 1, 3, 7]).to(dtype)
            for side in ["left", "right"]:
                cases.add(f"aten::bitwise_{side}_shift.Tensor_out", a, shifts)
                cases.add(f"aten::bitwise_{side}_shift.Tensor_Scalar_out", a, 2)
    # Mixed dtypes: the common one decides.
    for x, y in itertools.permutations([torch.uint8, torch.int8, torch.int32, torch.int64, torch.float16,
                                        torch.bfloat16, torch.float32, torch.float64, torch.bool], 2):
        cases.add("aten::add.out", sample(x, 3), sample(y, 3, seed=1), 1)
        cases.add("aten::mul.out", sample(x, 3), sample(y, 1, seed=1).reshape(()))
    # Wrapping, zero divisors of floats, NaN, infinities.
    top = torch.tensor([127, -128, 100], dtype=torch.int8)
    cases.add("aten::add.out", top, top, 1)
    cases.add("aten::mul.out", top, top)
    cases.add("aten::mul.out", torch.tensor([2**62, -2**63]), torch.tensor([4, -1]))
    cases.add("aten::floor_divide.out", torch.tensor([-128], dtype=torch.int8), torch.tensor([-1], dtype=torch.int8))
    odd = torch.tensor([NAN, INF, -INF, 1.0, -1.0, 0.0])
    for op in ["maximum", "minimum", "div", "mul", "fmod.Tensor_out", "remainder.Tensor_out", "floor_divide"]:
        cases.add(f"aten::{op}" if "." in op else f"aten::{op}.out", odd, torch.tensor([1.0, 2.0, NAN, 0.0, INF, 0.0]))
    cases.add("aten::add.out", torch.tensor([1], dtype=torch.int8), torch.tensor(300), 1)
    # Broadcasting and layouts.
    x = sample(torch.float32, 2, 3, 4, 5)
    for other in [(1,), (5,), (4, 1), (3, 1, 1), (2, 1, 1, 1), (1, 3, 4, 5), (2, 3, 1, 1), (1, 1, 1, 1), (1, 1, 4, 1)]:
        y = sample(torch.float32, *other, seed=7)
        cases.add("aten::add.out", x, y, 1)
        cases.add("aten::sub.out", y, x, 2)
        cases.add("aten::mul.out", x.contiguous(memory_format=torch.channels_last), y)
        cases.add("aten::div.out", y, x.contiguous(memory_format=torch.channels_last) + 50)
    cases.add("aten::add.out", torch.ones(2, 2), torch.tensor([[[1.0], [2.0]]]), 1)
    cases.add("aten::add.out", x, x.contiguous(memory_format=torch.channels_last), 1)
    cases.add("aten::mul.out", x.half(), x.contiguous(memory_format=torch.channels_last).double())
    cases.add("aten::add.out", torch.ones(0, 3), torch.ones(3), 1)
    cases.add("aten::add.out", torch.tensor(1.0), torch.tensor(2), 1)
    cases.add("aten::add.out", sample(torch.float32, 700), sample(torch.float32, 700, seed=5), 0.25)
    cases.add("aten::add.out", sample(torch.int32, 3), sample(torch.int32, 3), 1, out_dtype=torch.float32)
    # Refusals.
    cases.fails("aten::add.out", torch.ones(3), torch.ones(4), 1, out=[(torch.float32, (4,))])
    cases.fails("aten::add.out", torch.ones(3), torch.ones(3), 1, out=[(torch.int32, (3,))])
    cases.fails("aten::add.out", torch.ones(3).int(), torch.ones(3).int(), 1.5, out=[(torch.int32, (3,))])
    cases.fails("aten::sub.out", torch.ones(3).bool(), torch.ones(3).bool(), 1, out=[(torch.bool, (3,))])
    cases.fails("aten::floor_divide.out", torch.tensor([1]), torch.tensor([0]), out=[(torch.int64, (1,))])
    cases.fails("aten::remainder.Scalar_out", torch.tensor([1]), 0, out=[(torch.int64, (1,))])
    cases.fails("aten::fmod.Tensor_out", torch.tensor([1]), torch.tensor([0]), out=[(torch.int64, (1,))])
    cases.fails("aten::pow.Tensor_Scalar_out", torch.tensor([2]), -1, out=[(torch.int64, (1,))])
    cases.fails("aten::div.out_mode", torch.ones(2), torch.ones(2), "up", out=[(torch.float32, (2,))])
    cases.save()


def comparison():
    cases = Cases("comparison")
    for dtype in ALL:
        a, b = sample(dtype, 2, 3), sample(dtype, 2, 3, seed=1)
        for op in ["eq", "ne", "lt", "le", "gt", "ge"]:
            cases.add(f"aten::{op}.Tensor_out", a, b)
            cases.add(f"aten::{op}.Scalar_out", a, 1)
            cases.add(f"aten::{op}.Scalar_out", a, 0.5)
        for op in ["logical_and", "logical_or", "logical_xor"]:
            cases.add(f"aten::{op}.out", a, b)
        for op in ["logical_not", "isnan", "isinf"]:
            cases.add(f"aten::{op}.out", a)
    for dtype in [torch.uint16, torch.uint32, torch.uint64]:
        cases.add("aten::eq.Tensor_out", torch.tensor([1, 2]).to(dtype), torch.tensor([1, 3]).to(dtype))
    cases.add("aten::le.Tensor_out", torch.tensor([0, 1, 2]), torch.tensor([[1]]))
    cases.add("aten::lt.Tensor_out", torch.tensor([1, 2]), torch.tensor([1.5, 1.5]))
    cases.add("aten::eq.Tensor_out", torch.tensor([2049, 2048]), torch.tensor([2048, 2048], dtype=torch.float16))
    cases.add("aten::eq.Scalar_out", torch.tensor([44, 1], dtype=torch.int8), 300)
    odd = torch.tensor([NAN, INF, -INF, 0.0, -0.0])
    for dtype in FLOATS:
        cases.add("aten::isnan.out", odd.to(dtype))
        cases.add("aten::isinf.out", odd.to(dtype))
        cases.add("aten::eq.Tensor_out", odd.to(dtype), odd.flip(0).to(dtype))
        cases.add("aten::ge.Scalar_out", odd.to(dtype), 0)
        cases.add("aten::logical_not.out", odd.to(dtype))
    cases.add("aten::logical_and.out", torch.tensor([0.5, 0.0, 2.0]), torch.tensor([True, True, False]))
    cases.save()


def unary():
    cases = Cases("unary")
    wide = torch.tensor([-3.5, -2.5, -1.5, -1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 3.0, 30.0, NAN, INF, -INF])
    functions = ("acos acosh asin asinh atan atanh cos cosh erf exp expm1 log log10 log1p log2 reciprocal rsqrt "
                 "sigmoid sin sinh sqrt tan tanh abs neg relu ceil floor round trunc sign").split()
    for op in functions:
        for dtype in FLOATS:
            x = wide[:-2] if op in ("sin", "cos", "tan") else wide
            if dtype == torch.float16 and op in ("exp", "cosh", "sinh", "expm1"):
                x = x[x < 20]
            cases.add(f"aten::{op}.out", x.to(dtype))
        for dtype in INTEGERS + [torch.bool]:
            cases.add(f"aten::{op}.out", sample(dtype, 5, low=0 if "log" in op or "sqrt" in op else -3, high=4))
        cases.add(f"aten::{op}.out", sample(torch.float32, 2, 3, 2, 2).contiguous(memory_format=torch.channels_last))
    cases.add("aten::neg.out", torch.tensor([-128, 127], dtype=torch.int8))
    cases.add("aten::abs.out", torch.tensor([-128, 127], dtype=torch.int8))
    for dtype in INTEGERS + [torch.bool]:
        cases.add("aten::bitwise_not.out", sample(dtype, 4))
    for dtype in FLOATS:
        p = torch.tensor([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]).to(dtype)
        cases.add("aten::logit.out", p, None)
        cases.add("aten::logit.out", p, 0.125)
        x = wide[:-3].to(dtype)
        cases.add("aten::gelu.out", x, "none")
        cases.add("aten::gelu.out", x, "tanh")
        cases.add("aten::elu.out", x, 1.0, 1.0, 1.0)
        cases.add("aten::elu.out", x, 0.5, 2, 1.5)
        cases.add("aten::leaky_relu.out", x, 0.1)
        cases.add("aten::hardtanh.out", wide.to(dtype), -1.0, 1.0)
        cases.add("aten::hardtanh.out", x, 0, 6)
        cases.add("aten::glu.out", sample(dtype, 2, 4, 3), 1)
        cases.add("aten::glu.out", sample(dtype, 6), -1)
    cases.add("aten::hardtanh.out", sample(torch.int32, 6), -1, 2, expect=sample(torch.int32, 6).clamp(-1, 2))
    cases.add("aten::sigmoid.out", torch.tensor([True, False]))
    cases.lines += ["case aten::elu.out", "t float32 2 1 : -1.0 2.0", "b 1", "d 1.0", "i 3",
                    tensor_line("o", torch.nn.functional.elu(torch.tensor([-3.0, 2.0])))]
    cases.count += 1
    cases.add("aten::exp.out", sample(torch.float32, 1500))
    cases.add("aten::exp.out", torch.ones(0, 2))
    cases.add("aten::exp.out", torch.tensor(1.0))
    cases.fails("aten::exp.out", torch.ones(2), out=[(torch.int32, (2,))])
    cases.fails("aten::gelu.out", torch.ones(2), "fast", out=[(torch.float32, (2,))])
    cases.fails("aten::glu.out", torch.ones(3), 0, out=[(torch.float32, (1,))])
    cases.save()


def conditional():
    cases = Cases("conditional")
    for dtype in ALL:
        a, b, m = sample(dtype, 2, 3), sample(dtype, 2, 3, seed=1), sample(torch.bool, 2, 3)
        cases.add("aten::where.self_out", m, a, b)
        cases.add("aten::where.self_out", m, a, torch.tensor(1.5))
        cases.add("aten::masked_fill.Scalar_out", a, m, 1)
        cases.add("aten::masked_select.out", a, m)
        cases.add("aten::masked_scatter.out", a, m, sample(dtype, 7, seed=4))
        if dtype != torch.bool:
            cases.add("aten::clamp.out", a, 1, 3)
            cases.add("aten::clamp.out", a, None, 2)
            cases.add("aten::clamp.out", a, 0.5, None)
            cases.add("aten::clamp.Tensor_out", a, b, None)
            cases.add("aten::clamp.Tensor_out", a, torch.tensor(1, dtype=dtype), torch.tensor(2, dtype=dtype))
    cases.add("aten::clamp.out", torch.tensor([1, 200], dtype=torch.uint8), -1, 100)
    cases.add("aten::clamp.Tensor_out", torch.tensor([301], dtype=torch.int16), torch.tensor([-129], dtype=torch.int16),
              torch.tensor([300], dtype=torch.int32), out_dtype=torch.int8)
    odd = torch.tensor([NAN, INF, -INF, 1.0])
    cases.add("aten::clamp.out", odd, -2.0, 2.0)
    cases.add("aten::clamp.out", torch.tensor([1.0, 2.0]), NAN, None)
    cases.add("aten::clamp.Tensor_out", odd, torch.tensor([0.0, 0.0, NAN, 0.0]), torch.tensor([1.0, NAN, 1.0, 0.5]))
    cases.add("aten::where.self_out", torch.tensor([[True], [False]]), torch.arange(3.0), torch.zeros(2, 1))
    cases.add("aten::where.self_out", torch.tensor([1, 0], dtype=torch.uint8), torch.tensor([1, 2]), torch.tensor([3, 4]))
    nhwc = sample(torch.float32, 1, 2, 2, 3).contiguous(memory_format=torch.channels_last)
    cases.add("aten::where.self_out", nhwc > 0, nhwc, nhwc * 0.25)
    cases.add("aten::masked_fill.Scalar_out", nhwc, torch.tensor([True, False, True]), -INF)
    cases.add("aten::masked_select.out", nhwc, torch.tensor([True, False, True]))
    cases.add("aten::masked_fill.Scalar_out", sample(torch.int8, 2), torch.tensor([True, False]), 1.5)
    cases.fails("aten::masked_fill.Scalar_out", sample(torch.int8, 2), torch.tensor([True, False]), 300, out=[(torch.int8, (2,))])
    cases.fails("aten::masked_scatter.out", torch.ones(3), torch.tensor([True, True, True]), torch.ones(2), out=[(torch.float32, (3,))])
    cases.fails("aten::clamp.out", torch.tensor([1], dtype=torch.uint8), 0, 300, out=[(torch.uint8, (1,))])
    cases.fails("aten::clamp.out", torch.ones(1), None, None, out=[(torch.float32, (1,))])
    cases.save()


def reduction():
    cases = Cases("reduction")
    for dtype in ALL:
        x = sample(dtype, 2, 3, 4)
        for dims, keep in [([1], False), ([0, 2], True), ([], False), (None, True), ([-1], False)]:
            cases.add("aten::sum.IntList_out", x, dims, keep, None)
            cases.add("aten::any.dims_out", x, dims, keep)
            if dims is not None:
                cases.add("aten::amax.out", x, dims, keep)
                cases.add("aten::amin.out", x, dims, keep)
        cases.add("aten::sum.IntList_out", x, [0], False, torch.float32)
        cases.add("aten::sum.IntList_out", x, [0], False, torch.int8)
        cases.add("aten::mean.out", x, [1], False, torch.float32)
        # PyTorch rounds 16-bit products at each step; the exact one is asked for here.
        exact = x.double().prod().to(dtype) if dtype.is_floating_point else None
        cases.add("aten::prod.out", x, None, expect=exact)
        cases.add("aten::prod.int_out", x, 1, True, None)
        cases.add("aten::any.all_out", x)
        cases.add("aten::any.out", x, 2, False)
        cases.add("aten::max.unary_out", x)
        cases.add("aten::min.unary_out", x)
        for name in ["max.dim_max", "min.dim_min"]:
            cases.add(f"aten::{name}", x, 1, False, expect=list(getattr(torch, name[:3])(x, 1)))
            cases.add(f"aten::{name}", x, -1, True, expect=list(getattr(torch, name[:3])(x, -1, True)))
        if dtype != torch.bool:
            cases.add("aten::argmax.out", x, None, False)
            cases.add("aten::argmin.out", x, 1, True)
        cases.add("aten::cumsum.out", x, 1, None)
        cases.add("aten::cumsum.out", x, -1, torch.float32)
    for dtype in FLOATS:
        x = sample(dtype, 3, 2, 5)
        cases.add("aten::mean.out", x, [0, 1], True, None)
        cases.add("aten::mean.out", x, [2], False, None)
        cases.add("aten::mean.dtype_out", x, None)
        cases.add("aten::var.out", x, [1], True, False)
        cases.add("aten::var.out", x, [2], False, True)
        cases.add("aten::var.correction_out", x, [0, 2], 1, False)
        cases.add("aten::var.correction_out", x, None, 2, False)
        cases.add("aten::var.correction_out", x, [1], None, False)
        cases.add("aten::var_mean.correction_out", x, [2], 0, True, expect=list(torch.var_mean(x, [2], correction=0, keepdim=True)))
        cases.add("aten::mean.out", torch.ones(2, 0, 3, dtype=dtype), [1], False, None)
    cases.add("aten::any.out", torch.ones(2, 0, 3), 1, False)
    cases.add("aten::sum.IntList_out", torch.ones(2, 0), [1], False, None)
    cases.add("aten::prod.int_out", torch.ones(2, 0), 1, False, None)
    cases.add("aten::amax.out", torch.ones(0, 3), [1], False)
    cases.add("aten::var.correction_out", torch.tensor([3.0, 4.0]), [0], 5, False)
    cases.add("aten::var.correction_out", torch.tensor([3.0]), [0], 1, False)
    # 16-bit sums do not stick at the largest exact integer.
    cases.add("aten::mean.out", torch.ones(1024, 1, dtype=torch.bfloat16), [0], False, None)
    cases.add("aten::sum.IntList_out", torch.ones(3000, dtype=torch.float16), [0], False, None)
    odd = torch.tensor([[1.0, NAN, 3.0, NAN], [INF, -INF, 0.0, 1.0]])
    for name in ["amax", "amin"]:
        cases.add(f"aten::{name}.out", odd, [1], False)
    cases.add("aten::argmax.out", odd, 1, False)
    cases.add("aten::argmin.out", odd, 1, False)
    cases.add("aten::argmax.out", torch.tensor([[2, 5, 5], [7, 7, 1]]), 1, False)
    cases.add("aten::max.dim_max", odd, 1, False, expect=list(torch.max(odd, 1)))
    cases.add("aten::max.dim_max", torch.tensor(3.0), 0, False, expect=list(torch.max(torch.tensor(3.0), 0)))
    nhwc = sample(torch.float32, 2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    for dims in [[2, 3], [1], [0], [-1], [0, 1], [1, 3]]:
        for keep in [False, True]:
            cases.add("aten::sum.IntList_out", nhwc, dims, keep, None)
            cases.add("aten::mean.out", nhwc, dims, keep, None, out_layout=torch.channels_last if keep else None)
            cases.add("aten::amax.out", nhwc, dims, keep)
    cases.add("aten::mean.out", nhwc.contiguous(), [-1, -2], True, None)
    cases.add("aten::sum.IntList_out", sample(torch.float32, 3, 1300), [1], False, None)
    cases.add("aten::sum.IntList_out", sample(torch.float32, 1300, 3), [0], False, None)
    cases.add("aten::sum.IntList_out", torch.tensor(2.0), [0], False, None)
    cases.add("aten::cumsum.out", sample(torch.float32, 1200), 0, None)
    cases.add("aten::cumsum.out", torch.tensor(3.0), 0, None)
    cases.fails("aten::amax.out", torch.ones(2, 0), [1], False, out=[(torch.float32, (2,))])
    cases.fails("aten::argmax.out", torch.ones(0), None, False, out=[(torch.int64, ())])
    cases.fails("aten::sum.IntList_out", torch.ones(2, 3), [2], False, None, out=[(torch.float32, (2,))])
    cases.fails("aten::sum.IntList_out", torch.ones(2, 3), [1, -1], False, None, out=[(torch.float32, (2,))])
    cases.fails("aten::cumsum.out", torch.ones(2, 3), -3, None, out=[(torch.float32, (2, 3))])
    cases.fails("aten::mean.out", torch.ones(2, 3), [1], False, torch.int32, out=[(torch.int32, (2,))])
    cases.save()


def shape():
    cases = Cases("shape")
    for dtype in ALL:
        x = sample(dtype, 2, 3, 4)
        cases.add("aten::permute_copy.out", x, [2, 0, -2])
        cases.add("aten::view_copy.out", x, [4, -1])
        cases.add("aten::slice_copy.Tensor_out", x, 1, 0, 3, 2)
        cases.add("aten::flip.out", x, [0, -1])
        cases.add("aten::repeat.out", x, [2, 1, 3, 2])
        cases.add("aten::tril.out", x, 0)
        cases.add("aten::unfold_copy.out", x, 2, 2, 1)
        cases.add("aten::clone.out", x, None)
        cases.add("aten::_to_copy.out", x, False, None)
    x = sample(torch.float32, 2, 3, 4)
    for d in [-1, 0, 1, 2, -3]:
        cases.add("aten::select_copy.int_out", x, d, -1)
        cases.add("aten::unsqueeze_copy.out", x, d)
        cases.add("aten::transpose_copy.int_out", x, d, 1)
        cases.add("aten::squeeze_copy.dim_out", sample(torch.float32, 1, 3, 1), d)
        cases.add("aten::unbind_copy.int_out", x, d)
    cases.add("aten::t_copy.out", sample(torch.float32, 2, 3))
    cases.add("aten::t_copy.out", sample(torch.float32, 2))
    cases.add("aten::expand_copy.out", sample(torch.float32, 3, 1), [2, -1, 4])
    cases.add("aten::squeeze_copy.dims_out", sample(torch.float32, 1, 3, 1, 1), [0, -1, 1])
    for start, end, step in [(None, None, 1), (-2, None, 1), (0, -1, 1), (1, 9223372036854775807, 1), (3, 1, 1),
                             (-100, 2, 1), (0, 4, 3), (5, 9, 1)]:
        cases.add("aten::slice_copy.Tensor_out", x, 2, start, end, step)
    cases.add("aten::slice_copy.Tensor_out", x, 2, 0, 3, 9223372036854775807, expect=x[:, :, :1])
    cases.add("aten::narrow_copy.out", x, 1, 1, 2, expect=x.narrow(1, 1, 2))
    cases.add("aten::narrow_copy.out", x, 1, -1, 1, expect=x.narrow(1, -1, 1))
    cases.add("aten::slice_scatter.out", x, sample(torch.float32, 2, 2, 4, seed=9), 1, 0, 3, 2)
    cases.add("aten::select_scatter.out", x, sample(torch.float32, 2, 4, seed=9), 1, -2)
    for size, d in [(2, 2), (3, 2), (1, 1), (10, 0)]:
        cases.add("aten::split_copy.Tensor_out", x, size, d)
    cases.add("aten::split_with_sizes_copy.out", x, [1, 0, 3], 2)
    cases.add("aten::as_strided_copy.out", x, [2, 2], [3, 1], 1)
    for offset in [0, 1, -1, 5, -9]:
        cases.add("aten::diagonal_copy.out", x, offset, 1, -1)
        cases.add("aten::tril.out", sample(torch.int32, 3, 4), offset)
    cases.add("aten::diagonal_copy.out", x, 0, 0, 1)
    cases.add("aten::unfold_copy.out", x, 1, 2, 2)
    cases.add("aten::roll.out", x, [1], [], expect=torch.roll(x, 1))
    cases.add("aten::roll.out", x, [1, -1], [0, 2], expect=torch.roll(x, [1, -1], [0, 2]))
    cases.add("aten::roll.out", x, [5, 7], [1, 1], expect=torch.roll(x, [5, 7], [1, 1]))
    cases.add("aten::pixel_shuffle.out", sample(torch.float32, 2, 8, 2, 3), 2)
    cases.add("aten::pixel_unshuffle.out", sample(torch.float32, 2, 3, 4, 6), 2)
    cases.add("aten::repeat.out", sample(torch.float32, 2), [0])
    cases.add("aten::repeat.out", torch.tensor(2.0), [2, 3])
    nhwc = sample(torch.float32, 2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    cases.add("aten::view_copy.out", nhwc, [6, 20], expect=nhwc.reshape(6, 20).contiguous())
    cases.add("aten::view_copy.out", nhwc, [2, 4, 3, 5], expect=nhwc.reshape(2, 4, 3, 5), out_layout=torch.channels_last)
    cases.add("aten::permute_copy.out", nhwc, [0, 2, 3, 1], expect=nhwc.permute(0, 2, 3, 1).contiguous())
    cases.add("aten::slice_copy.Tensor_out", nhwc, 1, 1, 3, 1, expect=nhwc[:, 1:3], out_layout=torch.channels_last)
    cases.add("aten::flip.out", nhwc, [1, 2], expect=nhwc.flip([1, 2]), out_layout=torch.contiguous_format)
    cases.add("aten::clone.out", nhwc, None, expect=nhwc, out_layout=torch.contiguous_format)
    cases.add("aten::clone.out", nhwc.contiguous(), None, expect=nhwc, out_layout=torch.channels_last)
    cases.add("aten::unfold_copy.out", torch.tensor(3.0), 0, 1, 1)
    for source, target in itertools.permutations(ALL, 2):
        cases.add("aten::_to_copy.out", sample(source, 5), False, None, expect=sample(source, 5).to(target))
    cases.add("aten::_to_copy.out", torch.tensor([-1.5, 3.9, -0.0, NAN]), False, None,
              expect=torch.tensor([True, True, False, True]))
    cases.add("aten::copy.out", torch.zeros(2, 3), torch.tensor([1, 2, 3]), False)
    cases.add_in_place("aten::copy_", torch.zeros(2, 3), torch.tensor([1, 2, 3]), False,
                       expect=torch.tensor([[1.0, 2, 3], [1, 2, 3]]))
    cases.add("aten::alias_copy.out", x)
    cases.add("aten::detach_copy.out", x)
    cases.add("aten::lift_fresh_copy.out", x)
    bad = [(torch.float32, (2, 3, 4))]
    cases.fails("aten::select_copy.int_out", x, 0, 2, out=[(torch.float32, (3, 4))])
    cases.fails("aten::select_copy.int_out", x, 0, -3, out=[(torch.float32, (3, 4))])
    cases.fails("aten::select_copy.int_out", torch.tensor(1.0), 0, 0, out=[(torch.float32, ())])
    cases.fails("aten::slice_copy.Tensor_out", x, 3, None, None, 1, out=bad)
    cases.fails("aten::slice_copy.Tensor_out", x, 0, None, None, 0, out=bad)
    cases.fails("aten::slice_copy.Tensor_out", x, 0, None, None, -1, out=bad)
    cases.fails("aten::permute_copy.out", x, [0, 1, 1], out=bad)
    cases.fails("aten::permute_copy.out", x, [0, 1], out=bad)
    cases.fails("aten::view_copy.out", x, [5, -1], out=[(torch.float32, (5, 4))])
    cases.fails("aten::view_copy.out", x, [2**40, 2**40], out=[(torch.float32, (2, 12))])
    cases.fails("aten::expand_copy.out", x, [3, 3, 4], out=[(torch.float32, (3, 3, 4))])
    cases.fails("aten::expand_copy.out", x, [3, 4], out=[(torch.float32, (3, 4))])
    cases.fails("aten::as_strided_copy.out", x, [2, 25], [1, 1], 0, out=[(torch.float32, (2, 25))])
    cases.fails("aten::as_strided_copy.out", x, [2], [2**62], 0, out=[(torch.float32, (2,))])
    cases.fails("aten::as_strided_copy.out", x, [2], [1], -1, out=[(torch.float32, (2,))])
    cases.fails("aten::narrow_copy.out", x, 1, 2, 2, out=[(torch.float32, (2, 2, 4))])
    cases.fails("aten::split_copy.Tensor_out", x, 2, 5, out=[(torch.float32, (2, 3, 2))])
    cases.fails("aten::unfold_copy.out", x, 0, 3, 1, out=bad)
    cases.fails("aten::unfold_copy.out", x, 0, 1, 0, out=bad)
    cases.fails("aten::pixel_shuffle.out", sample(torch.float32, 3, 2, 2), 2, out=[(torch.float32, (1, 4, 4))])
    cases.fails("aten::pixel_shuffle.out", sample(torch.float32, 3, 2, 2), 0, out=[(torch.float32, (1, 4, 4))])
    cases.fails("aten::repeat.out", x, [2], out=bad)
    cases.fails("aten::repeat.out", x, [1, 1, -1], out=bad)
    cases.fails("aten::flip.out", x, [0, 0], out=bad)
    cases.fails("aten::clone.out", torch.ones(30), None, out=[(torch.float32, (4,))])
    cases.save()


def joining():
    cases = Cases("joining")
    for dtype in ALL:
        parts = [sample(dtype, 2, 3), sample(dtype, 1, 3, seed=1), sample(dtype, 2, 3, seed=2)]
        cases.add("aten::cat.out", parts, 0)
        cases.add("aten::stack.out", [parts[0], parts[2]], -1)
        cases.add("aten::constant_pad_nd.out", parts[0], [1, 2, 0, 1], 1)
    a, b = sample(torch.float32, 2, 3), sample(torch.float32, 2, 1, seed=3)
    cases.add("aten::cat.out", [a, b], -1)
    cases.add("aten::cat.out", [torch.ones(0), a], 1)
    cases.add("aten::cat.out", [a, sample(torch.int32, 2, 2)], 1)
    cases.add("aten::cat.out", [torch.ones(0), torch.ones(0)], 0)
    nhwc = sample(torch.float32, 2, 3, 2, 2).contiguous(memory_format=torch.channels_last)
    cases.add("aten::cat.out", [nhwc, nhwc + 1], 1)
    cases.add("aten::cat.out", [nhwc, nhwc.contiguous() + 1], 1, expect=torch.cat([nhwc, nhwc + 1], 1),
              out_layout=torch.channels_last)
    cases.add("aten::stack.out", [a, a + 1], 0)
    cases.add("aten::stack.out", [torch.tensor(1.0), torch.tensor(2.0)], 0)
    x = torch.arange(12.0).reshape(3, 4)
    cases.add("aten::constant_pad_nd.out", x, [-1, 2, -1, 0], 9)
    cases.add("aten::constant_pad_nd.out", x, [0, 0], 0.5)
    cases.add("aten::constant_pad_nd.out", x, [-4, 0], 1)
    cases.add("aten::constant_pad_nd.out", x, [-5, 3], 1, expect=torch.full((3, 2), 1.0))
    cases.add("aten::constant_pad_nd.out", nhwc, [1, 1, 2, 0], 0.0, expect=torch.nn.functional.pad(nhwc, [1, 1, 2, 0]),
              out_layout=torch.channels_last)
    cases.add("aten::constant_pad_nd.out", torch.tensor([44, 1], dtype=torch.int8), [1, 1], 1.5)
    for dtype in [torch.float32, torch.int64, torch.bfloat16]:
        y = sample(dtype, 2, 4, 5)
        for kind in ["reflection", "replication"]:
            cases.add(f"aten::{kind}_pad1d.out", y, [2, 3])
            cases.add(f"aten::{kind}_pad2d.out", y, [1, 2, 3, 0])
            cases.add(f"aten::{kind}_pad2d.out", y, [-1, 2, 1, -2])
            cases.add(f"aten::{kind}_pad3d.out", sample(dtype, 1, 2, 3, 4), [1, 1, 2, 0, 1, 1])
    cases.add("aten::replication_pad1d.out", sample(torch.float32, 1, 3), [5, 7])
    cases.add("aten::reflection_pad2d.out", nhwc, [1, 1, 1, 1], out_layout=torch.channels_last)
    cases.fails("aten::cat.out", [a, torch.ones(3, 3)], 1, out=[(torch.float32, (2, 6))])
    cases.fails("aten::cat.out", [a, torch.ones(2)], 0, out=[(torch.float32, (4, 3))])
    cases.fails("aten::cat.out", [torch.tensor(1.0)], 0, out=[(torch.float32, (1,))])
    cases.fails("aten::stack.out", [a, b], 0, out=[(torch.float32, (2, 2, 3))])
    cases.fails("aten::constant_pad_nd.out", x, [-3, -2], 0, out=[(torch.float32, (3, 4))])
    cases.fails("aten::constant_pad_nd.out", x, [1], 0, out=[(torch.float32, (3, 5))])
    cases.fails("aten::constant_pad_nd.out", x, [9223372036854775807, 1], 0, out=[(torch.float32, (3, 5))])
    cases.fails("aten::constant_pad_nd.out", torch.tensor([44, 1], dtype=torch.int8), [1, 1], 300, out=[(torch.int8, (4,))])
    cases.fails("aten::reflection_pad1d.out", x, [4, 0], out=[(torch.float32, (3, 8))])
    cases.fails("aten::replication_pad1d.out", x, [-2, -2], out=[(torch.float32, (3, 1))])
    cases.save()


def creation():
    cases = Cases("creation")
    for dtype in ALL:
        cases.add("aten::full.out", [2, 3], 1, expect=torch.full((2, 3), 1, dtype=dtype))
        cases.add("aten::zeros.out", [2], expect=torch.zeros(2, dtype=dtype))
        cases.add("aten::ones.out", [0, 2], expect=torch.ones(0, 2, dtype=dtype))
        cases.add("aten::scalar_tensor.out", 1, expect=torch.tensor(1, dtype=dtype))
        cases.add("aten::full_like.out", sample(dtype, 2, 2), 1, None)
        cases.add("aten::fill.Scalar_out", sample(dtype, 2, 2), 1)
        cases.add("aten::fill.Tensor_out", sample(dtype, 2, 2), torch.tensor(2.5))
        if dtype != torch.bool:
            cases.add("aten::arange.out", 5, expect=torch.arange(5, dtype=dtype))
            cases.add("aten::arange.start_out", 9, 1, -3, expect=torch.arange(9, 1, -3, dtype=dtype))
    cases.add("aten::arange.start_out", 0.5, 2.0, 0.25, expect=torch.arange(0.5, 2.0, 0.25))
    cases.add("aten::arange.start_out", 0, 700, 0.1, expect=torch.arange(0, 700, 0.1))
    for dtype in [torch.int32, torch.int64]:
        cases.add("aten::repeat_interleave.Tensor_out", torch.tensor([0, 2, 1], dtype=dtype), None)
    cases.fails("aten::repeat_interleave.Tensor_out", torch.tensor([1, -1]), None, out=[(torch.int64, (0,))])
    cases.fails("aten::repeat_interleave.Tensor_out", torch.tensor([1, 1]), 3, out=[(torch.int64, (3,))])
    cases.add("aten::arange.out", 0, expect=torch.arange(0))
    cases.add("aten::full.out", [2], -1, expect=torch.full((2,), -1, dtype=torch.uint8))
    cases.add("aten::full.out", [2], 1.7, expect=torch.full((2,), 1.7, dtype=torch.int32))
    cases.add("aten::full.out", [2], -INF, expect=torch.full((2,), -INF, dtype=torch.float16))
    cases.fails("aten::full.out", [2], 300, out=[(torch.uint8, (2,))])
    cases.fails("aten::full.out", [-1], 0, out=[(torch.uint8, (2,))])
    cases.fails("aten::arange.start_out", 0, 5, 0, out=[(torch.int64, (5,))])
    cases.fails("aten::arange.start_out", 0, 5, -1, out=[(torch.int64, (5,))])
    cases.fails("aten::arange.out", INF, out=[(torch.float32, (5,))])
    cases.fails("aten::fill.Scalar_out", sample(torch.int8, 2), 300, out=[(torch.int8, (2,))])
    cases.save()


FAMILIES = [binary, comparison, unary, conditional, reduction, shape, joining, creation]

if __name__ == "__main__":
    wanted = set(sys.argv[1:])
    for family in FAMILIES:
        if not wanted or family.__name__ in wanted:
            family()
