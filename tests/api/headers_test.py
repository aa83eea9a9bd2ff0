"""Public headers compile alone, as C11 and C++17, without a warning; misuse does not compile.

headers_test.py COMPILER; clang 14 and 16 and g++ are tried as well where they are installed.

A file of misuse/ compiles as it is and does not with -DMISUSE; its first line says what the compiler's message must hold.
"""

from __future__ import annotations

import concurrent.futures
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
INCLUDE = FOLDER.parent.parent / "include"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
CPP = ["-x", "c++", "-std=c++17"]
C = ["-x", "c", "-std=c11"]


def compilers() -> dict[str, str]:
    """Installed C++ compilers by the names they are called with; all of them compile C when told so."""
    names = (*sys.argv[1:2], "g++", "clang++-14", "clang++-16")
    found = {str(Path(path).resolve()): path for path in reversed([shutil.which(name) for name in names]) if path}
    return {Path(path).name: path for path in reversed(found.values())}


COMPILERS = compilers()
POOL = concurrent.futures.ThreadPoolExecutor(os.cpu_count())


def check(compiler: str, *options: str, text: str | None = None) -> concurrent.futures.Future:
    """Starts a compilation."""
    command = [compiler, "-fsyntax-only", f"-I{INCLUDE}", *options]
    return POOL.submit(subprocess.run, command, input=text, capture_output=True, text=True)


class HeaderAlone(unittest.TestCase):
    """Filled below: one test for each header and compiler."""


class Misuse(unittest.TestCase):
    """Filled below: one test for each file."""


def header_test(header: Path, compiler: str, language: list[str]):
    # C forbids a file without a declaration.
    text = f'#include "{header.relative_to(INCLUDE)}"\n' * 2 + "extern int declared;\n"
    compilation = check(compiler, *language, *WARNINGS, "-", text=text)

    def test(self):
        result = compilation.result()
        self.assertEqual(result.returncode, 0, result.stderr)

    return test


def misuse_test(source: Path, compiler: str):
    good = check(compiler, *CPP, *WARNINGS, str(source))
    bad = check(compiler, *CPP, "-DMISUSE", str(source))

    def test(self):
        first = source.read_text().splitlines()[0]
        self.assertTrue(first.startswith("// expects: "), f"{source.name} does not say what is expected")
        self.assertEqual(good.result().returncode, 0, good.result().stderr)
        self.assertNotEqual(bad.result().returncode, 0, "it compiles")
        self.assertIn(first.removeprefix("// expects: "), bad.result().stderr)

    return test


def fill() -> None:
    for name, compiler in COMPILERS.items():
        for header in sorted((INCLUDE / "pteron").rglob("*.h")):
            stem = str(header.relative_to(INCLUDE)).replace("/", "_").removesuffix(".h")
            setattr(HeaderAlone, f"test_{stem}_as_cpp_by_{name}", header_test(header, compiler, CPP))
            if header.parent.name == "c":
                setattr(HeaderAlone, f"test_{stem}_as_c_by_{name}", header_test(header, compiler, C))
    for source in sorted((FOLDER / "misuse").glob("*.cc")):
        setattr(Misuse, f"test_{source.stem}", misuse_test(source, next(iter(COMPILERS.values()))))


fill()

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
