#!/usr/bin/env python3
"""Buckets and messages, as the command shows them; what they do is tested beside their code.

usage: shared_test.py PMEMCPY FILL_SHARED FILL_KINDS [unittest arguments]
"""

import signal
import subprocess
from pathlib import Path

from with_pool import FILL, WithPool, main


class Shared(WithPool):
    """Files of a program that was killed with three buckets and a message in its hands."""

    def fill(self) -> None:
        done = subprocess.run([FILL, self.pool], timeout=60)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.buckets, self.messages = f"{self.pool}.buckets", f"{self.pool}.messages"

    def test_buckets_are_counted_and_those_of_the_dead_freed(self) -> None:
        shown = self.json("buckets", self.buckets)
        self.assertEqual((shown["bucket_bytes"], shown["count"], shown["available"]), (8192, 10, 4))
        self.assertEqual(shown["left_behind"], 3)
        self.assertEqual(shown["regions"]["ram"], {"filling": 2, "full": 0, "offered": 3})
        self.assertEqual(shown["regions"]["nvme"], {"filling": 0, "full": 1, "offered": 0})
        text = self.text("buckets", self.buckets)
        self.assertIn("4 of 10 buckets of 8.00 KiB are available", text)
        self.assertIn("3 were left behind", text)
        self.assertIn("3 buckets reclaimed", self.text("buckets", self.buckets, "--reclaim"))
        self.assertEqual(self.json("buckets", self.buckets, "--reclaim")["reclaimed"], 0)
        self.assertEqual(self.json("buckets", self.buckets)["available"], 7)
        self.assertNotIn("left behind", self.text("buckets", self.buckets))

    def test_messages_are_counted_and_those_of_the_dead_given_back(self) -> None:
        shown = self.json("messages", self.messages)
        self.assertEqual(shown, {"capacity": 8, "waiting": [3, 0], "claimed": 1, "recovered": 0})
        self.assertIn(
            "1 claimed; there is room for 8 in all",
            self.text("messages", self.messages),
        )
        self.assertIn("1 messages given back", self.text("messages", self.messages, "--recover"))
        self.assertEqual(self.json("messages", self.messages)["waiting"], [3, 1])

    def test_what_is_no_such_file_is_refused(self) -> None:
        self.assertIn("it holds messages, not buckets", self.refused(5, "buckets", self.messages))
        self.assertIn("it holds buckets, not messages", self.refused(5, "messages", self.buckets))
        self.assertIn("nothing", self.refused(1, "buckets", self.folder / "nothing"))
        with Path(self.buckets).open("r+b") as file:
            file.truncate(20000)
        self.assertIn("it has 20000 bytes", self.refused(5, "buckets", self.buckets))


if __name__ == "__main__":
    main()
