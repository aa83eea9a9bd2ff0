"""Control flow: conditions, map and scan, alone and one inside another."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan as scan_over

from models.programs import Call
from models.recipe import Recipe, program, single


@program
def cond() -> Recipe:
    """The predicate is computed; both branches are taken by the cases."""

    def function(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x * 2 + 1, lambda x: -x, (x,))

    cases = [(torch.tensor([1.0, 2.0, -0.5]),), (torch.tensor([-1.0, -2.0, 0.5]),)]
    return single(Call(function), cases[0], cases)


@program
def cond_input() -> Recipe:
    """The predicate is an input, a one-element bool tensor."""

    def function(flag: Tensor, x: Tensor) -> Tensor:
        return torch.cond(flag, lambda x: x.sin(), lambda x: x.cos() * 3, (x,))

    x = torch.tensor([[0.5, 1.0], [2.0, -1.0]])
    cases = [(torch.tensor(True), x), (torch.tensor(False), x)]
    return single(Call(function), cases[0], cases)


@program
def cond_twice() -> Recipe:
    """The first result is used after the second condition: branches must not share its memory."""

    def function(x: Tensor) -> Tensor:
        first = torch.cond(x.sum() > 0, lambda x: x + 10, lambda x: x - 10, (x,))
        second = torch.cond(x.max() > 2, lambda x: x * 3, lambda x: x * 5, (x,))
        return first - second

    cases = [
        (torch.tensor([1.0, 3.0]),),
        (torch.tensor([1.0, 1.0]),),
        (torch.tensor([-9.0, 3.0]),),
        (torch.tensor([-1.0, -2.0]),),
    ]
    return single(Call(function), cases[0], cases)


@program
def map() -> Recipe:
    """One loop with a body over the leading dimension."""

    def function(xs: Tensor, y: Tensor) -> Tensor:
        return map_over(lambda x, y: x * y + 1, xs, y)

    return single(Call(function), (torch.arange(12.0).reshape(4, 3), torch.tensor([1.0, -1.0, 0.5])))


@program
def scan() -> Recipe:
    """A running sum: carry and stacked outputs both come out."""

    def function(start: Tensor, xs: Tensor) -> tuple[Tensor, Tensor]:
        def step(carry: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            carry = carry * 0.5 + x
            return carry, carry * 10

        return scan_over(step, start, xs)

    return single(Call(function), (torch.tensor([1.0, 2.0, 3.0]), torch.arange(15.0).reshape(5, 3)))


class Recurrent(nn.Module):
    """A recurrent cell unrolled by scan, with weights."""

    def __init__(self, width: int):
        super().__init__()
        self.cell = nn.Linear(2 * width, width)

    def forward(self, start: Tensor, xs: Tensor) -> tuple[Tensor, Tensor]:
        def step(carry: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            carry = torch.tanh(self.cell(torch.cat([carry, x], dim=-1)))
            return carry, carry * 1.0

        return scan_over(step, start, xs)


@program
def scan_recurrent() -> Recipe:
    """A recurrent cell with weights, unrolled by scan."""
    return single(Recurrent(4), (torch.zeros(2, 4), torch.randn(6, 2, 4)))


@program
def cond_in_map() -> Recipe:
    """A condition inside a loop."""

    def function(xs: Tensor) -> Tensor:
        def body(x: Tensor) -> Tensor:
            return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))

        return map_over(body, xs)

    return single(Call(function), (torch.tensor([[1.0, 2.0], [-1.0, -2.0], [3.0, -1.0]]),))
