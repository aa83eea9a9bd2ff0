"""Exports small programs of many single operators, dtype by dtype, with the official exporter.

    python tests/conformance/export_operators.py --out build/conformance [NAME...]

Each program applies the operators of one family to its inputs and returns all results; it is written as a `.bpte` with
what eager PyTorch gives, to be run by `pteron check`. What is there already and was made from the same lines is kept.
Operators that eager PyTorch does not have for a dtype are left out, which the script says.
"""

import argparse
import hashlib
import pathlib
import sys
import time

import torch
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from models.quiet import quiet  # noqa: E402
from models.recipe import single  # noqa: E402
from models.writer import write  # noqa: E402

# The dtypes of a quick run; --all adds the others of each family.
QUICK = {torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool}
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int64, torch.int32, torch.uint8, torch.int8]
BOOL = [torch.bool]
NHWC = torch.channels_last


def sample(dtype, *sizes, seed=0, low=-4.0, high=4.0):
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.randint(0, 2, sizes, generator=generator).bool()
    if dtype.is_floating_point:
        return (torch.rand(sizes, generator=generator) * (high - low) + low).to(dtype)
    return torch.randint(max(int(low), 0) if dtype == torch.uint8 else int(low), int(high) + 1, sizes,
                         generator=generator).to(dtype)


# ---- Families: name -> (dtypes, inputs(dtype), operators) -----------------------------------------------------------

FAMILIES = {}


def family(name, dtypes, inputs, operators):
    FAMILIES[name] = (dtypes, inputs, operators)


family("arithmetic", FLOATS + INTEGERS + BOOL, lambda t: (sample(t, 2, 3, 5), sample(t, 3, 1, seed=1)), [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y.abs().add(1),
    lambda x, y: torch.add(x, y, alpha=2), lambda x, y: x + 2, lambda x, y: 3 - x, lambda x, y: x * 1.5,
    lambda x, y: x / 3, lambda x, y: torch.maximum(x, y), lambda x, y: torch.minimum(x, y), lambda x, y: x ** 2,
    lambda x, y: x.abs() ** 0.5, lambda x, y: 2 ** x.abs(), lambda x, y: x // 2, lambda x, y: x % 3,
    lambda x, y: torch.fmod(x, 3), lambda x, y: torch.div(x, 2, rounding_mode="trunc"),
    lambda x, y: torch.div(x, 2, rounding_mode="floor"), lambda x, y: torch.atan2(x, y),
    lambda x, y: x + torch.tensor(2.5), lambda x, y: x.float() + y,
])

family("comparison", FLOATS + INTEGERS + BOOL, lambda t: (sample(t, 2, 4), sample(t, 4, seed=1)), [
    lambda x, y: x == y, lambda x, y: x != y, lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x > y,
    lambda x, y: x >= y, lambda x, y: x == 1, lambda x, y: x > 0.5, lambda x, y: torch.logical_and(x, y),
    lambda x, y: torch.logical_or(x, y), lambda x, y: torch.logical_xor(x, y), lambda x, y: torch.logical_not(x),
    lambda x, y: torch.where(x > y, x, y), lambda x, y: torch.where(x > 0, x, 2), lambda x, y: x.clamp(0, 2),
    lambda x, y: x.clamp(min=y), lambda x, y: x.masked_fill(y > 0, 1), lambda x, y: torch.isnan(x),
    lambda x, y: torch.isinf(x),
])

family("bitwise", INTEGERS + BOOL, lambda t: (sample(t, 2, 4), sample(t, 4, seed=1)), [
    lambda x, y: x & y, lambda x, y: x | y, lambda x, y: x ^ y, lambda x, y: ~x, lambda x, y: x & 3,
])

# Eager PyTorch shifts bools, too; its exporter does not.
family("shifts", INTEGERS, lambda t: (sample(t, 2, 4),), [lambda x: x << 1, lambda x: x >> 1])

family("functions", FLOATS + INTEGERS + BOOL, lambda t: (sample(t, 3, 7, low=0.0, high=0.9) if t.is_floating_point
                                                         else sample(t, 3, 7, low=0, high=1),), [
    *[lambda x, f=f: getattr(torch, f)(x) for f in (
        "acos asin atan acosh asinh atanh cos cosh sin sinh tan tanh exp expm1 log1p sigmoid sqrt erf reciprocal rsqrt "
        "abs neg sign ceil floor round trunc relu").split()],
    lambda x: torch.log(x + 1), lambda x: torch.log2(x + 1), lambda x: torch.log10(x + 1),
])

