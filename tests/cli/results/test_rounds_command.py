"""``arena tournament rounds``: what it shows is what the exported records say."""

import csv
import io
import json
from collections import defaultdict

import pytest

from tests.cli.calls import as_json, calling, played_in, printed, refusal
from tests.conftest import BOTS

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
    rows = list(csv.DictReader(io.StringIO(arena("rounds", name, "--format", "csv")[1])))
    assert len(rows) == len(shown)


def test_the_bracket_ends_with_the_winner_of_the_ranking(arena):
    (first, second, third) = as_json(arena, "standings", "cup", "--places")
    bracket = as_json(arena, "rounds", "cup")["bracket"]
    semifinals, (final,) = bracket["stages"]
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
        (["cup", "--round", "x"], "'x' is not a valid integer"),
    ],
)
def test_wrong_use_is_refused_in_a_sentence(arena, arguments, message):
    assert message in refusal(arena, "rounds", *arguments)


@pytest.mark.parametrize(("name", "has_own_table"), [("cup", True), ("league", True), ("climb", False)])
def test_standings_mention_the_rounds_of_a_format_with_a_table_of_its_own(arena, name, has_own_table):
    assert arena("standings", name)[1].endswith(f"\nRound by round: arena tournament rounds {name}\n") == has_own_table
    assert "Round by round" not in arena("standings", name, "--format", "github")[1]
