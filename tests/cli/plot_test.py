#!/usr/bin/env python3
"""Plot with the real command: in the terminal, as PNG, as JSON.

usage: plot_test.py PMEMCPY FILL SIMULATE [unittest arguments]
"""

import struct
import sys
import unittest
import zlib
from pathlib import Path

from follow_test import Terminal
from with_pool import TEMP, WithPool, run

PLAIN = {"LC_ALL": "C", "NO_COLOR": "1"}
UNICODE = {"LC_ALL": "C.UTF-8", "COLORTERM": ""}


def pixels_of(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and the pixels, as red, green and blue, of a PNG as cairo writes them."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n", png[:8]
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        chunks[kind] = chunks.get(kind, b"") + png[at + 8 : at + 8 + length]
        at += length + 12
    width, height, depth, colours = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colours) == (8, 2), (depth, colours)
    raw = zlib.decompress(chunks[b"IDAT"])
    stride = 3 * width
    before = bytearray(stride)
    pixels: list[bytes] = []
    for row in range(height):
        how, line = raw[row * (stride + 1)], bytearray(raw[row * (stride + 1) + 1 : (row + 1) * (stride + 1)])
        for i in range(stride):
            left = line[i - 3] if i >= 3 else 0
            corner = before[i - 3] if i >= 3 else 0
            line[i] = (line[i] + predicted(how, left, before[i], corner)) & 0xFF
        pixels += [bytes(line[i : i + 3]) for i in range(0, stride, 3)]
        before = line
    return width, height, pixels


