#!/usr/bin/env python3
"""Namespaces from a shell, as one user has them; two users meet in tests/sharing.

usage: ns_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import json
import os
import subprocess
from pathlib import Path

from with_pool import FILL, WithPool, main, run


class Namespaces(WithPool):
    def setUp(self) -> None:
        super().setUp()
        self.root = self.folder / "root"
        self.root.mkdir()
        os.environ["PMEMCPY_ROOT"] = str(self.root)
        self.addCleanup(os.environ.pop, "PMEMCPY_ROOT")
        before = Path.cwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def make(self, name: str, *pools: str) -> None:
        self.text("ns", "create", name)
        for pool in pools:
            subprocess.run([FILL, self.root / name / f"{pool}.pmem"], check=True, timeout=60)

    def test_are_made_listed_and_dropped(self) -> None:
        self.assertEqual(self.text("ns", "list"), "")
        self.assertEqual(self.json("ns", "list"), [])
        self.assertEqual(self.json("ns", "create", "b")["namespace"], "b")
        self.make("a", "shared")
        names = [line.split()[0] for line in self.text("ns", "list").splitlines()]
        self.assertEqual(names, ["namespace", "a", "b"])
        self.assertIn("a:shared", self.text("ns", "list", "a"))
        told = self.json("ns", "list", "a")
        self.assertEqual((told["access"], told["grants"], told["quota_bytes"]), ("write", [], 0))
        self.assertEqual(told["pools"][0]["pool"], "shared")
        self.assertIn("--force", self.refused(7, "ns", "drop", "a"))
        self.assertEqual(self.json("ns", "drop", "a", "--force"), {"dropped": "a"})
        self.text("ns", "drop", "b")
        self.assertEqual(self.json("ns", "list"), [])

    def test_are_named_where_a_pool_is(self) -> None:
        self.make("a", "shared", "x")
        self.assertEqual(self.text("ls", "a:", "ocean/"), "ocean/TEMP\n")
        self.assertEqual(self.text("cat", "a:x", "answer"), "42\n")
        self.text("create", "a:new", "--size", "16MiB", "--chunk", "64KiB")
        self.assertTrue((self.root / "a" / "new.pmem").exists())
        self.assertIn(str(self.root / "a" / "x.pmem"), self.text("info", "a:x"))
        self.text("verify", "a:")
        self.text("repair", "a:", "a:repaired")
        self.assertEqual(self.text("cat", "a:repaired", "answer"), "42\n")
        self.text("top", "a:", "--json")
        self.assertIn("no namespace 'b'", self.refused(1, "ls", "b:"))
        self.refused(2, "ls", "all:")
        self.refused(2, "create", "a:private")

    def test_are_named_where_a_place_is(self) -> None:
        self.make("a", "shared", "x")
        self.text("cp", "a:answer", "a:group/reply")
        self.assertEqual(self.text("cat", "a:", "group/reply"), "42\n")
        self.text("cp", "a:group/reply", "a:x:deep/reply")
        self.assertEqual(self.text("cat", "a:x", "deep/reply"), "42\n")
        self.text("mv", "a:x:deep/", "a:")
        self.text("diff", "a:line", "a:x:line")
        # The whole is a pool if it can be one; two colons say that it is not.
        self.text("cp", "a:answer", "a::x")
        self.assertEqual(self.text("cat", "a:", "x"), "42\n")
        self.text("diff", "a::x", f"{self.pool}:answer")
        self.text("cp", "a:x", "a:copy", "--create", "--size", "64MiB")
        self.assertEqual(self.text("cat", "a:copy", "answer"), "42\n")

    def test_leave_plain_files_what_they_are(self) -> None:
        self.make("a", "shared")
        self.text("create", "./b:", "--size", "16MiB", "--chunk", "64KiB")
        self.assertEqual(self.text("ls", "./b:"), "")
        self.text("cp", "a:answer", "b::one")
        self.assertEqual(self.text("ls", "./b:"), "one\n")
        self.text("cp", "pool:answer", "pool:reply")
        self.assertEqual(self.text("cat", "pool", "reply"), "42\n")
        self.assertIn("'./b:'", self.refused(1, "ls", "b:"))
        # No root, no namespaces.
        del os.environ["PMEMCPY_ROOT"]
        self.text("cp", "pool:answer", "pool:again")
        self.assertIn("PMEMCPY_ROOT", self.refused(2, "ls", "a:"))
        self.assertIn("PMEMCPY_ROOT", self.refused(2, "ns", "list"))
        self.assertEqual(len(self.json("ns", "list", "--root", self.root)), 1)
        os.environ["PMEMCPY_ROOT"] = str(self.root)

    def test_are_searched_all_at_once(self) -> None:
        self.make("a", "shared", "x")
        self.make("b", "shared")
        self.make("empty")
        found = ["a:ocean/TEMP", "a:x:ocean/TEMP", "b:ocean/TEMP"]
        self.assertEqual(self.text("find", "--all", "units = 'degC'").splitlines(), found)
        for name in found:
            self.text("diff", name, f"{self.pool}:ocean/TEMP")
        told = self.json("find", "--all", "units = 'degC'")
        self.assertEqual([(it["namespace"], it["pool"]) for it in told], [("a", "shared"), ("a", "x"), ("b", "shared")])
        self.assertEqual(told[0]["id"], "ocean/TEMP")
        self.assertEqual(self.text("find", "--all", "name = 'answer' limit 2").splitlines(), ["a:answer", "a:x:answer"])
        self.assertEqual(self.text("find", "--all", "name = 'answer' count"), "3\n")
        rows = self.json("find", "--all", "count by units")
        self.assertEqual(rows, [{"value": "degC", "objects": 3}, {"value": None, "objects": 33}])
        self.assertIn("# a:x:answer\n42\n", self.text("find", "--all", "name = 'answer'", "--load"))
        long = self.text("find", "--all", "-l", "name = 'answer'")
        self.assertEqual([line.split()[-1] for line in long.splitlines()][-1], "b:answer")
        self.assertIn("b:ocean/TEMP\t[3:4, 4:6]", self.text("find", "--all", "value > 33 and rank = 2", "--boxes"))

    def test_are_sorted_as_one(self) -> None:
        self.make("a", "shared")
        self.make("b", "shared")
        found = self.json("find", "--all", "kind = 'array' order by bytes desc, name")
        self.assertEqual([each["bytes"] for each in found], sorted((each["bytes"] for each in found), reverse=True))
        self.assertEqual([each["namespace"] for each in found[:4]], ["a", "b", "a", "b"])
        names = self.text("find", "--all", "kind = 'array' order by bytes desc, name limit 3").splitlines()
        self.assertEqual(names, [f"{each['namespace']}:{each['id']}" for each in found[:3]])
        # What lacks the key comes last, wherever it is.
        names = self.text("find", "--all", "kind = 'array' order by units, name").splitlines()
        with_units = self.text("find", "--all", "kind = 'array' and exists(units)").splitlines()
        self.assertEqual(set(names[: len(with_units)]), set(with_units))
        loaded = self.text("find", "--all", "name = 'answer' order by created", "--load")
        self.assertEqual(loaded, "# a:answer\n42\n# b:answer\n42\n")

    def test_say_why_they_cannot_be_searched(self) -> None:
        self.make("a", "shared")
        (self.root / "a" / "broken.pmem").write_text("no pool")
        self.assertIn("--all", self.refused(2, "find", "--all", "a:", "units = 1"))
        self.assertIn("POOL", self.refused(2, "find"))
        self.refused(2, "find", "--all", "units = degC")
        # One pool that cannot be read does not hide the others.
        done = run("find", "--all", "units = 'degC'")
        self.assertEqual((done.returncode, done.stdout), (0, b"a:ocean/TEMP\n"))
        self.assertIn(b"a:broken was left out", done.stderr)

    def test_have_a_quota_that_says_what_it_is(self) -> None:
        self.make("a")
        self.assertIn("none (advisory)", self.text("ns", "quota", "a"))
        self.assertIn("20.0 MiB (advisory)", self.text("ns", "quota", "a", "20MiB"))
        self.text("create", "a:", "--size", "16MiB", "--chunk", "64KiB")
        self.assertIn("advisory", self.refused(4, "create", "a:x", "--size", "16MiB", "--chunk", "64KiB"))
        self.assertEqual(self.json("ns", "quota", "a")["quota_bytes"], 20 << 20)
        self.text("ns", "quota", "a", "none")
        self.text("create", "a:x", "--size", "16MiB", "--chunk", "64KiB")

    def test_refuse_what_makes_no_sense(self) -> None:
        self.make("a")
        for words in (
            ["create"],
            ["create", "a/b"],
            ["create", ".a"],
            ["create", "x" * 65],
            ["create", "shared"],
            ["make", "b"],
            ["grant", "a", "--read"],
            ["grant", "a", "--user", "daemon"],
            ["grant", "a", "--user", "daemon", "--group", "daemon", "--read"],
            ["grant", "a", "--user", "daemon", "--read", "--write"],
            ["list", "--force"],
            ["drop", "a", "10MiB"],
            ["quota", "a", "much"],
        ):
            self.refused(2, "ns", *words)
        self.refused(3, "ns", "create", "a")
        self.refused(1, "ns", "drop", "none")
        self.assertIn("mkdir -m 1777", self.refused(1, "ns", "list", "--root", self.folder / "none"))
        said = json.loads(self.refused_in_json(1, "ns", "grant", "a", "--user", "no-such-user", "--read"))
        self.assertEqual(said["error"]["code"], "not_found")

    def refused_in_json(self, status: int, *arguments: object) -> str:
        done = run(*arguments, "--json")
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr.decode()


if __name__ == "__main__":
    main()
