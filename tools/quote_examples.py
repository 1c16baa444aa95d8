#!/usr/bin/env python3
"""Put the examples that docs quote into them, so that what is read is what is tested.

usage: quote_examples.py [--check]

In docs/*.md, the code block behind a line `<!-- quote PATH -->` is made the file at that path.
With --check, writes nothing, names the documents that quote something else, and then exits 1.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUOTE = re.compile(r"(<!-- quote (\S+) -->\n+)```\w*\n(?:.*?\n)??```\n", re.DOTALL)
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".txt": "cmake", ".py": "python"}


def quoted(text: str) -> str:
    """The document with every quotation as its source is now."""

    def fresh(found: re.Match[str]) -> str:
        path = ROOT / found.group(2)
        return f"{found.group(1)}```{LANGUAGES.get(path.suffix, '')}\n{path.read_text().rstrip()}\n```\n"

    return QUOTE.sub(fresh, text)


def main() -> int:
    stale = [path for path in sorted((ROOT / "docs").glob("*.md")) if quoted(path.read_text()) != path.read_text()]
    if sys.argv[1:] != ["--check"]:
        for path in stale:
            path.write_text(quoted(path.read_text()))
        return 0
    for path in stale:
        print(f"{path.relative_to(ROOT)} quotes what an example no longer says; run tools/quote_examples.py")
    if not stale:
        print("the docs quote the examples as they are")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
