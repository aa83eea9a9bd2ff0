"""The rules of tree.py: each finds what it is for, and finds nothing in the repository."""

from __future__ import annotations

import json
import unittest

import tree


class Includes(unittest.TestCase):
    def test_downwards_is_found(self):
        found = tree.wrong_includes("src/format/a.cc", '#include "runtime/graph.h"\n')
        self.assertEqual(found, ['src/format/a.cc: format must not include "runtime/graph.h"'])

    def test_the_engine_sees_base_only(self):
        self.assertTrue(tree.wrong_includes("src/engine/a.cc", '#include "format/name.h"\n'))
        self.assertFalse(tree.wrong_includes("src/engine/a.cc", '#include "base/checked.h"\n'))

    def test_public_headers_see_each_other_only(self):
        self.assertTrue(tree.wrong_includes("include/pteron/a.h", '#include "base/checked.h"\n'))
        self.assertFalse(tree.wrong_includes("include/pteron/a.h", '#include "pteron/c/status.h"\n'))

    def test_an_unknown_folder_is_found(self):
        self.assertTrue(tree.wrong_includes("src/base/a.cc", '#include "elsewhere/b.h"\n'))

    def test_the_tree(self):
        found = []
        for name, text in tree.text_files(tree.tracked_files()):
            if name.endswith((".h", ".cc", ".c")):
                found += tree.wrong_includes(name, text)
        self.assertEqual(found, [])


class Names(unittest.TestCase):
    def test_empty_ones_are_found(self):
        for name in ("src/utils/a.cc", "src/base/string_helpers.cc", "a/common.h", "a/misc_test.cc", "helper/x"):
            self.assertTrue(tree.empty_name(name), name)

    def test_others_are_not(self):
        for name in ("src/base/commonality.cc", "src/engine/miscible.h", "futility.cc"):
            self.assertFalse(tree.empty_name(name), name)

    def test_the_tree(self):
        self.assertEqual([name for name in tree.tracked_files() if tree.empty_name(name)], [])


class Contents(unittest.TestCase):
    def test_a_machine_path_is_found(self):
        line = "open('/" + "home/someone/file')"
        self.assertTrue(tree.machine_paths("a", line))
        self.assertFalse(tree.machine_paths("a", "https://example.org/ho" + "me/page and build/tm" + "p/x"))

    def test_no_machine_path_in_the_tree(self):
        found = [hit for name, text in tree.text_files(tree.tracked_files()) for hit in tree.machine_paths(name, text)]
        self.assertEqual(found, [])

    def test_no_left_overs_in_the_tree(self):
        self.assertTrue(tree.left_overs("a", "// TO" + "DO: later"))
        found = [hit for name, text in tree.text_files(tree.tracked_files()) for hit in tree.left_overs(name, text)]
        self.assertEqual(found, [])

    def test_links_between_pages_lead_somewhere(self):
        self.assertEqual(tree.dead_links("docs/a.md", "[x](no-such-page.md)"), ["docs/a.md: no-such-page.md"])
        pages = [page for page in tree.text_files(tree.tracked_files()) if page[0].endswith(".md")]
        self.assertEqual([hit for name, text in pages for hit in tree.dead_links(name, text)], [])

    def test_no_large_file_in_the_tree(self):
        limit = 2 << 20
        sizes = {name: (tree.REPOSITORY / name).stat().st_size for name in tree.tracked_files()}
        self.assertEqual({name: size for name, size in sizes.items() if size > limit}, {})


class Build(unittest.TestCase):
    def test_at_most_fifteen_options(self):
        text = (tree.REPOSITORY / "CMakeLists.txt").read_text()
        options = [line for line in text.splitlines() if line.startswith(("option(", "set(PTERON_"))]
        self.assertGreater(len(options), 0)
        self.assertLessEqual(len(options), 15, options)

    def test_presets_are_valid_json_and_build_where_documented(self):
        presets = json.loads((tree.REPOSITORY / "CMakePresets.json").read_text())
        names = {preset["name"] for preset in presets["configurePresets"]}
        self.assertLessEqual({"release", "debug", "asan-ubsan", "tsan"}, names)
        self.assertEqual(presets["configurePresets"][0]["binaryDir"], "${sourceDir}/build/${presetName}")


if __name__ == "__main__":
    unittest.main()
