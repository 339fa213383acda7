"""``arena grades``: rosters, schemes and files."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from arena.analysis.measures.standings import Standing, Standings, with_decided
from arena.base.enums import ClaimKind, StopReason
from arena.base.errors import UsageError
from arena.base.grades import Student
from arena.base.until import Claim, Decided, Until
from arena.cli.results.grades_command import read_roster, read_scheme
from arena.cli.terminal.common import write_file
from arena.ratings import Rating
from arena.ratings.consistency import Consistency
from arena.ratings.field_fit import FittedEncounters
from tests.cli.calls import calling, told


@pytest.mark.parametrize(
    "text",
    [
        b"Student,Bot\nNg Ann\nZo\xc3\xab,zo\xc3\xab's bot\n",
        b"\xef\xbb\xbfNg Ann\r\n\r\nZoe\xcc\x88;zoe\xcc\x88's bot;\r\n",
        b'"Ng Ann"\n"Zo\xc3\xab","zo\xc3\xab\'s bot"',
    ],
)
def test_rosters_of_spreadsheets_are_read(tmp_path, text):
    path = tmp_path / "r.csv"
    path.write_bytes(text)
    assert read_roster(path) == [Student("Ng Ann", ("Ng Ann",)), Student("Zoë", ("zoë's bot",))]


def test_every_wrong_line_of_a_roster_has_a_sentence(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes(b"ann\nbob,b\nann\ncy,b\nd\xffn\n,x\na,b,c\nx\x1b[2J\n")
    with pytest.raises(UsageError) as raised:
        read_roster(path)
    faults = str(raised.value).split("\n")
    starts = ["3: 'ann' stands in line 1", "4: 'b' stands in line 2", "5: not UTF-8"]
    starts += ["6: ',x'", "7: 'a,b,c'", "8: 'x\\x1b"]
    assert all(fault.startswith(f"{path}, line {start}") for fault, start in zip(faults, starts, strict=True))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "nobody is in it"),
        (b"a\n" * 10_001, "more than 10,000 lines"),
        (b"a\n" + b"b" * 200_000, "line 2: 200,000 bytes; expected at most 4,000"),
    ],
)
def test_a_file_that_is_no_roster_is_refused(tmp_path, text, sentence):
    (tmp_path / "r.csv").write_bytes(text)
    with pytest.raises(UsageError, match=sentence):
        read_roster(tmp_path / "r.csv")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('bets = 3\ndecimals = 9\nnames = { A = "x" }', "decimals = 9.*names.A = 'x'.*bets: unknown key; .* 'best'"),
        ("names = { A = 9, B = 9 }", "names: A and B begin at the same points"),
        ('names = { "\\u0000" = 1 }', "names: expected printable names"),
    ],
)
def test_a_scheme_names_every_fault(tmp_path, text, sentence):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=sentence):
        read_scheme(path)


PROGRAM = "from arena.botkit import run\nrun(lambda game, state, clock: game.legal_actions(state)[{}])\n"


@pytest.mark.slow
def test_from_a_folder_of_submissions_to_grades_with_one_file_and_two_commands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    call = calling(tmp_path / "home", capsys)
    Path("class").mkdir()
    for name, choice in {"=ann": 0, "bob": -1, "eva": 0}.items():
        Path("class", f"{name}.py").write_text(PROGRAM.format(choice))
    Path("class", "cy.zip").write_bytes(b"PK\3\4 broken")
    head = 'game = "differences"\noptions = { size = 3 }\n'
    Path("t.toml").write_text(f'{head}entrants_from = "class"\nskip_broken = true\n')
    errors = told(call, 0, "run", "t.toml", "--quiet")
    assert "arena: left out: cy: cy.zip: a zip of 11 bytes" in " ".join(errors.split())
    Path("roster.csv").write_text("=ann\nbob\ncy\ndan\n")
    code, out, errors = call("grades", "--roster", "roster.csv", "--csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert code == 0
    states = {row["student"].lstrip("'"): row["state"] for row in rows}
    assert states == {"=ann": "played", "bob": "played", "cy": "rejected", "dan": "absent"}
    assert not any(cell.startswith("=") for row in rows for cell in row.values())
    assert "on no line of the roster: eva\narena: on the roster, but not in the tournament: dan\n" in errors
    assert call("grades", "--roster", "roster.csv", "--output", "g.json")[0] == 0
    assert [row["state"] for row in json.loads(Path("g.json").read_text())] == [row["state"] for row in rows]
    assert call("grades", "--output", "no/g.csv")[0] == 2


def decided_table(names, claims, indifference):
    """Standings in which each bot is for certain 0.3 points above the next, with claims such as a>b and b=c."""
    fitted = FittedEncounters(
        names=tuple(names),
        ratings=tuple(Rating(25 - 0.3 * place, 1.0) for place in range(len(names))),
        draw_probability=0.1,
        prior_width=8.0,
        draws=np.zeros((2, len(names))),
        encounters=9,
    )
    table = Standings(
        lines=tuple(Standing(label=name, bot=name, group=name) for name in names),
        players=2,
        matches=9,
        rated=9,
        fitted=fitted,
        consistency=Consistency(phi=1.0, p_value=0.5, cycles=()),
        first_seat_share=0.5,
    )
    kinds = {"=": ClaimKind.EQUAL, ">": ClaimKind.BETTER}
    decided = Decided(
        until=Until(indifference=indifference),
        decided=True,
        stopped_because=StopReason.EQUAL,
        claims=tuple(Claim(bot=one[0], rival=one[2], claim=kinds[one[1]], error=0.01) for one in claims.split()),
        open=(),
        matches_needed=0,
    )
    return with_decided(table, decided)


@pytest.mark.parametrize(
    ("claims", "indifference", "groups"),
    [
        ("a=b b=c c=d d=e", 2.0, "aaaaa"),  # at 95 %, each is clearly better than the next
        ("a=b b>c d=c d=e", 2.0, "aabbb"),
        ("a>d a=c", 2.0, "aaabb"),
        ("d>a", 2.0, "aaaaa"),  # it ranks below
        ("a=b b=c c=d d=e", 0.5, "aabbc"),  # c is 0.6 behind a
        ("a=b a=c", 0.5, "aaabb"),
        ("x>a a>y", 2.0, "aaaaa"),  # disqualified since
    ],
)
def test_groups_are_those_of_the_claims_and_rows_of_equals_end(claims, indifference, groups):
    assert "".join(line.group for line in decided_table("abcde", claims, indifference).lines) == groups


def test_files_are_written_through_links_and_in_place_of_one_to_itself(tmp_path):
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loop").symlink_to("loop")
    write_file(tmp_path / "link", "a")
    write_file(tmp_path / "loop", "b")
    assert (tmp_path / "link").is_symlink()
    assert [(tmp_path / name).read_text() for name in ("file", "loop")] == ["a", "b"]
    assert len(list(tmp_path.iterdir())) == 3
