#!/usr/bin/env python3
"""Draw the pictures of docs/tiers, the same bytes each time.

usage: draw_tiers.py

A picture has a ground of its own, for it is shown on light and on dark pages and is not always told which; where the
browser tells it, its colours follow. The numbers are those of src/tier/placement_test.cpp. That the files are what is
drawn here, tools/check_docs.py sees to.
"""

import sys
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "tiers"

# What a class is filled with, or drawn in: on light pages, on dark ones.
FILLED = {
    "ground": ("#f6f7f9", "#22262c"),
    "box": ("#ffffff", "#2d333b"),
    "old": ("#c3cad3", "#5a6573"),
    "new": ("#2f6fd0", "#5b93ea"),
    "moved": ("#d98324", "#e09a4a"),
    "kin": ("#7fb0a0", "#4f8f7d"),
    "best": ("#e2efe3", "#2b4232"),
}
INK, FAINT, EDGE = ("#1d2530", "#e6e9ee"), ("#5a6675", "#a3adba"), ("#8b97a6", "#6f7b8a")


def style() -> str:
    def rules(shade: int) -> str:
        made = [f".{name}{{fill:{shades[shade]}}}" for name, shades in FILLED.items()]
        made += [f"text{{fill:{INK[shade]}}}", f".faint{{fill:{FAINT[shade]}}}", f".head{{fill:{EDGE[shade]}}}"]
        made += [f".edge{{stroke:{EDGE[shade]}}}", f".on{{fill:{('#ffffff', '#0f1318')[shade]}}}"]
        return "".join(made)

    fonts = "text{font:13px sans-serif}.title{font-weight:bold}"
    return f"{fonts}{rules(0)}@media(prefers-color-scheme:dark){{{rules(1)}}}"


