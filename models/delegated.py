"""Programs with delegates: our null one, and small ones of the official exporter's OpenVINO and XNNPACK."""

from __future__ import annotations

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from torch import Tensor, nn
from torch.export import Dim

from models.null_backend import NullPartitioner
from models.programs import Call
from models.recipe import Recipe, program, single


def _null(has_results: bool = True, **orders: str) -> Recipe:
    """One delegated copy between two ordinary operators."""

    def function(x: Tensor) -> Tensor:
        return (x + 1).clone() * 2

    example = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return single(
        Call(function), (example,), partitioner=NullPartitioner(**orders), has_results=has_results
    )


@program
def null_copy() -> Recipe:
    """A delegated copy between two operators; the payload is empty."""
    return _null()


@program
def null_whole() -> Recipe:
    """The method is the delegate call and nothing else."""
    return single(Call(torch.clone), (torch.arange(4.0),), partitioner=NullPartitioner())


@program
def null_fail_init() -> Recipe:
    """The delegate fails when it is initialised."""
    return _null(has_results=False, fail_init="ordered to fail at init")


@program
def null_fail_execute() -> Recipe:
    """The delegate fails when it is executed."""
    return _null(has_results=False, fail_execute="ordered to fail at execute")


@program
def null_resize() -> Recipe:
    """The output becomes larger than planned: to be refused by name."""
    return _null(has_results=False, resize="4,3")


@program
def null_resize_within() -> Recipe:
    """The delegate's output shrinks to one row, within its bound of five: the result has one row."""

    def function(x: Tensor) -> Tensor:
        return (x + 1).clone() * 2

    return single(
        Call(function),
        (torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),),
        dynamic_shapes=(({0: Dim("batch", min=1, max=5)},),),
        partitioner=NullPartitioner(resize="1,3"),
        has_results=False,
    )


@program
def null_wait() -> Recipe:
    """The delegate waits 200 ms in every execution."""
    return _null(wait_ms="200")


@program
def null_free_early() -> Recipe:
    """The delegate gives its payload back after initialisation."""
    return _null(free_early="1")


@program
def null_two() -> Recipe:
    """Two delegated parts with an operator between them."""

    def function(x: Tensor) -> Tensor:
        y = x.clone() * 3
        return y.clone() - 1

    return single(Call(function), (torch.tensor([1.0, -2.0]),), partitioner=NullPartitioner())


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.linear(x))


@program
def xnnpack_linear() -> Recipe:
    """Linear and ReLU in the official exporter's XNNPACK delegate."""
    return single(Small(), (torch.randn(2, 4),), partitioner=XnnpackPartitioner())


@program
def openvino_linear() -> Recipe:
    """Linear and ReLU in the official exporter's OpenVINO delegate (OpenVINO 2025.4.1)."""
    from executorch.backends.openvino.partitioner import OpenvinoPartitioner
    from executorch.exir.backend.backend_details import CompileSpec

    partitioner = OpenvinoPartitioner([CompileSpec("device", b"CPU")])
    return single(Small(), (torch.randn(2, 4),), partitioner=partitioner)