family("activations", FLOATS, lambda t: (sample(t, 2, 6, 4),), [
    F.gelu, lambda x: F.gelu(x, approximate="tanh"), F.elu, F.silu, F.hardswish, F.hardsigmoid, F.relu6, F.hardtanh,
    lambda x: F.leaky_relu(x, 0.1), lambda x: F.glu(x, 1), F.softplus, F.mish, F.selu, F.celu, F.tanhshrink,
    F.softsign, F.logsigmoid, lambda x: torch.logit(x.abs() / 8 + 0.1), lambda x: F.threshold(x, 0.5, 2.0),
    lambda x: F.hardshrink(x), lambda x: F.softshrink(x), lambda x: F.prelu(x, torch.full((6,), 0.2, dtype=x.dtype)),
])

family("reductions", FLOATS + INTEGERS + BOOL, lambda t: (sample(t, 2, 3, 4),), [
    lambda x: x.sum(), lambda x: x.sum(1), lambda x: x.sum((0, 2), keepdim=True), lambda x: x.mean(1),
    lambda x: x.float().mean(), lambda x: x.amax(1), lambda x: x.amin((0, 1), keepdim=True), lambda x: x.max(),
    lambda x: x.max(1)[0], lambda x: x.max(2)[1], lambda x: x.min(-1)[0], lambda x: x.argmax(1), lambda x: x.argmin(),
    # PyTorch rounds a product of 16-bit floats at each step, so a long one is asked for in double.
    lambda x: x.any(), lambda x: x.any(1), lambda x: x.all(2), lambda x: x.prod(1), lambda x: x.double().prod(),
    lambda x: x.cumsum(1), lambda x: x.var(1), lambda x: x.var((0, 2), correction=0), lambda x: x.std(2),
    lambda x: torch.var_mean(x, 1)[1], lambda x: x.norm(), lambda x: x.logsumexp(1),
])

family("shapes", FLOATS + INTEGERS + BOOL, lambda t: (sample(t, 2, 3, 4), sample(t, 2, 3, 1, seed=1)), [
    lambda x, y: x.permute(2, 0, 1) * 1, lambda x, y: x.transpose(0, 2).contiguous(), lambda x, y: x.reshape(4, -1) * 1,
    lambda x, y: x[:, 1:], lambda x, y: x[..., ::2], lambda x, y: x[1], lambda x, y: x.select(2, -1).clone(),
    lambda x, y: torch.cat([x, y], 2), lambda x, y: torch.stack([x, x], 1), lambda x, y: x.split(2, 2)[1].clone(),
    lambda x, y: x.split([1, 3], 2)[1].clone(), lambda x, y: x.unbind(1)[2].clone(), lambda x, y: y.expand(2, 3, 5).clone(),
    lambda x, y: x.repeat(2, 1, 2), lambda x, y: y.squeeze(2).clone(), lambda x, y: x.unsqueeze(1).clone(),
    lambda x, y: x.flip(0, 2), lambda x, y: x.roll(1, 2), lambda x, y: x.roll((1, -1), (0, 1)), lambda x, y: x.tril(),
    lambda x, y: x.triu(1), lambda x, y: x.diagonal(0, 1, 2).clone(), lambda x, y: x.unfold(2, 2, 1).clone(),
    lambda x, y: F.pad(x, (1, 2), value=1), lambda x, y: F.pad(x, (-1, 1, 0, 1)), lambda x, y: x.clone(),
    lambda x, y: torch.narrow(x, 2, 1, 2).clone(), lambda x, y: torch.select_scatter(x, y[:, :, 0], 2, 1),
    lambda x, y: torch.slice_scatter(x, y, 2, 1, 2), lambda x, y: x.to(torch.float32), lambda x, y: x.to(torch.int32),
    lambda x, y: x.to(torch.bool), lambda x, y: x.to(torch.float16), lambda x, y: torch.ones_like(x),
    lambda x, y: torch.full_like(x, 1), lambda x, y: torch.zeros(2, 2, dtype=x.dtype), lambda x, y: x.view(-1) * 1,
    lambda x, y: torch.repeat_interleave(x, 2, 1), lambda x, y: x.expand(3, 2, 3, 4).clone(),
])

