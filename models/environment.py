"""Virtual environments with PyTorch but without its CUDA packages. Runs on any Python from 3.10 on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path


def make(folder: Path, requirements: Sequence[str | Path], python: str = sys.executable) -> Path:
    """Makes the folder anew and installs exactly the requirements (pip's arguments); returns its interpreter."""
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    interpreter = folder / "bin" / "python"
    pip = [interpreter, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, *requirements], check=True)
    put_cuda_stand_ins(next((folder / "lib").glob("python3.*/site-packages")) / "torch" / "lib")
    return interpreter


def put_cuda_stand_ins(torch_lib: Path) -> None:
    """Lets torch's PyPI build load without the CUDA packages.

    Its libraries name CUDA's as needed, so each gets an empty library of the same name. The functions
    they refer to live in one more library, under a name no symbol version asks for, and answer
    "no device" (100), as CUDA does on a machine without a GPU.
    """
    libraries = sorted(torch_lib.glob("lib*.so"))
    needed, undefined = set(), set()
    for library in libraries:
        dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True)
        needed.update(re.findall(r"\(NEEDED\).*\[(lib(?:cu|nv|nccl)[^\]]*)\]", dynamic.stdout))
        symbols = subprocess.run(
            ["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True
        )
        undefined.update(re.findall(r" U (_*(?:cu|nv|nccl)\w*)(?:@\S+)?$", symbols.stdout, re.M))
    undefined.discard("cudaGetErrorString")
    source = "".join(f"int {name}(void) {{ return 100; }}\n" for name in sorted(undefined))
    source += 'const char* cudaGetErrorString(int e) { (void)e; return "CUDA is not installed"; }\n'
    absent = "libcuda_absent.so"
    compile_library(source, torch_lib / absent, [])
    for name in sorted(needed):
        links = ["-Wl,--no-as-needed", f"-L{torch_lib}", f"-l:{absent}", "-Wl,-rpath,$ORIGIN"]
        compile_library("", torch_lib / name, links)


def compile_library(source: str, path: Path, links: list[str]) -> None:
    compiler = os.environ.get("CC") or next(
        (found for found in map(shutil.which, ("cc", "gcc", "clang", "clang-16")) if found), None
    )
    if compiler is None:
        sys.exit("models/environment.py: needs a C compiler (cc, gcc or clang, or CC=...)")
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write(source)
        file.flush()
        # -w: some names are those of the compiler's own built-in functions.
        command = [compiler, "-shared", "-fPIC", "-w", file.name, f"-Wl,-soname,{path.name}", "-o", path]
        subprocess.run([*command, *links], check=True)
