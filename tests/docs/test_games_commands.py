import json
import re
import shlex

import pytest

from arena.games import GAMES
from arena.lab.measures.measure import Estimate, Kind, Row, Unit, ends_text, value_text
from tests import needs
from tests.cli.calls import calling
from tests.docs.test_games_pages import PAGES, row, sizes_in

pytestmark = needs.program("cc", "gcc", "clang")

NOT_RUN = {
    "solve plusminus -o size=9 -o grid_first=2": "two to three minutes of a core and 370 MiB",
    "repair plusminus --within 5m": "a minute of a core; its size 7 is run",
    "quality plaid": "seven minutes of a core",
    "quality plaid -o players=3": "eight minutes of a core",
}
"""Commands that no test runs, with the reason. Others of ``arena lab quality`` take minutes each, and are a soak."""

SWEEPS = {
    "solve plusminus --sweep size=2..8": "margin of seat 0, `grid_first = 1`",
    "solve plusminus -o grid_first=2 --sweep size=2..8": "margin of seat 0, `grid_first = 2`",
    "solve multiplication -o second_starts=1 --sweep size=7..9": "seat 1 begins the numbering",
    "solve plaid -o width=12 -o height=12 --sweep lines=2..12": "12 by 12",
    "solve plaid -o width=14 -o height=14 --sweep lines=2..14": "14 by 14",
    "solve plaid -o width=6 -o height=6 --sweep lines=2..10": "6 by 6",
    "solve plaid -o width=8 -o height=8 --sweep lines=2..12": "8 by 8",
    "solve plaid -o width=10 -o height=10 --sweep lines=2..12": "10 by 10",
}
"""Commands, and the title of the row that has what they print; a row may have less or more."""

REPAIRED = {
    "repair multiplication -o size=7": 0,
    "repair multiplication --within 5m": 1,
}
"""Commands, and the column of the table that has what they print."""

PROVED = {
    "prove coprimality -o size=12": (-1, "| seat 1 | 4, 7, 9, 12,"),
    "prove differences -o size=9": (0, "Proved, for every size and both variations: best play is a draw"),
    "prove multiplication -o size=9": (21, "seat 0 wins size 9 by 21"),
    "prove plaid -o width=14 -o height=14": (1, "seat 0 wins on 14 by 14 with 12 lines"),
    "prove plusminus -o size=8": (0, "that size 8 is a draw"),
}
"""Commands, the value that they prove, and how the page says it."""

SHARED = {
    "solve coprimality -o players=3 --sweep size=3..12": "3 | {size}",
    "solve coprimality -o players=4 --sweep size=3..6": "4 | {size}",
}
"""Commands, and how the row begins that has the shares of each set of options."""

ALONE = (
    "solve coprimality --sweep size=3..100",
    "solve coprimality -o max_grids=1 --sweep size=3..20",
    "solve coprimality -o size=12 --by table",
    "repair coprimality",
    "solve differences --sweep size=2..100",
    "solve multiplication --sweep size=7..9",
    "solve plaid -o width=8 -o height=8 -o lines=6",
    "solve plaid -o width=12 -o height=8 -o lines=6",
    "repair plusminus -o size=7",
    "solve plaid -o players=3 -o width=6 -o height=6 -o lines=6",
    "solve plaid -o players=3 -o width=12 -o height=12 -o lines=12",
)
"""Commands with a test of their own."""


def commands_of(page):
    fenced = re.findall(r"^arena lab (.+)$", page, re.MULTILINE)
    inline = re.findall(r"`arena lab ([^`]+)`", " ".join(page.split()))
    return [*fenced, *(command.removesuffix("--out FILE").strip() for command in inline)]


def numbers(cells):
    return [float(cell) for cell in cells if cell != "–"]


@pytest.fixture
def lab(tmp_path, capsys):
    call = calling(tmp_path / "home", capsys)

    def run(command):
        code, out, err = call("lab", *shlex.split(command), "--json")
        assert code == 0, err
        return [json.loads(line) for line in ([out] if command.startswith("prove ") else out.splitlines())]

    return run


def margins(objects):
    return [round(found["margin"], 2) for found in objects]


def test_every_command_of_the_pages_is_run_or_named():
    written = {command for page in PAGES.values() for command in commands_of(page)}
    run = {*SWEEPS, *REPAIRED, *PROVED, *SHARED, *ALONE}
    quality = {command for command in written if command.startswith("quality ")}
    assert written <= run | quality | set(NOT_RUN), written - run - quality - set(NOT_RUN)
    assert set(NOT_RUN) <= written
    assert set(PROVED) | set(SHARED) | set(REPAIRED) | set(ALONE) <= written


