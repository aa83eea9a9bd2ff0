"""Tiny programs, one for each thing a loader or runtime has to get right."""

from __future__ import annotations

import linecache
from typing import Any

import torch
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import Tensor, nn
from torch.export import Dim

from models.recipe import Method, Recipe, program, single


class Call(nn.Module):
    """A module around a plain function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Add(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y


@program
def add() -> Recipe:
    """No constants: the file has no extended header."""
    return single(Add(), (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([10.0, 20.0, 30.0])))


@program
def linear() -> Recipe:
    """A weight and a bias in the constant segment."""
    return single(nn.Linear(4, 3), (torch.randn(2, 4),))


@program
def conv() -> Recipe:
    """Convolution, ReLU, max pooling."""
    model = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
    return single(model, (torch.randn(1, 2, 6, 6),))


class ChannelsLast(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = x.to(memory_format=torch.channels_last)
        return self.conv(x).to(memory_format=torch.contiguous_format)


@program
def channels_last() -> Recipe:
    """Converts to channels-last and back inside: the dim-order operators."""
    return single(ChannelsLast(), (torch.randn(1, 3, 5, 4),))


@program
def channels_last_input() -> Recipe:
    """Input and output are channels-last for the caller too."""
    example = torch.randn(1, 3, 5, 4).to(memory_format=torch.channels_last)
    model = nn.Conv2d(3, 4, 3, padding=1).to(memory_format=torch.channels_last)
    return single(model, (example,))


@program
def one_channel() -> Recipe:
    """The input's only channel has stride 1: dim order (0, 2, 1, 3), equal to contiguous, and a channels-last result."""
    example = torch.randn(2, 1, 5, 4).as_strided((2, 1, 5, 4), (20, 1, 4, 1))
    return single(nn.Conv2d(1, 3, 3, padding=1), (example,))


