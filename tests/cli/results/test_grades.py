import csv
import io
import json
import os
from collections import defaultdict
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
from tests.cli.calls import as_json, calling, played_in, printed, refusal, told
from tests.conftest import BOTS


@pytest.mark.parametrize(
    "text",
    [
        b"Student,Bot\nNg Ann\nZo\xc3\xab,zo\xc3\xab's bot\n",
        b"\xef\xbb\xbfNg Ann\r\n\r\nZoe\xcc\x88;zoe\xcc\x88's bot;\r\n",
        b'"Ng Ann"\n"Zo\xc3\xab","zo\xc3\xab\'s bot"',
        b"name;email;bot\nNg Ann;ann@example.org\nZo\xc3\xab;;zo\xc3\xab's bot\n",
    ],
)
def test_rosters_of_spreadsheets_are_read(tmp_path, text):
    path = tmp_path / "r.csv"
    path.write_bytes(text)
    assert read_roster(path) == [Student("Ng Ann", ("Ng Ann",)), Student("Zoë", ("zoë's bot",))]


@pytest.mark.parametrize("headings", ["name,email", "Name,E-Mail,role"])
def test_an_address_below_its_heading_is_no_name_of_a_bot(tmp_path, headings):
    """The list from which accounts are made may be the roster, too."""
    path = tmp_path / "r.csv"
    path.write_text(f"{headings}\nann,ann@example.org\nbob\n")
    assert read_roster(path) == [Student("ann", ("ann",)), Student("bob", ("bob",))]


