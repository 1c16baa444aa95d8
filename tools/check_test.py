#!/usr/bin/env python3
"""The judges judged: the rules of check_layers.py and check_files.py, quotations of check_docs.py, list_skipped.py."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check_docs
import check_files
import check_layers
import list_skipped

LAW = """
room api   include/pmemcpy:
room base  src/base: api
room pool  src/pool: api base
room tests tests: *
standard-only include/pmemcpy
except include/pmemcpy/mpi.hpp <mpi.h>
outside <mpi.h> include/pmemcpy/mpi.hpp tests
"""


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name).resolve()
        self.write("LAYERS", LAW)
        self.write("src/base/crc.hpp", "#include <pmemcpy/error.hpp>\n")
        self.write("src/pool/pool.hpp", '#include "base/crc.hpp"\n#include <vector>\n')
        self.write("include/pmemcpy/error.hpp", "#include <string>\n")
        self.write("include/pmemcpy/mpi.hpp", "#include <mpi.h>\n#include <pmemcpy/error.hpp>\n")

    def write(self, name: str, text: str):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Layers(Tree):
    def broken_by(self, name: str, text: str) -> list[str]:
        self.write(name, text)
        return check_layers.check(self.root)

    def test_a_lawful_tree_passes(self):
        self.assertEqual(check_layers.check(self.root), [])

    def test_an_include_that_goes_up_is_named_with_its_line(self):
        broken = self.broken_by("src/base/up.cpp", '\n#include "pool/pool.hpp"\n')
        self.assertEqual(len(broken), 1)
        self.assertTrue(broken[0].startswith("src/base/up.cpp:2: base includes pool"), broken[0])

    def test_angle_brackets_are_no_way_around(self):
        self.assertEqual(len(self.broken_by("src/base/up.cpp", "#include <pool/pool.hpp>\n")), 1)

    def test_two_types_of_one_name_are_named(self):
        # `diff` and `plot` each had a `Side`: it was one program as long as no file included both.
        self.write("src/base/side.hpp", "namespace pmemcpy {\nstruct Side {\n};\n}  // namespace pmemcpy\n")
        broken = self.broken_by(
            "src/pool/side.hpp", "namespace pmemcpy {\nclass Side final {\n};\n}  // namespace pmemcpy\n"
        )
        self.assertEqual(broken, ["src/pool/side.hpp:2: pmemcpy::Side is a type in src/base/side.hpp, too"])
        unnamed = "namespace pmemcpy {\nnamespace {\nstruct Side {\n};\n}  // namespace\n}  // namespace pmemcpy\n"
        self.assertEqual(self.broken_by("src/pool/side.hpp", unnamed), [])

    def test_neither_is_a_path_that_climbs(self):
        self.assertEqual(len(self.broken_by("src/base/up.cpp", '#include "../pool/pool.hpp"\n')), 1)

    def test_nor_a_path_without_its_room(self):
        self.assertEqual(len(self.broken_by("src/pool/a.cpp", '#include "pool.hpp"\n')), 1)

    def test_the_promise_includes_no_room_and_no_other_project(self):
        text = '#include "base/crc.hpp"\n#include <xxhash.h>\n'
        self.assertEqual(len(self.broken_by("include/pmemcpy/a.hpp", text)), 2)

    def test_mpi_is_named_in_one_header_only(self):
        self.assertEqual(len(self.broken_by("src/pool/a.cpp", "#include <mpi.h>\n")), 1)

    def test_a_unit_test_may_include_any_room(self):
        self.assertEqual(self.broken_by("src/base/crc_test.cpp", '#include "pool/pool.hpp"\n'), [])

    def test_so_may_what_several_of_them_stand_on_which_nobody_else_includes(self):
        self.assertEqual(self.broken_by("src/base/crc_suite.hpp", '#include "pool/pool.hpp"\n'), [])
        self.assertEqual(self.broken_by("src/base/crc_test.cpp", '#include "base/crc_suite.hpp"\n'), [])
        self.assertEqual(len(self.broken_by("src/base/a.cpp", '#include "base/crc_suite.hpp"\n')), 1)

    def test_a_folder_without_a_row_is_no_room(self):
        self.assertEqual(len(self.broken_by("src/misc/a.cpp", '#include "base/crc.hpp"\n')), 1)


class Files(Tree):
    def broken_by(self, text: str, name: str = "src/base/a.cpp") -> list[str]:
        self.write(name, text)
        return check_files.check(self.root)

    def test_a_clean_tree_passes(self):
        self.assertEqual(check_files.check(self.root), [])

    def test_a_long_file_needs_a_reason(self):
        self.assertEqual(len(self.broken_by("int x;\n" * 401)), 1)
        self.assertEqual(self.broken_by("// Length: generated table\n" + "int x;\n" * 401), [])

    def test_each_rule_catches_its_breach(self):
        # Put together here, so that this file itself keeps the rules.
        undone, machine = "// " + "todo".upper() + " later\n", "// see /" + "work/notes\n"
        for text in ("int x; \n", "int x;", "\tint x;\n", undone, machine):
            self.assertEqual(len(self.broken_by(text)), 1, text)


class Quotations(Tree):
    def setUp(self):
        super().setUp()
        self.write("a.py", "# [add]\ndef add():\n    pass\n\n\n# [/add]\nif 1:\n    # [add]\n    add()\n    # [/add]\n")
        patched = mock.patch.object(check_docs, "ROOT", self.root)
        patched.start()
        self.addCleanup(patched.stop)

    def broken_by(self, quote: str, code: str) -> list[str]:
        self.write("page.md", f"<!-- quote {quote} -->\n\n```python\n{code}\n```\n")
        return check_docs.judge(self.root / "page.md", set())

    def test_what_has_a_tag_is_quoted_without_its_margin_each_time(self):
        self.assertEqual(self.broken_by("a.py add", "def add():\n    pass\n\nadd()"), [])

    def test_what_the_source_no_longer_says_is_told(self):
        self.assertEqual(len(self.broken_by("a.py add", "def add():\n    pass")), 1)

    def test_a_tag_or_a_file_that_is_not_there_is_told(self):
        for quote in ("a.py subtract", "b.py", "b.py add"):
            broken = self.broken_by(quote, "def add():\n    pass")
            self.assertEqual(broken, [f"quotes {quote}, which does not exist"])


LOG = """
3/9 Testing: room.a_test
[ RUN      ] a.needs_root
/src/a_test.cpp:12: Skipped
only root can become another user

