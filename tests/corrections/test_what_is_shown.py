"""What tables, statistics and the report show of a corrected tournament."""

import csv
import io
import json

import pytest

from arena.analysis.standings_cache import standings_of
from arena.cli.group import run
from arena.corrections import disqualify
from arena.enums import DisqualifiedMatches
from arena.report.standings_footer import cycle_text
from tests.corrections.contest import contest, play, write_bots

FOUR = ("ann", "bob", "cid", "dan")


@pytest.fixture
def kept(home, tmp_path, no_check):
    """A round robin of four, two encounters each, in which bob is disqualified and its matches count."""
    play(home, contest(write_bots(tmp_path / "bots", FOUR), encounters=2))
    disqualify(home.store, "t", "bob", reason="copied", matches=DisqualifiedMatches.KEEP)
    return home


COMMANDS = [["standings"], ["stats"], ["stats", "--json"], ["stats", "--table", "nash"], ["crosstable"], ["matches"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_table_of_a_tournament_with_a_disqualified_bot_is_printed(kept, command, capsys):
    assert run(["--home", str(kept.directory), command[0], "t", *command[1:]]) == 0
    assert "ann" in capsys.readouterr().out


def test_a_tournament_with_a_disqualified_bot_has_a_report(kept, tmp_path):
    page = tmp_path / "report.html"
    assert run(["--home", str(kept.directory), "report", "t", "-o", str(page)]) == 0
    assert "copied" in page.read_text()


def test_points_in_the_crosstable_are_those_of_the_standings(kept, capsys):
    assert run(["--home", str(kept.directory), "crosstable", "t", "--format", "csv"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    points = {row["bot"]: float(row["points"]) for row in rows}
    assert points == {line.bot: line.points for line in standings_of(kept.store, "t").lines}
    assert len(points) == 3


def test_nash_averaging_names_a_disqualified_bot_too(kept, capsys):
    assert run(["--home", str(kept.directory), "stats", "t", "--table", "nash", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["bot"] for row in rows} == {"ann", "bob@1", "cid", "dan"}


def test_a_cycle_through_a_disqualified_bot_is_written():
    assert cycle_text(["a@1", "b@1"], {"a@1": "a"}) == "a > b@1 > a"
