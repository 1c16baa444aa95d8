#!/usr/bin/env python3
"""Counts the lines and tokens of one program written with several libraries, by one rule for all.

A line counts if something is on it that is neither white space nor comment. A token is what a C++ compiler has after
its preprocessor's lines are taken away: a name or keyword, a number, a string or character constant, an operator or
punctuator, the longest that fits.
"""

import re
import sys
from pathlib import Path

# What the papers print (pMAP poster, Figure 7; pMEMCPY, section 3). Their programs for NetCDF are not printed.
PAPERS = {"pmemcpy": (16, 132), "adios": (24, 164), "netcdf": (26, 180), "hdf5": (42, 253)}
# What a program needs besides to have the same in its file.
NOTES = {"posix": "no names, types or shape in the file", "adios2": "a file for each rank: the wheel has no MPI"}

FOLDER = Path(__file__).parent / "lines"

LITERAL = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"
COMMENT = re.compile(rf"({LITERAL})|//[^\n]*|/\*.*?\*/", re.DOTALL)
DIRECTIVE = re.compile(r"^[ ]*#(?:[^\n]*\\\n)*[^\n]*$", re.MULTILINE)
TOKEN = re.compile(
    rf"(?:u8|[uUL])?(?:{LITERAL})"
    r"|\.?\d(?:[eEpP][+-]|'?[\w.])*"
    r"|\w+"
    r"|<=>|<<=|>>=|\.\.\.|->\*"
    r"|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%^&|]=|\.\*|##"
    r"|[^\s\w]"
)


def without_comments(text: str) -> str:
    def kept(found: re.Match[str]) -> str:
        # A comment of several lines leaves its ends of lines, so that others keep their lines.
        return found.group(1) or " " + "\n" * found.group(0).count("\n")

    return COMMENT.sub(kept, text)


def lines(text: str) -> int:
    return sum(1 for line in without_comments(text).splitlines() if line.strip())


def tokens(text: str) -> int:
    return len(TOKEN.findall(DIRECTIVE.sub("", without_comments(text))))


def counts(folder: Path) -> dict[str, tuple[int, int]]:
    """Lines and tokens of each program, by library."""
    return {path.stem: (lines(text := path.read_text()), tokens(text)) for path in sorted(folder.glob("*.cpp"))}


def table(found: dict[str, tuple[int, int]]) -> str:
    """Fewest tokens first, beside what the papers say."""
    rows = ["| | lines | tokens | papers | |", "|---|---|---|---|---|"]
    for library, (some_lines, some_tokens) in sorted(found.items(), key=lambda each: each[1][1]):
        papers = "{} / {}".format(*PAPERS[library]) if library in PAPERS else "-"
        rows.append(f"| {library} | {some_lines} | {some_tokens} | {papers} | {NOTES.get(library, '')} |")
    return "\n".join(rows)


def main() -> int:
    print(table(counts(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
