"""Uses the installed package as an outside project does: sdk_test.py BUILD [unittest arguments]

BUILD is a built tree, shared or static. It is installed into a folder, the folder is moved (so nothing may remember
where it was), and the project in app/ is built against it by each compiler in each way of linking, then run on
programs of tests/data and compared with their expected numbers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
FOLDER = BUILD / "sdk"
PREFIX = FOLDER / "moved" / "pteron"
APPLICATION = Path(__file__).resolve().parent / "app"
PROGRAMS = Path(__file__).resolve().parents[1] / "data" / "programs"
# Ordinary operators in float32: a broad kernel library, not a certain operator, is what is looked for.
BUNDLES = [PROGRAMS / f"{name}.bpte" for name in ("add", "linear", "conv")]

AS_DISTRIBUTIONS_LINK = "-Wl,--as-needed -Wl,--gc-sections"
WAYS = {
    "plain": ("", ""),
    "as_needed": ("-ffunction-sections -fdata-sections", AS_DISTRIBUTIONS_LINK),
    "lto": ("-flto -ffunction-sections -fdata-sections", f"-flto {AS_DISTRIBUTIONS_LINK}"),
}
# Each compiler with the linker that reads its LTO objects.
COMPILERS = {"gcc": ("gcc", "g++", ""), "clang": ("clang-16", "clang++-16", "--ld-path=ld.lld-16")}


def run(*command: object, check: bool = True) -> subprocess.CompletedProcess:
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if check and result.returncode:
        raise AssertionError(f"{' '.join(words)}\n{result.stdout}{result.stderr}")
    return result


def install() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    first = FOLDER / "installed"
    run("cmake", "--install", BUILD, "--prefix", first, "--component", "pteron")
    PREFIX.parent.mkdir(parents=True)
    first.rename(PREFIX)


def configure(name: str, *options: str, check: bool = True) -> subprocess.CompletedProcess:
    return run(
        "cmake", "-S", APPLICATION, "-B", FOLDER / name, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_PREFIX_PATH={PREFIX}", *options, check=check,
    )  # fmt: skip


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        install()

    def use(self, compiler: str, way: str) -> None:
        cc, cxx, linker = COMPILERS[compiler]
        if shutil.which(cxx) is None:
            self.skipTest(f"{cxx} is not installed")
        compile_flags, link_flags = WAYS[way]
        name = f"{compiler}_{way}"
        configure(
            name, f"-DCMAKE_C_COMPILER={cc}", f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_C_FLAGS={compile_flags}",
            f"-DCMAKE_CXX_FLAGS={compile_flags}", f"-DCMAKE_EXE_LINKER_FLAGS={link_flags} {linker if way == 'lto' else ''}",
        )  # fmt: skip
        run("cmake", "--build", FOLDER / name)
        cases = run(FOLDER / name / "run_bundle", *BUNDLES).stdout
        self.assertEqual(cases.count("cases agree"), len(BUNDLES))
        self.assertEqual(run(FOLDER / name / "plain_c", PROGRAMS / "add.pte").stdout, "11 22 33\n")

    def test_gcc_plain(self):
        self.use("gcc", "plain")

    def test_gcc_as_needed(self):
        self.use("gcc", "as_needed")

    def test_gcc_lto(self):
        self.use("gcc", "lto")

    def test_clang_plain(self):
        self.use("clang", "plain")

    def test_clang_as_needed(self):
        self.use("clang", "as_needed")

    def test_clang_lto(self):
        self.use("clang", "lto")

    def test_a_missing_component_is_named_with_those_there(self):
        result = configure("missing", "-DCOMPONENTS=runtime;no_such_part", check=False)
        self.assertNotEqual(result.returncode, 0)
        message = " ".join(result.stderr.split())
        self.assertIn("has no component no_such_part. It has: kernels, runtime.", message)

    def test_another_major_version_is_refused(self):
        version = PREFIX.joinpath("lib", "cmake", "pteron", "pteron-config-version.cmake")
        check = 'set(PACKAGE_FIND_VERSION "2.0")\nset(PACKAGE_FIND_VERSION_MAJOR "2")\n'
        script = FOLDER / "version.cmake"
        script.write_text(f'{check}include("{version}")\nmessage(FATAL_ERROR "fits: ${{PACKAGE_VERSION_COMPATIBLE}}")\n')
        self.assertIn("fits: FALSE", run("cmake", "-P", script, check=False).stderr)

    def test_the_command_runs_from_where_it_was_moved_to(self):
        command = PREFIX / "bin" / "pteron"
        if not command.exists():
            self.skipTest("the command is not part of this build (PTERON_BUILD_CLI)")
        environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
        result = subprocess.run([command, "check", BUNDLES[0]], capture_output=True, text=True, env=environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_no_file_remembers_where_it_was_built(self):
        source = str(Path(__file__).resolve().parents[2]).encode()
        found = [str(file) for file in PREFIX.rglob("*") if file.is_file() and source in file.read_bytes()]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
