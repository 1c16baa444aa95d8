#!/usr/bin/env python3
"""Operations, as the command sets, runs, registers and shows them; what they do is tested in tests/conformance.

usage: operations_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

from pathlib import Path

from with_pool import WithPool, main

HALVES = """#include <pmemcpy/operation.h>
PMEMCPY_OPERATION(call) {
    double *out = (double *)call->output(call, PMEMCPY_FLOAT64, call->input.ndims, call->input.dims);
    const double *in = (const double *)call->input.data;
    if (call->input.kind != PMEMCPY_FLOAT64) return call->fail(call, "wants float64");
    for (uint64_t i = 0; i < call->input.elements; ++i) out[i] = in[i] / 2;
    return 0;
}
"""


class Operations(WithPool):
    def source(self, text: str, name: str = "f.c") -> str:
        path = Path(self.pool).parent / name
        path.write_text(text)
        return str(path)

    def greatest(self, id: str) -> float:
        (field,) = self.json("stat", self.pool, id)["fields"]
        return float(field["max"])

    def test_run_once_and_say_what_they_made(self) -> None:
        self.assertEqual(
            self.text("op", "run", self.pool, "ocean/TEMP", "max", "sort", "compress").split(),
            ["ocean/TEMP.max", "ocean/TEMP.sorted"],
        )
        found = float(self.text("cat", self.pool, "ocean/TEMP.max"))
        self.assertEqual(found, self.greatest("ocean/TEMP"))
        self.assertEqual(self.json("op", "list", self.pool), {"functions": [], "hints": []})
        made = self.json("op", "run", self.pool, "ocean/TEMP", "histogram", "--bins", "5")
        self.assertEqual(made, {"made": ["ocean/TEMP.histogram"]})
        self.assertEqual(self.json("info", self.pool, "ocean/TEMP.histogram")["dims"], [5])

    def test_are_done_when_there_is_a_hint(self) -> None:
        self.text("op", "hint", self.pool, "ocean/TEMP", "min", "deduplicate")
        known = self.json("op", "list", self.pool)["hints"]
        self.assertEqual(
            known, [{"id": "ocean/TEMP", "operations": ["min", "deduplicate"], "progress": "done", "trouble": ""}]
        )
        self.assertIn("ocean/TEMP.unique", self.text("ls", self.pool))
        self.assertIn("done", self.text("op", "list", self.pool))
        self.assertEqual(self.json("op", "wait", self.pool), known)
        self.text("op", "hint", self.pool, "ocean/TEMP")
        self.assertEqual(self.json("op", "list", self.pool)["hints"], [])

    def test_of_ones_own_are_compiled_called_and_removed(self) -> None:
        added = self.json(
            "op", "add", self.pool, "halved", self.source(HALVES), "--seconds", "50", "--memory", "64 MiB"
        )
        self.assertEqual(added, {"name": "halved", "mask": 1 << 16})
        known = self.json("op", "list", self.pool)["functions"]
        self.assertEqual(
            [(f["name"], f["bit"], f["seconds"], f["bytes"]) for f in known], [("halved", 16, 50, 64 << 20)]
        )
        self.assertIn("a process of its own", self.text("op", "list", self.pool))
        self.text("op", "run", self.pool, "ocean/TEMP", "halved")
        self.assertEqual(
            2 * self.greatest("ocean/TEMP.halved"),
            self.greatest("ocean/TEMP"),
        )
        self.text("op", "remove", self.pool, "halved")
        self.assertEqual(self.json("op", "list", self.pool)["functions"], [])
        self.assertIn("no operation 'halved'", self.refused(2, "op", "run", self.pool, "ocean/TEMP", "halved"))

    def test_that_do_not_compile_or_fail_say_why(self) -> None:
        broken = self.source(HALVES.replace("return 0", "return undeclared_name"))
        self.assertIn("undeclared_name", self.refused(2, "op", "add", self.pool, "broken", broken))
        self.text("op", "add", self.pool, "fails", self.source(HALVES.replace("!= PMEMCPY_FLOAT64", "!= 99")))
        self.assertIn("wants float64", self.refused(2, "op", "run", self.pool, "ocean/TEMP", "fails"))
        self.assertIn("wants float64", self.refused(1, "op", "hint", self.pool, "ocean/TEMP", "fails"))
        self.assertEqual(self.json("op", "list", self.pool)["hints"][0]["progress"], "failed")

    def test_that_make_no_sense_are_refused(self) -> None:
        self.assertIn("no `op do`", self.refused(2, "op", "do", self.pool))
        self.assertIn("wants ID OPERATION", self.refused(2, "op", "run", self.pool, "ocean/TEMP"))
        self.assertIn("wants NAME FILE", self.refused(2, "op", "add", self.pool, "f"))
        self.assertIn("takes no --bins", self.refused(2, "op", "list", self.pool, "--bins", "3"))
        self.assertIn("takes no --seconds", self.refused(2, "op", "wait", self.pool, "--seconds", "3"))
        self.assertIn("there are decompress min", self.refused(2, "op", "run", self.pool, "ocean/TEMP", "sorted"))
        self.assertIn("nothing", self.refused(1, "op", "run", self.pool, "nothing", "sort"))


if __name__ == "__main__":
    main()