def costly(cases):
    others = tuple(f"solve plaid -o width={side}" for side in (8, 10, 12, 14))  # 6 by 6 stays
    soak = ("prove plaid", "prove plusminus", "prove multiplication", "solve plusminus -o grid_first=2", *others)
    soak += ("repair plusminus -o size=7",)
    return [
        pytest.param(command, value, id=command, marks=pytest.mark.soak if command.startswith(soak) else ())
        for command, value in cases.items()
    ]


@pytest.mark.slow(sample=("solve plaid -o width=6 -o height=6 --sweep lines=2..10",))
@pytest.mark.parametrize(("command", "title"), costly(SWEEPS))
def test_a_sweep_prints_what_its_row_says(lab, command, title):
    documented, printed = numbers(row(command.split()[1], title)), margins(lab(command))
    both = min(len(documented), len(printed))
    assert both >= 2
    assert printed[:both] == documented[:both]


@pytest.mark.slow
def test_two_games_are_worth_what_their_tables_say(lab):
    printed = margins(lab("solve multiplication --sweep size=7..9"))
    assert printed == [float(row("multiplication", size)[1]) for size in (7, 9)]
    assert printed == numbers(row("multiplication", "seat 0 begins the numbering"))
    objects = lab("solve differences --sweep size=2..100")
    assert [(found["outcome"], found["known"]) for found in objects] == [("draw", "proved")] * 99


@pytest.mark.slow
@pytest.mark.parametrize("lines", [6, pytest.param(12, marks=pytest.mark.soak)])
def test_sheets_are_worth_what_the_tables_of_plaid_say(lab, lines):
    (titles,) = re.findall(r"^\| sheet \| (12 by 12.*) \|$", PAGES["plaid"], re.MULTILINE)
    sheets = [f"-o width={title.split()[0]} -o height={title.split()[2]}" for title in titles.split(" | ")]
    printed = [margins(lab(f"solve plaid {sheet} -o lines={lines}"))[0] for sheet in sheets]
    assert printed == numbers(row("plaid", f"margin of seat 0, {lines} lines"))


@pytest.mark.slow
def test_resolutions_are_worth_what_the_table_of_plaid_says(lab):
    sides = [int(cell) for cell in row("plaid", "units on a side")]
    printed = [margins(lab(f"solve plaid -o width={side} -o height={side} -o lines=6"))[0] for side in sides]
    assert printed == numbers(row("plaid", "margin of seat 0"))
    shares = [round(margin / side, 2) for margin, side in zip(printed, sides, strict=True)]
    assert shares == numbers(row("plaid", "margin in sides of the sheet"))


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(2, 6), (4, 2), (4, 4), (6, 2), (4, 6), (6, 4), (6, 6), (8, 4)])
def test_small_even_sheets_are_won_by_whom_the_page_of_plaid_says(lab, width, height):
    exceptions = {(4, 2, 2): 0, (12, 2, 6): -1, (12, 2, 8): -1}
    sheet = f"-o width={width} -o height={height}"
    for found in lab(f"solve plaid {sheet} --sweep lines=2..{width + height - 2}"):
        lines = found["options"]["lines"]
        by_rule = 0 if lines >= width or lines > height else 1
        margin = found["margin"]
        assert (margin > 0) - (margin < 0) == exceptions.get((width, height, lines), by_rule), lines


@pytest.mark.slow
def test_who_wins_coprimality_is_as_its_page_says(lab):
    documented = {1: sizes_in(row("coprimality", "seat 0")[0]), -1: sizes_in(row("coprimality", "seat 1")[0]), 0: {3}}
    objects = lab("solve coprimality --sweep size=3..100")
    assert len(objects) == 98
    assert all(found["options"]["size"] in documented[found["margin"]] for found in objects)
    counts = f"Seat 0 wins {len(documented[1])} sizes and seat 1 wins {len(documented[-1])}"
    assert counts in PAGES["coprimality"]
    assert max(found["states"] for found in objects) < 8000
    on_one_grid = lab("solve coprimality -o max_grids=1 --sweep size=3..20")
    assert all(found["options"]["size"] in documented[found["margin"]] for found in on_one_grid)
    (table,) = lab("solve coprimality -o size=12 --by table")
    assert f"have {table['states']} states together" in PAGES["coprimality"]
    assert all(form["margin"] == -1 for form in lab("repair coprimality") if form["repair"] != "both_seats=1")


TITLES = {
    "multiplication": {
        "none": "seat 0 begins the numbering",
        "begin_second=1": "seat 1 begins the numbering",
        "pie=1": "seat 0 begins the numbering, `pie = 1`",
        "pie=2": "seat 0 begins the numbering, `pie = 2`",
        "begin_second=1 pie=1": "seat 1 begins the numbering, `pie = 1`",
        "begin_second=1 pie=2": "seat 1 begins the numbering, `pie = 2`",
        "order=1221": "seat 0 begins the numbering, marks in the order 1-2-2-1",
        "begin_second=1 order=1221": "seat 1 begins the numbering, marks in the order 1-2-2-1",
    },
    "plusminus": {
        "none": "lists seen, `grid_first = 1`",
        "unseen=1": "lists unseen, `grid_first = 1`",
        "begin_second=1 unseen=1": "lists unseen, `grid_first = 2`",
    },
}
SIZES = {f"repair plusminus -o size={size}": size - 2 for size in range(2, 8)}


