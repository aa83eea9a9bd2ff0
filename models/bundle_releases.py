"""Puts the programs of older releases and their results into bundles: python -m models.bundle_releases FOLDER.

For every NAME.pte in FOLDER writes NAME.bpte with the cases NAME.K.inputs.npz and NAME.K.expected.npz, which it
removes. The program inside stays as the older release wrote it; only the bundle around it is today's.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import (
    serialize_from_bundled_program_to_flatbuffer,
)


def tensors(path: Path) -> list[torch.Tensor]:
    with np.load(path) as arrays:
        return [torch.from_numpy(arrays[str(i)]) for i in range(len(arrays.files))]


def bundle(program: Path) -> None:
    inputs = sorted(program.parent.glob(f"{program.stem}.*.inputs.npz"))
    expected = [path.with_name(path.name.replace("inputs", "expected")) for path in inputs]
    cases = [
        MethodTestCase(inputs=tensors(given), expected_outputs=tensors(wanted))
        for given, wanted in zip(inputs, expected, strict=True)
    ]
    suite = MethodTestSuite(method_name="forward", test_cases=cases)
    bundled = BundledProgram(None, [suite], pte_file_path=str(program))
    program.with_suffix(".bpte").write_bytes(serialize_from_bundled_program_to_flatbuffer(bundled))
    for path in inputs + expected:
        path.unlink()


def main() -> None:
    for program in sorted(Path(sys.argv[1]).glob("*.pte")):
        if list(program.parent.glob(f"{program.stem}.*.inputs.npz")):
            bundle(program)


if __name__ == "__main__":
    main()
