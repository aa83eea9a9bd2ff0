"""Where the published weights lie: inside installed packages, whose code is never run."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor


def path_in(package: str, name: str) -> Path:
    """The path of a file of an installed package, found without importing it."""
    return Path(str(distribution(package).locate_file(name)))


def weights_of(package: str, name: str) -> dict[str, Tensor]:
    path = path_in(package, name)
    if path.suffix == ".safetensors":
        return load_file(path)
    return torch.load(path, map_location="cpu", weights_only=True)
