#!/usr/bin/env python3
"""What the MOSIQS paper's names have made, as the command shows it.

usage: mosiqs_test.py PMEMCPY FILL_GROUP FILL_KINDS [unittest arguments]
"""

from with_pool import WithPool, main


class Group(WithPool):
    def test_a_group_lists_its_members_with_their_values_of_the_shared_attributes(self) -> None:
        """Figure 5: the data part of a group has its objects, and of each its own values."""
        lines = [line.split() for line in self.text("ls", "--values", self.pool, "sim/").splitlines()]
        self.assertEqual(
            lines,
            [
                ["id", "file", "iteration", "note"],
                ["sim/t1", "foo.hdf5", "1401", "-"],
                ["sim/t2", "foo.hdf5", "1402", "-"],
                ["sim/t3", "foo.hdf5", "1403", "last"],
            ],
        )

    def test_its_own_attributes_are_the_header(self) -> None:
        (group, *_) = self.json("ls", "--values", "-g", self.pool, "sim")
        self.assertEqual(group, {"id": "sim", "values": {"file": "sim-v0.1", "split_value": 2}})

    def test_is_found_by_what_it_was_annotated_with(self) -> None:
        found = self.text("find", self.pool, 'file = "foo.hdf5" and iteration > 1401')
        self.assertEqual(found.split(), ["sim/t2", "sim/t3"])


if __name__ == "__main__":
    main()