@dataclass
class Picture:
    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def rect(self, x: float, y: float, width: float, height: float, kind: str, edged: bool = False) -> None:
        edge = ' class="edge" stroke-width="1.2"' if edged else ""
        self.parts.append(
            f'<g{edge}><rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="3"/></g>'
        )

    def text(self, x: float, y: float, what: str, kind: str = "", anchor: str = "start") -> None:
        self.parts.append(f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(what)}</text>')

    def line(self, *points: tuple[float, float], dashed: bool = False, arrow: bool = False) -> None:
        path = " ".join(f"{x},{y}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        head = ' marker-end="url(#head)"' if arrow else ""
        self.parts.append(f'<polyline class="edge" fill="none" stroke-width="1.6"{dash}{head} points="{path}"/>')

    def svg(self) -> str:
        head = (
            '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
            '<path class="head" d="M0,0 L10,5 L0,10 z"/></marker>'
        )
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        ground = f'<rect class="ground" width="{self.width}" height="{self.height}" rx="8"/>'
        inside = "\n".join([f"<style>{style()}</style>", f"<defs>{head}</defs>", ground, *self.parts])
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{inside}\n</svg>\n'


# ---- one way to place something, in two targets ----


@dataclass(frozen=True)
class Way:
    title: str
    pool: list[tuple[str, int, str]]  # what lies there: kind, width, label
    below: list[tuple[str, int, str]]
    sums: list[str]
    best: str = ""  # of what it is the best way


BAR = 200  # pixels, a whole target


def draw_way(picture: Picture, x: int, y: int, way: Way, names: tuple[str, str]) -> None:
    height = 172 + 18 * len(way.sums)
    picture.rect(x, y, BAR + 24, height, "best" if way.best else "ground")
    picture.text(x + 12, y + 22, way.title, "title")
    picture.text(x + 12 + BAR, y + 22, way.best, "faint", "end")
    for top, name, lies in ((y + 54, names[0], way.pool), (y + 120, names[1], way.below)):
        picture.text(x + 12, top - 6, name, "faint")
        picture.rect(x + 12, top, BAR, 34, "box", edged=True)
        at = x + 12
        for kind, width, label in lies:
            picture.rect(at + 1, top + 1, width - 2, 32, kind)
            picture.text(at + width / 2, top + 22, label, "on" if kind != "old" else "", "middle")
            at += width
    for number, line in enumerate(way.sums):
        picture.text(x + 12, y + 180 + 18 * number, line)


def legend(picture: Picture, y: int, *kinds: tuple[str, str]) -> None:
    x = 24
    for kind, what in kinds:
        picture.rect(x, y - 11, 14, 14, kind, edged=kind == "box")
        picture.text(x + 20, y, what, "faint")
        x += 44 + 7 * len(what)


def max_bandwidth() -> Picture:
    picture = Picture(748, 280)
    names = ("pool: 100 MB/s, 4 of 10 left", "below: 10 MB/s, empty")
    old, left = ("old", 120, "6 MB"), ("new", 80, "4")
    ways = [
        Way("skip", [old], [("new", 120, "6 MB")], ["6/10 = 0.60"]),
        Way("split", [old, left], [("new", 40, "2")], ["4/100 + 2/10 = 0.24"], "best, if it divides"),
        Way("flush", [("old", 80, "4"), ("new", 120, "6 MB")], [("moved", 40, "2")],
            ["2/10 + 6/100 = 0.26"], "best for one block"),
    ]  # fmt: skip
    for number, way in enumerate(ways):
        draw_way(picture, 18 + 244 * number, 16, way, names)
    legend(picture, 254, ("old", "lay there"), ("new", "is stored"), ("moved", "had to move"))
    return picture


def max_locality() -> Picture:
    picture = Picture(522, 280)
    names = ("pool: 100 MB/s, empty", "below: 60 MB/s")
    kin = ("kin", 80, "same")
    ways = [
        Way("here", [("new", 60, "10 MB")], [kin], ["(10/100) · 2 = 0.20"]),
        Way("skip", [], [kin, ("new", 60, "10 MB")], ["(10/60) · 1 = 0.17"], "best"),
    ]
    for number, way in enumerate(ways):
        draw_way(picture, 18 + 262 * number, 16, way, names)
    legend(picture, 254, ("kin", "of the same variable"), ("new", "is stored"))
    return picture


def hot_data() -> Picture:
    picture = Picture(522, 530)
    cold = ("pool: 100 MB/s, 4 left, H = 5", "below: 50 MB/s, 1000 left")
    hot = ("pool: 10 MB/s, 0.9 of 1 left", "below: 1 MB/s, 0.5 left")
    picture.text(30, 30, "cold: 4 MB, h = 1", "title")
    picture.text(30, 272, "hot: 1 MB, h = 7", "title")
    hotter = ("old", 120, "hotter")
    draw_way(picture, 18, 40, Way("here", [hotter, ("new", 80, "4 MB")], [], ["(4/4)/100 = 0.010"]), cold)
    draw_way(picture, 280, 40,
             Way("skip", [hotter], [("new", 20, "4")], ["(4/1000)/50 = 0.00008"], "best"), cold)  # fmt: skip
    draw_way(picture, 18, 282,
             Way("split", [("old", 20, ""), ("new", 180, "0.9 MB")], [("new", 40, "0.1")],
                 ["1/10 + (0.1/0.5)/1 = 0.3"]), hot)  # fmt: skip
    draw_way(picture, 280, 282,
             Way("evict", [("new", 200, "1 MB")], [("moved", 40, "0.1")],
                 ["0.1/1 + 1/10 = 0.2"], "best"), hot)  # fmt: skip
    legend(picture, 506, ("old", "lay there"), ("new", "is stored"), ("moved", "had to move"))
    return picture


# ---- what goes where ----


def hierarchy() -> Picture:
    picture = Picture(760, 424)
    picture.rect(290, 20, 180, 36, "box", edged=True)
    picture.text(380, 43, "program", "title", "middle")
    levels = [
        ("pool", "memory: 6 GB/s, 1 µs", 270, 220, 112),
        ("nvme", "flash: 2 GB/s, 80 µs", 190, 380, 212),
        ("pfs", "parallel file system: 300 MB/s, 5 ms", 90, 580, 312),
    ]
    blocks = {
        "pool": ("old", "kin", "new", "new", "new"),
        "nvme": ("kin",) + ("old",) * 5,
        "pfs": ("kin", "kin") + ("old",) * 7,
    }
    for name, what, x, width, y in levels:
        picture.rect(x, y, width, 52, "box", edged=True)
        for number, kind in enumerate(blocks[name]):
            picture.rect(x + 10 + 34 * number, y + 10, 28, 32, kind)
        picture.text(x + width / 2, y + 69, f"{name}: {what}", "faint", "middle")
    for part, word in ((0.75, "low"), (0.9, "high")):
        at = 270 + 220 * part
        picture.line((at, 106), (at, 170), dashed=True)
        picture.text(at, 102, word, "faint", "middle")
    picture.line((350, 56), (350, 110), arrow=True)
    picture.text(342, 88, "store", "", "end")
    picture.line((400, 110), (400, 58), arrow=True)
    picture.text(408, 82, "load, view")
    picture.line((262, 138), (226, 138), (226, 210), arrow=True)
    picture.text(216, 160, "no room: the oldest", "", "end")
    picture.text(216, 177, "go down", "", "end")
    picture.line((182, 238), (126, 238), (126, 310), arrow=True)
    picture.line((540, 210), (540, 138), (494, 138), arrow=True)
    picture.text(550, 160, "read: comes up")
    picture.line((490, 126), (700, 126), (700, 340), (674, 340), dashed=True, arrow=True)
    picture.text(692, 118, "flush: a copy", "", "end")
    legend(picture, 406, ("new", "not flushed yet"), ("kin", "flushed, and its copy"), ("old", "other blocks"))
    return picture


def user_defined() -> Picture:
    picture = Picture(690, 330)
    steps = [
        ("first rule that matches: pin?", "that target; older blocks there go down; or no_space"),
        ("prefer?", "the first of these with room"),
        ("mode: bypass?", "the flush target"),
    ]
    picture.text(120, 34, "a block is stored", "title", "middle")
    for number, (asked, then) in enumerate(steps):
        y = 56 + 74 * number
        picture.line((120, y - 16), (120, y - 2), arrow=True)
        picture.rect(20, y, 200, 38, "box", edged=True)
        picture.text(120, y + 24, asked, "", "middle")
        picture.line((220, y + 19), (286, y + 19), arrow=True)
        picture.text(252, y + 13, "yes", "faint", "middle")
        picture.rect(290, y, 370, 38, "best", edged=True)
        picture.text(304, y + 24, then)
        picture.line((120, y + 38), (120, y + 58))
        picture.text(
            128, y + 54, "no, or no rule" if number == 0 else "no, or no room" if number == 1 else "no", "faint"
        )
    y = 56 + 74 * 3
    picture.line((120, y - 16), (120, y - 2), arrow=True)
    picture.rect(20, y, 200, 38, "best", edged=True)
    picture.text(120, y + 24, "as the policy says", "", "middle")
    picture.text(232, y + 24, "user-defined: the first target with room", "faint")
    return picture


def modes() -> Picture:
    picture = Picture(760, 452)
    left, right, unit = 150, 730, 58
    # Mode; how long the store takes; when it lies in the pool; when it is copied, and is there until.
    rows = [
        ("write-through", 2.6, (0.6, 10), (0.6, 2.6, 10), ""),
        ("bypass", 2.6, None, (0.0, 2.6, 10), ""),
        ("write-back", 0.6, (0.6, 10), (4.0, 6.0, 10), "trigger"),
        ("none", 0.6, (0.6, 7.0), (7.0, 9.0, 10), "no room"),
        ("scratch", 0.6, (0.6, 9.4), None, "job ends"),
    ]
    picture.text(left, 28, "store", "faint")
    picture.line((left + 40, 24), (right, 24), arrow=True)
    picture.text(right, 42, "time", "faint", "end")
    for number, (mode, store, pool, copy, event) in enumerate(rows):
        y = 52 + 72 * number
        picture.text(20, y + 32, mode, "title")
        picture.rect(left, y, store * unit, 14, "new")
        picture.text(left + store * unit + 6, y + 12, "returns", "faint")
        if pool:
            picture.rect(left + pool[0] * unit, y + 18, (pool[1] - pool[0]) * unit, 12, "old")
        if copy:
            picture.rect(left + copy[0] * unit, y + 34, (copy[1] - copy[0]) * unit, 12, "moved")
            picture.rect(left + copy[1] * unit, y + 34, (copy[2] - copy[1]) * unit, 12, "kin")
        if event:
            at = left + unit * {"trigger": 4.0, "no room": 7.0, "job ends": 9.4}[event]
            picture.line((at, y - 2), (at, y + 50), dashed=True)
            picture.text(at - 6, y + 10, event, "faint", "end")
    legend(picture, 430, ("new", "the program waits"), ("old", "in the pool"), ("moved", "being copied"),
           ("kin", "in the flush target"))  # fmt: skip
    return picture


DRAWN = {
    "hierarchy": hierarchy,
    "max-bandwidth": max_bandwidth,
    "max-locality": max_locality,
    "hot-data": hot_data,
    "user-defined": user_defined,
    "modes": modes,
}


def pictures() -> dict[Path, str]:
    """What each file should hold."""
    return {FOLDER / f"{name}.svg": draw().svg() for name, draw in DRAWN.items()}


def main() -> int:
    for path, svg in pictures().items():
        path.write_text(svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
