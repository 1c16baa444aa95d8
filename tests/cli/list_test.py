#!/usr/bin/env python3
"""What is in a pool: ls, tree and du.

usage: list_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

from with_pool import IDS, WithKinds, WithPool, empty_pool, main, run, run_on_terminal


class Ls(WithPool):
    def test_lists_ids_one_a_line(self) -> None:
        self.assertEqual(self.text("ls", self.pool).split("\n"), [*IDS, ""])
        self.assertEqual(self.text("ls", self.pool, "ocean/"), "ocean/TEMP\n")
        # Friction 9: `ls POOL typo` printed nothing, and ended with 0.
        said = self.refused(1, "ls", self.pool, "no such prefix")
        self.assertIn("begins with or matches 'no such prefix'", said)
        self.assertIn("'typo'", run("ls", self.pool, "typo", "line").stderr.decode())
        self.assertEqual(self.text("ls", self.pool, "typo", "line"), "line\n")

    def test_lists_groups_when_asked(self) -> None:
        self.assertEqual(self.text("ls", "-g", self.pool, "oc"), "ocean\nocean/TEMP\n")

    def test_long_has_aligned_columns(self) -> None:
        lines = self.text("ls", "-l", self.pool).splitlines()
        self.assertEqual(lines[0].split(), ["kind", "type", "shape", "blocks", "size", "written", "id"])
        at = lines[0].index(" id") + 1
        self.assertEqual([line[at:] for line in lines[1:]], IDS)
        temp = next(line for line in lines if line.endswith("ocean/TEMP"))
        self.assertEqual(temp.split()[:8], ["array", "float64", "4", "x", "6", "2", "192", "B"])

    def test_json_is_parsed(self) -> None:
        self.assertEqual(self.json("ls", self.pool), IDS)
        long = {entry["id"]: entry for entry in self.json("ls", "-l", self.pool)}
        self.assertEqual(long["ocean/TEMP"]["dims"], [4, 6])
        self.assertEqual(long["ocean/TEMP"]["blocks"], 2)
        self.assertEqual(long["answer"]["kind"], "value")

    def test_takes_globs_and_prefixes_together(self) -> None:
        self.assertEqual(self.text("ls", self.pool, "*").split(), [i for i in IDS if "/" not in i])
        self.assertEqual(self.text("ls", self.pool, "**/T*", "l*", "line").split(), ["line", "list", "ocean/TEMP"])
        self.assertEqual(self.text("ls", "-g", self.pool, "o*").split(), ["ocean"])
        self.assertEqual(self.text("ls", self.pool, "[a-c]*[!b]").split(), ["answer", "columns", "cube"])
        self.refused(1, "ls", self.pool, "no*")
        self.assertIn("\\[", self.refused(2, "ls", self.pool, "u["))

    def test_sorts_by_size_and_time(self) -> None:
        by_size = self.text("ls", self.pool, "--sort", "size").split()
        self.assertEqual((by_size[:3], by_size[-1]), (["line", "ocean/TEMP", "cube"], "answer"))
        self.assertEqual(self.text("ls", self.pool, "--sort", "size", "--reverse").split(), by_size[::-1])
        self.assertEqual(self.text("ls", self.pool, "--reverse").split(), IDS[::-1])
        self.text("rm", self.pool, "answer")
        newest_first = self.json("ls", "-l", self.pool, "--sort", "time")
        created = self.json("ls", self.pool, "--sort", "created")
        self.assertEqual(sorted(created), self.json("ls", self.pool))
        self.assertEqual(created[-1], "hole", "which is stored last")
        self.assertEqual(self.json("ls", self.pool, "--sort", "created", "--reverse"), created[::-1])
        times = [entry["written_ns"] for entry in newest_first]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(newest_first[0]["id"], "hole")  # which is stored last
        self.assertIn("--help", self.refused(2, "ls", self.pool, "--sort", "colour"))

    def test_values_are_those_of_the_attributes(self) -> None:
        lines = [line.split() for line in self.text("ls", "--values", "-g", self.pool, "oc", "name").splitlines()]
        self.assertEqual(lines[0], ["id", "run", "title", "units", "valid_range"])
        self.assertEqual(lines[1], ["name", "-", "-", "-", "-"])
        self.assertEqual(lines[2], ["ocean", '{"author":"li"}', "test", "-", "-"])
        self.assertEqual(lines[3], ["ocean/TEMP", "-", "-", "degC", "-2", "40"])
        (found,) = self.json("ls", "--values", self.pool, "ocean/")
        self.assertEqual(found, {"id": "ocean/TEMP", "values": {"units": "degC", "valid_range": [-2, 40]}})
        self.refused(1, "ls", "--values", self.pool, "nobody")
        self.refused(2, "ls", "--values", "-l", self.pool)

    def test_of_an_empty_pool_is_nothing(self) -> None:
        nothing = empty_pool(self)
        for arguments in ((), ("-l",), ("--sort", "size")):
            self.assertEqual(self.text("ls", nothing, *arguments), "")
            self.assertEqual(self.json("ls", nothing, *arguments), [])

    def test_of_a_directory_are_the_pools_in_it(self) -> None:
        # Friction 9: `ls DIR` said "there is no pool at DIR/.pool; open it with a mode that creates it".
        nothing = empty_pool(self)
        self.text("create", f"{self.folder}/as-directory/", "--size", "16MiB")
        (self.folder / "notes.txt").write_text("no pool")
        lines = [line.split() for line in self.text("ls", self.folder).splitlines()]
        self.assertEqual(lines[0], ["used", "limit", "variables", "pool"])
        self.assertEqual(
            [line[-1] for line in lines[1:]], [str(self.folder / "as-directory"), str(nothing), str(self.pool)]
        )
        listed = {entry["pool"]: entry for entry in self.json("ls", self.folder)}
        self.assertEqual(listed[str(self.pool)]["variables"], len(IDS))
        self.assertEqual(listed[str(self.pool)]["max_bytes"], 64 << 20)
        self.assertLess(listed[str(nothing)]["used_bytes"], 16 << 20)
        (self.folder / "empty").mkdir()
        self.assertEqual(self.text("ls", self.folder / "empty"), "")

    def test_of_several_pools_is_each(self) -> None:
        # Friction 9: `ls a.pmem b.pmem` printed nothing, rc 0: b was a prefix.
        nothing = empty_pool(self)
        lines = self.text("ls", nothing, self.pool).splitlines()
        self.assertEqual(lines, [f"{nothing}:", "", f"{self.pool}:", *IDS])
        self.assertEqual(self.json("ls", nothing, self.pool), {str(nothing): [], str(self.pool): IDS})

    def test_values_hide_what_an_import_noted_for_an_export(self) -> None:
        # "`ls --values`: 250 columns because `_exchange` is shown; hide it."
        self.text("set", self.pool, "line._exchange", "{}")
        self.assertEqual(self.text("ls", "--values", self.pool, "line").split(), ["id", "line"])
        self.assertIn("_exchange", self.text("ls", "-a", "--values", self.pool, "line"))
        self.assertNotIn("_exchange", self.text("info", self.pool, "line"))
        self.assertIn("_exchange", self.text("info", "-a", self.pool, "line"))


class Sums(WithPool):
    def test_space_adds_up(self) -> None:
        # Friction 9: allocated 86 = free 28 + data 24 + 34 unnamed.
        told = self.json("info", self.pool)
        parts = ("free_bytes", "data_bytes", "metadata_bytes", "table_bytes")
        self.assertEqual(told["allocated_bytes"], sum(told[part] for part in parts))
        self.assertIn("  tables", self.text("info", self.pool))
        seen = self.json("top", self.pool)
        self.assertEqual(seen["allocated_bytes"], sum(seen[part] for part in parts))
        lines = self.text("top", "--once", self.pool).splitlines()
        titles = next(line.split() for line in lines if line.startswith("space"))
        self.assertEqual(titles, ["space", "size", "change"], "a column of dashes had no heading")


class OddNames(WithKinds):
    def test_a_name_in_brackets_is_itself_before_it_is_a_glob(self) -> None:
        self.assertEqual(self.text("ls", self.pool, "u[1]").split(), ["u[1]"])
        self.assertEqual(self.text("ls", self.pool, "u[0-9]").split(), ["u1"])
        self.assertEqual(self.text("ls", self.pool, "u\\[*").split(), ["u[1]"])
        self.assertEqual(self.text("ls", self.pool, "[x]").split(), ["[x]"])
        self.assertEqual(self.text("cat", self.pool, "[x]"), "1\n")

    def test_rm_takes_no_other_for_it(self) -> None:
        self.text("rm", self.pool, "[x]", "u[1]")
        self.assertEqual(self.text("ls", self.pool, "u?*1*", "u1", "[x]", "x").split(), ["u1"])


class Tree(WithPool):
    def test_draws_groups_and_variables(self) -> None:
        lines = self.text("tree", self.pool).splitlines()
        self.assertEqual(lines[0], str(self.pool))
        self.assertIn("├── cube  int64  2 x 2 x 3  96 B", lines)
        self.assertEqual(lines[lines.index("├── ocean/") + 1], "│   └── TEMP  float64  4 x 6  192 B")
        self.assertEqual(lines[-3:], ["└── when  datetime64[D]  8 B", "", "1 group, 11 variables"])

    def test_goes_so_deep(self) -> None:
        text = self.text("tree", "-L", "1", self.pool)
        self.assertIn("├── ocean/  1 inside\n", text)
        self.assertNotIn("TEMP", text)
        self.refused(2, "tree", "-L", "0", self.pool)

    def test_of_a_group(self) -> None:
        for group in ("ocean", "ocean/"):
            self.assertEqual(
                self.text("tree", self.pool, group),
                "ocean/\n└── TEMP  float64  4 x 6  192 B\n\n0 groups, 1 variable\n",
            )
        self.assertIn("info", self.refused(2, "tree", self.pool, "answer"))
        self.refused(1, "tree", self.pool, "nobody")

    def test_is_nested_in_json(self) -> None:
        tree = self.json("tree", self.pool)
        self.assertEqual(tree["id"], "/")
        self.assertEqual([entry["name"] for entry in tree["inside"]], [*IDS[:7], "ocean", *IDS[8:]])
        ocean = next(entry for entry in tree["inside"] if entry["name"] == "ocean")
        self.assertEqual(ocean["kind"], "group")
        self.assertEqual([(e["name"], e["id"], e["dims"]) for e in ocean["inside"]], [("TEMP", "ocean/TEMP", [4, 6])])
        flat = self.json("tree", "-L", "1", self.pool)
        self.assertNotIn("inside", next(entry for entry in flat["inside"] if entry["name"] == "ocean"))

    def test_of_an_empty_pool_is_its_name(self) -> None:
        nothing = empty_pool(self)
        self.assertEqual(self.text("tree", nothing), f"{nothing}\n\n0 groups, 0 variables\n")
        self.assertEqual(self.json("tree", nothing)["inside"], [])

    def test_is_coloured_on_a_terminal_only(self) -> None:
        blue = "\033[1;34mocean/\033[0m"
        self.assertIn(blue, run_on_terminal("tree", self.pool))
        self.assertNotIn("\033", run_on_terminal("tree", self.pool, environment={"NO_COLOR": "1"}))
        self.assertNotIn("\033", run_on_terminal("tree", self.pool, environment={"TERM": "dumb"}))
        self.assertNotIn("\033", self.text("tree", self.pool))


class DeepTree(WithKinds):
    def test_keeps_groups_together_and_in_order(self) -> None:
        lines = self.text("tree", self.pool).splitlines()
        at = lines.index("├── group/")
        self.assertEqual(
            lines[at - 1 : at + 4],
            [
                "├── gone/",
                "├── group/",
                "│   └── inner/",
                "│       ├── other  int32  4 B",
                "│       └── value  int32  4 B",
            ],
        )


class Du(WithKinds):
    def rows(self, *arguments: object) -> dict[str, list[str]]:
        """The lines of a listing in bytes, without the titles, by id."""
        lines = [line.split(None, 3) for line in self.text("du", "-b", *arguments).splitlines()]
        self.assertEqual(lines[0], ["stored", "uncompressed", "ratio", "id"])
        return {line[3]: line[:3] for line in lines[1:]}

    def test_adds_up_groups(self) -> None:
        rows = self.rows(self.pool)
        self.assertEqual(rows["ramp"], ["400000", "400000", "-"])
        self.assertEqual(rows["orders/"], ["240", "240", "-"])
        self.assertEqual(rows["group/"][0], "8")
        self.assertEqual(rows["gone/"][0], "0")
        variables = sum(int(row[0]) for name, row in rows.items() if not name.endswith("/"))
        self.assertEqual(int(rows["/"][0]), variables)
        self.assertEqual(list(rows)[-1], "/")
        self.assertLess(list(rows).index("group/inner/value"), list(rows).index("group/inner/"))

    def test_shows_what_compression_saves(self) -> None:
        rows = self.rows(self.pool)
        if "packed/zeros" not in rows:
            self.skipTest("built without a codec")
        stored, elements, ratio = rows["packed/zeros"]
        self.assertEqual(elements, "800000")
        self.assertAlmostEqual(float(ratio), int(elements) / int(stored), places=2)
        self.assertEqual(rows["packed/"], rows["packed/zeros"])

    def test_takes_part_of_the_pool(self) -> None:
        self.assertEqual(list(self.rows(self.pool, "orders")), ["orders/c", "orders/fortran", "orders/"])
        self.assertEqual(list(self.rows(self.pool, "orders/*", "orders")), ["orders/c", "orders/fortran", "orders/"])
        self.assertEqual(list(self.rows("-s", self.pool, "orders/", "ramp")), ["orders/", "ramp"])
        self.assertEqual(list(self.rows("-s", self.pool)), ["/"])
        self.assertEqual(list(self.rows("-d", "1", self.pool, "group")), ["group/inner/", "group/"])
        self.assertEqual(self.rows("-d", "0", self.pool), self.rows("-s", self.pool))
        self.refused(2, "du", "-s", "-d", "1", self.pool)
        self.assertIn("ls", self.refused(1, "du", self.pool, "nobody"))
        self.refused(1, "du", self.pool, "no*")

    def test_sorts(self) -> None:
        by_size = list(self.rows("--sort", "size", self.pool))
        self.assertEqual(by_size[0], "/")
        self.assertLess(by_size.index("ramp"), by_size.index("orders/"))
        by_name = list(self.rows("--sort", "name", self.pool))
        self.assertEqual(by_name[0], "/")
        self.assertLess(by_name.index("group/"), by_name.index("group/inner/"))

    def test_counts_older_blocks_that_are_still_kept(self) -> None:
        self.assertEqual(self.rows(self.pool, "stepped")["stepped"][0], "16")  # two steps of two numbers

    def test_json_is_parsed(self) -> None:
        answer = self.json("du", self.pool)
        entries = {entry["id"]: entry for entry in answer["entries"]}
        self.assertEqual(entries["ramp"]["stored_bytes"], 400_000)
        self.assertNotIn("ratio", entries["ramp"])
        self.assertTrue(entries["orders"]["is_group"])
        self.assertGreater(answer["allocated_bytes"], answer["data_bytes"])

    def test_is_for_people_by_default(self) -> None:
        text = self.text("du", self.pool)
        self.assertIn("391 KiB", text)
        self.assertIn("metadata", text.splitlines()[-1])
        nothing = empty_pool(self)
        self.assertEqual(self.text("du", nothing).splitlines()[1].split(), ["0", "B", "0", "B", "-", "/"])


if __name__ == "__main__":
    main()
