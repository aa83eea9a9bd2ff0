"""What a program is made of, and the list of all that can be made by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

Inputs = tuple[Any, ...]


@dataclass(frozen=True)
class Method:
    """One method of a program: a module in eval mode and the inputs it is traced and tested with.

    `cases` run one after another on one instance, so a module with state sees them in order.
    Without cases the example is the only one.
    """

    module: nn.Module
    example: Inputs
    cases: Sequence[Inputs] = ()
    dynamic_shapes: Any = None

    def all_cases(self) -> Sequence[Inputs]:
        return self.cases or (self.example,)


@dataclass(frozen=True)
class Recipe:
    """A program to export. `backend_options` go to the exporter's ExecutorchBackendConfig as they are."""

    methods: dict[str, Method]
    partitioner: Any = None
    backend_options: dict[str, Any] = field(default_factory=dict)
    edge_passes: Sequence[Any] = ()


def single(module: nn.Module, example: Inputs, cases: Sequence[Inputs] = (), **rest: Any) -> Recipe:
    """A recipe with one method, `forward`."""
    dynamic_shapes = rest.pop("dynamic_shapes", None)
    return Recipe({"forward": Method(module.eval(), example, cases, dynamic_shapes)}, **rest)


Build = Callable[[], Recipe]
_RECIPES: dict[str, Build] = {}


def program(build: Build) -> Build:
    """Decorator: the function's name becomes the program's name."""
    name = build.__name__
    if name in _RECIPES:
        raise ValueError(f"two recipes are called {name}")
    _RECIPES[name] = build
    return build


def names() -> list[str]:
    return list(_RECIPES)


def build(name: str) -> Recipe:
    """Builds one recipe; the same name gives the same weights and inputs every time."""
    torch.manual_seed(0)
    return _RECIPES[name]()
