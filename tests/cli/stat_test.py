#!/usr/bin/env python3
"""What numbers are like: stat.

usage: stat_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import json
import statistics

from with_pool import TEMP, WithKinds, WithPool, main, run, run_on_terminal

NUMBERS = [x for row in TEMP for x in row]


class Stat(WithPool):
    def test_tells_range_mean_and_deviation(self) -> None:
        (field,) = self.json("stat", self.pool, "ocean/TEMP")["fields"]
        self.assertEqual((field["count"], field["min"], field["max"], field["zeros"]), (24, 0, 35, 1))
        self.assertAlmostEqual(field["mean"], statistics.fmean(NUMBERS))
        self.assertAlmostEqual(field["deviation"], statistics.pstdev(NUMBERS))
        lines = self.text("stat", self.pool, "ocean/TEMP").splitlines()
        self.assertEqual(lines[0], "ocean/TEMP: float64, 4 x 6 [degC]")
        self.assertEqual(
            lines[1].split(),
            ["field", "count", "masked", "nan", "infinite", "zeros", "min", "max", "mean", "deviation"],
        )
        self.assertEqual(lines[2].split(), ["value", "24", "0", "0", "0", "1", "0", "35", "17.5", "11.3100251"])

    def test_draws_a_histogram(self) -> None:
        (field,) = self.json("stat", self.pool, "ocean/TEMP", "--bins", "5")["fields"]
        self.assertEqual(field["histogram"]["edges"], [0, 7, 14, 21, 28, 35])
        counts = [sum(low <= x < low + 7 or x == low + 7 == 35 for x in NUMBERS) for low in range(0, 35, 7)]
        self.assertEqual(field["histogram"]["counts"], counts)
        lines = self.text("stat", self.pool, "ocean/TEMP", "--bins", "5").splitlines()
        self.assertEqual(lines[3], "histogram of value")
        self.assertEqual(
            [line.split(")")[-1].split("]")[-1].split()[0] for line in lines[4:]], [str(c) for c in counts]
        )
        self.assertEqual(max(line.count("#") for line in lines), 40)
        self.assertNotIn("histogram", self.text("stat", self.pool, "ocean/TEMP", "--bins", "0"))
        self.refused(2, "stat", self.pool, "ocean/TEMP", "--bins", "100001")
        self.refused(2, "stat", self.pool, "ocean/TEMP", "--bins", "-1")

    def test_of_a_part(self) -> None:
        answer = self.json("stat", self.pool, "ocean/TEMP", "--box", "1:3,0:6:3")
        self.assertEqual((answer["offset"], answer["count"], answer["stride"]), ([1, 0], [2, 2], [1, 3]))
        self.assertEqual((answer["fields"][0]["min"], answer["fields"][0]["max"]), (10, 23))
        self.assertIn("[1:3, 0:4:3]", self.text("stat", self.pool, "ocean/TEMP", "--box", "1:3,0:6:3"))
        self.refused(2, "stat", self.pool, "ocean/TEMP", "--box", "0:9,:")
        nothing = self.json("stat", self.pool, "ocean/TEMP", "--box", "0:0,:", "--blocks")
        self.assertEqual((nothing["fields"][0]["count"], nothing["fields"][0]["min"], nothing["blocks"]), (0, None, []))

    def test_tells_the_range_of_each_block(self) -> None:
        blocks = self.json("stat", self.pool, "ocean/TEMP", "--blocks")["blocks"]
        self.assertEqual(
            sorted((b["offset"], b["minimum"], b["maximum"]) for b in blocks), [([0, 0], 0, 15), ([2, 0], 20, 35)]
        )
        text = self.text("stat", self.pool, "ocean/TEMP", "--blocks", "--box", "0:1,:")
        self.assertIn("blocks (1)", text)
        self.assertEqual(text.splitlines()[-1].split(), ["[0:2,", "0:6]", "value", "0", "15", "stored"])

    def test_of_values(self) -> None:
        (field,) = self.json("stat", self.pool, "list")["fields"]
        self.assertEqual((field["count"], field["mean"]), (3, 0))
        particle = {field["field"]: field for field in self.json("stat", self.pool, "particle")["fields"]}
        self.assertEqual((particle["x"]["min"], particle["charge"]["max"]), (0.25, -1))
        self.assertEqual(self.json("stat", self.pool, "when")["fields"][0]["min"], "2024-10-04")
        for option in (("--box", "0:1"), ("--step", "1"), ("--blocks",)):
            self.refused(2, "stat", self.pool, "list", *option)

    def test_says_what_has_no_numbers(self) -> None:
        self.assertIn("pmemcpy cat", self.refused(2, "stat", self.pool, "name"))
        self.assertIn("pmemcpy ls", self.refused(2, "stat", self.pool, "ocean"))
        self.refused(1, "stat", self.pool, "nobody")
        done = run("stat", self.pool, "name", "--json")
        self.assertEqual(json.loads(done.stderr)["error"]["code"], "type_mismatch")


class Kinds(WithKinds):
    def only_field(self, *arguments: object) -> dict[str, object]:
        (field,) = self.json("stat", self.pool, *arguments)["fields"]
        return field

    def test_counts_what_is_special(self) -> None:
        field = self.only_field("specials")
        self.assertEqual((field["count"], field["nan"], field["infinite"], field["zeros"]), (6, 1, 2, 2))
        self.assertEqual((field["min"], field["max"], field["mean"]), ("-inf", "inf", 0.5))
        self.assertEqual(sum(field["histogram"]["counts"]), 3)

    def test_integers_of_64_bits_are_exact(self) -> None:
        field = self.only_field("wide")
        self.assertEqual((field["min"], field["max"]), (-(2**63), 2**63 - 1))
        self.assertEqual(self.only_field("unsigned")["max"], 2**64 - 1)
        self.assertIn("9223372036854775807", self.text("stat", self.pool, "wide"))

    def test_of_complex_numbers_is_of_their_magnitude(self) -> None:
        field = self.only_field("waves")
        self.assertEqual((field["type"], field["min"], field["max"]), ("complex64", 0, 5))

    def test_of_structures_is_of_their_fields(self) -> None:
        answer = self.json("stat", self.pool, "probes", "--blocks")
        fields = {field["field"]: field for field in answer["fields"]}
        self.assertEqual(list(fields), ["id", "at"])
        self.assertEqual((fields["at"]["count"], fields["at"]["mean"]), (4, 1.25))
        self.assertEqual(answer["others"], ["name"])
        self.assertEqual(
            answer["blocks"][0]["fields"],
            [{"field": "id", "min": 1, "max": 2}, {"field": "at", "min": 0.5, "max": 2}],
        )
        text = self.text("stat", self.pool, "probes", "--blocks")
        self.assertIn("no numbers: name", text)
        self.assertIn("as it is now", text)
        self.refused(2, "stat", self.pool, "labels")

    def test_times_are_dates_and_no_time_is_nan(self) -> None:
        field = self.only_field("days")
        self.assertEqual((field["nan"], field["min"], field["max"]), (1, "1970-01-01", "1970-01-11"))
        row = self.text("stat", self.pool, "days").splitlines()[2]
        self.assertEqual(row.split()[-5:], ["1970-01-01", "1970-01-11", "1970-01-06", "5", "days"])

    def test_of_any_shape_and_order(self) -> None:
        self.assertEqual(self.only_field("orders/fortran"), self.only_field("orders/c"))
        self.assertEqual(self.only_field("scalar")["mean"], 2.5)
        self.assertEqual(self.only_field("empty")["mean"], None)
        self.assertEqual(self.text("stat", self.pool, "empty").splitlines()[2].split()[-4:], ["-"] * 4)

    def test_leaves_out_what_nobody_has_stored(self) -> None:
        answer = self.json("stat", self.pool, "unwritten")
        self.assertEqual((answer["missing"], answer["fields"][0]["count"]), (16, 0))
        answer = self.json("stat", self.pool, "stepped")
        self.assertEqual((answer["missing"], answer["fields"][0]["max"]), (2, 20))
        self.assertIn("2 elements are left out", self.text("stat", self.pool, "stepped"))

    def test_at_a_step(self) -> None:
        self.assertEqual(self.only_field("stepped", "--box", "0:2", "--step", "1")["max"], 10)
        self.refused(1, "stat", self.pool, "stepped", "--step", "1")  # of which half was never stored

    def test_of_compressed_blocks(self) -> None:
        if run("info", self.pool, "packed/zeros").returncode != 0:
            self.skipTest("built without a codec")
        self.assertEqual(self.only_field("packed/zeros")["zeros"], 100_000)

    def test_is_plain_where_there_is_no_terminal(self) -> None:
        done = run("stat", self.pool, "ramp")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertNotIn(b"\033", done.stdout)

    def test_has_no_bar_where_it_takes_no_time(self) -> None:
        self.assertNotIn("\033", run_on_terminal("stat", self.pool, "ramp"))


if __name__ == "__main__":
    main()
