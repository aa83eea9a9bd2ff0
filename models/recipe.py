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
    """A program to export. `backend_options` go to the exporter's ExecutorchBackendConfig as they are.

    `has_results` is false where running the file is not meant to give what eager PyTorch gives.
    """

    methods: dict[str, Method]
    partitioner: Any = None
    backend_options: dict[str, Any] = field(default_factory=dict)
    has_results: bool = True


def single(module: nn.Module, example: Inputs, cases: Sequence[Inputs] = (), **rest: Any) -> Recipe:
    """A recipe with one method, `forward`."""
    dynamic_shapes = rest.pop("dynamic_shapes", None)
    return Recipe({"forward": Method(module.eval(), example, cases, dynamic_shapes)}, **rest)


Build = Callable[[], Recipe]
_RECIPES: dict[str, Build] = {}


def program(build: Build) -> Build:
    """Decorator: the function's name becomes the program's name, its docstring what lists say of it."""
    name = build.__name__
    if not build.__doc__:
        raise ValueError(f"the recipe {name} does not say what it is for")
    if name in _RECIPES:
        raise ValueError(f"two recipes are called {name}")
    _RECIPES[name] = build
    return build


def names() -> list[str]:
    return list(_RECIPES)


def module_of(name: str) -> str:
    return _RECIPES[name].__module__


def purpose(name: str) -> str:
    return " ".join((_RECIPES[name].__doc__ or "").split())


def build(name: str) -> Recipe:
    """Builds one recipe; the same name gives the same weights and inputs every time."""
    torch.manual_seed(0)
    return _RECIPES[name]()