class MutableCounter(nn.Module):
    """Counts its calls and adds up its inputs; starts from values that are not zero."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.tensor([5], dtype=torch.int64))
        self.register_buffer("total", torch.tensor([1.0, 2.0]))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.calls.add_(1)
        self.total.add_(x)
        return self.calls + 0, self.total * 1.0


def _counter_cases() -> tuple[tuple[Tensor], ...]:
    return ((torch.tensor([1.0, 1.0]),), (torch.tensor([0.5, -4.0]),), (torch.tensor([0.0, 100.0]),))


@program
def mutable_counter() -> Recipe:
    """Mutable buffers with an initial state in the file; three cases in a row."""
    passes = [InitializedMutableBufferPass(["calls", "total"])]
    cases = _counter_cases()
    return single(MutableCounter(), cases[0], cases, backend_options={"passes": passes})


class ZeroCounter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        return self.total * 1.0


@program
def mutable_zero() -> Recipe:
    """A mutable buffer without initial state in the file: it starts from zeros."""
    cases = _counter_cases()
    return single(ZeroCounter(), cases[0], cases)


class Dynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = torch.relu(self.linear(x))
        return y, y.reshape(y.shape[0], y.shape[1] * 3).sum(dim=1)


@program
def dynamic() -> Recipe:
    """Batch 1..5 and length 1..8 within bounds; cases include both ends of both."""
    shapes = ({0: Dim("batch", min=1, max=5), 1: Dim("length", min=1, max=8)},)
    sizes = [(2, 3), (1, 1), (5, 8), (3, 1), (1, 8)]
    cases = [(torch.randn(batch, length, 4),) for batch, length in sizes]
    return single(Dynamic(), cases[0], cases, dynamic_shapes=shapes)


@program
def two_methods() -> Recipe:
    """Two methods of different signature over one shared weight."""

    class Shared(nn.Module):
        def __init__(self, weight: nn.Linear, negate: bool):
            super().__init__()
            self.weight = weight
            self.negate = negate

        def forward(self, x: Tensor) -> Tensor:
            y = self.weight(x)
            return -y if self.negate else y

    weight = nn.Linear(3, 2)
    return Recipe(
        {
            "forward": Method(Shared(weight, False).eval(), (torch.randn(1, 3),)),
            "negated": Method(Shared(weight, True).eval(), (torch.randn(4, 3),)),
        }
    )


@program
def external_weights() -> Recipe:
    """Weights in a `.ptd` file of their own."""
    options = {"external_constants": lambda node: "external_weights"}
    return single(nn.Linear(4, 3), (torch.randn(2, 4),), backend_options=options)


@program
def scalars() -> Recipe:
    """An int as input and output beside tensors."""

    def function(x: Tensor, n: int):
        return x + n, n * 2

    cases = [(torch.tensor([1.0, 2.0]), 7), (torch.tensor([1.0, 2.0]), -3)]
    return single(Call(function), cases[0], cases, dynamic_shapes=((None, Dim.DYNAMIC),))


@program
def constants_in_signature() -> Recipe:
    """Float, bool and string arguments are baked in by the exporter and checked by the caller."""

    def function(x: Tensor, scale: float, negate: bool, mode: str) -> Tensor:
        y = x * scale
        return -y if negate and mode == "on" else y

    return single(Call(function), (torch.tensor([1.0, 2.0]), 2.5, True, "on"))


@program
def many_outputs() -> Recipe:
    """One tensor given out twice, an input given out as it is, and a constant."""

    def function(x: Tensor):
        y = x * 2
        return {"a": y, "b": [y, x], "c": torch.tensor([4.0, 2.0])}

    return single(Call(function), (torch.tensor([1.0, 2.0, 3.0]),))


def _of_dtype(dtype: torch.dtype) -> Recipe:
    x = torch.tensor([[1.5, -2.0, 3.0], [0.25, 100.0, -7.0]]).to(dtype)
    y = torch.tensor([2.0, 3.0, -1.0]).to(dtype)

    def function(x: Tensor, y: Tensor) -> Tensor:
        return x * y + x

    return single(Call(function), (x, y))


@program
def double() -> Recipe:
    """Multiply and add in float64, with a broadcast."""
    return _of_dtype(torch.float64)


@program
def half() -> Recipe:
    """Multiply and add in float16, with a broadcast."""
    return _of_dtype(torch.float16)


@program
def bfloat16() -> Recipe:
    """Multiply and add in bfloat16, with a broadcast."""
    return _of_dtype(torch.bfloat16)


@program
def int32() -> Recipe:
    """Multiply and add in int32, with a broadcast."""
    return _of_dtype(torch.int32)


@program
def int64() -> Recipe:
    """Multiply and add in int64, with a broadcast."""
    return _of_dtype(torch.int64)


@program
def uint8() -> Recipe:
    """Multiply and add in uint8, with a broadcast."""
    return _of_dtype(torch.uint8)


@program
def boolean() -> Recipe:
    """Bool tensors in and out."""

    def function(x: Tensor, y: Tensor):
        return torch.logical_and(x, y), (x != y).any()

    return single(
        Call(function), (torch.tensor([True, True, False]), torch.tensor([True, False, False]))
    )


@program
def empty() -> Recipe:
    """Tensors of no elements in and out."""

    def function(x: Tensor):
        return torch.cat([x, x * 2], dim=0), x.sum(dim=0)

    return single(Call(function), (torch.zeros(0, 3),))


TRACED_SOURCE = """
import torch


class Traced(torch.nn.Module):
    def forward(self, x, y):
        z = x * y
        return z + 1
"""


@program
def stack_trace() -> Recipe:
    """Instructions carry the source lines they come from (of a file called traced_source.py)."""
    namespace: dict[str, Any] = {"__name__": "traced_source"}
    exec(compile(TRACED_SOURCE, "traced_source.py", "exec"), namespace)
    lines = TRACED_SOURCE.splitlines(keepends=True)
    linecache.cache["traced_source.py"] = (len(TRACED_SOURCE), None, lines, "traced_source.py")
    inputs = (torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    return single(namespace["Traced"](), inputs, backend_options={"emit_stacktrace": True})


@program
def unplanned_inputs() -> Recipe:
    """Memory of inputs and outputs is left to the caller."""
    planning = MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    inputs = (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([10.0, 20.0, 30.0]))
    return single(Add(), inputs, backend_options={"memory_planning_pass": planning})