family("images", FLOATS, lambda t: (sample(t, 2, 4, 6, 5), sample(t, 8, 4, 3, 3, seed=1), sample(t, 4, 2, 3, 3, seed=2),
                                    sample(t, 8, seed=3)), [
    lambda x, w, g, b: F.conv2d(x, w, b), lambda x, w, g, b: F.conv2d(x, w, b, stride=2, padding=1, dilation=2),
    lambda x, w, g, b: F.conv2d(x, w[:, :2].contiguous(), None, padding=1, groups=2),
    lambda x, w, g, b: F.conv_transpose2d(x, g, None, stride=2, padding=1, output_padding=1),
    lambda x, w, g, b: F.conv1d(x[:, :, 0], w[:, :, 0].contiguous(), b, padding=2),
    lambda x, w, g, b: F.max_pool2d(x, 3, 2, 1), lambda x, w, g, b: F.avg_pool2d(x, 2),
    lambda x, w, g, b: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), lambda x, w, g, b: F.adaptive_avg_pool2d(x, (3, 2)),
    lambda x, w, g, b: F.adaptive_avg_pool2d(x, 1), lambda x, w, g, b: F.pixel_shuffle(x, 2),
    lambda x, w, g, b: F.interpolate(x, scale_factor=2.0, mode="nearest"),
    lambda x, w, g, b: F.interpolate(x, (9, 7), mode="bilinear", align_corners=False),
    lambda x, w, g, b: F.interpolate(x, (9, 7), mode="bilinear", align_corners=True),
    lambda x, w, g, b: F.pad(x, (1, 1, 2, 2), mode="reflect"), lambda x, w, g, b: F.pad(x, (1, 1, 2, 2), mode="replicate"),
    lambda x, w, g, b: F.batch_norm(x, b[:4], b[:4].abs() + 1, b[4:], b[:4]),
    lambda x, w, g, b: F.group_norm(x, 2, b[:4], b[4:]), lambda x, w, g, b: F.instance_norm(x),
    lambda x, w, g, b: F.pixel_unshuffle(x[:, :, :, :4].contiguous(), 2),
])

family("channels_last", [torch.float32, torch.float16], lambda t: (sample(t, 2, 4, 6, 5).contiguous(memory_format=NHWC),
                                                                   sample(t, 8, 4, 3, 3, seed=1), sample(t, 4, 1, 1, seed=2)), [
    lambda x, w, b: x + 1, lambda x, w, b: x * b, lambda x, w, b: x.relu(), lambda x, w, b: F.conv2d(x, w),
    lambda x, w, b: x.mean((2, 3)), lambda x, w, b: x.sum(1), lambda x, w, b: F.max_pool2d(x, 2),
    lambda x, w, b: torch.cat([x, x], 1), lambda x, w, b: x.reshape(2, -1) * 1, lambda x, w, b: x.permute(0, 2, 3, 1) * 1,
    lambda x, w, b: F.softmax(x, 1), lambda x, w, b: x[:, 1:3] + 0, lambda x, w, b: F.pad(x, (1, 1, 1, 1)),
    lambda x, w, b: x.contiguous(), lambda x, w, b: x.amax(1, keepdim=True), lambda x, w, b: x.argmax(1),
])

family("matrices", FLOATS + [torch.int64], lambda t: (sample(t, 3, 4, 5), sample(t, 3, 5, 6, seed=1), sample(t, 7, 5, seed=2),
                                                      sample(t, 7, seed=3)), [
    lambda x, y, w, b: torch.bmm(x, y), lambda x, y, w, b: x @ y, lambda x, y, w, b: F.linear(x, w, b),
    lambda x, y, w, b: F.linear(x[0], w), lambda x, y, w, b: torch.addmm(b[:6], x[0], y[0], beta=2, alpha=3),
    lambda x, y, w, b: torch.mm(x[0], y[0]), lambda x, y, w, b: x[0] @ y[0, :, 0], lambda x, y, w, b: w.t() @ w,
    lambda x, y, w, b: torch.baddbmm(torch.ones(3, 4, 6, dtype=x.dtype), x, y), lambda x, y, w, b: torch.outer(b, b),
    lambda x, y, w, b: torch.einsum("bij,bjk->bki", x, y),
])

