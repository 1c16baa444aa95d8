#!/usr/bin/env python3
"""Judge the documents by what they speak of.

usage: check_docs.py [--fix]

* docs/reference.md is what tools/make_reference.py makes of the headers, and the pictures of docs/tiers are what
  tools/draw_tiers.py draws;
* the code block behind a line `<!-- quote PATH -->` is the file at that path; with PATH and TAG it is what
  stands there between lines with the comments `[TAG]` and `[/TAG]`, each time that they come;
* every test that the design, the guarantees, the security page or one on a policy names as `suite.name` exists;
* where a document says "43 so far.", the table behind it has as many rows;
* every relative link leads somewhere.

Prints one line FILE: RULE for each breach and exits 1; --fix mends the first two before judging.
"""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from draw_tiers import pictures
from make_reference import OUTPUT, ROOT, reference

QUOTE = re.compile(r"(<!-- quote (\S+)(?: (\S+))? -->\n+)```\w*\n(?:.*?\n)??```\n", re.DOTALL)
SECTION = r"^ *(?:#|//) \[{0}\]\n(.*?)^ *(?:#|//) \[/{0}\]$"
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".txt": "cmake", ".py": "python"}
TEST = re.compile(r"\bT(?:EST|EST_F|EST_P|YPED_TEST)\(\s*(\w+),\s*(\w+)\)")
NAMED = re.compile(r"`(\w+)\.(\w+)`")
NAMING = {"design.md", "guarantees.md", "security.md", "max-bandwidth.md", "max-locality.md", "hot-data.md"}
FOUND = re.compile(r"(\d+) so far\.")
ROW = re.compile(r"^\| ", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def documents() -> list[Path]:
    """What people read: all Markdown that git knows or would know."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True
    )
    if listed.returncode != 0:
        return [path for path in ROOT.rglob("*.md") if "build" not in path.relative_to(ROOT).parts]
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def source(path: Path, tag: str | None) -> str | None:
    """The file, or of it what has the tag; None if there is no such thing."""
    if not path.is_file():
        return None
    text = path.read_text()
    if tag is None:
        return text.rstrip()
    found = re.findall(SECTION.format(re.escape(tag)), text, re.DOTALL | re.MULTILINE)
    return "\n\n".join(dedent(section).strip("\n") for section in found) or None


def quoted(text: str) -> str:
    """The document with every quotation as its source is now; where there is no source, as it is."""

    def fresh(found: re.Match[str]) -> str:
        path = ROOT / found.group(2)
        code = source(path, found.group(3))
        language = LANGUAGES.get(path.suffix, "")
        return found.group() if code is None else f"{found.group(1)}```{language}\n{code}\n```\n"

    return QUOTE.sub(fresh, text)


def existing_tests() -> set[tuple[str, str]]:
    """Every test in the sources, by suite and name."""
    found: set[tuple[str, str]] = set()
    for folder in ("src", "tests", "faces", "bench"):
        for path in (ROOT / folder).rglob("*_test.cpp"):
            found.update(TEST.findall(path.read_text()))
    return found


def judge(path: Path, tests: set[tuple[str, str]]) -> list[str]:
    """What is wrong with one document."""
    text = path.read_text()
    broken = []
    if quoted(text) != text:
        broken.append("quotes what an example no longer says; run tools/check_docs.py --fix")
    for quotation in QUOTE.finditer(text):
        if source(ROOT / quotation.group(2), quotation.group(3)) is None:
            broken.append(f"quotes {' '.join(filter(None, quotation.group(2, 3)))}, which does not exist")
    if path.name in NAMING:
        suites = {suite for suite, _ in tests}
        broken += [
            f"names the test {suite}.{name}, which does not exist"
            for suite, name in NAMED.findall(text)
            if (suite, name) not in tests and (suite in suites or "_" in name)
        ]
    if (claim := FOUND.search(text)) and int(claim.group(1)) != (rows := len(ROW.findall(text, claim.end())) - 1):
        broken.append(f"says that {claim.group(1)} bugs were found, and has {rows} rows")
    for target in LINK.findall(re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)):
        if "://" not in target and not (path.parent / target).exists():
            broken.append(f"links to {target}, which does not exist")
    return broken


def main() -> int:
    if sys.argv[1:] == ["--fix"]:
        OUTPUT.write_text(reference())
        for path, drawn in pictures().items():
            path.write_text(drawn)
        for path in documents():
            path.write_text(quoted(path.read_text()))
    tests = existing_tests()
    broken = [f"{path.relative_to(ROOT)}: {what}" for path in documents() for what in judge(path, tests)]
    if not OUTPUT.exists() or OUTPUT.read_text() != reference():
        broken.append("docs/reference.md: is not what the headers say; run tools/make_reference.py")
    broken += [
        f"{path.relative_to(ROOT)}: is not what is drawn; run tools/draw_tiers.py"
        for path, drawn in pictures().items()
        if not path.exists() or path.read_text() != drawn
    ]
    print("\n".join(broken) if broken else "every document keeps its word")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