def test_every_wrong_line_of_a_roster_has_a_sentence(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes(b"ann\nbob,b\nann\ncy,b\nd\xffn\n,x\na,b,c\nx\x1b[2J\n")
    with pytest.raises(UsageError) as raised:
        read_roster(path)
    faults = raised.value.lines
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
    Path("scheme.toml").write_text('yardstick = "zoe"\n')
    assert "no entrant of 't'; expected one of: =ann, bob, eva" in told(call, 2, "grades", "--scheme", "scheme.toml")


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


def test_what_another_program_reads_from_a_pipe_is_written_to_it():
    read_end, write_end = os.pipe()
    write_file(Path(f"/dev/fd/{write_end}"), "a")  # as /dev/stdout is in "arena lab quality … --json /dev/stdout | jq"
    assert os.read(read_end, 9) == b"a"
    for end in (read_end, write_end):
        os.close(end)


def test_files_are_written_through_links_and_in_place_of_one_to_itself(tmp_path):
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loop").symlink_to("loop")
    write_file(tmp_path / "link", "a")
    write_file(tmp_path / "loop", "b")
    assert (tmp_path / "link").is_symlink()
    assert [(tmp_path / name).read_text() for name in ("file", "loop")] == ["a", "b"]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_link_in_the_place_of_the_unfinished_file_leads_nowhere(tmp_path):
    (tmp_path / "thesis").write_text("years")
    (tmp_path / f".page.html.{os.getpid()}").symlink_to("thesis")
    write_file(tmp_path / "page.html", "page")
    assert [(tmp_path / name).read_text() for name in ("thesis", "page.html")] == ["years", "page"]
    assert len(list(tmp_path.iterdir())) == 2


ENTRANTS = [("greedy", "ada"), ("random_legal", "bob"), ("minimal", "cleo"), ("random_legal", "dan")]
FILES = {
    "cup": 'format = "knockout"\nencounters = 2\n[knockout]\nseeding = "entrants"\ntie_encounters = 1\n',
    "league": 'format = "swiss"\n[swiss]\nrounds = 3\n',
    "climb": 'format = "ladder"\n[ladder]\nmatches = 44\n',
    "triple": 'format = "round-robin"\nencounters = 3\n',
}
GAME = 'game = "differences"\noptions = { size = 5 }\n'
GAMES = {"triple": 'game = "multiplication"\noptions = { players = 3, size = 10 }\n'}
NUMBER_OF = {"cup": 3, "league": 3, "climb": 4, "triple": 4}
"""Of entrants: three in a knockout and a Swiss, so that there are byes."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    entrants = [f'[[entrants]]\nbot = "{BOTS / bot}"\nname = "{shown}"\n' for bot, shown in ENTRANTS]
    files = {
        name: f"{GAMES.get(name, GAME)}{text}{''.join(entrants[: NUMBER_OF[name]])}" for name, text in FILES.items()
    }
    return played_in(tmp_path_factory.mktemp("rounds"), **files)


@pytest.fixture
def arena(directory, capsys):
    return calling(directory / "home", capsys)


def points_from_records(arena, name):
    """Return the points of each bot by round and set of bots, from the schedule's rounds and the exported ranks."""
    round_of = {row["match"]: row["round"] for row in as_json(arena, "schedule", f"{name}", "--matches")}
    points = defaultdict(lambda: defaultdict(float))
    for line in arena("export", name.stem)[1].splitlines():
        record = json.loads(line)
        bots = [bot.partition("@")[0] for bot in record["bots"]]
        for bot, rank in zip(bots, record["ranks"], strict=True):
            beaten = [(rank < other) + (rank == other) / 2 for other in record["ranks"]]
            share = (sum(beaten) - 0.5) / (len(bots) - 1)
            points[round_of[record["match"]], frozenset(bots)][bot] += share
    return {key: dict(of) for key, of in points.items()}


@pytest.mark.parametrize("name", FILES)
def test_rounds_have_the_points_of_the_records(arena, directory, name):
    found = as_json(arena, "rounds", name)
    shown = {
        (played["number"], frozenset(meeting["bots"])): dict(zip(meeting["bots"], meeting["points"], strict=True))
        for played in found["rounds"]
        for meeting in played["meetings"]
    }
    assert shown == points_from_records(arena, directory / f"{name}.toml")
    assert (found["bracket"] is None, found["cards"] is None) == (name != "cup", name != "league")
    assert len(list(csv.DictReader(io.StringIO(arena("rounds", name, "--format", "csv")[1])))) == len(shown)


def test_the_bracket_ends_with_the_winner_of_the_ranking(arena):
    (first, second, third) = as_json(arena, "standings", "cup", "--places")
    semifinals, (final,) = as_json(arena, "rounds", "cup")["bracket"]["stages"]
    assert [duel["bots"] for duel in semifinals] == [["ada", None], ["bob", "cleo"]]
    assert semifinals[0]["decided_by"] == "bye"
    assert final["winner"] == first["bot"]
    assert set(final["bots"]) == {first["bot"], second["bot"]}
    assert third["bot"] in semifinals[1]["bots"]
    assert printed(arena, "rounds", "league").splitlines()[0] == "league: swiss, 3 entrants, round 3 of 3"
    out = printed(arena, "rounds", "cup")
    assert out.startswith(f"cup: knockout, 3 entrants, winner: {first['bot']}\n\nsemifinals")


def test_rounds_are_shown_alone_and_many_are_cut_to_the_latest(arena):
    out = arena("rounds", "league", "--round", "2")[1]
    assert out.splitlines()[0] == "round 2"
    assert len(out.splitlines()) == 3
    assert "  bye: " in out
    (played,) = as_json(arena, "rounds", "league", "--round", "2")["rounds"]
    assert sorted(played["meetings"][0]["bots"] + played["byes"]) == ["ada", "bob", "cleo"]
    found = as_json(arena, "rounds", "triple", "--round", "3")
    assert [played["number"] for played in found["rounds"]] == [3]
    out = arena("rounds", "climb")[1]
    last = as_json(arena, "rounds", "climb")["last"]
    assert last > 10
    assert out.splitlines()[0].endswith(f"round {last}; rounds {last - 9} to {last} are shown, and --round N shows any")
    assert out.count("\nround ") == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "unknown tournament 'nobody'"),
        (["cup", "--round", "99"], "--round 99: tournament 'cup' has rounds 1 to "),
        (["cup", "--round", "0"], "0 is not in the range 1<=x<=2147483647"),
        (["cup", "--round", "x"], "'--round': 'x': expected a whole number from 1 to 2,147,483,647"),
    ],
)
def test_wrong_use_is_refused_in_a_sentence(arena, arguments, message):
    assert message in refusal(arena, "rounds", *arguments)


@pytest.mark.parametrize(("name", "has_own_table"), [("cup", True), ("league", True), ("climb", False)])
def test_standings_mention_the_rounds_of_a_format_with_a_table_of_its_own(arena, name, has_own_table):
    assert arena("standings", name)[1].endswith(f"\nRound by round: arena tournament rounds {name}\n") == has_own_table
    assert "Round by round" not in arena("standings", name, "--format", "github")[1]
