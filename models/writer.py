"""Runs the official exporter on a recipe and writes the program with its eager results."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import (
    serialize_from_bundled_program_to_flatbuffer,
)
from executorch.exir import (
    EdgeCompileConfig,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge_transform_and_lower,
)
from torch.utils._pytree import tree_flatten

from models.recipe import Method, Recipe

Case = tuple[list[Any], list[Any]]


def eager_cases(method: Method) -> list[Case]:
    """Flat inputs and flat eager outputs of every case, run in order on one copy of the module."""
    module = copy.deepcopy(method.module)
    cases = []
    with torch.no_grad():
        for inputs in method.all_cases():
            kept = [_own(value) for value in tree_flatten(inputs)[0]]
            outputs = [_own(value) for value in tree_flatten(module(*copy.deepcopy(inputs)))[0]]
            cases.append((kept, outputs))
    return cases


def _own(value: Any) -> Any:
    """A tensor whose storage holds its elements and nothing else: bundling copies whole storages."""
    if not isinstance(value, torch.Tensor):
        return value
    channels_last = value.dim() == 4 and value.is_contiguous(memory_format=torch.channels_last)
    if channels_last and not value.is_contiguous():
        return value.detach().clone(memory_format=torch.channels_last)
    return value.detach().clone(memory_format=torch.contiguous_format)


def export(recipe: Recipe) -> ExecutorchProgramManager:
    """The exporter's result for all methods of the recipe."""
    exported = {
        name: torch.export.export(
            method.module, method.example, dynamic_shapes=method.dynamic_shapes, strict=False
        )
        for name, method in recipe.methods.items()
    }
    edge = to_edge_transform_and_lower(
        exported,
        partitioner=[recipe.partitioner] if recipe.partitioner else None,
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    return edge.to_executorch(ExecutorchBackendConfig(**recipe.backend_options))


def write(recipe: Recipe, name: str, folder: Path) -> list[Path]:
    """Writes NAME.pte, NAME.ptd where the recipe puts constants there, and NAME.bpte; returns what was written.

    A case that a bundled program cannot hold (its outputs are tensors only, its inputs never strings)
    is written as NAME.METHOD.K.inputs.npz and NAME.METHOD.K.expected.npz with keys "0", "1", ...
    """
    folder.mkdir(parents=True, exist_ok=True)
    manager = export(recipe)
    program_path = folder / f"{name}.pte"
    program_path.write_bytes(manager.buffer)
    written = [program_path]
    manager.write_tensor_data_to_file(str(folder))
    written += sorted(folder.glob(f"{name}.ptd"))
    if not recipe.has_results:
        return written
    cases = {key: eager_cases(method) for key, method in recipe.methods.items()}
    if all(_fits_bundle(case) for method in cases.values() for case in method):
        written.append(_write_bundle(manager, cases, folder / f"{name}.bpte"))
    else:
        written += write_arrays(cases, name, folder)
    return written


def _fits_bundle(case: Case) -> bool:
    inputs, outputs = case
    return all(isinstance(value, torch.Tensor) for value in outputs) and all(
        isinstance(value, (torch.Tensor, int, float, bool)) for value in inputs
    )


def _write_bundle(manager: ExecutorchProgramManager, cases: dict[str, list[Case]], path: Path) -> Path:
    suites = [
        MethodTestSuite(
            method_name=key,
            test_cases=[MethodTestCase(inputs=list(i), expected_outputs=list(o)) for i, o in method],
        )
        for key, method in cases.items()
    ]
    bundled = BundledProgram(manager, suites)
    path.write_bytes(serialize_from_bundled_program_to_flatbuffer(bundled))
    return path


def write_arrays(cases: dict[str, list[Case]], name: str, folder: Path) -> list[Path]:
    """The cases as `.npz` pairs that `pteron run --inputs` reads and `--output` can be compared with."""
    written = []
    for key, method in cases.items():
        for number, (inputs, outputs) in enumerate(method):
            for part, values in (("inputs", inputs), ("expected", outputs)):
                path = folder / f"{name}.{key}.{number}.{part}.npz"
                np.savez(path, **{str(i): np.asarray(value) for i, value in enumerate(values)})
                written.append(path)
    return written
