import csv
import html.parser
import io
import json
import re

import pytest
from markdown_it import MarkdownIt

from arena.analysis.text.tables import FORMATS, Column, printable, render_table

COLUMNS = [Column("bot", "bot", is_number=False), Column("mu", "mu", 2), Column("matches", "matches")]


@pytest.mark.parametrize("table_format", FORMATS)
def test_names_that_look_like_numbers_are_not_touched(table_format):
    names = ["1e5", "007", "nan", "1_000", "0x10", "inf", "1."]
    text = render_table(COLUMNS, [{"bot": name, "mu": 1.0, "matches": 1} for name in names], table_format)
    for name in names:
        assert name.replace("_", r"\_" if table_format == "latex" else "_") in text
    assert "100000" not in text


def test_numbers_are_right_aligned_what_is_missing_is_a_dash_and_control_characters_are_escaped():
    rows = [{"bot": "a", "mu": 1.005, "matches": 7}, {"bot": "longer", "mu": -12.5, "matches": 1234}]
    assert render_table(COLUMNS, rows).splitlines() == [
        "bot         mu  matches",
        "------  ------  -------",
        "a         1.00        7",
        "longer  -12.50     1234",
    ]
    rows = [{"bot": "a", "mu": None, "matches": 0}]
    assert "-" in render_table(COLUMNS, rows).splitlines()[2]
    assert json.loads(render_table(COLUMNS, rows, "json")) == rows
    assert render_table(COLUMNS, []).split() == ["bot", "mu", "matches", "---", "--", "-------"]
    assert printable("\x1b[31mred\x07 \u202e\u2028\n") == r"\x1b[31mred\x07 \u202e\u2028\n"
    assert printable("Grüße, 世界 ±") == "Grüße, 世界 ±"


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x"])
def test_a_formula_is_disarmed_in_csv(name):
    assert render_table(COLUMNS, [{"bot": name, "mu": -1.0, "matches": 1}], "csv").splitlines()[1] == f"'{name},-1.0,1"
    assert render_table([Column(name, name, 2)], [{name: 1.0}], "csv").splitlines()[0] == f"'{name}"


HOSTILE = [
    "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</td></tr></table><h1>x",
    "</script><script>alert(1)//", "<!-- x", "]]>", "&lt;b&gt; &amp; &#64;", "[click](javascript:alert(1))",
    "![x](https://example.org/x.png)", "[x]: https://example.org", "[^1]", "<https://example.org>",
    "https://example.org/?q=1", "www.example.org", "WWW.EXAMPLE.ORG", "mailto:a@example.org", "someone@example.org",
    "greedy@1.0", "@someone", "@some/team", "#1", "owner/name#1", "GH-1", ":+1:", "$x^2$", "*bold*", "**bold**",
    "_emphasis_", "__init__", "~~gone~~", "`code`", "``", "`", "a`b``c", "a|b", "|", "\\", "a\\", "\\`x", "\\* x",
    "# heading", "- item", "1. item", "> quote", "---", "a\nb", "a\r\nb", "a\u2028b", " leading and trailing ",
    "=1+1", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "x;=1", 'x";=1', "x; =1", "＝1+1",
    "＠x", '"=1"', "%s", "{x}", "\\input{/etc/passwd}", "[3pt]", "*", "#$%&_^~<>",
    "\x1b[31mred\x1b]8;;https://example.org\x07", "\u202egnp.exe", "\u200b", "\x9b1m", "",
]  # fmt: skip


def table_of(name, table_format, title="bot"):
    columns = [Column("bot", title, is_number=False), Column("other", "other", is_number=False), Column("mu", "mu", 2)]
    return render_table(
        columns, [{"bot": name, "other": name, "mu": 1.5}, {"bot": "b", "other": "c", "mu": 2.5}], table_format
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_only_text_in_every_format(name):
    """Read by another program, as GitHub reads it but for what GitHub looks for afterwards in all but code."""
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(table_of(name, "github"))
    assert {block.type.partition("_")[0] for block in blocks} <= {"table", "thead", "tbody", "tr", "th", "td", "inline"}
    cells = [block.children for block in blocks if block.type == "inline"]
    assert len(cells) == 9
    for cell in cells[3:5]:
        assert {part.type for part in cell} <= {"text", "code_inline"}
        assert "".join(part.content for part in cell).strip() == printable(name).strip()
        text = "".join(part.content for part in cell if part.type == "text")
        assert not re.search(r"[@#$<>&]|https?:|www\.|gh-\d|:[+\w]+:", text, re.IGNORECASE)
    made = Cells(table_of(name, "html"))
    assert set(made.tags) <= {"table", "thead", "tbody", "tr", "th", "td"}
    assert len(made.cells) == 9
    assert made.cells[3].strip() == made.cells[4].strip() == printable(name).strip()
    lines = table_of(name, "latex").splitlines()
    row = next(line for line in lines if line.endswith("1.50 \\\\"))
    cells = row.removesuffix("\\\\").split(" & ")
    assert len(cells) == 3
    for cell in cells:
        assert not set(LATEX_LITERAL.sub("", cell)) & set("\\&%$#_{}^~<>")
    assert not row.lstrip().startswith(("[", "*")), "it would belong to the line break before"
    lines = table_of(name, "text").split("\n")
    assert len(lines) == 4
    assert all(letter.isprintable() for line in lines for letter in line)


@pytest.mark.parametrize("name", ["random_legal", "minimal", "1.0-rc", "Grüße 世界", "3 h 2 min", "1–3", "2:1", "+1.5"])
def test_an_ordinary_name_stays_as_it_is_in_markdown(name):
    assert table_of(name, "github").splitlines()[2].split("|")[1].strip() == name


class Cells(html.parser.HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.cells = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        known = ("class", "id", "style", "href", "scope", "title", "aria-describedby")
        assert all(key in known for key, _ in attrs) or tag not in ("td", "th", "p", "h1", "a")
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_separates_cells(name, delimiter):
    text = table_of(name, "csv")
    for row in csv.reader(io.StringIO(text), delimiter=delimiter):
        for cell in row:
            assert re.fullmatch(r"-?[\d.]+", cell) or not cell.lstrip(' "').startswith(tuple("=+-@＝＋－＠\t\r"))
    assert len(list(csv.reader(io.StringIO(text)))) == 3


LATEX_LITERAL = re.compile(
    r"\\[&%$#_{}]|\\textbackslash\{\}|\\textasciicircum\{\}|\\textasciitilde\{\}|\\textless\{\}|\\textgreater\{\}|\{\}"
)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("table_format", ["github", "html", "latex", "text"])
def test_a_heading_is_only_text_too(name, table_format):
    """In the leaderboard over time, each bot has a column."""
    text = table_of("b", table_format, title=name)
    if table_format == "html":
        assert set(Cells(text).tags) <= {"table", "thead", "tbody", "tr", "th", "td"}
    elif table_format == "github":
        blocks = MarkdownIt("commonmark").enable("table").parse(text)
        heading = next(block for block in blocks if block.type == "inline")
        assert {part.type for part in heading.children} <= {"text", "code_inline"}
    assert all(letter.isprintable() for line in text.split("\n") for letter in line)
