#!/usr/bin/env python3
"""What a run has counted, as `pmemcpy top` shows it, and what `pmemcpy advise` makes of it.

usage: advise_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

from pathlib import Path

from with_pool import WithPool, main

SPEEDS = "write: {bandwidth: %s, latency: 1 us}, read: {bandwidth: %s, latency: 1 us}"


class Advise(WithPool):
    def give_hierarchy(self, more: str = "") -> None:
        below = Path(self.pool).parent / "below"
        below.mkdir(exist_ok=True)
        path = Path(self.pool).parent / "hierarchy.yaml"
        path.write_text(
            f"targets:\n  - {{name: pool, kind: tmpfs, {SPEEDS % ('8 GB/s', '8 GB/s')}}}\n"
            f"  - {{name: nvme, kind: file, path: {below}, {SPEEDS % ('1 GB/s', '1 GB/s')}}}\n{more}"
        )
        self.text("tiers", self.pool, path)

    def test_a_pool_without_a_hierarchy_has_nothing_to_advise_on(self) -> None:
        self.assertIn("has no hierarchy", self.refused(2, "advise", self.pool))
        self.assertEqual(self.json("advise", self.pool, "--heat"), [])
        top = self.json("top", self.pool)
        self.assertEqual((top["targets"], top["counters"]), ([], None))
        self.assertNotIn("target", self.text("top", self.pool))

    def test_what_cannot_be_told_is_said(self) -> None:
        self.give_hierarchy()
        advice = self.json("advise", self.pool)
        self.assertEqual(advice["proposals"], [])
        self.assertIn("0 blocks were read", advice["unknown"][0])
        text = self.text("advise", self.pool)
        self.assertIn("nothing to propose", text)
        self.assertIn("It cannot be told what should come up", text)
        (self.folder / "pool.heat").unlink()
        self.assertIn("nothing was counted", self.text("advise", self.pool))
        self.assertIn("nothing is counted", self.text("top", self.pool))

    def test_the_hierarchy_with_what_is_proposed_is_one(self) -> None:
        self.give_hierarchy("policy: hot-data\nmode: none\n")
        self.text("cp", f"{self.pool}:ocean/TEMP", f"{self.pool}:copy")
        advice = self.json("advise", self.pool)
        self.assertEqual(
            [(p["key"], p["now"], p["proposed"]) for p in advice["proposals"]],
            [("policy", "hot-data", "max-bandwidth")],
        )
        self.assertIn("nothing is hot", advice["proposals"][0]["reason"])
        better = self.folder / "better.yaml"
        better.write_text(self.text("advise", self.pool, "--yaml"))
        self.text("tiers", self.pool, better)
        self.assertEqual(self.json("tiers", self.pool)["policy"], "max-bandwidth")
        self.assertEqual(self.json("advise", self.pool)["proposals"], [])
        self.assertIn("either --yaml", self.refused(2, "advise", self.pool, "--yaml", "--heat"))

    def test_top_and_heat_show_what_was_read_and_moved(self) -> None:
        self.give_hierarchy("mode: none\n")
        self.text("stage", self.pool, "ocean", "nvme")
        self.text("cp", f"{self.pool}:ocean/TEMP", f"{self.pool}:copy")
        top = self.json("top", self.pool)
        pool, nvme = top["targets"]
        self.assertGreater(pool["moved_out_bytes"], 0)
        self.assertEqual(pool["moved_out_bytes"], nvme["moved_in_bytes"])
        self.assertGreater(nvme["reads"], 0)
        self.assertEqual(top["counters"]["misses"], nvme["reads"])
        self.assertIn("reads were in the pool", self.text("top", self.pool, "--once"))
        heat = {each["id"]: each for each in self.json("advise", self.pool, "--heat")}
        self.assertGreater(heat["ocean/TEMP"]["reads"], 0)
        self.assertIn("ocean/TEMP", self.text("advise", self.pool, "--heat"))


if __name__ == "__main__":
    main()
