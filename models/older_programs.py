"""Small programs in the words that every exporter release since 0.2 understands.

Run by models/older_releases inside the environment of one release: older_programs.py FOLDER. Stands alone.
Prints one JSON object: the versions, and for every program its size or why it could not be made.
"""

import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from torch import nn


class Add(nn.Module):
    def forward(self, x, y):
        return x + y


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x):
        self.total.add_(x)
        return self.total * 1.0


class Cond(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x * 2 + 1, lambda x: -x, (x,))


class Dynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Case:
    def __init__(self, module, *cases, **rest):
        self.module = module.eval()
        self.cases = cases
        self.dynamic_shapes = rest.get("dynamic_shapes")
        self.options = rest.get("options", {})


def programs():
    torch.manual_seed(0)
    batch = torch.export.Dim("batch", min=1, max=5)
    linear = nn.Linear(4, 3)
    return {
        "add": Case(Add(), (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([10.0, 20.0, 30.0]))),
        "linear": Case(linear, (torch.randn(2, 4),)),
        "linear_inline": Case(linear, (torch.randn(2, 4),), options={"extract_constant_segment": False}),
        "conv": Case(nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.ReLU()), (torch.randn(1, 2, 6, 6),)),
        "counter": Case(Counter(), (torch.tensor([1.0, 1.0]),), (torch.tensor([0.5, -4.0]),)),
        "cond": Case(Cond(), (torch.tensor([1.0, 2.0, -0.5]),), (torch.tensor([-1.0, -2.0, 0.5]),)),
        "dynamic": Case(
            Dynamic(),
            # The largest first: releases before 0.5 write the example's size as the bound.
            (torch.randn(5, 4),),
            (torch.randn(2, 4),),
            (torch.randn(1, 4),),
            dynamic_shapes=({0: batch},),
        ),
    }


def export(case):
    with torch.no_grad():
        exported = torch.export.export(case.module, case.cases[0], dynamic_shapes=case.dynamic_shapes)
        return to_edge(exported).to_executorch(ExecutorchBackendConfig(**case.options)).buffer


def save(name, case, folder):
    content = export(case)
    (folder / f"{name}.pte").write_bytes(content)
    with torch.no_grad():
        for number, inputs in enumerate(case.cases):
            arrays = {str(i): value.numpy().copy() for i, value in enumerate(inputs)}
            np.savez(folder / f"{name}.{number}.inputs.npz", **arrays)
            np.savez(folder / f"{name}.{number}.expected.npz", **{"0": case.module(*inputs).numpy()})
    return len(content)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for name, case in programs().items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made[name] = save(name, case, folder)
        except Exception as error:
            made[name] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:160]
    versions = {"executorch": version("executorch"), "torch": version("torch")}
    print(json.dumps({"versions": versions, "programs": made}))


if __name__ == "__main__":
    main()
