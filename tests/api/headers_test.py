"""Public headers compile alone, as C11 and C++17, without a warning; misuse does not compile.

headers_test.py COMPILER; clang 14 and 16 and g++ are tried as well where they are installed.

A file of misuse/ compiles as it is and does not with -DMISUSE; its first line says what the compiler's message must hold.
"""

from __future__ import annotations

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


def compilers() -> list[str]:
    """Installed C++ compilers; all of them compile C when told so."""
    found = [shutil.which(name) for name in (*sys.argv[1:2], "g++", "clang++-14", "clang++-16")]
    return list(dict.fromkeys(str(Path(path).resolve()) for path in found if path))


COMPILERS = compilers()


def check(compiler: str, *options: str, text: str | None = None) -> subprocess.CompletedProcess:
    command = [compiler, "-fsyntax-only", f"-I{INCLUDE}", *options]
    return subprocess.run(command, input=text, capture_output=True, text=True)


class HeaderAlone(unittest.TestCase):
    """Filled below: one test for each header and compiler."""


class Misuse(unittest.TestCase):
    """Filled below: one test for each file."""


def header_test(header: Path, compiler: str, language: list[str]):
    def test(self):
        text = f'#include "{header.relative_to(INCLUDE)}"\n#include "{header.relative_to(INCLUDE)}"\n'
        result = check(compiler, *language, *WARNINGS, "-", text=text)
        self.assertEqual(result.returncode, 0, result.stderr)

    return test


def misuse_test(source: Path, compiler: str):
    def test(self):
        first = source.read_text().splitlines()[0]
        self.assertTrue(first.startswith("// expects: "), f"{source.name} does not say what is expected")
        good = check(compiler, *CPP, *WARNINGS, str(source))
        self.assertEqual(good.returncode, 0, good.stderr)
        bad = check(compiler, *CPP, "-DMISUSE", str(source))
        self.assertNotEqual(bad.returncode, 0, "it compiles")
        self.assertIn(first.removeprefix("// expects: "), bad.stderr)

    return test


def fill() -> None:
    for compiler in COMPILERS:
        short = Path(compiler).name
        for header in sorted((INCLUDE / "pteron").rglob("*.h")):
            name = str(header.relative_to(INCLUDE)).replace("/", "_")
            setattr(HeaderAlone, f"test_{name}_as_cpp_by_{short}", header_test(header, compiler, CPP))
            if header.parent.name == "c":
                setattr(HeaderAlone, f"test_{name}_as_c_by_{short}", header_test(header, compiler, C))
    for source in sorted((FOLDER / "misuse").glob("*.cc")):
        setattr(Misuse, f"test_{source.stem}", misuse_test(source, COMPILERS[0]))


fill()

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
