#!/usr/bin/env python3
"""What NetCDF's conventions say of numbers and coordinates is heeded: stat, plot, find.

usage: conventions_test.py PMEMCPY FILL_SEA FILL_KINDS [unittest arguments]
"""

from with_pool import WithPool, main, run

NORTH_UP = {"LC_ALL": "C", "NO_COLOR": "1"}


class Stat(WithPool):
    def test_leaves_out_what_is_missing_and_counts_it(self) -> None:
        answer = self.json("stat", self.pool, "sea/TEMP")
        self.assertEqual(answer["unit"], "degC")
        (field,) = answer["fields"]
        self.assertEqual((field["count"], field["masked"], field["min"], field["max"]), (69, 3, -2, 30))
        lines = self.text("stat", self.pool, "sea/TEMP").splitlines()
        self.assertEqual(lines[0], "sea/TEMP: float64, 3 x 4 x 6 [degC]")
        self.assertEqual(lines[1].split()[:4], ["field", "count", "masked", "nan"])
        self.assertEqual(lines[2].split()[:3], ["value", "69", "3"])

    def test_raw_is_what_is_stored(self) -> None:
        (field,) = self.json("stat", self.pool, "sea/TEMP", "--raw")["fields"]
        self.assertEqual((field["count"], field["masked"], field["min"]), (72, 0, -1e10))
        self.assertNotIn("masked", self.text("stat", self.pool, "sea/TEMP", "--raw"))
        (field,) = self.json("stat", self.pool, "packed", "--raw")["fields"]
        self.assertEqual((field["min"], field["max"]), (-32768, 100))

    def test_unpacks(self) -> None:
        answer = self.json("stat", self.pool, "packed", "--blocks")
        (field,) = answer["fields"]
        self.assertEqual((field["count"], field["masked"], field["min"], field["max"]), (3, 1, 10, 60))
        self.assertAlmostEqual(field["mean"], 110 / 3)
        self.assertEqual(sum(field["histogram"]["counts"]), 3)
        (block,) = answer["blocks"]
        self.assertEqual((block["fields"][0]["min"], block["fields"][0]["max"]), (10, 60))


class Times(WithPool):
    def test_are_dates_where_they_are_asked_for(self) -> None:
        # "`cat time` prints 0, 31, 59": of a calendar that not everybody has in mind.
        self.assertEqual(self.text("cat", self.pool, "time"), "0\n31\n59\n90.5\n")
        self.assertEqual(
            self.text("cat", self.pool, "time", "--times"), "2000-01-01\n2000-02-01\n2000-03-01\n2000-04-01T12:00\n"
        )
        self.assertEqual(self.text("cat", self.pool, "events", "-t"), "2026-07-01T13:00\nNaT\n2026-07-01T12:00\n")
        self.assertEqual(self.text("cat", self.pool, "start", "-t"), "2026-01-02\n")
        self.assertEqual(self.json("cat", self.pool, "start", "-t")["value"], "2026-01-02")
        self.assertEqual(self.json("cat", self.pool, "time", "-t", "--head", 2)["values"], ["2000-01-01", "2000-02-01"])
        csv = self.text("cat", self.pool, "time", "-t", "--format", "csv", "--box", "3:4")
        self.assertEqual(csv.split(), ["dim_0,value", "3,2000-04-01T12:00"])

    def test_are_refused_of_what_has_none(self) -> None:
        done = run("cat", self.pool, "packed", "--times")
        self.assertEqual(done.returncode, 2)
        self.assertIn("packed has no times", done.stderr.decode())
        self.assertEqual(run("cat", self.pool, "time", "--times", "--raw").returncode, 2)

    def test_are_dates_in_stat(self) -> None:
        value = self.text("stat", self.pool, "time").splitlines()[2].split()
        self.assertEqual(value[-4:], ["2000-04-01T12:00", "2000-02-15T03:00", "33.4932363", "days"])
        self.assertEqual(self.text("stat", self.pool, "time", "--raw").splitlines()[2].split()[-3], "90.5")
        self.assertEqual(self.json("stat", self.pool, "time")["fields"][0]["max"], 90.5)

    def test_are_dates_along_a_line(self) -> None:
        across = self.json("plot", self.pool, "level")["across"]
        self.assertEqual(across, {"name": "time", "unit": "noleap", "from": "2000-01-01", "to": "2000-04-01T12:00"})
        lines = run("plot", self.pool, "level", "--size", "60x18", environment=NORTH_UP).stdout.decode()
        self.assertIn("time [noleap]", lines)
        self.assertIn("2000-02-01", lines)