def predicted(how: int, left: int, above: int, corner: int) -> int:
    """What a PNG's filter takes off each byte."""
    if how == 4:
        nearest = left + above - corner
        return min((left, above, corner), key=lambda value: abs(nearest - value))
    return (0, left, above, (left + above) // 2)[how]


class Plot(WithPool):
    def plotted(self, *arguments: object, environment: dict[str, str]) -> str:
        done = run("plot", self.pool, *arguments, environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()


class Text(Plot):
    def test_a_map_without_colours(self) -> None:
        text = self.plotted("ocean/TEMP", "--size", "40x20", environment=PLAIN)
        lines = text.splitlines()
        self.assertEqual(lines[0], "ocean/TEMP [degC]")
        self.assertTrue(text.isascii())
        cells = [line[2:] for line in lines[1:-2]]
        self.assertEqual(len(cells) % 4, 0)
        self.assertEqual({len(cell) % 6 for cell in cells}, {0})
        self.assertTrue(cells[0].startswith("."))
        self.assertTrue(cells[-1].endswith("@"))
        self.assertEqual(lines[-1].split()[0], "0")
        self.assertEqual(lines[-1].split()[-1], "35")
        self.assertEqual(self.plotted("ocean/TEMP", "--ascii", "--size", "40x20", environment=UNICODE), text)

    def test_a_line_with_dots(self) -> None:
        text = self.plotted("line", "--size", "60x16", environment=UNICODE)
        self.assertEqual(len(text.splitlines()), 15)
        self.assertTrue(any("\u2800" < c <= "\u28ff" for c in text))
        self.assertNotIn("\033", text)  # a pipe gets no colours
        self.assertIn("*", self.plotted("line", "--ascii", environment=UNICODE))

    def test_a_map_on_a_terminal_has_colours_unless_told_otherwise(self) -> None:
        for environment, has_colours in (
            (UNICODE, True),
            ({**UNICODE, "NO_COLOR": "1"}, False),
            ({**UNICODE, "TERM": "dumb"}, False),
        ):
            terminal = Terminal("plot", self.pool, "ocean/TEMP", environment={"NO_COLOR": "", **environment})
            self.assertEqual(terminal.end(b""), 0)
            self.assertEqual(b"\033[38;5;" in terminal.seen, has_colours, environment)
            self.assertEqual("\u2580".encode() in terminal.seen, has_colours, environment)

    def test_follows_indices_and_not_memory(self) -> None:
        means = self.json("plot", self.pool, "columns")["means"]
        self.assertEqual(means, [[0, 1, 2], [10, 11, 12]])

    def test_a_part(self) -> None:
        plot = self.json("plot", self.pool, "ocean/TEMP", "--box", "1:3,0:6:3")
        self.assertEqual(plot["means"], [[10, 13], [20, 23]])
        line = self.json("plot", self.pool, "ocean/TEMP", "--box", "2,0:6:2")
        self.assertEqual(line["lines"], [[[0, 20], [2, 22], [4, 24]]])
        self.assertEqual(self.json("plot", self.pool, "cube", "--box", "1,:,:")["means"], [[6, 7, 8], [9, 10, 11]])
        self.assertEqual(self.json("plot", self.pool, "ocean/TEMP", "--box", "3,5")["lines"], [[[5, 35]]])

    def test_means_and_extremes_of_what_has_no_room(self) -> None:
        line = self.json("plot", self.pool, "line", "--size", "10x10")
        self.assertLessEqual(len(line["lines"][0]), 40)
        self.assertEqual((line["low"], line["high"]), (0, 999))
        plane = self.json("plot", self.pool, "ocean/TEMP", "--size", "10x10")
        self.assertEqual(plane["means"], TEMP)

    def test_scales(self) -> None:
        self.assertEqual(self.json("plot", self.pool, "line", "--range", "10:20")["high"], 20)
        self.assertEqual(self.json("plot", self.pool, "line", "--range", ":20")["low"], 0)
        log = self.json("plot", self.pool, "line", "--log")
        self.assertEqual((log["low"], log["lines"][0][0]), (1, [1, 1]))  # the 0 has no place on it
        self.assertIn("(log)", self.plotted("line", "--log", environment=PLAIN))
        for bad in ("20:10", "10:10", "a:b", "5", "1000:"):
            self.refused(2, "plot", self.pool, "line", "--range", bad)
        self.refused(2, "plot", self.pool, "line", "--log", "--range", "0:10")

    def test_says_what_cannot_be_plotted(self) -> None:
        self.assertIn("--box 0,:,:", self.refused(2, "plot", self.pool, "cube"))
        self.assertIn("only arrays", self.refused(2, "plot", self.pool, "answer"))
        self.assertIn("only arrays", self.refused(2, "plot", self.pool, "ocean"))
        self.refused(1, "plot", self.pool, "nobody")
        self.refused(1, "plot", self.pool, "hole")
        self.refused(2, "plot", self.pool, "line", "--box", "5:5")
        self.refused(2, "plot", self.pool, "line", "--size", "big")
        self.refused(2, "plot", self.pool, "line", "--size", "10x9000")
        self.refused(2, "plot", self.pool, "line", "--ascii", "-o", "x.png")


class Png(Plot):
    def png(self, *arguments: object) -> tuple[int, int, list[bytes]]:
        path = self.folder / "plot.png"
        done = run("plot", self.pool, *arguments, "-o", path)
        if done.returncode == 8 and b"libcairo2-dev" in done.stderr:
            self.skipTest("the command was built without cairo")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        return pixels_of(path.read_bytes())

    def test_a_map_has_the_colours_of_its_ends(self) -> None:
        width, height, pixels = self.png("ocean/TEMP", "--size", "480x320")
        self.assertEqual((width, height), (480, 320))
        colours = set(pixels)
        for end in (b"\x44\x01\x54", b"\xfd\xe7\x25", b"\xff\xff\xff"):
            self.assertIn(end, colours)
        cells = [colour for colour in colours if pixels.count(colour) > 500]
        self.assertGreaterEqual(len(cells), 25)  # 24 and the paper, and the colour bar

    def test_a_line_has_ink(self) -> None:
        _, _, pixels = self.png("line", "--size", "400x300")
        inked = [pixel for pixel in pixels if pixel[2] > pixel[0] + 20]  # bluer than any grey
        self.assertGreater(len(inked), 300)
        self.assertGreater(pixels.count(b"\xff\xff\xff"), 400 * 300 // 2)

    def test_goes_to_stdout_too(self) -> None:
        self.png("line", "--size", "200x100")
        done = run("plot", self.pool, "line", "-o", "-", "--size", "200x100")
        self.assertEqual(done.stdout, (self.folder / "plot.png").read_bytes())

    def test_says_when_it_cannot_be_written(self) -> None:
        self.png("line", "--size", "200x100")
        self.refused(1, "plot", self.pool, "line", "-o", self.folder / "none" / "x.png")
        if Path("/dev/full").exists():
            self.refused(4, "plot", self.pool, "line", "-o", "/dev/full")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
