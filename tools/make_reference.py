#!/usr/bin/env python3
"""Make docs/reference.md of the docstrings (///) in include/pmemcpy.

usage: make_reference.py [--check]

With --check, writes nothing, prints what differs and exits 1 when the file is not what the headers say.
Understands the C++ that these headers are written in, not C++: a declaration ends at its first `;` or `{`
outside of parentheses, and what is in namespace detail is nobody's business.
"""

import difflib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "docs" / "reference.md"
CHAPTERS = [
    ("pmemcpy.hpp", "The pool and its verbs"),
    ("attribute.hpp", "Attributes for one call"),
    ("mpi.hpp", "Opening by a communicator"),
    ("options.hpp", "Options"),
    ("info.hpp", "What can be known"),
    ("groups.hpp", "Groups"),
    ("box.hpp", "Boxes and selections"),
    ("view.hpp", "Views"),
    ("watch.hpp", "Following"),
    ("query.hpp", "Queries"),
    ("index.hpp", "The index"),
    ("extract.hpp", "Extractors"),
    ("namespaces.hpp", "Namespaces"),
    ("scope.hpp", "Private objects"),
    ("tiers.hpp", "Tiers"),
    ("caching.hpp", "Caching"),
    ("profile.hpp", "Profiles"),
    ("operations.hpp", "Operations"),
    ("hint.hpp", "Hints"),
    ("buckets.hpp", "Buckets"),
    ("messages.hpp", "Messages"),
    ("copy.hpp", "Copies"),
    ("mosiqs.hpp", "The words of MOSIQS"),
    ("glob.hpp", "Globs"),
    ("repair.hpp", "Repair"),
    ("exchange.hpp", "Files of other formats"),
    ("error.hpp", "Errors"),
    ("durability.hpp", "Durability"),
    ("type.hpp", "Types"),
    ("type_of.hpp", "C++ types"),
    ("struct.hpp", "Structs"),
    ("float16.hpp", "Half precision"),
    ("number.hpp", "Numbers of types known at run time"),
    ("packing.hpp", "Packed and missing numbers"),
    ("codec.hpp", "Compression"),
    ("encoder.hpp", "Encoders"),
    ("serializer.hpp", "Serializers"),
    ("serializer_registry.hpp", "Serializers of your own"),
    ("json.hpp", "JSON"),
    ("cereal.hpp", "cereal"),
    ("capnp.hpp", "Cap'n Proto"),
]
LABEL = re.compile(r"^(Shape|Units|Crash|Sharing|Errors|Cost|Example|Source|Collective): *(.*)")
SCOPE = re.compile(r"^(?:template\s*<.*>\s*(?:requires\s.*?)?)?(class|struct|enum class|enum)\s+(\w+)")


class Entry:
    """Declarations that share one docstring."""

    def __init__(self, doc: list[str]) -> None:
        self.doc = doc
        self.declarations: list[str] = []


class Scope:
    """A class, struct or enum with what it holds; the whole header is one, too."""

    def __init__(self, name: str, declaration: str, doc: list[str], is_public: bool) -> None:
        self.name, self.declaration, self.doc, self.is_public = name, declaration, doc, is_public
        self.items: list[Entry | Scope | str] = []


def blanked(text: str) -> str:
    """The text with comments and literals as spaces, so that its brackets can be counted."""
    return re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//[^\n]*', lambda m: " " * len(m.group()), text)


def end_of_head(text: str, start: int) -> int:
    """Where the first ; or { is that stands outside of parentheses and opens no requires-expression."""
    depth = 0
    at = start
    while at < len(text):
        c = text[at]
        depth += (c in "([") - (c in ")]")
        if depth == 0 and c == "{" and text[start:at].rstrip().endswith("requires"):
            at = after_braces(text, at)
            continue
        if depth == 0 and (c == ";" or c == "{"):
            return at
        at += 1
    return len(text) - 1