@pytest.mark.slow
@pytest.mark.parametrize(("command", "column"), costly(REPAIRED | SIZES))
def test_forms_are_worth_what_the_table_says(lab, command, column):
    game = command.split()[1]
    printed = {form["repair"]: form["margin"] for form in lab(command)}
    documented = {word: numbers(row(game, title))[column] for word, title in TITLES[game].items()}
    assert {word: printed[word] for word in TITLES[game]} == documented


@pytest.mark.slow
@pytest.mark.parametrize(("command", "value"), costly(PROVED))
def test_a_certificate_proves_what_its_page_says(lab, tmp_path, command, value):
    proved, words = value
    (certificate,) = lab(f"{command} --out {tmp_path / 'certificate.txt'}")
    assert certificate["value"] == proved
    assert words in " ".join(PAGES[command.split()[1]].split())


SHARES = {"0": 0, "¼": 1 / 4, "⅓": 1 / 3, "½": 1 / 2, "⅔": 2 / 3, "¾": 3 / 4, "1": 1}


def check_shares(found, cells):
    documented = [[SHARES[share] for share in cell.split(", ")] for cell in cells]
    assert found["shares"] == pytest.approx(documented[0]), found["options"]
    assert found["paranoid"] == pytest.approx(documented[1]), found["options"]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "title"), SHARED.items(), ids=SHARED)
def test_three_and_more_get_the_shares_of_the_table(lab, command, title):
    for found in lab(command):
        check_shares(found, row(command.split()[1], title.format(**found["options"])))


@pytest.mark.slow
@pytest.mark.parametrize("widest", [8, pytest.param(100, marks=pytest.mark.soak)])
def test_three_get_the_shares_of_every_sheet_in_the_table(lab, widest):
    sheets = re.findall(r"^\| (\d+) by (\d+) \| (\d+) \| ([^|]+) \| ([^|]+) \|$", PAGES["plaid"], re.MULTILINE)
    assert len(sheets) == 9
    for width, height, lines, *cells in (sheet for sheet in sheets if int(sheet[0]) <= widest):
        (found,) = lab(f"solve plaid -o players=3 -o width={width} -o height={height} -o lines={lines}")
        check_shares(found, cells)


# Numbers that are sampled, or exact within a report of ``arena lab quality``.


def cell_of(line):
    estimate = Estimate(
        **{key: line[key] for key in ("value", "low", "high", "n", "differing")}, kind=Kind(line["kind"])
    )
    number = Row(name=line["name"], at=line["at"], unit=Unit(line["unit"]), estimate=estimate)
    value = value_text(estimate.value, number.unit)
    return f"{value} (exact)" if estimate.kind is Kind.EXACT else f"{value} {ends_text(estimate, number.unit)}"


def stated(page):
    """Return the rows of a page that have such numbers: the title, and each number."""
    pattern = r"[-−]?\d[\d.]*(?: %)? (?:\[[^]]*\d\]|\(exact\))"
    return [(line, number.replace("−", "-")) for line in page.splitlines() for number in re.findall(pattern, line)]


@pytest.mark.soak
@pytest.mark.parametrize("game", GAMES)
def test_sampled_numbers_are_those_of_the_commands(tmp_path, capsys, game):
    commands = {command for command in commands_of(PAGES[game]) if command.startswith("quality ")}
    printed, file = {}, tmp_path / "quality.json"
    for command in commands - set(NOT_RUN):
        code, _, err = calling(tmp_path / "home", capsys)("lab", *shlex.split(command), "--quiet", "--json", file)
        assert code == 0, err
        report = json.loads(file.read_text())
        for profile in report.get("profiles", [report]):
            for line in (line for measure in profile["measures"] for line in measure["rows"]):
                if line["value"] is not None:
                    printed.setdefault(cell_of(line), set()).add(f"{line['name']}, {line['at']}".removesuffix(", "))
    sections = [part for part in PAGES[game].split("\n## ") if not set(commands_of(part)) & set(NOT_RUN)]
    missing = [(line, number) for part in sections for line, number in stated(part) if number not in printed]
    assert not missing, missing
    named = set().union(*printed.values())
    for line, number in stated(PAGES[game]):
        title = line.split(" | ")[0].removeprefix("| ")
        if title in named and number in printed:
            assert title in printed[number], line