class Plot(WithPool):
    def test_north_is_up_and_the_sides_have_coordinates(self) -> None:
        done = run("plot", self.pool, "sea/TEMP", "--box", "1,:,:", "--size", "60x18", environment=NORTH_UP)
        lines = done.stdout.decode().splitlines()
        self.assertEqual(lines[0], "sea/TEMP, depth = 10 m [degC]")
        maps = lines[1:-3]
        labels = [line.split()[0] for line in maps if line[:3].strip()]
        self.assertEqual(labels, sorted(labels, key=int, reverse=True), "the labels fall from the top")
        self.assertIn(".", maps[0], "what is coldest is in the north")
        self.assertTrue(maps[-1].endswith("@"))
        self.assertIn("     @", maps[-1], "land is blank")
        self.assertEqual(lines[-2].split(), ["up:", "lat", "[degrees_north]", "across:", "lon", "[degrees_east]"])
        self.assertIn("all: -1 to 29", lines[-1])
        self.assertIn("blank: missing", lines[-1])
        self.assertEqual(lines[-3].split()[0], "0")

    def test_json_stays_in_the_order_of_indices(self) -> None:
        plot = self.json("plot", self.pool, "sea/TEMP", "--box", "0,:,:")
        self.assertEqual(plot["means"][0], [None, *[30] * 5])
        self.assertEqual(plot["means"][3], [0] * 6)
        self.assertEqual(plot["down"], {"name": "lat", "unit": "degrees_north", "from": -60, "to": 60})
        self.assertEqual((plot["low"], plot["high"], plot["all"]), (0, 30, [0, 30]))

    def test_raw_is_what_is_stored(self) -> None:
        plot = self.json("plot", self.pool, "sea/TEMP", "--box", "0,:,:", "--raw")
        self.assertEqual(plot["means"][0][0], -1e10)
        self.assertEqual(plot["unit"], "")

    def test_what_is_positive_down_goes_down(self) -> None:
        done = run("plot", self.pool, "sea/TEMP", "--box", ":,1,:", "--size", "60x18", environment=NORTH_UP)
        lines = done.stdout.decode().splitlines()
        self.assertTrue(lines[-2].strip().startswith("down: depth [m]"))
        self.assertEqual(lines[1].split()[0], "0") if lines[1][:3].strip() else None

    def test_a_line_has_gaps_and_coordinates(self) -> None:
        plot = self.json("plot", self.pool, "packed")
        self.assertEqual(plot["lines"], [[[0, 10], [1, 60]], [[3, 40]]])
        line = self.json("plot", self.pool, "sea/TEMP", "--box", "0,:,1")
        self.assertEqual(line["across"], {"name": "lat", "unit": "degrees_north", "from": -60, "to": 60})

    def test_outliers_do_not_take_the_colours(self) -> None:
        plot = self.json("plot", self.pool, "outliers")
        self.assertEqual(plot["all"], [0, 1e10])
        self.assertLess(plot["high"], 100)
        self.assertEqual(self.json("plot", self.pool, "outliers", "--range", ":")["high"], 1e10)
        text = self.text("plot", self.pool, "outliers", "--ascii", "--size", "60x18")
        self.assertIn(">= ", text.splitlines()[-1])
        self.assertIn("all: 0 to 1e+10", text.splitlines()[-1])


class Find(WithPool):
    def test_asks_for_what_is_meant(self) -> None:
        self.assertEqual(self.text("find", self.pool, "max = 60 and min = 10"), "packed\n")
        self.assertEqual(self.text("find", self.pool, 'min = -2 and units = "degC"'), "sea/TEMP\n")
        self.assertEqual(run("find", self.pool, "min < -1e9").stdout, b"")

    def test_statistics_are_of_what_is_meant(self) -> None:
        self.text("extract", self.pool)
        self.assertEqual(self.text("find", self.pool, "statistics.max = 60 and statistics.numbers = 3"), "packed\n")


if __name__ == "__main__":
    main()
