#!/usr/bin/env python3
"""What a query finds, as the command prints it; what the language means is tested in src/index.

usage: find_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

from with_pool import WithPool, empty_pool, main, run


class Find(WithPool):
    def test_lists_ids_one_a_line(self) -> None:
        self.assertEqual(self.text("find", self.pool, "units = 'degC'"), "ocean/TEMP\n")
        largest = self.text("find", self.pool, "kind = 'array' order by bytes desc limit 2")
        self.assertEqual(largest, "line\nocean/TEMP\n")
        self.assertEqual(self.text("find", self.pool, "title = 'nothing'", status=1), "")
        self.assertIn("ocean\nocean/TEMP\n", self.text("find", self.pool))
        self.assertEqual(self.text("find", self.pool, "value.id = 7 or value = '2024-10-04'"), "particle\nwhen\n")

    def test_long_is_as_of_ls(self) -> None:
        listed = self.text("ls", "-l", self.pool, "ocean/TEMP").splitlines()
        self.assertEqual(self.text("find", "-l", self.pool, "name = 'ocean/TEMP'").splitlines(), listed)

    def test_json_has_what_is_known_and_where(self) -> None:
        (found,) = self.json("find", self.pool, "value > 33 and rank = 2")
        self.assertEqual((found["id"], found["dims"]), ("ocean/TEMP", [4, 6]))
        self.assertEqual(found["boxes"], [{"offset": [3, 4], "count": [1, 2]}])
        self.assertEqual(self.json("find", empty_pool(self), status=1), [])

    def test_boxes_are_what_cat_takes(self) -> None:
        (line,) = self.text("find", self.pool, "value > 33 and rank = 2", "--boxes").splitlines()
        id, box = line.split("\t")
        self.assertEqual((id, box), ("ocean/TEMP", "[3:4, 4:6]"))
        self.assertEqual(self.text("cat", self.pool, id, "--box", box), "34 35\n")
        self.assertEqual(self.text("find", self.pool, "name = 'answer'", "--boxes"), "answer\t\n")

    def test_load_prints_what_was_found(self) -> None:
        self.assertEqual(
            self.text("find", self.pool, "value > 33 and rank = 2 or name = 'answer'", "--load"),
            "# answer\n42\n# ocean/TEMP [3:4, 4:6]\n34 35\n",
        )
        self.assertEqual(
            self.text("find", self.pool, "value = 42 and kind = 'value'", "--load", "--json"),
            '{"id":"answer","type":"int32","value":42}\n',
        )
        self.assertEqual(self.text("find", self.pool, "name = 'ocean'", "--load"), "", "a group has no content")
        self.assertEqual(self.text("find", self.pool, "name = 'nobody'", "--load", status=1), "")

    def test_counts(self) -> None:
        self.assertEqual(self.text("find", self.pool, "kind = 'array' count"), "5\n")
        self.assertEqual(self.json("find", self.pool, "kind = 'array' count"), 5)
        lines = self.text("find", self.pool, "kind = 'array' count by dtype").splitlines()
        self.assertEqual([line.split() for line in lines][:2], [["dtype", "objects"], ["float32", "1"]])
        rows = self.json("find", self.pool, "count by units")
        self.assertEqual(rows, [{"value": "degC", "objects": 1}, {"value": None, "objects": 11}])

    def test_who_created_it_is_known(self) -> None:
        creator = self.json("info", self.pool, "answer")["creator"]
        self.assertEqual(creator["ranks"], 0)
        who = f"creator = '{creator['user']}' and creator.program = '{creator['program']}'"
        self.assertEqual(self.text("find", self.pool, f"{who} and created > now - 1h and name = 'answer'"), "answer\n")
        told = f"{creator['user']} on {creator['host']}, by {creator['program']}\n"
        self.assertIn(told, self.text("info", self.pool, "answer"))

    def test_a_group_may_be_left_out_of_the_index(self) -> None:
        said = self.refused(2, "index", self.pool, "none", "--id", "ocean")
        self.assertIn("choose a mode for the pool first", said)
        self.text("index", self.pool, "sync")
        self.assertEqual(self.text("index", self.pool, "none", "--id", "ocean"), "none\n")
        self.assertEqual(self.text("index", self.pool, "--id", "ocean/TEMP"), "none\n")
        self.assertIn("looked at: 2", self.text("find", self.pool, "units = 'degC'", "--explain"))
        self.assertEqual(self.text("find", self.pool, "units = 'degC'"), "ocean/TEMP\n")
        self.assertEqual(self.text("index", self.pool, "inherit", "--id", "ocean"), "sync\n")
        self.assertIn("often", self.refused(2, "index", self.pool, "often", "--id", "ocean"))

    def test_statistics_are_extracted_to_find_by(self) -> None:
        self.assertIn("looked at\n", self.text("extract", self.pool))
        self.assertEqual(self.text("find", self.pool, "statistics.max = 35"), "ocean/TEMP\n")
        again = self.json("extract", self.pool)
        self.assertEqual(again, {"looked_at": 0, "failed": 0, "trouble": ""})
        self.assertIn("column 1", self.refused(2, "extract", self.pool, "= 3"))
        self.assertIn("no order, limit or count", self.refused(2, "extract", self.pool, "count"))

    def test_an_index_is_begun_shown_and_ended(self) -> None:
        self.assertIn("none: a query looks at every object", self.text("index", self.pool))
        self.assertIn(
            "looked at: all 12 objects; the pool has no index", self.text("find", self.pool, "units = 'K'", "--explain")
        )
        self.assertRegex(self.text("index", self.pool, "async"), r"^async: 12 objects, \S+ \S+\n$")
        explained = self.text("find", self.pool, "units = 'degC' and rank = 2", "--explain")
        self.assertIn('index: units = "degC": 1\n', explained)
        self.assertIn("found by the index: 0; looked at: 1\n", explained)
        self.assertEqual(self.text("find", self.pool, "units = 'degC' and rank = 2"), "ocean/TEMP\n")
        told = self.json("index", self.pool, "--flush")
        self.assertEqual((told["mode"], told["complete"], told["trouble"]), ("async", True, ""))
        self.assertNotIn("pmemcpy:", self.text("info", self.pool, "/"))
        self.text("index", self.pool, "none")
        self.assertEqual(self.json("index", self.pool)["mode"], "none")
        self.assertIn("not 'often'", self.refused(2, "index", self.pool, "often"))
        made = self.folder / "made.pmem"
        self.text("create", made, "--size", "16MiB", "--index", "sync")
        self.assertEqual(self.json("index", made)["mode"], "sync")

    def test_says_what_is_wrong_and_where(self) -> None:
        said = self.refused(2, "find", self.pool, "units = degC")
        self.assertEqual(said.splitlines()[0], 'pmemcpy: in the query, column 9: a text stands in quotes: "degC"')
        self.assertEqual(said.splitlines()[2].index("^"), 10)
        self.assertIn("unlike things", self.refused(2, "find", self.pool, "units > 3"))
        self.refused(2, "find", self.pool, "bytes > 'a'")
        self.assertIn("there is no pool", self.refused(1, "find", self.folder / "no", "units = 1"))

    def test_a_word_that_an_attribute_has_for_its_name_is_the_attribute(self) -> None:
        # Friction: `find 'step = 3'` looked past an attribute that was called so.
        self.text("set", self.pool, "answer.step", "3")
        self.text("set", self.pool, "answer.name", "ultimate")
        self.assertEqual(self.text("find", self.pool, "step = 3"), "answer\n")
        self.assertEqual(self.text("find", self.pool, "name = 'ultimate'"), "answer\n")
        self.assertEqual(self.text("find", self.pool, "@name = 'answer'"), "answer\n")
        self.assertEqual(self.text("find", self.pool, "@step = 3", status=1), "")
        self.assertEqual(self.text("find", self.pool, "attr('step') = 3"), "answer\n")
        self.assertIn("one of name, group", self.refused(2, "find", self.pool, "@units = 'K'"))


class Runs(WithPool):
    """Two pools, as an import of NetCDF makes them: what is known of a run is an attribute of the pool."""

    def fill(self) -> None:
        self.runs = [self.folder / "runs" / "run2022.pmem", self.folder / "runs" / "run2023.pmem"]
        self.runs[0].parent.mkdir()
        super().fill()
        for path, author in zip(self.runs, ("wu", "li"), strict=True):
            self.text("cp", self.pool, path, "--create", "--size", "64MiB")
            self.text("set", path, ".author", author)
            self.text("set", path, ".resolution", "2.5x2.5")
        (self.runs[0].parent / "notes.txt").write_text("no pool")

    def said(self, status: int, *arguments: object) -> str:
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
        return done.stderr.decode()

    def test_the_pool_is_an_object_and_its_members_have_its_attributes(self) -> None:
        # Friction 1: `pmemcpy find run2023.pmem 'author = "li"'` found nothing.
        found = self.text("find", self.runs[1], 'author = "li"').split()
        self.assertEqual(found[0], "/")
        self.assertEqual(set(found) - {"/"}, set(self.text("ls", "-g", self.runs[1]).split()))
        self.assertEqual(self.text("find", self.runs[1], 'author = "li" and @name = "/"'), "/\n")
        both = 'resolution = "2.5x2.5" and units = "degC"'
        self.assertEqual(self.text("find", self.runs[1], both), "ocean/TEMP\n")
        self.text("set", self.runs[1], "ocean.author", "somebody")
        self.assertEqual(self.text("find", self.runs[1], both + ' and author = "li"', status=1), "")
        self.assertEqual(self.text("find", self.runs[1], both + ' and author = "somebody"'), "ocean/TEMP\n")
        self.text("index", self.runs[1], "sync")
        self.assertEqual(self.text("find", self.runs[1], both + ' and author = "somebody"'), "ocean/TEMP\n")

    def test_says_what_was_most_likely_meant(self) -> None:
        # Friction 1: `pmemcpy find run2023.pmem 'autor = "li"'` was silent, and rc 0.
        said = self.said(1, "find", self.runs[1], 'autor = "li"')
        self.assertEqual(said, "pmemcpy: nothing here has an attribute `autor`; did you mean `author`?\n")
        said = self.said(1, "find", self.runs[0].parent, 'wholly_different = "li"')
        self.assertEqual(said, "pmemcpy: nothing here has an attribute `wholly_different`\n")
        self.assertEqual(self.said(1, "find", self.runs[0], 'author = "li"'), "", "there is one, of another value")
        self.assertIn("without that in it", self.said(1, "find", self.runs[0], 'author.name = "li"'))
        self.assertEqual(self.text("find", self.runs[0], 'autor = "li" count', status=1), "0\n")

    def test_several_pools_and_directories(self) -> None:
        # Friction 1: `find A.pmem B.pmem Q` was "argument was not expected".
        folder = self.runs[0].parent
        for places in ([folder], self.runs, [self.pool, folder]):
            found = self.text("find", *places, 'author = "li" and units = "degC"')
            self.assertEqual(found, f"{self.runs[1]}:ocean/TEMP\n")
        self.assertEqual(self.text("find", folder, "units = 'degC' count"), "2\n")
        (first, _) = self.json("find", folder, "units = 'degC' order by author desc")
        self.assertEqual((first["pool"], first["id"]), (str(self.runs[0]), "ocean/TEMP"))
        self.assertEqual(
            self.text("find", folder, "units = 'degC' order by author limit 1"), f"{self.runs[1]}:ocean/TEMP\n"
        )
        done = run("find", self.folder / "no.pmem", self.runs[1], "units = 'degC'")
        self.assertEqual((done.returncode, done.stdout.decode()), (1, f"{self.runs[1]}:ocean/TEMP\n"))
        self.assertIn(b"no.pmem was left out", done.stderr)
        self.assertEqual(self.text("cat", *found.strip().rsplit(":", 1), "--box", "[0:1, 0:2]"), "0 1\n")

    def test_long_shows_what_was_asked_about(self) -> None:
        # "`find -l` of groups: all dashes; show the attributes asked about."
        lines = [
            line.split()
            for line in self.text(
                "find", "-l", self.runs[1], 'author = "li" and title = "test" and kind = "group"'
            ).splitlines()
        ]
        self.assertEqual(lines[0], ["kind", "attributes", "written", "author", "title", "id"])
        self.assertEqual((lines[1][0], lines[1][-3:]), ("group", ["li", "test", "ocean"]))
        (one,) = self.json("find", "-l", self.runs[1], 'valid_range = 40 and author = "li"')
        self.assertEqual(one["asked"], {"valid_range": [-2, 40], "author": "li"})


if __name__ == "__main__":
    main()
