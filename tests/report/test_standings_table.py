"""The columns of standings, and where they are explained."""

from pathlib import Path

from arena.analysis.encounters import CountedEncounter, CountedMatch
from arena.analysis.standings import standings
from arena.report.standings_table import standings_columns, standings_table

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_readme_explains_every_column():
    section = README[README.index("| column | in JSON and CSV | meaning |") :]
    rows = section[: section.index("\n\n")].splitlines()[2:]
    assert rows == [f"| {column.title} | `{column.key}` | {column.meaning} |" for column in standings_columns(2)]


def test_matches_of_three_have_a_column_for_each_rank():
    encounter = CountedEncounter("multiplication", (CountedMatch(("a", "b", "c"), (1, 2, 2)),), 5)
    columns, rows = standings_table(standings([encounter], {}))
    assert [column.title for column in columns if column.key.startswith("place_")] == ["1st", "2nd", "3rd"]
    finishes = {row["bot"]: [row[f"place_{rank}"] for rank in (1, 2, 3)] for row in rows}
    assert finishes == {"a": [5, 0, 0], "b": [0, 5, 0], "c": [0, 5, 0]}


def test_values_have_json_types_unless_they_are_formatted():
    table = standings([CountedEncounter("plaid", (CountedMatch(("a", "b"), (1, 2)),), 3)], {"b": {"timeout": 3}})
    formatted, plain = (standings_table(table, formatted=is_formatted)[1][1] for is_formatted in (True, False))
    assert (formatted["faults"], plain["faults"]) == ("3 timeout", {"timeout": 3})
    assert (formatted["same_as_next"], plain["same_as_next"]) == ("", False)
