#!/usr/bin/env python3
"""What is stored: cat.

usage: cat_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import csv
import io
import json
import struct

from with_pool import TEMP, WithKinds, WithPool, main, run


class Cat(WithPool):
    def test_head_is_the_first_of_an_array(self) -> None:
        self.assertEqual(self.text("cat", self.pool, "ocean/TEMP", "--head", "1"), "0 1 2 3 4 5\n")
        self.assertEqual(
            self.text("cat", self.pool, "ocean/TEMP", "-n", "99"), self.text("cat", self.pool, "ocean/TEMP")
        )
        self.assertIn("--head", self.refused(2, "cat", self.pool, "answer", "--head", "1"))
        self.refused(2, "cat", self.pool, "ocean/TEMP", "--head", "1", "--box", "0:1,:")

    def test_prints_values_by_type(self) -> None:
        self.assertEqual(self.text("cat", self.pool, "answer"), "42\n")
        self.assertEqual(self.text("cat", self.pool, "name"), "ocean\n")
        self.assertEqual(self.text("cat", self.pool, "list"), "0.5\n1.5\n-2\n")
        self.assertEqual(self.text("cat", self.pool, "particle"), "{x: 0.25, id: 7, charge: -1}\n")
        self.assertEqual(self.text("cat", self.pool, "when"), "2024-10-04\n")

    def test_prints_rows_and_planes(self) -> None:
        rows = "".join(" ".join(f"{x:g}" for x in row) + "\n" for row in TEMP)
        self.assertEqual(self.text("cat", self.pool, "ocean/TEMP"), rows)
        self.assertEqual(self.text("cat", self.pool, "cube"), "0 1 2\n3 4 5\n\n6 7 8\n9 10 11\n")
        self.assertEqual(self.text("cat", self.pool, "line").split(), [str(i) for i in range(1000)])

    def test_follows_indices_and_not_memory(self) -> None:
        self.assertEqual(self.text("cat", self.pool, "columns"), "0 1 2\n10 11 12\n")
        self.assertEqual(self.json("cat", self.pool, "columns")["values"], [[0, 1, 2], [10, 11, 12]])
        raw = run("cat", "--raw", self.pool, "columns").stdout
        self.assertEqual(struct.unpack("=6i", raw), (0, 10, 1, 11, 2, 12))

    def test_of_a_box(self) -> None:
        self.assertEqual(self.text("cat", self.pool, "ocean/TEMP", "--box", "1:3,0:6:3"), "10 13\n20 23\n")
        self.assertEqual(self.text("cat", self.pool, "ocean/TEMP", "--box", "[3, :]"), "30 31 32 33 34 35\n")
        self.assertEqual(self.text("cat", self.pool, "ocean/TEMP", "--box", "0:0,:"), "")

    def test_json_is_parsed(self) -> None:
        self.assertEqual(self.json("cat", self.pool, "ocean/TEMP")["values"], TEMP)
        self.assertEqual(self.json("cat", self.pool, "answer")["value"], 42)
        self.assertEqual(self.json("cat", self.pool, "particle")["value"], {"x": 0.25, "id": 7, "charge": -1})
        self.assertEqual(self.json("cat", self.pool, "ocean/TEMP", "--box", "0:0,:")["values"], [])

    def test_of_json_is_json(self) -> None:
        """It was called corrupt, and so was everything that has such an attribute, by info."""
        text = '{"dt":0.1,"grid":[2,3]}'
        self.assertEqual(self.text("cat", self.pool, "settings"), f"{text}\n")
        self.assertEqual(self.json("cat", self.pool, "settings")["value"], {"dt": 0.1, "grid": [2, 3]})
        quoted = text.replace('"', '""')
        self.assertEqual(self.text("cat", self.pool, "settings", "--format", "csv"), f'value\r\n"{quoted}"\r\n')
        self.assertIn('{"author":"li"}', self.text("info", self.pool, "ocean"))
        self.assertEqual(self.json("info", self.pool, "ocean")["attributes"]["run"]["value"], {"author": "li"})

    def test_writes_raw_bytes_to_a_file(self) -> None:
        out = self.folder / "out"
        self.assertEqual(self.text("cat", "--raw", "-o", out, self.pool, "ocean/TEMP"), "")
        self.assertEqual(struct.unpack("=24d", out.read_bytes()), tuple(x for row in TEMP for x in row))
        self.text("cat", "--raw", "-o", out, self.pool, "name")
        self.assertEqual(out.read_bytes(), b"ocean")

    def test_says_what_cannot_be_got(self) -> None:
        self.assertIn("hole", self.refused(1, "cat", self.pool, "hole"))
        self.assertEqual(self.text("cat", self.pool, "hole", "--box", "0"), "1\n")
        self.assertIn("pmemcpy ls", self.refused(2, "cat", self.pool, "ocean"))
        self.refused(2, "cat", self.pool, "ocean/TEMP", "--box", "0:5,:")
        self.refused(2, "cat", self.pool, "ocean/TEMP", "--box", "0:1")
        self.refused(2, "cat", self.pool, "answer", "--box", "0:1")
        self.assertEqual(run("cat", self.pool, "answer", "--raw", "--json").returncode, 2)
        self.refused(1, "cat", self.pool, "answer", "-o", self.folder / "none" / "out")

    def test_rounds_to_so_many_digits(self) -> None:
        self.assertEqual(self.text("cat", self.pool, "list", "--precision", "1"), "0.5\n2\n-2\n")
        self.assertEqual(self.text("cat", self.pool, "answer", "--precision", "1"), "42\n")
        rows = self.text("cat", self.pool, "ocean/TEMP", "--box", "3,:", "--precision", "1", "--format", "csv")
        self.assertIn(
            "3,5,4e+01\r\n", run("cat", self.pool, "ocean/TEMP", "--precision", "1", "--format", "csv").stdout.decode()
        )
        self.assertEqual(len(rows.splitlines()), 7)
        for digits in ("0", "18", "-1", "x"):
            self.refused(2, "cat", self.pool, "list", "--precision", digits)
        self.assertEqual(run("cat", self.pool, "list", "--precision", "3", "--json").returncode, 2)
        self.refused(2, "cat", self.pool, "list", "--precision", "3", "--raw")


class Csv(WithKinds):
    def table(self, *arguments: object) -> list[list[str]]:
        """What a program that reads CSV makes of it."""
        done = run("cat", "--format", "csv", self.pool, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        text = done.stdout.decode()
        self.assertTrue(text.endswith("\r\n"))
        return list(csv.reader(io.StringIO(text, newline=""), strict=True))

    def test_has_indices_and_values(self) -> None:
        head, *rows = self.table("orders/c", "--box", "1:3,2,0:5:4")
        self.assertEqual(head, ["dim_0", "dim_1", "dim_2", "value"])
        self.assertEqual(
            rows, [["1", "2", "0", "120"], ["1", "2", "4", "124"], ["2", "2", "0", "220"], ["2", "2", "4", "224"]]
        )

    def test_follows_indices_and_not_memory(self) -> None:
        self.assertEqual(self.table("orders/fortran"), self.table("orders/c"))

    def test_has_a_column_for_each_field(self) -> None:
        self.assertEqual(
            self.table("probes"),
            [
                ["dim_0", "id", "at[0]", "at[1]", "name"],
                ["0", "1", "0.5", "1", "a,b"],
                ["1", "2", "1.5", "2", '"q"'],
            ],
        )

    def test_has_all_kinds_of_numbers(self) -> None:
        self.assertEqual([row[1] for row in self.table("specials")], ["value", "nan", "inf", "-inf", "0", "-0", "1.5"])
        self.assertEqual([row[1] for row in self.table("wide")[1:]], [str(-(2**63)), "0", str(2**63 - 1)])
        self.assertEqual(self.table("waves"), [["dim_0", "value.real", "value.imag"], ["0", "3", "4"], ["1", "0", "0"]])
        self.assertEqual([row[1] for row in self.table("days")[1:]], ["1970-01-01", "NaT", "1970-01-11"])
        self.assertEqual([row[1] for row in self.table("labels")[1:]], ["one", "two"])

    def test_of_one_element_or_none(self) -> None:
        self.assertEqual(self.table("scalar"), [["value"], ["2.5"]])
        self.assertEqual(self.table("empty"), [["dim_0", "dim_1", "value"]])

    def test_of_values(self) -> None:
        self.assertEqual(self.table("u1"), [["value"], ["1"]])
        self.assertEqual(self.table("sequence"), [["dim_0", "value"], ["0", "1"], ["1", "2"], ["2", "3"]])
        self.assertEqual(self.table("poem"), [["value"], ['one\n"two"']])

    def test_is_not_json_and_not_raw(self) -> None:
        self.refused(2, "cat", "--format", "csv", "--raw", self.pool, "ramp")
        done = run("cat", "--format", "csv", "--json", self.pool, "ramp")
        self.assertEqual((done.returncode, json.loads(done.stderr)["error"]["code"]), (2, "invalid_argument"))
        self.assertIn("csv", self.refused(2, "cat", "--format", "xml", self.pool, "ramp"))


class Kinds(WithKinds):
    def test_prints_what_there_is(self) -> None:
        self.assertEqual(self.text("cat", self.pool, "scalar"), "2.5\n")
        self.assertEqual(self.json("cat", self.pool, "scalar")["values"], 2.5)
        self.assertEqual(self.text("cat", self.pool, "empty"), "")
        self.assertEqual(self.text("cat", self.pool, "waves"), "3+4i\n0+0i\n")
        self.assertEqual(self.text("cat", self.pool, "poem"), 'one\n"two"\n')
        self.assertEqual(self.json("cat", self.pool, "specials")["values"], ["nan", "inf", "-inf", 0, 0, 1.5])
        self.assertEqual(self.json("cat", self.pool, "probes")["values"][0], {"id": 1, "at": [0.5, 1], "name": "a,b"})

    def test_at_a_step(self) -> None:
        self.assertEqual(self.text("cat", self.pool, "stepped", "--box", "0:2", "--step", "1"), "1\n10\n")
        self.assertEqual(self.text("cat", self.pool, "stepped", "--box", "0:2"), "2\n20\n")
        self.refused(2, "cat", self.pool, "u1", "--step", "1")

    def test_says_what_was_never_stored(self) -> None:
        self.assertIn("nothing was stored", self.refused(1, "cat", self.pool, "unwritten"))

    def test_ends_when_nobody_reads_on(self) -> None:
        for form in ((), ("--json",), ("--format", "csv"), ("--raw",)):
            self.cut_off("cat", self.pool, "ramp", *form)

    def test_writes_a_large_array_to_a_file(self) -> None:
        out = self.folder / "out"
        self.assertEqual(run("cat", self.pool, "ramp", "-o", out).stderr, b"")  # no bar where there is no terminal
        self.assertEqual(out.read_text().split(), [str(i) for i in range(100_000)])
        self.text("cat", "--raw", self.pool, "ramp", "-o", out)
        self.assertEqual(struct.unpack("=100000f", out.read_bytes()), tuple(float(i) for i in range(100_000)))


if __name__ == "__main__":
    main()
