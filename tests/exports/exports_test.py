"""What may leave a built library, and what it may bring: exports_test.py LIBRARY LIST [--write] [unittest arguments]

LIST holds the names that LIBRARY exports, one a line. A change of it is a change of the ABI (docs/stability.md): run
with --write to take the library's names over, and explain them in the commit.
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

import library

LIBRARY = Path(sys.argv[1])
LIST = Path(sys.argv[2])
LARGEST = {"libpteron.so": 400_000, "libpteron_kernels.so": 3_000_000, "libpteron_backend_null.so": 40_000}
SYSTEM = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
OWN = {"libpteron.so"}


class Exports(unittest.TestCase):
    maxDiff = None

    def test_the_list(self):
        self.assertEqual(library.exported(LIBRARY), LIST.read_text().split())

    def test_one_version_node(self):
        self.assertEqual(library.version_nodes(LIBRARY), {"PTERON_1"})

    def test_soname_is_the_file_name(self):
        self.assertEqual(library.dynamic(LIBRARY).get("SONAME"), [LIBRARY.name])

    def test_needs_only_the_system_and_the_runtime(self):
        needed = set(library.dynamic(LIBRARY).get("NEEDED", []))
        self.assertLessEqual(needed, SYSTEM | OWN - {LIBRARY.name})

    def test_no_search_path_of_one_machine(self):
        entries = library.dynamic(LIBRARY)
        paths = ":".join(entries.get("RUNPATH", []) + entries.get("RPATH", []))
        self.assertEqual([path for path in paths.split(":") if path and not path.startswith("$ORIGIN")], [])


class Content(unittest.TestCase):
    def test_no_streams_locales_files_or_regular_expressions(self):
        found = library.heavy_symbols(library.all_symbols(LIBRARY))
        self.assertEqual({part: names[:5] for part, names in found.items()}, {})

    def test_the_check_knows_them(self):
        symbols = {
            "iostream": "_ZSt4cout",
            "sstream": "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1Ev",
            "locale": "_ZNSt6localeC1Ev",
            "filesystem": "_ZNSt10filesystem6existsERKNS_7__cxx114pathE",
            "regex": "_ZNSt7__cxx1112regex_traitsIcEC2Ev",
        }
        self.assertLessEqual(set(symbols), set(library.heavy_symbols(list(symbols.values()))))

    def test_size_when_stripped(self):
        size = len(library.stripped(LIBRARY))
        print(f"{LIBRARY.name}: {size} bytes stripped")
        self.assertLess(size, LARGEST[LIBRARY.name])

    def test_no_path_of_the_source_tree(self):
        source = str(Path(__file__).resolve().parents[2]).encode()
        self.assertNotIn(source, library.stripped(LIBRARY))


if __name__ == "__main__":
    arguments = sys.argv[3:]
    if "--write" in arguments:
        LIST.write_text("".join(f"{name}\n" for name in library.exported(LIBRARY)))
    else:
        unittest.main(argv=[sys.argv[0], *arguments])