def after_braces(text: str, at: int) -> int:
    """One past the } that closes the { at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i + 1
    return len(text)


def tidy(declaration: str) -> str:
    """A declaration as one reads it: without body, initializers of members and line breaks."""
    words = re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", declaration)).strip()
    return re.sub(r"\)( noexcept)? : \w+_?\(.*$", r")\1", words).removesuffix(" =")


def is_noise(declaration: str, scope: Scope) -> bool:
    """What nobody looks up: operators, friends, aliases, the five special members, forward declarations."""
    own = re.escape(scope.name)
    made_here = re.match(rf"(?:explicit |constexpr )*~?{own}\s*\(", declaration)
    plain = bool(made_here) and not re.search(r"\(.+\)", re.sub(rf"(const )?{own}&&?", "", declaration))
    return (
        "operator" in declaration
        or declaration.startswith(("friend", "using", "static_assert"))
        or "= delete" in declaration
        or "= default" in declaration
        or plain
        or bool(re.fullmatch(r"(?:template <.*> )?(class|struct|enum class) \w+", declaration))
    )


def parse(text: str) -> Scope:
    """All public declarations of a header, with their docstrings."""
    code = blanked(text)
    top = Scope("", "", [], True)
    scopes: list[tuple[Scope, int]] = [(top, len(text))]
    doc: list[str] = []
    joins = False  # whether an undocumented declaration belongs to the entry before it
    at = 0
    while at < len(text):
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        line = text[at:line_end].strip()
        scope, end = scopes[-1]
        if at >= end:
            scopes.pop()
            doc, joins = [], False
            continue
        if line.startswith("///<"):
            pass  # goes on with what stands behind the declaration above, which has taken it
        elif line.startswith("///"):
            doc.append(line[3:].removeprefix(" "))
        elif not line or line.startswith(("//", "}", ";")):
            heading = re.match(r"// ---- (.*) ----$", line)
            if heading and scope.is_public:
                scope.items.append(heading.group(1))
            doc, joins = [], False
        elif line.startswith("#define") and doc:
            entry = Entry(doc)
            entry.declarations.append(line.removeprefix("#define ").rstrip("\\ "))
            top.items.append(entry)
            doc = []
        elif line.startswith("#"):
            while text[at:line_end].endswith("\\"):
                line_end = text.find("\n", line_end + 1)
        elif re.match(r"(public|private|protected):", line):
            scope.is_public, doc, joins = line.startswith("public"), [], False
        elif line.startswith("namespace"):
            brace = text.find("{", at)
            if doc:
                entry = Entry(doc)
                top.items.append(entry)
                doc = []
            line_end = after_braces(code, brace) if re.match(r"namespace \w*detail", line) else brace
        else:
            head_end = end_of_head(code, at)
            declaration = tidy(text[at:head_end])
            opens = code[head_end] == "{"
            kind = SCOPE.match(declaration)
            past = after_braces(code, head_end) if opens else head_end + 1
            rest = text[past : text.find("\n", past)]
            trailing = re.search(r"///< ?(.*)", rest)
            if kind and opens:
                inner = Scope(kind.group(2), declaration, doc, kind.group(1) != "class")
                if scope.is_public and (doc or kind.group(1).startswith("enum")):
                    scope.items.append(inner)
                if kind.group(1).startswith("enum"):
                    inner.items.append(text[head_end + 1 : past - 1])
                    line_end = past
                else:
                    scopes.append((inner, past - 1))
                    line_end = head_end + 1
                doc, joins = [], False
                at = line_end
                continue
            if scope.is_public and (not is_noise(declaration, scope) or (doc and declaration.startswith("using"))):
                last = scope.items[-1] if scope.items else None
                if trailing and not doc:
                    doc = [trailing.group(1)]
                    following = text[past:].splitlines()[1:]
                    for more in following:
                        continued = re.match(r"\s*///< ?(.*)", more)
                        if not continued:
                            break
                        doc.append(continued.group(1))
                if not doc and joins and isinstance(last, Entry) and belongs(declaration, last):
                    last.declarations.append(declaration)
                elif doc or scope is not top:
                    entry = Entry(doc)
                    entry.declarations.append(declaration)
                    scope.items.append(entry)
                joins = not trailing and not is_field(declaration)
            doc = []
            line_end = text.find("\n", past)
            line_end = len(text) if line_end < 0 else line_end
        at = line_end + 1
    return top


def escaped(text: str) -> str:
    """Text in which no <...> outside of back-quotes is taken for HTML."""
    return "".join(part if i % 2 else part.replace("<", "\\<") for i, part in enumerate(re.split(r"(`[^`]*`)", text)))


def paragraphs(doc: list[str]) -> list[str]:
    """A docstring as Markdown: its labelled parts become a list, its example code."""
    text: list[str] = []
    labels: list[str] = []
    example: list[str] = []
    into = text
    for line in doc:
        label = LABEL.match(line)
        if label and label.group(1) == "Example":
            into = example
            example.append(label.group(2))
        elif label:
            into = labels
            labels.append(f"* *{label.group(1)}:* {escaped(label.group(2))}")
        elif into is example:
            example.append(line.strip())
        elif into is labels and line:
            labels[-1] += " " + escaped(line.strip())
        else:
            text.append(line if line.startswith("    ") else escaped(line))
    if labels:
        text += ["", *labels]
    if example:
        text += ["", "```cpp", *example, "```"]
    return text[1:] if text and not text[0] else text


def enum_rows(body: str) -> list[str]:
    """The values of an enum as a table."""
    rows: list[tuple[str, str]] = []
    above: list[str] = []
    for line in map(str.strip, body.splitlines()):
        if line.startswith("///<"):
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {escaped(line[4:].strip())}".strip())
        elif line.startswith("///"):
            above.append(escaped(line[3:].strip()))
        elif found := re.match(r"(\w+)(?: = (\w+))?,?\s*(?:///<\s*(.*))?$", line):
            number = f" = {found.group(2)}" if found.group(2) else ""
            rows.append((found.group(1) + number, " ".join(above) or escaped(found.group(3) or "")))
            above = []
    if not rows:  # all on one line
        rows = [(value.strip(), "") for value in body.split(",") if value.strip()]
    return ["| value | |", "|---|---|", *(f"| `{value}` | {text}".rstrip() + " |" for value, text in rows)]


def is_field(declaration: str) -> bool:
    """Whether a member is data: no parenthesis but in its initial value."""
    return "(" not in declaration.split(" = ")[0] and not declaration.startswith("template")


def belongs(declaration: str, entry: Entry) -> bool:
    """Whether an undocumented function is an overload of what stands before it, or as undocumented."""
    if is_field(declaration):
        return False
    names = [re.search(r"(\w+)\(", text) for text in (declaration, entry.declarations[-1])]
    return not entry.doc or bool(names[0] and names[1] and names[0].group(1) == names[1].group(1))


def is_row(entry: Entry) -> bool:
    return len(entry.declarations) == 1 and is_field(entry.declarations[0])


def render(scope: Scope, level: int) -> list[str]:
    """One scope as Markdown; data members in a row share a table."""
    out: list[str] = []
    in_table = False
    for item in scope.items:
        if isinstance(item, Entry) and is_row(item) and scope.name:
            if not in_table:
                out += ["| member | |", "|---|---|"]
            in_table = True
            text = escaped(" ".join(line.strip() for line in item.doc)).replace("|", "\\|")
            out.append(f"| `{item.declarations[0]}` | {text} |")
            continue
        if in_table:
            out.append("")
        in_table = False
        if isinstance(item, str):
            out += [f"{'#' * level} {item[0].upper()}{item[1:]}", ""]
        elif isinstance(item, Scope):
            out += [f"{'#' * level} `{item.declaration}`", "", *paragraphs(item.doc), ""]
            if item.declaration.startswith("enum"):
                out += [*enum_rows(item.items[0] if isinstance(item.items[0], str) else ""), ""]
            else:
                out += render(item, level + 1)
        else:
            if item.declarations:
                out += ["```cpp", *(f"{declaration};" for declaration in item.declarations), "```", ""]
            out += [*paragraphs(item.doc), ""] if item.doc else []
    if in_table:
        out.append("")
    return out


def reference() -> str:
    headers = {path.name for path in (ROOT / "include" / "pmemcpy").glob("*.hpp")}
    out = [
        "# Reference",
        "",
        "Made by `tools/make_reference.py` of the docstrings in `include/pmemcpy`; change them, not this file.",
        "Everything is in namespace `pmemcpy`. Errors are thrown as `pmemcpy::Error`.",
        "",
        *(f"* [{title}](#{re.sub(r'[^a-z0-9 -]', '', title.lower()).replace(' ', '-')})" for name, title in CHAPTERS),
        "",
    ]
    for name, title in CHAPTERS:
        if name not in headers:
            continue
        out += [f"## {title}", "", f"`#include <pmemcpy/{name}>`", ""]
        out += render(parse((ROOT / "include" / "pmemcpy" / name).read_text()), 3)
    text = "\n".join(line.rstrip() for line in out)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def main() -> int:
    made = reference()
    if sys.argv[1:] != ["--check"]:
        OUTPUT.write_text(made)
        return 0
    there = OUTPUT.read_text() if OUTPUT.exists() else ""
    if there == made:
        print("docs/reference.md is what the headers say")
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(there.splitlines(True), made.splitlines(True), "docs/reference.md", "the headers")
    )
    print("docs/reference.md is not what the headers say; run tools/make_reference.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
