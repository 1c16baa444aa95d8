#!/usr/bin/env python3
"""Where pools differ: diff.

usage: diff_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import json
import os

from with_pool import WithTwoPools, empty_pool, main, run


class Diff(WithTwoPools):
    def found(self, *arguments: object, status: int = 1) -> dict[tuple[str, str], dict[str, object]]:
        """The differences, by id and kind."""
        answer = self.json("diff", *arguments, status=status)
        self.assertEqual(answer["equal"], status == 0)
        return {(d["id"], d["what"]): d for d in answer["differences"]}

    def test_finds_nothing_where_nothing_differs(self) -> None:
        self.assertEqual(self.text("diff", self.pool, self.same), "")
        self.assertEqual(self.text("diff", self.pool, self.pool), "")
        self.assertEqual(self.found(self.pool, self.same, status=0), {})
        nothing = empty_pool(self)
        self.assertEqual(self.text("diff", nothing, nothing), "")

    def test_finds_all_that_differs_and_nothing_else(self) -> None:
        found = self.found(self.pool, self.changed)
        self.assertEqual(
            sorted(found),
            [
                ("/", "attribute"),
                ("group/inner/value", "value"),
                ("new", "only_in"),
                ("old", "only_in"),
                ("poem", "value"),
                ("probes", "values"),
                ("ramp", "attribute"),
                ("ramp", "values"),
                ("sequence", "value"),
                ("specials", "values"),
                ("stepped", "stored"),
                ("unsigned", "values"),
            ],
        )
        self.assertEqual(found["new", "only_in"]["only_in"], str(self.changed))
        self.assertEqual(
            found["stepped", "stored"], {"id": "stepped", "what": "stored", "only_in": str(self.changed), "elements": 1}
        )

    def test_says_where_and_by_how_much(self) -> None:
        ramp = self.found(self.pool, self.changed)["ramp", "values"]
        self.assertEqual((ramp["elements"], ramp["differing"]), (100_000, 2))
        self.assertEqual((ramp["largest_difference"], ramp["largest_at"]), (0.5, [5, 0]))
        self.assertEqual(ramp["places"][1], {"index": [5, 1], "field": "value", "a": 501, "b": 501.25})
        probes = self.found(self.pool, self.changed)["probes", "values"]
        self.assertEqual(probes["places"], [{"index": [1], "field": "at[1]", "a": 2, "b": 9}])
        lines = self.text("diff", self.pool, self.changed, status=1).splitlines()
        at = lines.index("ramp: 2 of 100000 elements differ, by up to 0.5 at [5, 0]")
        self.assertEqual(lines[at + 1 : at + 3], ["  [5, 0]: 500 and 500.5", "  [5, 1]: 501 and 501.25"])
        for line in (
            f"new: only in {self.changed}",
            "ramp: attribute units: 'degC' and 'K'",
            f"ramp: attribute added: only in {self.changed}",
            "group/inner/value: 1 and 2",
            "sequence: 1 of 3 elements differ, by up to 1 at [2]",
            "  [1] at[1]: 2 and 9",
            f"stepped: 1 elements are stored only in {self.changed}",
        ):
            self.assertIn(line, lines)

    def test_lists_so_many_places(self) -> None:
        text = self.text("diff", f"{self.pool}:ramp", f"{self.changed}:ramp", "--limit", "1", status=1)
        self.assertIn("and 1 elements more", text)
        self.assertNotIn("[5, 1]", text)
        found = self.found(f"{self.pool}:ramp", f"{self.changed}:ramp", "--limit", "0")
        self.assertEqual(found["ramp", "values"]["places"], [])

    def test_tolerates_what_it_is_told_to(self) -> None:
        pair = (f"{self.pool}:orders/c", f"{self.pool}:orders/fortran")
        self.assertEqual(self.text("diff", *pair), "")  # the order of elements in memory is no difference
        pair = (f"{self.pool}:sequence", f"{self.changed}:sequence")
        self.text("diff", *pair, status=1)
        self.text("diff", *pair, "--atol", "1")
        self.text("diff", *pair, "--rtol", "0.25")
        self.text("diff", *pair, "--rtol", "0.24", status=1)
        self.text("diff", f"{self.pool}:poem", f"{self.changed}:poem", "--atol", "1000", "--rtol", "1", status=1)
        self.refused(2, "diff", *pair, "--atol", "-1")
        self.refused(2, "diff", *pair, "--rtol", "nan")
        self.refused(2, "diff", *pair, "--rtol", "much")

    def test_nan_is_nan_unless_it_is_to_differ(self) -> None:
        pair = (f"{self.pool}:specials", f"{self.same}:specials")
        self.text("diff", *pair)
        self.assertIn("1 of 6 elements differ\n", self.text("diff", *pair, "--nan-differs", status=1))

    def test_of_parts_of_pools(self) -> None:
        self.text("diff", f"{self.pool}:orders", f"{self.changed}:orders/")
        self.assertEqual(
            self.text("diff", f"{self.pool}:group", f"{self.changed}:group", status=1), "inner/value: 1 and 2\n"
        )
        self.assertEqual(
            self.text("diff", f"{self.pool}:orders", f"{self.pool}:ramp", status=1),
            "orders and ramp: a group and a variable\n",
        )
        self.assertEqual(self.text("diff", f"{self.pool}:12:30", f"{self.pool}:u1"), "")
        self.assertEqual(self.text("diff", f"{self.pool}:u[1]", f"{self.pool}:[x]"), "")
        text = self.text("diff", f"{self.pool}:scalar", f"{self.pool}:wide", status=1)
        self.assertEqual(text, "scalar and wide: type: float64 and int64\nscalar and wide: shape: scalar and 3\n")
        self.assertIn("kind: array and value", self.text("diff", f"{self.pool}:scalar", f"{self.pool}:u1", status=1))
        self.text("diff", f"{self.pool}:empty", f"{self.same}:empty")
        self.text("diff", f"{self.pool}:unwritten", f"{self.same}:unwritten")

    def test_of_a_pool_with_a_colon_in_its_name(self) -> None:
        odd = self.folder / "run:1"
        os.link(self.same, odd)
        self.text("diff", odd, self.pool)
        self.text("diff", f"{odd}:ramp", f"{self.pool}:ramp")

    def test_is_quiet_when_asked(self) -> None:
        self.assertEqual(self.text("diff", "-q", self.pool, self.changed, status=1), "")
        self.assertEqual(self.text("diff", "-q", self.pool, self.same), "")
        self.assertEqual(self.text("diff", "-q", f"{self.pool}:ramp", f"{self.changed}:ramp", status=1), "")
        self.assertEqual(run("diff", "-q", self.pool, self.changed, "--json").returncode, 2)

    def test_trouble_is_two_or_more(self) -> None:
        self.assertIn("nobody", self.refused(2, "diff", f"{self.pool}:nobody", f"{self.pool}:ramp"))
        self.assertIn("nowhere", self.refused(2, "diff", self.pool, self.folder / "nowhere"))
        self.refused(2, "diff", self.pool)
        done = run("diff", "--json", f"{self.pool}:nobody", self.pool)
        self.assertEqual((done.returncode, json.loads(done.stderr)["error"]["code"]), (2, "not_found"))
        os.truncate(self.same, 100_000)
        self.refused(5, "diff", self.pool, self.same)


if __name__ == "__main__":
    main()
