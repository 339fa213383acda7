import json

import pytest

from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.text import notebook, standings_columns
from arena.analysis.text.standings_columns import StatColumn
from arena.analysis.text.standings_table import frame_of
from arena.cli.group import run
from arena.site.publish.one_file import report_file
from tests.site.parsed import csv_rows, html_of, model_of
from tests.site.stories import STORY, tell

ADDED = StatColumn(
    key="matches_times_seven",
    title="sevens",
    meaning="seven times its matches",
    value=lambda line: 7 * line.matches,
    drop_order=99,
)
"""Of four matches each: 28, which is nowhere else."""


@pytest.fixture(autouse=True)
def added(monkeypatch):
    columns = (*standings_columns._AFTER_FINISH_COUNTS, ADDED)
    monkeypatch.setattr(standings_columns, "_AFTER_FINISH_COUNTS", columns)


@pytest.fixture
def printed(home, capsys):
    tell(home, STORY)

    def call(*arguments):
        assert run(["--home", str(home.directory), *arguments]) == 0
        return capsys.readouterr().out

    return call


def page(home):
    return model_of(home, "tournament", tournament="t")


WAYS = {
    "text": lambda home, printed: printed("standings", "t", "--wide"),
    "notebook": lambda home, printed: notebook.html(standings_of(home.store, "t")),
    "page": lambda home, printed: html_of(home, "tournament", tournament="t"),
    "leaderboard": lambda home, printed: html_of(home, "leaderboard", game=home.store.tournament("t").games[0]),
    "report": lambda home, printed: report_file(home, home.store.tournament("t")),
}
"""Outputs for people, with the column's title."""


@pytest.mark.slow(only=("report",))
@pytest.mark.parametrize("way", WAYS)
def test_people_see_it(home, printed, way):
    shown = WAYS[way](home, printed)
    assert "sevens" in shown
    assert "28" in shown


ROWS = {
    "json": lambda home, printed: json.loads(printed("standings", "t", "--json")),
    "csv": lambda home, printed: csv_rows(printed("standings", "t", "--format", "csv")),
    "json of the page": lambda home, printed: json.loads(page(home).model_dump_json())["standings"],
    "csv of the page": lambda home, printed: page(home).tables()["standings"].rows,
    "data frame": lambda home, printed: list(frame_of(standings_of(home.store, "t")).rows),
}
"""Outputs for programs, with its key."""


@pytest.mark.parametrize("way", ROWS)
def test_programs_get_it(home, printed, way):
    assert [str(row[ADDED.key]) for row in ROWS[way](home, printed)] == ["28"] * 3


@pytest.mark.parametrize(
    ("command", "of_command", "of_page"),
    [
        ("standings", lambda rows: rows, lambda page: page["standings"]),
        ("stats", lambda tables: tables["games"], lambda page: page["games_played"]),
    ],
)
def test_the_page_and_the_command_agree(home, printed, command, of_command, of_page):
    rows = of_command(json.loads(printed(command, "t", "--json")))
    shown = of_page(json.loads(page(home).model_dump_json()))
    for row, other in zip(rows, shown, strict=True):
        common = row.keys() & other.keys()
        assert len(common) >= 5
        assert {key: row[key] for key in common} == {key: other[key] for key in common}
        assert command == "stats" or row.keys() == common
