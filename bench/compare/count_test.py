"""One rule for all libraries, and the papers' rule but for two."""

from pathlib import Path

import count
import pytest

ROOT = Path(__file__).parents[2]
# The papers' Figure 3 as it is printed, its typos apart.
PRINTED = ROOT / "tests/mpi/figure3.cpp"


@pytest.mark.parametrize(
    ("text", "lines", "tokens"),
    [
        ("", 0, 0),
        ("\n  \n", 0, 0),
        ("int x;\n", 1, 3),
        ("// nothing\n", 0, 0),
        ("int x;  // something\n", 1, 3),
        ("/* two\n   lines */ int x;\n", 1, 3),
        ("int /* a\n b */ x;\n", 2, 3),
        ("#include <mpi.h>\nint x;\n", 2, 3),
        ("#define A \\\n    1\nint x;\n", 3, 3),
        ('const char* a = "// no comment";\n', 1, 7),
        ("char a = '\"'; /* \" */ int b;\n", 1, 8),
        ("a->b++ >>= c::d<e>();\n", 1, 14),
        ("x = 1.5e-3 + 0x1F + 100'000ull;\n", 1, 8),
        ('f(L"a\\"b", u8\'c\');\n', 1, 7),
    ],
)
def test_what_counts(text, lines, tokens):
    assert (count.lines(text), count.tokens(text)) == (lines, tokens)


def test_the_rule_gives_what_the_papers_say_of_their_own_listing_but_for_two():
    text = PRINTED.read_text()
    for found, said in zip((count.lines(text), count.tokens(text)), count.PAPERS["pmemcpy"], strict=True):
        assert abs(found - said) <= 2


def test_ours_is_no_longer_than_the_printed_one_and_shorter_than_that_of_every_library_with_names():
    printed = PRINTED.read_text()
    found = count.counts(count.FOLDER)
    lines, tokens = found.pop("pmemcpy")
    assert lines <= count.lines(printed)
    assert tokens <= count.tokens(printed)
    del found["posix"]  # which has no names, no types and no shape in its file
    assert all(lines < others and tokens < more for others, more in found.values())


def test_the_table_has_every_program_beside_the_papers_counts():
    text = count.table({"hdf5": (30, 200), "posix": (10, 80)})
    assert "| hdf5 | 30 | 200 | 42 / 253 |" in text
    assert text.index("| posix |") < text.index("| hdf5 |")