[  SKIPPED ] a.needs_root (0 ms)
[ RUN      ] every/a.of_a_file/1
/src/a_test.cpp:20: Skipped
about the one file

[  SKIPPED ] every/a.of_a_file/1, where GetParam() = 8-byte object <00-00> (2 ms)
[  SKIPPED ] 2 tests, listed below:
[  SKIPPED ] a.needs_root
4/9 Testing: python.package
SKIPPED [1] tests/python/test_html.py:35: there is no chromium
5/9 Testing: cli.plot
test_shows (__main__.Plot.test_shows) ... skipped 'the command was built without cairo'
6/9 Testing: machine.kill_test
machines: skipped, there is no qemu-system-x86_64
7/9 Testing: format.bp4
SKIPPED: No module named 'adios2'; install it
"""


class Skipped(unittest.TestCase):
    def test_is_found_with_its_reason_whatever_ran_the_test(self):
        self.assertEqual(
            list_skipped.skipped_in(LOG),
            [
                ("room.a_test a.needs_root", "only root can become another user"),
                ("room.a_test every/a.of_a_file/1", "about the one file"),
                ("python.package tests/python/test_html.py:35", "there is no chromium"),
                ("cli.plot test_shows (__main__.Plot.test_shows)", "the command was built without cairo"),
                ("machine.kill_test", "there is no qemu-system-x86_64"),
                ("format.bp4", "No module named 'adios2'; install it"),
            ],
        )

    def test_by_design_is_what_no_machine_can_change(self):
        by_design = [why for _, why in list_skipped.skipped_in(LOG) if list_skipped.is_by_design(why)]
        self.assertEqual(by_design, ["about the one file"])

    def test_a_library_that_was_not_found_counts(self):
        found = list_skipped.without_a_library("-- blosc: found\n-- lmdb: not found, there is no index\n")
        self.assertEqual(found, [("lmdb", "there is no index")])

    def test_neither_is_there_what_cannot_be_emulated(self):
        found = list_skipped.not_emulated(
            "-- not emulated: os.a_test a.case: QEMU says no: never\n-- Configuring done\n"
        )
        self.assertEqual(found, [("os.a_test a.case", "QEMU says no: never")])

    def skipped_in_ci(self, log: str, ci: str) -> int:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "build/asan/Testing/Temporary/LastTest.log"
            path.parent.mkdir(parents=True)
            path.write_text(log)
            root = mock.patch.object(list_skipped, "ROOT", Path(folder))
            environment = mock.patch.dict("os.environ", {"CI": ci})
            with root, environment, mock.patch("builtins.print"):
                return list_skipped.main("asan")

    def test_in_ci_what_is_wanting_is_a_failure(self):
        self.assertEqual(self.skipped_in_ci(LOG, "true"), 1)
        self.assertEqual(self.skipped_in_ci(LOG, ""), 0)
        self.assertEqual(self.skipped_in_ci("1/1 Testing: a\nTest Passed.\n", "true"), 0)


if __name__ == "__main__":
    unittest.main()