family("transformer", FLOATS, lambda t: (sample(t, 2, 3, 4, 8, low=-1.0, high=1.0), sample(t, 8, seed=1)), [
    lambda x, w: F.softmax(x, -1), lambda x, w: F.softmax(x, 1), lambda x, w: F.log_softmax(x, 2),
    lambda x, w: F.layer_norm(x, (8,), w, w), lambda x, w: F.layer_norm(x, (4, 8)),
    lambda x, w: F.scaled_dot_product_attention(x, x, x), lambda x, w: F.scaled_dot_product_attention(x, x, x, is_causal=True),
    lambda x, w: F.rms_norm(x, (8,), w), lambda x, w: F.normalize(x, dim=-1), lambda x, w: F.cosine_similarity(x, x, -1),
])

INDEX = torch.tensor([[0, 2, 1, 0], [2, 1, 0, 0]])
family("indexing", FLOATS + INTEGERS + BOOL, lambda t: (sample(t, 3, 4), INDEX.clone()), [
    lambda x, i: x[i[0]], lambda x, i: x[:, i[1]], lambda x, i: x[i[0], i[1]], lambda x, i: x.index_select(1, i[0]),
    lambda x, i: x.gather(0, i), lambda x, i: F.embedding(i, x), lambda x, i: x.scatter(0, i, x[:2] * 1),
    lambda x, i: x.scatter(0, i, 1), lambda x, i: x.scatter_add(0, i, x[:2] * 1),
    lambda x, i: x.index_put((i[0],), x[0] * 1), lambda x, i: x.index_put((i[0], i[1]), x[0] * 1, accumulate=True),
    lambda x, i: x.topk(2, 1)[0], lambda x, i: x.topk(3, 0, largest=False)[0], lambda x, i: x[-i - 1],
    lambda x, i: x.index_add(0, i[0, :2], x[:2] * 1), lambda x, i: torch.take_along_dim(x, i, 0),
])


# ---- Programs -------------------------------------------------------------------------------------------------------


class Operators(torch.nn.Module):
    def __init__(self, operators):
        super().__init__()
        self.operators = operators

    def forward(self, *inputs):
        return tuple(operator(*inputs) for operator in self.operators)


def is_available(operator, inputs):
    try:
        with torch.no_grad():
            operator(*[value.clone() for value in inputs])
        return True
    except (RuntimeError, NotImplementedError, IndexError):
        return False


def origin(name):
    """What a family's programs are made from: its own lines of this file and those of no family."""
    parts = pathlib.Path(__file__).read_text().split("\nfamily(")
    own = [part for part in parts[1:] if part.startswith(f'"{name}"')]
    return hashlib.sha256("".join([parts[0], *own, parts[-1].partition("# ----")[2]]).encode()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "conformance")
    parser.add_argument("--all", action="store_true", help="all dtypes, not only the commoner ones")
    parser.add_argument("names", nargs="*", help="programs to make, as arithmetic_float32; default: all")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, (dtypes, inputs_of, operators) in FAMILIES.items():
        made_from = origin(name)
        for dtype in dtypes:
            program = f"{name}_{str(dtype).split('.')[1]}"
            if options.names and program not in options.names and name not in options.names:
                continue
            if dtype not in QUICK and not options.all and program not in options.names:
                continue
            stamp = options.out / f"{program}.stamp"
            if stamp.exists() and stamp.read_text() == made_from:
                continue
            inputs = inputs_of(dtype)
            kept = [operator for operator in operators if is_available(operator, inputs)]
            started = time.monotonic()
            try:
                with quiet(), torch.no_grad():
                    write(single(Operators(kept), inputs), program, options.out)
                stamp.write_text(made_from)
                print(f"{program}: {len(kept)} operators, {len(operators) - len(kept)} not in PyTorch for this dtype, "
                      f"{time.monotonic() - started:.1f} s", flush=True)
            except Exception as error:  # what one operator breaks must not hide the others
                failed += 1
                print(f"{program}: FAILED: {type(error).__name__}: {str(error)[:300]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
